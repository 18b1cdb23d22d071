"""Random points lie on their spaces, and a point that does not is told what is wrong with it."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from geodrome_robots import balls
from geodrome_robots.points import canonical_quaternion, parse_space, point_faults, random_point

QUATERNION = {"type": "rotation"}
MATRIX = {"type": "rotation", "representation": "matrix"}
PLANAR = {"type": "rotation", "dim": 2}
FOUR = {"type": "rotation", "dim": 4}
STIFFNESS = {"type": "spd", "dim": 2, "eigenvalues": [10.0, 3000.0]}
GAIN = {"type": "real", "bounds": [0.01, 100.0], "scale": "log"}
BOX = {"type": "euclidean", "dim": 2, "bounds": [[-1.0, 1.0], [0.0, 5.0]]}
DIRECTION = {"type": "sphere", "dim": 2}
CAP = {"type": "sphere", "dim": 2, "cap": {"center": [0.6, 0, -0.8], "radius": 0.5}}
LARGE_CAP = {"type": "sphere", "dim": 10, "cap": {"center": [[0]] * 10 + [[1]], "radius": 3.0}}
NEAR = {"type": "rotation", "order": "xyzw", "ball": {"center": {"w": 0, "x": 0, "y": 0, "z": -1}, "radius": 0.5}}
NEAR_MATRIX = {**MATRIX, "ball": {"center": {"rotvec": [0, 0, 1.5]}, "radius": 3.14}}
NEAR_FOUR = {
    "type": "rotation",
    "dim": 4,
    "ball": {"center": [[0, -1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0]], "radius": 1.0},
}
COUNT = {"type": "integer", "bounds": [-2, 3]}
JOINTS = {"type": "joints", "bounds": [[-2.9, 2.9], [-1.8, 1.8]]}
WRIST = {"type": "torus", "dim": 2, "unit": "deg"}
BALL = {"type": "hyperbolic", "dim": 3, "model": "poincare", "radius": 2.0}
HYPERBOLOID = {"type": "hyperbolic", "dim": 2, "radius": 2.0}
POSE = {"type": "pose", "position": {"bounds": [[-1, 1], [0, 1], [0.2, 0.3]]}, "orientation": {"order": "xyzw"}}
PRODUCT = {"type": "product", "factors": {"k": STIFFNESS, "tool": QUATERNION}}


@pytest.mark.parametrize(
    "spec",
    [
        QUATERNION,
        MATRIX,
        PLANAR,
        FOUR,
        STIFFNESS,
        GAIN,
        BOX,
        DIRECTION,
        CAP,
        LARGE_CAP,
        NEAR,
        NEAR_MATRIX,
        NEAR_FOUR,
        {**PLANAR, "ball": {"center": [[0, 1], [-1, 0]], "radius": 0.001}},
        COUNT,
        JOINTS,
        WRIST,
        BALL,
        HYPERBOLOID,
        POSE,
        PRODUCT,
    ],
)
def test_random_points_are_on_their_space_and_are_json(spec, generator):
    space = parse_space(spec)

    for _ in range(20):
        point = random_point(space, generator)
        assert point_faults(space, json.loads(json.dumps(point))) == []


def test_random_rotations_are_uniform():
    """The angle of a uniform rotation has density (1 - cos t) / pi, so its mean is pi / 2 + 2 / pi."""
    generator = np.random.default_rng(1)
    space = parse_space(QUATERNION)
    quaternions = np.array([random_point(space, generator) for _ in range(4000)])

    angles = 2 * np.arccos(quaternions[:, 0])

    assert abs(angles.mean() - (np.pi / 2 + 2 / np.pi)) < 0.03
    assert np.abs(quaternions[:, 1:].mean(axis=0)).max() < 0.03


def largest_gap(samples, distribution):
    """Kolmogorov's distance between samples and a distribution function."""
    found = (np.arange(len(samples)) + 0.5) / len(samples)
    return np.abs(distribution(np.sort(samples)) - found).max()


