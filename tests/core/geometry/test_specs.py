"""Specs: what describes a space, and what is wrong with what does not."""

from __future__ import annotations

import math

import pytest
import torch
from geodrome_core import SpaceError, space_from_spec
from geodrome_core.geometry.euclidean import Euclidean
from geodrome_core.geometry.flat_spd import CholeskySPD, LogEuclideanSPD
from geodrome_core.geometry.rotation import Rotation
from geodrome_core.geometry.spd import SPD, EigenProductSPD
from geodrome_core.geometry.spec import CHOICE_IS_RESERVED
from geodrome_core.geometry.special_orthogonal import SpecialOrthogonal
from geodrome_core.geometry.sphere import Sphere

from tests.strategies import SPECS

REAL = {"type": "real"}


def faults(spec):
    with pytest.raises(SpaceError) as error:
        space_from_spec(spec)
    return error.value.faults


def sphere_cap(center, radius):
    return {"type": "sphere", "dim": 2, "cap": {"center": center, "radius": radius}}


def product(**factors):
    return {"type": "product", "factors": factors}


@pytest.mark.parametrize(
    ("spec", "kind", "dim", "width"),
    [
        ({"type": "real"}, Euclidean, 1, 1),
        ({"type": "euclidean", "dim": 64}, Euclidean, 64, 64),
        ({"type": "sphere", "dim": 1}, Sphere, 1, 2),
        ({"type": "sphere", "dim": 31}, Sphere, 31, 32),
        ({"type": "rotation"}, Rotation, 3, 9),
        ({"type": "rotation", "dim": 3}, Rotation, 3, 9),
        ({"type": "rotation", "dim": 2}, SpecialOrthogonal, 1, 4),
        ({"type": "rotation", "dim": 8, "order": None}, SpecialOrthogonal, 28, 64),
        ({"type": "spd"}, SPD, 3, 4),
        ({"type": "spd", "dim": 2, "metric": "affine_invariant"}, SPD, 3, 4),
        ({"type": "spd", "dim": 3}, SPD, 6, 9),
        ({"type": "spd", "dim": 6, "metric": "log_euclidean"}, LogEuclideanSPD, 21, 36),
        ({"type": "spd", "dim": 3, "metric": "cholesky"}, CholeskySPD, 6, 9),
        ({"type": "spd", "dim": 3, "metric": "eigen_product"}, EigenProductSPD, 6, 9),
    ],
)
def test_a_spec_gives_its_manifold(spec, kind, dim, width):
    space = space_from_spec(spec)

    (factor,) = space.factors.values()
    assert type(factor) is kind
    assert (factor.dim, factor.width) == (dim, width)
    assert (space.manifold.dim, space.manifold.width) == (dim, width)
    assert space.spec is spec


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_units_and_frames_are_free_text(spec):
    unit = spec.get("unit", "rad") if spec["type"] in ("torus", "joints") else "N/m"  # of angles it is none

    space = space_from_spec({**spec, "unit": unit, "frame": "tool", "relative_to": None})

    assert space.manifold.width == space_from_spec(spec).manifold.width


@pytest.mark.parametrize(
    ("name", "unbounded"),
    [
        ("real", [""]),
        ("gain", []),
        ("vector", [""]),
        ("box", []),
        ("direction", []),
        ("matrix", []),
        ("spd", [""]),
        ("stiffness", []),
        ("pose", []),
        ("nested", []),
    ],
)
def test_a_space_knows_which_of_its_factors_lack_bounds(name, unbounded):
    space = space_from_spec(SPECS[name])

    assert list(space.unbounded) == unbounded
    assert space.is_bounded is (not unbounded)


def test_factors_without_bounds_are_pointed_at_within_the_spec():
    space = space_from_spec(product(a=REAL, b=product(c={"type": "spd"}, d={"type": "sphere", "dim": 2})))

    assert space.unbounded == ("/factors/a", "/factors/b/factors/c")


