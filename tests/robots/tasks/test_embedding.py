"""The grid in the hyperbolic plane: the shipped points are what training gives, and as good as their file says."""

from __future__ import annotations

import json
from importlib.resources import files

import numpy as np
import pytest
from geodrome_robots.tasks import embedding as module
from geodrome_robots.tasks.embedding import distances, embedding, figures, grid, lifted, main, ranking, stress
from numpy.testing import assert_allclose
from scipy.sparse.csgraph import shortest_path

SHIPPED = json.loads(files("geodrome_robots.tasks").joinpath("embedding.json").read_text())


@pytest.fixture
def steps() -> np.ndarray:
    """Lengths of shortest ways in the graph whose edges join nodes at distance 1."""
    edges = np.linalg.norm(grid()[:, None] - grid(), axis=-1) == 1
    assert edges.sum() == 2 * 144
    return shortest_path(edges)


@pytest.fixture
def d() -> np.ndarray:
    """Distances of the shipped points, by the formula that loses digits near 0."""
    points = embedding()
    return np.arccosh(np.maximum(-(points * [-1, 1, 1]) @ points.T, 1))


def test_the_points_lie_on_the_hyperboloid():
    points = embedding()

    assert points.shape == (81, 3)
    assert_allclose((points**2) @ [-1, 1, 1], -1, atol=1e-12)


def test_nobody_changes_the_points_for_everybody():
    with pytest.raises(ValueError, match="read-only"):
        embedding()[0, 0] = 1


def test_distances_are_the_textbooks_and_keep_their_digits(d):
    near = lifted(np.array([[0.5, 0.0], [0.5 + 1e-9, 0.0]]))

    assert_allclose(distances(embedding(), embedding()), d, atol=1e-7)
    assert_allclose(distances(near, near)[0, 1], 1e-9 / np.hypot(1, 0.5), rtol=1e-6)


def test_the_file_tells_the_figures_of_its_points(d, steps):
    ratio = (d / np.where(steps > 0, steps, 1))[steps > 0]
    scale = np.sum(ratio**2) / np.sum(ratio)
    expected = {
        "scale": scale,
        "mean_relative_distortion": np.mean(np.abs(ratio / scale - 1)),
        "worst_distortion": np.max(ratio) / np.min(ratio),
        "radius": np.max(np.arcsinh(np.hypot(*embedding()[:, 1:].T))),
        "mean_edge": np.mean(d[steps == 1]),
        "shortest_edge": np.min(d[steps == 1]),
        "longest_edge": np.max(d[steps == 1]),
        "mean_average_precision": 1.0,
        "mean_rank": 1.0,
    }

    assert SHIPPED["figures"] == pytest.approx(expected, abs=1e-6)
    assert figures(embedding()) == pytest.approx(expected, abs=1e-9)


def test_every_node_is_nearer_to_its_neighbours_than_to_all_strangers(d, steps):
    farthest_neighbour = np.where(steps == 1, d, 0).max(1)
    nearest_stranger = np.where(steps > 1, d, np.inf).min(1)

    assert (farthest_neighbour < nearest_stranger).all()


def test_strangers_that_are_nearer_cost_rank_and_precision(steps):
    points = embedding().copy()
    points[[1, 40]] = points[[40, 1]]  # a neighbour of the corner and the middle change places
    d = distances(points, points)
    ranks, precision = [], []
    for u in range(81):
        neighbours = np.flatnonzero(steps[u] == 1)
        ranks += [1 + sum(d[u, w] < d[u, v] for w in np.flatnonzero(steps[u] > 1)) for v in neighbours]
        within = [[np.sum(d[u, some] <= d[u, v]) for some in (neighbours, steps[u] > 0)] for v in neighbours]
        precision.append(np.mean([near / all_near for near, all_near in within]))

    found = figures(points)

    assert np.mean(ranks) > 1 > np.mean(precision)
    assert_allclose(found["mean_rank"], np.mean(ranks))
    assert_allclose(found["mean_average_precision"], np.mean(precision))


@pytest.mark.parametrize("loss", [stress, ranking])
def test_derivatives_of_the_losses_are_those_of_finite_differences(loss, d, generator):
    change = generator.standard_normal(d.shape)
    change = (change + change.T) * (1 - np.eye(len(d)))
    h = 1e-6

    _, derivative = loss(d)

    numeric = (loss(d + h * change)[0] - loss(d - h * change)[0]) / (2 * h)
    assert_allclose((derivative * change).sum(), numeric, rtol=1e-6)
    assert_allclose(derivative, derivative.T)


def test_no_small_change_of_the_points_lessens_the_stress(generator):
    def stress_at(spatial: np.ndarray) -> float:
        points = lifted(spatial)
        return stress(distances(points, points))[0]

    spatial = embedding()[:, 1:]
    least = stress_at(spatial)

    for _ in range(20):
        assert stress_at(spatial + 1e-3 * generator.standard_normal(spatial.shape)) > least


def test_training_from_another_seed_gives_the_shipped_file(tmp_path, capsys):
    main(["--seed", "3", "--output", str(tmp_path / "again.json")])

    again = json.loads((tmp_path / "again.json").read_text())
    assert_allclose(again["x1_x2"], SHIPPED["x1_x2"], atol=1e-9)
    assert again["figures"] == pytest.approx(SHIPPED["figures"], abs=2e-6)
    assert again["made_by"] == "python -m geodrome_robots.tasks.embedding --loss stress --seed 3"
    assert json.loads(capsys.readouterr().out) == again["figures"]


def test_training_by_ranking_is_repeated_to_the_bit_and_ends_on_the_hyperboloid(monkeypatch):
    monkeypatch.setattr(module, "STEPS", 60)

    points = module.train("ranking", seed=1)

    assert (points == module.train("ranking", seed=1)).all()
    assert_allclose((points**2) @ [-1, 1, 1], -1, atol=1e-10)
