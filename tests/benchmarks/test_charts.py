"""The boxes that peers search: each point has its numbers, and each numbers a point of the domain."""

from __future__ import annotations

import math

import charts
import problems
import pytest
import torch
from geodrome_core import space_from_spec

KINDS = ("ambient", "parametrized")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", problems.SPECS)
def test_the_numbers_of_a_point_lead_back_to_it(name, kind):
    space = space_from_spec(problems.SPECS[name])
    chart = charts.chart(space, kind)
    X = space.manifold.clamp(space.manifold.random(200, torch.Generator().manual_seed(1)))

    U = chart.numbers(X)

    assert U.shape == (200, chart.size)
    assert float(U.min()) >= 0
    assert float(U.max()) <= 1
    assert float(space.manifold.distance(chart.rows(U), X).max()) < 1e-6


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", problems.SPECS)
def test_all_numbers_lead_to_points_of_the_domain(name, kind):
    space = space_from_spec(problems.SPECS[name])
    chart = charts.chart(space, kind)
    U = torch.rand(500, chart.size, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    middle_and_corners = torch.tensor([0.5, 0.0, 1.0], dtype=torch.float64)[:, None].expand(3, chart.size)

    X = chart.rows(torch.cat([U, middle_and_corners]))

    assert bool(torch.isfinite(X).all())
    assert bool(space.manifold.contains(X).all())
    assert float((space.manifold.nearest(X) - X).abs().max()) < 1e-9


@pytest.mark.parametrize("name", problems.SPECS)
def test_a_parametrization_has_as_many_numbers_as_the_space_has_dimensions(name):
    space = space_from_spec(problems.SPECS[name])

    assert charts.chart(space, "parametrized").size == space.manifold.dim
    assert charts.chart(space, "ambient").size >= space.manifold.dim


def test_angles_are_those_of_textbooks():
    angles = charts.Angles(3)
    point = torch.tensor(
        [[math.cos(1), math.sin(1) * math.cos(2), *(math.sin(1) * math.sin(2) * a for a in (0.6, -0.8))]]
    )

    u = angles.numbers(point.to(torch.float64).flip(-1))

    assert u.tolist()[0] == pytest.approx([1, 2, math.atan2(-0.8, 0.6)], abs=1e-6)


@pytest.mark.parametrize("name", ["sphere3", "sphere5", "rotation3", "spd2", "spd3", "hyperbolic3", "torus7"])
def test_no_optimum_is_on_the_border_of_a_parametrization(name):
    function = problems.cost_function(name, "ackley")

    u = charts.chart(function.space, "parametrized").numbers(function.at[None])

    assert float(u.min()) > 0.05
    assert float(u.max()) < 0.95


def test_a_rotation_about_z_is_yaw_alone():
    c, s = math.cos(0.3), math.sin(0.3)
    turned = torch.tensor([[c, -s, 0, s, c, 0, 0, 0, 1]], dtype=torch.float64)

    assert charts.RollPitchYaw().numbers(turned).tolist()[0] == pytest.approx([0, 0, 0.3])