@pytest.mark.parametrize(
    ("spec", "pointer", "detail"),
    [
        ({}, "/type", "unknown type None"),
        ({"type": "choice"}, "/type", CHOICE_IS_RESERVED),
        ({"type": "torus"}, "/dim", "dim is None"),
        ({"type": "torus", "dim": 33}, "/dim", "dim is 33"),
        ({"type": "torus", "dim": 2, "unit": "turn"}, "/unit", "unit is 'turn'"),
        ({"type": "joints", "bounds": [[0, 1]], "unit": "degrees"}, "/unit", "unit is 'degrees'"),
        ({"type": "joints"}, "/bounds", "expected a pair for each joint, got None"),
        ({"type": "joints", "bounds": []}, "/bounds", "expected a pair for each joint, got []"),
        ({"type": "joints", "bounds": [[0, 1], [2, 2]]}, "/bounds/1", "both bounds are 2: nothing to search"),
        ({"type": "integer"}, "/bounds", "expected [low, high], got None"),
        ({"type": "integer", "bounds": [0, 2.5]}, "/bounds", "[0, 2.5] are no whole numbers"),
        ({"type": "integer", "bounds": [0, 2e16]}, "/bounds", "[0, 2e+16] is too large to tell neighbours apart"),
        ({"type": ["real"]}, "/type", "unknown type ['real']"),
        ({"type": "sphere"}, "/dim", "dim is None"),
        ({"type": "sphere", "dim": 0}, "/dim", "dim is 0"),
        ({"type": "sphere", "dim": 32}, "/dim", "dim is 32"),
        ({"type": "sphere", "dim": "2"}, "/dim", "dim is '2'"),
        ({"type": "sphere", "dim": True}, "/dim", "dim is True"),
        ({"type": "euclidean", "dim": 65}, "/dim", "dim is 65"),
        ({"type": "rotation", "dim": 1}, "/dim", "dim is 1"),
        ({"type": "rotation", "dim": 9}, "/dim", "dim is 9"),
        (
            {"type": "rotation", "dim": 2, "representation": "quaternion"},
            "/representation",
            "rotations of dim 2 have no quaternion",
        ),
        (sphere_cap([0, 0, 1], 0), "/cap/radius", "radius is 0"),
        (sphere_cap([0, 0, 1], -0.5), "/cap/radius", "radius is -0.5"),
        (sphere_cap([0, 0, 1], 0.0009), "/cap/radius", "radius is 0.0009"),
        (sphere_cap([0, 0, 1], math.pi), "/cap/radius", "radius is 3.141592653589793"),
        (sphere_cap([0, 0, 1], 30), "/cap/radius", "radius is 30"),
        (sphere_cap([0, 0, 1], "0.5"), "/cap/radius", "radius is '0.5'"),
        (sphere_cap([0, 0, 1], math.nan), "/cap/radius", "radius is nan"),
        (sphere_cap([0, 0], 0.5), "/cap/center", "expected 3 numbers, got 2"),
        (sphere_cap([0, None, 1], 0.5), "/cap/center/1", "expected a number, got None"),
        (
            sphere_cap([0, 0, 2], 0.5),
            "/cap/center",
            "the vector has norm 2; normalized it would be [0.0, 0.0, 1.0]",
        ),
        ({"type": "sphere", "dim": 2, "cap": 0.5}, "/cap", "expected a center and a radius, got 0.5"),
        (
            {"type": "sphere", "dim": 2, "cap": {"radius": 0.5}},
            "/cap",
            "expected a center and a radius, got {'radius': 0.5}",
        ),
        (
            {"type": "rotation", "ball": {"center": [1, 0, 0, 0], "radius": 4.0}},
            "/ball/radius",
            "radius is 4.0",
        ),
        (
            {"type": "rotation", "ball": {"center": {"rotvec": [0, 1]}, "radius": 1}},
            "/ball/center/rotvec",
            "expected 3 numbers, got 2",
        ),
        (
            {"type": "rotation", "dim": 2, "ball": {"center": [[0, 1], [1, 0]], "radius": 1}},
            "/ball/center",
            "this is a reflection, det = -1.000",
        ),
        ({"type": "rotation", "dim": 4, "order": "wxyz"}, "/order", "the matrices of dim 4 have no order"),
        ({"type": "spd", "dim": 4}, "/dim", "dim is 4"),
        ({"type": "spd", "dim": 7, "metric": "cholesky"}, "/dim", "dim is 7"),
        ({"type": "rotation", "representation": "euler"}, "/representation", "representation is 'euler'"),
        ({"type": "rotation", "order": "zyxw"}, "/order", "order is 'zyxw'"),
        ({"type": "spd", "metric": "euclidean"}, "/metric", "metric is 'euclidean'"),
        ({"type": "real", "scale": "ln"}, "/scale", "scale is 'ln'"),
        ({"type": "real", "bounds": [1]}, "/bounds", "expected [low, high], got [1]"),
        ({"type": "real", "bounds": "01"}, "/bounds", "expected [low, high], got '01'"),
        ({"type": "real", "bounds": [0, "1"]}, "/bounds", "expected [low, high], got [0, '1']"),
        ({"type": "real", "bounds": [0, True]}, "/bounds", "expected [low, high], got [0, True]"),
        ({"type": "real", "bounds": [0, math.inf]}, "/bounds", "expected [low, high], got [0, inf]"),
        ({"type": "real", "bounds": [0, math.nan]}, "/bounds", "expected [low, high], got [0, nan]"),
        ({"type": "real", "bounds": {"low": 0}}, "/bounds", "expected [low, high], got {'low': 0}"),
        ({"type": "euclidean", "dim": 2, "bounds": [0, 1]}, "/bounds/0", "expected [low, high], got 0"),
        ({"type": "euclidean", "dim": 2, "bounds": [[0, 1]]}, "/bounds", "expected 2 pairs, got [[0, 1]]"),
        ({"type": "euclidean", "dim": 2, "bounds": [[0, 1], [2, 1]]}, "/bounds/1", "low 2 is above high 1"),
        ({"type": "spd", "eigenvalues": [0, 1]}, "/eigenvalues", "low 0 is not positive"),
        ({"type": "spd", "eigenvalues": [2, 1]}, "/eigenvalues", "low 2 is above high 1"),
        ({"type": "spd", "eigenvalues": [2, 2]}, "/eigenvalues", "both bounds are 2: nothing to search"),
        ({"type": "spd", "eigenvalues": [1, 1.000001]}, "/eigenvalues", "high is 1.000001 times low"),
        ({"type": "spd", "eigenvalues": [1e-6, 1e6]}, "/eigenvalues", "high is 1e+12 times low"),
        ({"type": "spd", "eigenvalues": 2}, "/eigenvalues", "expected [low, high], got 2"),
        (product(), "/factors", "a product needs at least one factor"),
        ({"type": "product"}, "/factors", "a product needs at least one factor"),
        ({"type": "product", "factors": [REAL]}, "/factors", "a product needs at least one factor"),
        (product(a=5), "/factors/a", "expected a space, got 5"),
        (product(a=product(b=product())), "/factors/a/factors/b/factors", "a product needs at least one factor"),
        (product(a=product(b={"type": "x"})), "/factors/a/factors/b/type", "unknown type 'x'"),
        (product(**{"a.b": REAL}), "/factors", "no factor can be named 'a.b'"),
        (product(**{"": REAL}), "/factors", "no factor can be named ''"),
        (product(**{"a/b~": {"type": "x"}}), "/factors/a~1b~0/type", "unknown type 'x'"),
        ("real", "", "expected a space, got 'real'"),
        (None, "", "expected a space, got None"),
        ([REAL], "", "expected a space, got [{'type': 'real'}]"),
    ],
)
def test_what_is_wrong_with_a_spec_is_pointed_at(spec, pointer, detail):
    assert [(fault.pointer, fault.detail) for fault in faults(spec)] == [(pointer, detail)]


