"""The trials on their manifolds: what is drawn is where the points are."""

from __future__ import annotations

import json
import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from geodrome import schemas
from geodrome.figures import DRAWINGS, manifold_views
from geodrome.figures.coordinates import read
from geodrome.figures.disc import geodesic
from geodrome.figures.distances import distances
from geodrome.figures.factors import factors
from geodrome.figures.manifold import names
from geodrome.figures.torus import closed
from geodrome.spaces import Hyperbolic
from geodrome_core import space_from_spec
from scipy.spatial.transform import Rotation as ScipyRotation

from tests.client.figures.spaces import NODE, SPACES

every_space = pytest.mark.parametrize("name", SPACES)


def points_of(spec, count):
    space = space_from_spec(spec)
    return [space.point(row) for row in space.manifold.random(count, torch.Generator().manual_seed(1))]


def trials_of(trial, spec, count=9):
    made = [trial(number, float(number), point=point) for number, point in enumerate(points_of(spec, count), start=1)]
    made[3] = trial(4, point=made[3].point, reason="e-stop")
    made[5] = trial(6, point=made[5].point, state="abandoned")
    return made


def by_name(figure):
    return {trace.name: trace for trace in figure.data}


def holes(value):
    """Whether a number is none that JSON has, at any depth."""
    if isinstance(value, dict):
        assert "bdata" not in value  # where holes could hide
        return any(holes(item) for item in value.values())
    if isinstance(value, list):
        return any(holes(item) for item in value)
    return isinstance(value, float) and not math.isfinite(value)


@every_space
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_space_has_finite_figures_with_all_its_trials(record, trial, name, theme):
    study, trials = record(SPACES[name]), trials_of(trial, SPACES[name])
    views = schemas.Views(at=trials[0].point, slices=[], fields=[])

    figures = manifold_views(study, trials, views, theme=theme)

    for factor in factors(study.space):
        prefix = f"{factor.name}/" if factor.name else ""
        assert {f"{prefix}{figure}" for figure in names(factor.spec)} <= set(figures)
    for figure in figures.values():
        assert figure.data
        assert not holes(json.loads(figure.to_json()))
        assert figure.layout.title.text.startswith("arm: ")
        assert "trial 1<br>cost 1 mm" in str(figure.to_dict())


@every_space
def test_a_study_without_trials_and_model_has_figures(record, name):
    for figure in manifold_views(record(SPACES[name]), []).values():
        assert not holes(json.loads(figure.to_json()))


def test_every_figure_is_one_of_some_space(record):
    shown = {
        figure for spec in SPACES.values() for factor in factors(record(spec).space) for figure in names(factor.spec)
    }

    assert shown == set(DRAWINGS)


def test_a_product_has_the_figures_of_its_factors(record, trial):
    figures = manifold_views(record(SPACES["product"]), trials_of(trial, SPACES["product"]))

    assert list(figures) == [
        "arm.tool/ball", "arm.tool/triads", "arm.tool/distances",
        "stiffness/ellipses", "stiffness/cone", "stiffness/eigenvalues", "stiffness/distances",
        "speed/line", "speed/distances",
    ]  # fmt: skip


@pytest.mark.parametrize("order", ["wxyz", "xyzw"])
@pytest.mark.parametrize("sign", [1, -1])
def test_orientations_are_drawn_where_they_are(record, trial, order, sign):
    rotvec = [0.3, -0.7, 0.4]
    q = dict(zip("xyzw", ScipyRotation.from_rotvec(rotvec).as_quat().tolist(), strict=True))
    point = [sign * q[letter] for letter in order]

    figures = manifold_views(record({"type": "rotation", "order": order}), [trial(1, 1.0, point=point)])

    dot = by_name(figures["ball"])["trials"]
    np.testing.assert_allclose([dot.x[0], dot.y[0], dot.z[0]], np.degrees(rotvec), atol=1e-12)
    matrix = ScipyRotation.from_rotvec(rotvec).as_matrix()
    for column, axis in enumerate("xyz"):
        arrow = by_name(figures["triads"])[axis]
        np.testing.assert_allclose([arrow.x[1], arrow.y[1], arrow.z[1]], matrix[:, column], atol=1e-12)


def test_trials_in_another_form_are_drawn_at_the_same_place(record, trial, form):
    wxyz, xyzw = [0.5, 0.1, -0.5, 0.7], [0.1, -0.5, 0.7, 0.5]
    trials = [trial(1, 1.0, point=wxyz), trial(2, 2.0, point=xyzw, form=form(order="xyzw"))]

    dots = by_name(manifold_views(record({"type": "rotation"}), trials)["ball"])["trials"]

    assert dots.x[0] == pytest.approx(dots.x[1], abs=1e-12)
    assert dots.y[0] == pytest.approx(dots.y[1], abs=1e-12)