def test_random_directions_are_uniform_in_a_cap():
    """Archimedes: on the sphere, areas are proportional to heights."""
    generator = np.random.default_rng(1)
    center = balls.direction_of([1, 2, 2])

    directions = np.array([balls.random_direction(center, 2.0, generator) for _ in range(4000)])

    assert largest_gap(directions @ center, lambda height: (height - math.cos(2)) / (1 - math.cos(2))) < 0.026
    across = directions - (directions @ center)[:, None] * center
    assert np.abs(across.mean(axis=0)).max() < 0.03


def test_random_rotations_are_uniform_in_a_ball():
    """The angle of a uniform rotation has density 1 - cos t."""
    generator = np.random.default_rng(1)
    center = balls.rotation_of(parse_space(QUATERNION), {"rotvec": [1.0, 0.5, -2.0]})

    angles = [balls.turn_between(center, balls.random_rotation(center, 2.0, generator)) for _ in range(4000)]

    assert largest_gap(angles, lambda t: (t - np.sin(t)) / (2 - math.sin(2))) < 0.026  # Kolmogorov's bound at 1 %


def test_the_two_quaternion_orders_name_the_same_rotation():
    wxyz = random_point(parse_space({**QUATERNION, "order": "wxyz"}), np.random.default_rng(5))
    xyzw = random_point(parse_space({**QUATERNION, "order": "xyzw"}), np.random.default_rng(5))

    assert xyzw == [*wxyz[1:], wxyz[0]]


@pytest.mark.parametrize(
    ("quaternion", "canonical"),
    [([-2, 0, 0, 0], [1, 0, 0, 0]), ([0, -3, 4, 0], [0, 0.6, -0.8, 0]), ([-0.0, 0, 0, -1], [0, 0, 0, 1])],
)
def test_the_canonical_quaternion_has_its_first_component_positive(quaternion, canonical):
    np.testing.assert_allclose(canonical_quaternion(np.array(quaternion, dtype=float)), canonical, atol=1e-15)


@pytest.mark.parametrize(
    ("spec", "point", "fault"),
    [
        (QUATERNION, [2, 0, 0, 0], "has norm 2, not 1"),
        (QUATERNION, [1, 0, 0], "shape (4,)"),
        (QUATERNION, [1, 0, 0, None], "not finite"),
        (MATRIX, [[1, 0, 0], [0, 1, 0], [0, 0, -1]], "reflection, det = -1.000"),
        (MATRIX, [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]], "not orthogonal"),
        (STIFFNESS, [[20, 1], [0, 20]], "not symmetric"),
        (STIFFNESS, [[20, 30], [30, 20]], "not all positive"),
        (STIFFNESS, [[5, 0], [0, 20]], "5 outside [10, 3000]"),
        (GAIN, 200.0, "200 outside [0.01, 100]"),
        (GAIN, "2.0", "numbers"),
        (BOX, [0.0, 6.0], "6 outside [0, 5]"),
        (CAP, [0.0, 0.0, -1.0], "is 0.643501 rad from the center, beyond the radius 0.5"),
        (NEAR, [0, 0, math.sin(1), math.cos(1)], "is 1.14159 rad from the center, beyond the radius 0.5"),
        (NEAR_FOUR, np.eye(4).tolist(), "rad from the center, beyond the radius 1"),
        (PRODUCT, {"k": [[20, 0], [0, 20]]}, "not an object of ['k', 'tool']"),
        (PRODUCT, {"k": [[20, 0], [0, 20]], "tool": [0, 0, 0, 0]}, "tool has norm 0"),
    ],
)
def test_a_point_off_its_space_is_told_why(spec, point, fault):
    assert fault in " ".join(point_faults(parse_space(spec), point))


@pytest.mark.parametrize("spec", [{"type": "real"}, {"type": "euclidean", "dim": 2}, {"type": "spd", "dim": 2}])
def test_a_space_without_bounds_has_no_uniform_points(spec, generator):
    with pytest.raises(ValueError, match="without bounds"):
        random_point(parse_space(spec), generator)