@pytest.mark.parametrize(
    ("bounds", "reason"),
    [
        ([0, 10], "low 0 has no logarithm"),
        ([-3, 1], "low -3 has no logarithm"),
        ([5, 5], "both bounds are 5: nothing to search"),
        ([10, 1], "low 10 is above high 1"),
    ],
)
def test_each_bad_log_range_has_its_own_reason(bounds, reason):
    """scikit-optimize issue 1096 and Sklearn-genetic-opt issue 323: log ranges that begin at zero."""
    (fault,) = faults({"type": "real", "scale": "log", "bounds": bounds})

    assert fault.detail == reason


@pytest.mark.parametrize(
    "spec",
    [
        {"type": "real", "bounds": [-1.7e308, 1.7e308]},
        {"type": "real", "bounds": [1e5, math.nextafter(1e5, 1e6)], "scale": "log"},
        {"type": "real", "bounds": [0, 10**400]},
        {"type": "spd", "eigenvalues": [1e-200, 1.0]},
        {"type": "spd", "eigenvalues": [1.0, 1e200]},
    ],
)
def test_bounds_that_doubles_cannot_measure_are_refused(spec):
    """Their rows would be NaN."""
    assert len(faults(spec)) == 1


@pytest.mark.parametrize(
    ("spec", "pointer"),
    [
        ({"type": "real", "bonds": [0, 1]}, "/bonds"),
        ({"type": "sphere", "dim": 2, "ball": {"center": [0, 0, 1], "radius": 0.1}}, "/ball"),
        ({"type": "rotation", "cap": {"center": [1, 0, 0, 0], "radius": 0.1}}, "/cap"),
        (product(a={"type": "spd", "dim": 2, "eigenvalue": [1, 2]}), "/factors/a/eigenvalue"),
        ({**product(a=REAL), "dim": 2}, "/dim"),
    ],
)
def test_members_that_mean_nothing_are_refused(spec, pointer):
    """A bound that is misspelt, or that only a later version knows, would be a bound that does not hold."""
    assert [(fault.pointer, fault.detail) for fault in faults(spec)] == [(pointer, "unknown")]