def test_half_axes_of_ellipses_are_eigenvalues_along_eigenvectors(record, trial):
    turn = np.array([[0.8, -0.6], [0.6, 0.8]])
    point = (turn @ np.diag([40.0, 100.0]) @ turn.T).tolist()

    figures = manifold_views(record(SPACES["spd2"]), [trial(1, 1.0, point=point)])

    outline = by_name(figures["ellipses"])["trial 1"]
    places = np.array([outline.x, outline.y])
    radii = np.linalg.norm(places, axis=0)
    assert radii.max() == pytest.approx(100, rel=1e-3)
    assert radii.min() == pytest.approx(40, rel=1e-3)
    assert abs(places[:, radii.argmax()] @ turn[:, 1]) == pytest.approx(100, rel=1e-3)


def test_eigenvalues_are_height_plus_and_minus_radius_in_the_cone(record, trial):
    point = [[70.0, 20.0], [20.0, 40.0]]

    figures = manifold_views(record(SPACES["spd2"]), [trial(1, 1.0, point=point)])

    dot = by_name(figures["cone"])["trials"]
    radius = math.hypot(dot.x[0], dot.y[0])
    np.testing.assert_allclose([dot.z[0] - radius, dot.z[0] + radius], np.linalg.eigvalsh(point))
    assert [trace.y[0] for trace in figures["eigenvalues"].data] == pytest.approx(np.linalg.eigvalsh(point))


def test_ellipsoids_reach_as_far_as_the_eigenvalues_and_show_the_best_and_the_last(record, trial):
    points = points_of(SPACES["spd3"], 9)
    trials = [trial(number, float(number), point=point) for number, point in enumerate(points, start=1)]

    shown = by_name(manifold_views(record(SPACES["spd3"]), trials)["ellipsoids"])

    assert list(shown) == ["trial 1", "trial 2", "trial 3", "trial 7", "trial 8", "trial 9", "trials", "1"]
    body = shown["trial 1"]
    radii = np.linalg.norm([np.ravel(body.x), np.ravel(body.y), np.ravel(body.z)], axis=0)
    assert radii.max() == pytest.approx(np.linalg.eigvalsh(points[0])[-1], rel=0.02)
    assert radii.max() <= np.linalg.eigvalsh(points[0])[-1] * (1 + 1e-12)


@pytest.mark.parametrize("name", ["hyperbolic2", "hyperbolic2-poincare"])
def test_points_of_the_disc_lie_inside_the_unit_circle_at_their_distance(record, trial, name):
    trials = trials_of(trial, SPACES[name], count=40)

    dots = by_name(manifold_views(record(SPACES[name]), trials)["disc"])["trials"]

    radii = np.hypot(dots.x, dots.y)
    assert (radii < 1).all()
    assert 2 * np.arctanh(radii).max() <= SPACES[name]["radius"]


def test_ways_go_along_geodesics_of_the_disc():
    one, other = np.array([0.7, 0.1]), np.array([-0.2, 0.6])

    way = geodesic(one, other)

    steps = [float(distances(Hyperbolic(dim=2), a, b[np.newaxis])[0]) for a, b in pairwise(way)]
    whole = float(distances(Hyperbolic(dim=2), one, other[np.newaxis])[0])
    np.testing.assert_allclose([way[0], way[-1]], [one, other], atol=1e-12)
    np.testing.assert_allclose(steps, steps[0])
    assert sum(steps) == pytest.approx(whole)


def test_a_branch_has_a_path_over_its_nodes(record, trial):
    trials = trials_of(trial, SPACES["branch"])

    figure = manifold_views(record(SPACES["branch"]), trials)["path"]

    (nodes,) = [trace for trace in figure.data if trace.name == "best trial" and "markers" in trace.mode]
    expected = [read(Hyperbolic(**NODE), trials[0].point[f"node_{number}"]) for number in (1, 2, 3)]
    np.testing.assert_allclose(np.array([nodes.x, nodes.y]).T, expected)


def sphere_field(longitudes):
    mean = [[float(row + column) for column in range(len(longitudes))] for row in range(5)]
    return schemas.Field(
        factor=None, kind="sphere", axes=[np.linspace(-1.2, 1.2, 5).tolist(), longitudes], mean=mean, std=mean
    )


def test_the_last_meridian_of_the_globe_is_the_first(record, trial):
    for longitudes in (np.linspace(-math.pi, math.pi, 9), np.linspace(-math.pi, math.pi, 9)[:-1]):
        field = sphere_field(longitudes.tolist())
        views = schemas.Views(at=[0.0, 0.0, 1.0], slices=[], fields=[field])

        surface = by_name(manifold_views(record(SPACES["sphere2"]), [], views)["globe"])["model's mean"]

        np.testing.assert_allclose(np.array(surface.x)[:, 0], np.array(surface.x)[:, -1], atol=1e-12)
        np.testing.assert_allclose(np.array(surface.y)[:, 0], np.array(surface.y)[:, -1], atol=1e-12)
        assert np.array(surface.surfacecolor).shape == (5, 9)


