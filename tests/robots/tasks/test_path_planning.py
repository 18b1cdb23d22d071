"""The path planning task: points become places on the grid, and the cost is the formula on the branch through them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping

import numpy as np
import pytest
from geodrome_robots.points import parse_space, random_point
from geodrome_robots.stop import Stop
from geodrome_robots.tasks.embedding import embedding, grid
from geodrome_robots.tasks.path_planning import PathPlanning, PathPlanningNodes, PathPlanningThree, obstructed
from numpy.testing import assert_allclose

KINDS = [PathPlanning, PathPlanningThree, PathPlanningNodes]
WEIGHTS = {"balanced": (2.0, 1.0), "swapped": (25.0, 1.0), "printed": (1.0, 25.0)}


def points_of(kind, generator, count) -> list[dict[str, list[float]]]:
    space = parse_space(kind.space)
    return [random_point(space, generator) for _ in range(count)]


def on_nodes(*places: tuple[int, int]) -> dict[str, list[float]]:
    """The point whose nodes are embedded nodes of the grid."""
    return {f"node_{number}": embedding()[9 * i + j].tolist() for number, (i, j) in enumerate(places, start=1)}


def measure(robot, point) -> Mapping[str, float]:
    return robot.evaluate(point, seed=0, stop=Stop()).metrics


def place(x: list[float]) -> np.ndarray:
    """Where a point is on the grid, by plain loops and acosh."""
    total, weighted = 0.0, np.zeros(2)
    for y, node in zip(embedding(), grid(), strict=True):
        distance = math.acosh(max(1.0, x[0] * y[0] - x[1] * y[1] - x[2] * y[2]))
        weight = math.exp(-(distance**2) / (2 * 0.22**2))
        total, weighted = total + weight, weighted + weight * node
    return weighted / total


def walked(path: np.ndarray, *, steps: int = 4000) -> tuple[float, tuple[float, float] | None]:
    """Clearance, and distance to the goal and way travelled at the first collision: by walking in small steps."""
    parts = np.linspace(0, 1, steps)[:, None]
    walk = np.concatenate([begin + parts * (end - begin) for begin, end in itertools.pairwise(path)])
    clearance = np.linalg.norm(walk - [4, 4], axis=1) - 1
    if clearance.min() >= 0:
        return clearance.min(), None
    hit = int(np.argmax(clearance < 0))
    travelled = np.linalg.norm(np.diff(walk[: hit + 1], axis=0), axis=1).sum()
    return clearance.min(), (np.linalg.norm(walk[hit] - [8, 8]), travelled)


@pytest.mark.parametrize("weighting", WEIGHTS)
def test_the_cost_is_the_formula_on_the_branch_through_the_decoded_points(weighting, generator):
    robot, (w_g, w_d) = PathPlanning(weighting), WEIGHTS[weighting]
    for point in points_of(PathPlanning, generator, 10):
        path = np.array([[0, 0], *(place(x) for x in point.values()), [8, 8]])
        clearance, collision = walked(path)
        length = np.linalg.norm(np.diff(path, axis=0), axis=1).sum()
        to_goal, travelled = collision or (0.0, length)

        measured = robot.evaluate(point, seed=0, stop=Stop())

        assert_allclose(measured.cost, w_g * to_goal + w_d * length, atol=0.01 * w_g)
        assert_allclose(measured.metrics["clearance_cells"], clearance, atol=0.01)
        assert_allclose(measured.metrics["travelled_cells"], travelled, atol=0.01)
        assert measured.metrics["collision"] == (collision is not None)
        assert_allclose([measured.metrics["node_2_i_cells"], measured.metrics["node_2_j_cells"]], path[2], atol=1e-6)


def test_straight_through_the_obstacle_costs_what_geometry_says():
    """The diagonal is 8 sqrt 2 long and enters the disc 1 before its half: 4 sqrt 2 + 1 are left to the goal."""
    through = on_nodes((1, 1), (2, 2), (4, 4), (6, 6), (7, 7))

    measured = PathPlanningNodes("printed").evaluate(through, seed=0, stop=Stop())

    assert_allclose(measured.cost, 4 * math.sqrt(2) + 1 + 25 * 8 * math.sqrt(2), rtol=1e-12)
    assert_allclose(measured.metrics["travelled_cells"], 4 * math.sqrt(2) - 1, rtol=1e-12)
    assert_allclose(measured.metrics["clearance_cells"], -1, atol=1e-12)


def test_on_nodes_the_printed_weights_reward_the_collision_and_the_others_the_way_round():
    through = on_nodes((1, 1), (2, 2), (4, 4), (6, 6), (7, 7))
    around = on_nodes((0, 0), (3, 5), (3, 5), (8, 8), (8, 8))  # the shortest on nodes: 2 sqrt 34

    costs = {
        weighting: [PathPlanningNodes(weighting).evaluate(p, seed=0, stop=Stop()).cost for p in (through, around)]
        for weighting in WEIGHTS
    }

    assert_allclose([of[1] for of in costs.values()], [2 * math.sqrt(34)] * 2 + [50 * math.sqrt(34)], rtol=1e-12)
    assert costs["printed"][0] < costs["printed"][1]
    assert costs["balanced"][0] > costs["balanced"][1]
    assert costs["swapped"][0] > costs["swapped"][1]


@pytest.mark.parametrize(
    ("path", "clearance", "collision"),
    [
        ([[0, 0], [0, 8], [8, 8]], 3.0, None),
        ([[0, 3], [8, 3]], 0.0, None),  # touches
        ([[0, 4], [8, 4]], -1.0, (math.hypot(5, 4), 3.0)),
        ([[0, 4], [3, 4], [8, 4]], -1.0, (math.hypot(5, 4), 3.0)),  # a node on the border
        ([[0, 4], [4, 4], [4, 4], [8, 4]], -1.0, (math.hypot(5, 4), 3.0)),  # nodes that coincide inside
        ([[0, 0], [0, 0], [0, 4], [3.5, 4], [0, 4]], -0.5, (math.hypot(5, 4), 7.0)),  # in and back
        ([[0, 4], [3, 4], [0, 4]], 0.0, None),
        ([[0, 0], [0, 0]], math.sqrt(32) - 1, None),
    ],
)
def test_where_a_branch_enters_the_obstacle(path, clearance, collision):
    found_clearance, found = obstructed(np.array(path, dtype=float))

    assert_allclose(found_clearance, clearance, atol=1e-12)
    assert found is None if collision is None else found == pytest.approx(collision)


def test_random_branches_collide_where_small_steps_do(generator):
    for _ in range(100):
        path = generator.uniform(0, 8, size=(4, 2))
        path[0] = 0
        clearance, collision = obstructed(path)
        walked_clearance, walked_collision = walked(path)

        assert_allclose(clearance, walked_clearance, atol=0.002)
        if abs(clearance) > 0.002:
            assert (collision is None) == (walked_collision is None)
            assert collision is None or collision == pytest.approx(walked_collision, abs=0.05)


def test_an_embedded_node_means_itself_or_a_place_near_it():
    smooth = np.abs(PathPlanning.decode(embedding()) - grid()).max(1).reshape(9, 9)

    assert (PathPlanningNodes.decode(embedding()) == grid()).all()
    assert smooth.max() < 0.6
    assert smooth[1:-1, 1:-1].max() < 0.2


def test_places_stay_on_the_grid_and_move_smoothly(generator):
    radius, h = 2.0, 1e-6
    angle = generator.uniform(-np.pi, np.pi, size=200)
    distance = radius * np.sqrt(generator.random(200))

    def places(distance: np.ndarray) -> np.ndarray:
        spatial = np.sinh(distance) * [np.cos(angle), np.sin(angle)]
        return PathPlanning.decode(np.column_stack((np.cosh(distance), spatial.T)))

    speed = np.linalg.norm(places(distance + h) - places(distance - h), axis=1) / (2 * h)  # cells per unit of H^2
    assert places(distance).min() >= 0
    assert places(distance).max() <= 8
    assert speed.max() < 5  # the shortest edge is 0.3


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ([1.0, 0.0], "node_1 is .* shape"),
        ([1.0, 0.5, 0.0], "node_1 has the time coordinate 1, not 1.118"),
        ([math.cosh(2.1), math.sinh(2.1), 0.0], r"node_1 has 2.1 outside \[0, 2\]"),
        ([math.nan, 0.0, 0.0], "node_1 is .* not finite"),
    ],
)
def test_what_is_no_node_is_refused(node, message, generator):
    point = {**points_of(PathPlanning, generator, 1)[0], "node_1": node}

    with pytest.raises(ValueError, match=message):
        PathPlanning().evaluate(point, seed=0, stop=Stop())


def test_a_branch_with_a_node_too_few_is_refused(generator):
    with pytest.raises(ValueError, match="node_5"):
        PathPlanning().evaluate(points_of(PathPlanningThree, generator, 1)[0], seed=0, stop=Stop())


@pytest.mark.parametrize("kind", KINDS)
def test_it_describes_itself(kind):
    described = kind("printed").describe()

    assert described["simulator"] == f"numpy {np.__version__}"
    assert list(described["cost"]["weights"].values()) == [1.0, 25.0]
    assert described["parameters"].keys() == kind.space["factors"].keys()
    assert ("h = 0.22" in described["decoding"]) == (kind is not PathPlanningNodes)
