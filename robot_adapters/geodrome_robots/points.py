"""Points of a space as they travel: uniform random ones, and what is wrong with a given one.

The service knows what a point is to the last digit; a robot needs only this much, and needs it without a server.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from geodrome import spaces
from pydantic import TypeAdapter

from geodrome_robots import balls

# The service mends what is this close to its manifold or its bounds, and refuses the rest.
NORM_TOLERANCE = 0.01
ORTHOGONALITY_TOLERANCE = 2e-3
SYMMETRY_TOLERANCE = 1e-6  # relative
BOUND_TOLERANCE = 1e-9  # relative

HALF_TURN = {"rad": math.pi, "deg": 180.0}
"""By unit."""

_SPACE: TypeAdapter[spaces.Space] = TypeAdapter(spaces.Space)


def parse_space(spec: Mapping[str, Any]) -> spaces.Space:
    """The space that a spec describes.

    Raises:
        pydantic.ValidationError: No space is written like this.
    """
    return _SPACE.validate_python(spec)


def canonical_quaternion(quaternion: np.ndarray) -> np.ndarray:
    """The one of q and -q whose first non-zero component (w, x, y, z) is positive, normalized to length 1."""
    unit: np.ndarray = quaternion / np.linalg.norm(quaternion)
    return unit if unit[np.flatnonzero(unit)[0]] > 0 else -unit


def random_point(space: spaces.Space, generator: np.random.Generator) -> Any:  # noqa: PLR0911 - a case for each
    """A point drawn uniformly from a bounded space, in canonical form.

    Reals are uniform in their scale, directions and rotations uniform on their manifold or in their ball, eigenvalues
    of SPD matrices log-uniform with a uniform orientation.

    Raises:
        ValueError: The space has no bounds.
    """
    match space:
        case spaces.Real():
            return float(_box(space, generator, dim=1)[0])
        case spaces.Integer(bounds=(lower, upper)):
            return int(generator.integers(int(lower), int(upper), endpoint=True))
        case spaces.Euclidean():
            return _box(space, generator, dim=space.dim).tolist()
        case spaces.Joints():
            return generator.uniform(*np.transpose(space.bounds)).tolist()
        case spaces.Torus():
            half = HALF_TURN[space.unit]
            return (half * (1 - 2 * generator.random(space.dim))).tolist()
        case spaces.Sphere():
            return _direction(space, generator).tolist()
        case spaces.Rotation():
            return _rotation(space, generator)
        case spaces.SPD():
            if space.eigenvalues is None:
                raise ValueError("an spd space without bounds on its eigenvalues has no uniform points")
            lower, upper = np.log(space.eigenvalues)
            eigenvalues = np.exp(generator.uniform(lower, upper, size=space.dim))
            axes, _ = np.linalg.qr(generator.standard_normal((space.dim, space.dim)))
            matrix = (axes * eigenvalues) @ axes.T
            return ((matrix + matrix.T) / 2).tolist()
        case spaces.Hyperbolic():
            return _hyperbolic(space, generator).tolist()
        case spaces.Pose():
            return random_point(_factors(space), generator)
        case spaces.Product():
            return {name: random_point(factor, generator) for name, factor in space.factors.items()}


def point_faults(space: spaces.Space, point: Any) -> list[str]:
    """What is wrong with ``point`` as a point of ``space``, a sentence for each fault; empty if nothing is."""
    if isinstance(space, spaces.Pose):
        space = _factors(space)
    if isinstance(space, spaces.Product):
        if not isinstance(point, Mapping) or set(point) != set(space.factors):
            return [f"is {point!r}, not an object of {sorted(space.factors)}"]
        return [
            f"{name} {fault}" for name, factor in space.factors.items() for fault in point_faults(factor, point[name])
        ]
    shape = _shape(space)
    try:
        values = np.asarray(point, dtype=float)
    except (TypeError, ValueError):
        return [f"is {point!r}, not numbers of shape {shape}"]
    if values.shape != shape or isinstance(point, str):
        return [f"is {point!r}, not numbers of shape {shape}"]
    if not np.isfinite(values).all():
        return [f"is {point!r}, which is not finite"]
    return _off_manifold(space, values)


def _factors(pose: spaces.Pose) -> spaces.Product:
    """The product that a pose is."""
    position = spaces.Euclidean(dim=3, bounds=pose.position.bounds)
    return spaces.Product(factors={"position": position, "orientation": pose.orientation})


def _box(space: spaces.Real | spaces.Euclidean, generator: np.random.Generator, *, dim: int) -> np.ndarray:
    if space.bounds is None:
        raise ValueError(f"a {space.type} space without bounds has no uniform points")
    bounds = np.asarray(space.bounds, dtype=float).reshape(dim, 2)
    lower, upper = (np.log(bounds) if space.scale == "log" else bounds).T
    drawn = generator.uniform(lower, upper)
    return np.exp(drawn) if space.scale == "log" else drawn


def _direction(space: spaces.Sphere, generator: np.random.Generator) -> np.ndarray:
    if space.cap is not None:
        return balls.random_direction(balls.direction_of(space.cap.center), space.cap.radius, generator)
    return balls.direction_of(generator.standard_normal(space.dim + 1))


def _rotation(space: spaces.Rotation, generator: np.random.Generator) -> list[Any]:
    from spatialmath.base import r2q

    if space.ball is not None:
        matrix = balls.random_rotation(balls.rotation_of(space, space.ball.center), space.ball.radius, generator)
    elif space.dim != 3:
        matrix = _special_orthogonal(space.dim, generator)
    else:
        return _turned(space, generator.standard_normal(4))
    return list(matrix.tolist()) if space.representation == "matrix" else _turned(space, r2q(matrix))


def _turned(space: spaces.Rotation, quaternion: np.ndarray) -> list[Any]:
    """The rotation of a quaternion (w, x, y, z) of any length, as the space writes it."""
    from spatialmath.base import q2r

    wxyz = canonical_quaternion(quaternion)
    if space.representation == "matrix":
        return list(q2r(wxyz).tolist())
    return list((wxyz if space.order == "wxyz" else np.roll(wxyz, -1)).tolist())


def _special_orthogonal(size: int, generator: np.random.Generator) -> np.ndarray:
    """Uniform: the orthogonal factor of a normal matrix, as Mezzadri 2007 has it."""
    q, r = np.linalg.qr(generator.standard_normal((size, size)))
    q = q * np.sign(np.diagonal(r))
    q[:, -1] *= np.sign(np.linalg.det(q))
    return np.asarray(q)


def _hyperbolic(space: spaces.Hyperbolic, generator: np.random.Generator) -> np.ndarray:
    """Logarithms at the origin are uniform in a ball; uniform by volume, nearly all points would lie at the border."""
    if space.radius is None:
        raise ValueError("a hyperbolic space without a radius has no uniform points")
    direction = generator.standard_normal(space.dim)
    direction /= np.linalg.norm(direction)
    distance = space.radius * generator.random() ** (1 / space.dim)
    if space.model == "poincare":
        return np.asarray(np.tanh(distance / 2) * direction)
    return np.append(np.cosh(distance), np.sinh(distance) * direction)


def _shape(space: spaces.Space) -> tuple[int, ...]:  # noqa: PLR0911 - a case for each
    match space:
        case spaces.Euclidean() | spaces.Torus() | spaces.Hyperbolic(model="poincare"):
            return (space.dim,)
        case spaces.Joints():
            return (len(space.bounds),)
        case spaces.Hyperbolic():
            return (space.dim + 1,)
        case spaces.Sphere():
            return (space.dim + 1,)
        case spaces.Rotation(representation="quaternion"):
            return (4,)
        case spaces.Rotation():
            return (space.dim, space.dim)
        case spaces.SPD():
            return (space.dim, space.dim)
        case _:
            return ()


def _off_manifold(space: spaces.Space, values: np.ndarray) -> list[str]:  # noqa: PLR0911 - a case for each
    match space:
        case spaces.Real() | spaces.Euclidean() | spaces.Joints():
            return _outside(values, space.bounds)
        case spaces.Integer():
            found = float(values)
            return [f"is {found:g}, no whole number"] if found % 1 else _outside(values, space.bounds)
        case spaces.Hyperbolic():
            return _off_hyperbolic(space, values)
        case spaces.Rotation(representation="matrix"):
            return _off_rotation(values) or _off_ball(space, values)
        case spaces.Sphere() | spaces.Rotation():
            norm = float(np.linalg.norm(values))
            return [f"has norm {norm:.6g}, not 1"] if abs(norm - 1) > NORM_TOLERANCE else _off_ball(space, values)
        case spaces.SPD():
            return _off_spd(space, values)
        case _:
            return []


def _off_hyperbolic(space: spaces.Hyperbolic, values: np.ndarray) -> list[str]:
    if space.model == "lorentz":
        time, expected = float(values[0]), float(np.hypot(1, np.linalg.norm(values[1:])))
        if abs(time - expected) > NORM_TOLERANCE / 2 * expected:
            return [f"has the time coordinate {time:.6g}, not {expected:.6g}"]
        distance = math.asinh(float(np.linalg.norm(values[1:])))
    else:
        norm = float(np.linalg.norm(values))
        if norm >= 1:
            return [f"has norm {norm:.6g}, not inside the ball"]
        distance = 2 * math.atanh(norm)
    return [] if space.radius is None else _outside(np.asarray(distance), (0.0, space.radius))


def _off_rotation(values: np.ndarray) -> list[str]:
    if (determinant := float(np.linalg.det(values))) <= 0:
        return [f"is a reflection, det = {determinant:.3f}"]
    deviation = float(np.abs(values @ values.T - np.eye(len(values))).max())
    return [f"is not orthogonal: R R^T is {deviation:.2g} off"] if deviation > ORTHOGONALITY_TOLERANCE else []


def _off_ball(space: spaces.Sphere | spaces.Rotation, values: np.ndarray) -> list[str]:
    match space:
        case spaces.Sphere(cap=spaces.Ball() as ball):
            distance = balls.angle_between(balls.direction_of(ball.center), balls.direction_of(values))
        case spaces.Rotation(ball=spaces.Ball() as ball):
            center, rotation = balls.rotation_of(space, ball.center), balls.rotation_of(space, values)
            distance = balls.turn_between(center, rotation)
        case _:
            return []
    if distance <= ball.radius * (1 + BOUND_TOLERANCE):
        return []
    return [f"is {distance:.6g} rad from the center, beyond the radius {ball.radius:g}"]


def _off_spd(space: spaces.SPD, values: np.ndarray) -> list[str]:
    if not np.allclose(values, values.T, rtol=0, atol=SYMMETRY_TOLERANCE * np.abs(values).max()):
        return ["is not symmetric"]
    eigenvalues = np.linalg.eigvalsh(values)
    if eigenvalues[0] <= 0:
        return [f"has the eigenvalues {eigenvalues.tolist()}, which are not all positive"]
    return _outside(eigenvalues, space.eigenvalues)


def _outside(values: np.ndarray, bounds: Any) -> list[str]:
    if bounds is None:
        return []
    pairs = np.broadcast_to(np.asarray(bounds, dtype=float), (*values.shape, 2)).reshape(-1, 2)
    return [
        f"has {value:.6g} outside [{lower:g}, {upper:g}]"
        for value, (lower, upper) in zip(values.ravel().tolist(), pairs.tolist(), strict=True)
        if not lower - BOUND_TOLERANCE * math.fabs(lower) <= value <= upper + BOUND_TOLERANCE * math.fabs(upper)
    ]