def test_a_cap_stays_open_and_has_holes_outside_of_the_domain(record):
    field = sphere_field(np.linspace(-0.5, 0.5, 9).tolist())
    field.mean[0][0] = field.std[0][0] = None
    views = schemas.Views(at=SPACES["cap2"]["cap"]["center"], slices=[], fields=[field])

    surface = by_name(manifold_views(record(SPACES["cap2"]), [], views)["globe"])["model's mean"]

    assert np.array(surface.z).shape == (5, 9)
    assert surface.z[0][0] is surface.x[0][0] is surface.surfacecolor[0][0] is None
    assert surface.z[4][0] == pytest.approx(math.sin(1.2))


@pytest.mark.parametrize(
    "angles", [np.linspace(-math.pi, math.pi, 5), np.linspace(-math.pi, math.pi, 5)[:-1], np.arange(4) * math.pi / 2]
)
def test_an_unrolled_turn_ends_with_what_it_begins_with(angles):
    values = np.round(np.cos(angles), 9)

    ends, wrapped = closed(angles, values)

    np.testing.assert_allclose(ends, np.linspace(-math.pi, math.pi, 5), atol=1e-8)
    np.testing.assert_allclose(wrapped, [-1, 0, 1, 0, -1], atol=1e-8)


def test_a_torus_is_drawn_with_the_first_angle_across_in_the_unit_of_the_study(record, trial):
    angles = np.linspace(-math.pi, math.pi, 5).tolist()
    mean = [[0.0, 1.0, 2.0, 3.0, 0.0] for _ in angles]  # of the second angle alone
    field = schemas.Field(factor=None, kind="torus", axes=[angles, angles], mean=mean, std=mean)
    views = schemas.Views(at=[10.0, 90.0], slices=[], fields=[field])
    study = record({"type": "torus", "dim": 2, "unit": "deg"})

    shown = by_name(manifold_views(study, [trial(1, 1.0, point=[30.0, -60.0])], views)["square"])

    heat = shown["model's mean"]
    np.testing.assert_allclose(heat.x, [-180, -90, 0, 90, 180])
    assert [row[0] for row in heat.z] == [0.0, 1.0, 2.0, 3.0, 0.0]
    assert (shown["trials"].x[0], shown["trials"].y[0]) == pytest.approx((30.0, -60.0))
    assert (shown["recommended"].x[0], shown["recommended"].y[0]) == pytest.approx((10.0, 90.0))


def test_a_map_of_two_numbers_has_the_first_across(record):
    field = schemas.Field(
        factor=None,
        kind="real",
        axes=[[-1.0, 0.0, 1.0], [5.0, 9.0]],
        mean=[[0, 1], [2, 3], [4, None]],
        std=[[0, 0]] * 3,
    )
    views = schemas.Views(at=[0.0, 7.0], slices=[], fields=[field])

    heat = by_name(manifold_views(record(SPACES["euclidean2"]), [], views)["plane"])["model's mean"]

    assert heat.x == (-1.0, 0.0, 1.0)
    assert [list(row) for row in heat.z] == [[0, 2, 4], [1, 3, None]]


def test_a_line_shows_the_model_and_the_costs(record, trial):
    field = schemas.Field(factor=None, kind="real", axes=[[0.1, 10.0, 1000.0]], mean=[3, 2, None], std=[1, 0.5, None])
    views = schemas.Views(at=10.0, slices=[], fields=[field])

    figure = manifold_views(record(SPACES["real"]), [trial(1, 2.5, point=12.0)], views)["line"]

    shown = by_name(figure)
    assert shown["model's mean"].y == (3.0, 2.0, None)
    assert shown["± 2 standard deviations"].y == (5.0, 3.0, None)
    assert (shown["trials"].x, shown["trials"].y) == ((12.0,), (2.5,))
    assert (figure.layout.xaxis.type, figure.layout.xaxis.title.text) == ("log", "value, N/m")


def test_distances_are_counted_from_the_recommended_point(record, trial):
    views = schemas.Views(at=[1.0, 0.0, 0.0], slices=[], fields=[])
    trials = [trial(1, 1.0, point=[0.0, 0.0, 1.0]), trial(2, 2.0, point=[-1.0, 0.0, 0.0])]

    figure = manifold_views(record(SPACES["sphere2"]), trials, views)["distances"]

    assert figure.data[0].x == pytest.approx((math.pi / 2, math.pi))
    assert figure.layout.xaxis.title.text == "distance from the recommended point, rad"


@pytest.mark.parametrize(
    ("space", "titles"),
    [
        ({"type": "joints", "bounds": [[-2.9, 2.9]] * 3}, ["[0], rad", "[1], rad", "[2], rad"]),
        ({"type": "euclidean", "dim": 3, "bounds": [[-1, 1]] * 3, "unit": "m"}, ["x, m", "y, m", "z, m"]),
    ],
    ids=["joints", "position"],
)
def test_three_numbers_are_named_as_what_they_are(record, trial, space, titles):
    figure = manifold_views(record(space), [trial(1, 1.0, point=[0.1, 0.2, 0.3])])["space"]

    axes = figure.layout.scene
    assert [axis.title.text for axis in (axes.xaxis, axes.yaxis, axes.zaxis)] == titles
