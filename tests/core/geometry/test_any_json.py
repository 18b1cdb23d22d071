"""Whatever a JSON parser returns is read, or refused by an error of ours that can be written as JSON again."""

from __future__ import annotations

import json

import pytest
import torch
from geodrome_core import PointError, SpaceError, space_from_spec
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import SPECS, json_values, number_arrays, numbers, space_specs

every_spec = pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)


def as_json(faults) -> str:
    return json.dumps([[fault.pointer, fault.detail, fault.got, fault.rule] for fault in faults], allow_nan=False)


def check(space, point) -> None:
    try:
        found = space.check(point)
    except PointError as error:
        faults = error.faults
    else:
        faults = found.outside
        assert bool(torch.isfinite(found.row).all())
        assert space.check(found.point).point == found.point
    as_json(faults)


@every_spec
@settings(max_examples=30)
@given(point=st.one_of(json_values, number_arrays))
def test_any_json_is_a_point_or_a_point_error(spec, point):
    check(space_from_spec(spec), point)


@settings(max_examples=60)
@given(
    point=st.fixed_dictionaries(
        {},
        optional={
            "gain": st.one_of(numbers, json_values),
            "tool": st.one_of(
                st.fixed_dictionaries(
                    {},
                    optional={
                        "direction": st.one_of(number_arrays, json_values),
                        "stiffness": st.one_of(number_arrays, json_values),
                    },
                ),
                json_values,
            ),
            "tool.direction": st.one_of(number_arrays, json_values),
        },
    )
)
def test_any_object_is_a_point_of_a_product_or_a_point_error(point):
    check(space_from_spec(SPECS["nested"]), point)


@settings(max_examples=300)
@given(spec=space_specs)
def test_any_json_is_a_space_or_a_space_error(spec):
    try:
        space = space_from_spec(spec)
    except SpaceError as error:
        as_json(error.faults)
        return

    for row in space.manifold.clamp(space.manifold.random(2, torch.Generator().manual_seed(0))):
        assert space.check(space.point(row)).outside == ()


@every_spec
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"tool":', "}"), ('{"rotvec":[', "]}")])
def test_points_nested_as_deep_as_a_parser_goes_are_refused(spec, opening, closing):
    levels = 800 // len(closing)
    point = json.loads(levels * opening + "1" + levels * closing)

    with pytest.raises(PointError) as error:
        space_from_spec(spec).check(point)

    assert len(as_json(error.value.faults)) < 2000


def test_specs_nested_as_deep_as_a_parser_goes_are_refused():
    spec = json.loads(300 * '{"type":"product","factors":{"a":' + "1" + 300 * "}}")

    with pytest.raises(SpaceError, match="nested too deep"):
        space_from_spec(spec)