def test_all_faults_of_a_spec_are_told_at_once():
    spec = product(a={"type": "x"}, b=product(c={"type": "sphere"}, d=None), e={"type": "real", "bounds": [1, 0]})

    assert [fault.pointer for fault in faults(spec)] == [
        "/factors/b/factors/d",
        "/factors/a/type",
        "/factors/b/factors/c/dim",
        "/factors/e/bounds",
    ]


def test_a_radius_and_a_center_are_told_together_and_the_rule_names_the_unit():
    radius, center = faults(product(tool=sphere_cap([0, 0], 45)))

    assert (radius.pointer, center.pointer) == ("/factors/tool/cap/radius", "/factors/tool/cap/center")
    assert radius.rule == "radians from 0.001 to 3.14, short of pi; without cap the domain is everything"


def test_products_nest_eight_deep_and_no_deeper():
    spec = REAL
    for _ in range(8):
        spec = product(a=spec)

    assert list(space_from_spec(spec).factors) == ["a.a.a.a.a.a.a.a"]
    assert faults(product(a=spec))[0].detail == "products are nested too deep"


def test_the_factors_stand_in_the_order_of_the_spec():
    space = space_from_spec(product(z={"type": "sphere", "dim": 2}, a=REAL, m=product(y=REAL, b={"type": "rotation"})))

    assert list(space.factors) == ["z", "a", "m.y", "m.b"]
    assert list(space.manifold.columns.values()) == [slice(0, 3), slice(3, 4), slice(4, 5), slice(5, 14)]


def test_random_points_of_a_wide_log_range_cover_every_decade():
    """microsoft/nni issue 426: gains whose right size nobody knows."""
    space = space_from_spec({"type": "real", "scale": "log", "bounds": [1e-5, 1e5]})
    rows = space.manifold.random(200, torch.Generator().manual_seed(0))

    decades = {math.floor(math.log10(space.point(row))) for row in rows}

    assert decades == set(range(-5, 5))


def test_larger_matrices_need_a_flat_metric_and_the_fault_says_which():
    (fault,) = faults({"type": "spd", "dim": 4, "eigenvalues": [1.0, 2.0]})

    assert "2 or 3 for metric affine_invariant, up to 6 for metric log_euclidean or cholesky" in str(fault)
