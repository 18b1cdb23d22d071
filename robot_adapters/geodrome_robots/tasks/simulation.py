"""What simulated tasks share: an arm moved by joint velocities, ellipsoids, unit quaternions.

Units are radians, metres, seconds, newtons and their products. Quaternions are [w, x, y, z]. The Robotics Toolbox takes
seconds to import, so it is imported where an arm is made.
"""

from __future__ import annotations

import os
from functools import cache
from operator import attrgetter
from typing import Any

import numpy as np

from geodrome_robots.robot import Infeasible, RobotFault


class Arm:
    """A serial arm of the Robotics Toolbox, moved by joint velocities in explicit Euler steps.

    Args:
        model: A robot of the toolbox. Its kinematics are evaluated as elementary transforms, which are the same to
            rounding and 11 to 25 times faster.
        velocity_limits: The largest speed of each joint, rad/s.
        torques: Whether torques will be asked for, which need masses.

    Raises:
        RobotFault: The model has no masses: most URDF models of the toolbox have none, and would weigh nothing.
    """

    def __init__(self, model: Any, *, velocity_limits: np.ndarray, torques: bool = True) -> None:
        kind = type(model).__name__
        if torques and not any(link.m for link in model.links):
            raise RobotFault(
                f"the model {kind} has no masses, and so no torques: take roboticstoolbox.models.DH.{kind}"
            )
        self._model = model
        self._transforms = model.ets()
        self._lower, self._upper = model.qlim
        self._velocity_limits = velocity_limits

    def pose(self, q: np.ndarray) -> np.ndarray:
        """Pose of the tool in the base frame, (4, 4)."""
        return np.array(self._transforms.eval(q))

    def orientation(self, q: np.ndarray) -> np.ndarray:
        """Orientation of the tool in the base frame as a unit quaternion, (4,)."""
        from spatialmath.base import r2q

        return np.array(r2q(self.pose(q)[:3, :3]))

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        """Geometric Jacobian in the base frame, (6, n): three rows of m/s, three of rad/s."""
        return np.array(self._transforms.jacob0(q))

    def gravity_torques(self, q: np.ndarray) -> np.ndarray:
        """Torques that hold the arm at rest, N m, (n,)."""
        return np.array(self._model.gravload(q))

    def saturation(self, velocity: np.ndarray) -> float:
        """The largest joint speed as a part of its limit; above 1 the arm cannot follow."""
        return float(np.max(np.abs(velocity) / self._velocity_limits))

    def step(self, q: np.ndarray, velocity: np.ndarray, *, dt: float) -> np.ndarray:
        """The joint angles after moving for ``dt`` seconds.

        A velocity beyond the limits is scaled down as a whole: the tool goes the same way, more slowly. Clipping each
        joint by itself would bend its path.

        Raises:
            Infeasible: A joint would leave its range.
            RobotFault: The velocity is not finite.
        """
        if not np.isfinite(velocity).all():
            raise RobotFault(f"the simulation left the finite numbers: joint velocities {velocity.tolist()}")
        moved = q + dt * velocity / max(1.0, self.saturation(velocity))
        broken = np.flatnonzero((moved < self._lower) | (moved > self._upper))
        if broken.size:
            joint = int(broken[0])
            raise Infeasible(
                f"joint {joint + 1} would go to {moved[joint]:.3f} rad, "
                f"outside [{self._lower[joint]:.3f}, {self._upper[joint]:.3f}]"
            )
        return moved


@cache
def toolbox() -> Any:
    """The Robotics Toolbox, imported without a display."""
    os.environ.setdefault("MPLBACKEND", "Agg")  # the toolbox imports pyplot, which looks for a screen
    import roboticstoolbox

    return roboticstoolbox


def toolbox_model(name: str) -> Any:
    """A model of the toolbox, such as ``DH.Panda``; only what is on this machine, nothing is fetched.

    Raises:
        RobotFault: There is no such model here.
    """
    models = toolbox().models
    # Some descriptions are cloned from the network at first use, which may take for ever: git may read files only.
    before = os.environ.get("GIT_ALLOW_PROTOCOL")
    os.environ["GIT_ALLOW_PROTOCOL"] = "file"
    try:
        return attrgetter(name)(models)()
    except Exception as error:
        # Every description has a loader of its own, with errors of its own.
        hint = f"models.DH.{name.rpartition('.')[2]}, if there is one, comes with the toolbox"
        raise RobotFault(f"the model {name} is not on this machine: {' '.join(str(error).split())}; {hint}") from error
    finally:
        if before is None:
            del os.environ["GIT_ALLOW_PROTOCOL"]
        else:
            os.environ["GIT_ALLOW_PROTOCOL"] = before


def panda() -> Arm:
    """A Franka Panda with its hand: the toolbox's DH model, which has masses (its URDF model has none).

    The velocity limits are the maker's: 2.175 rad/s for joints 1 to 4, 2.61 rad/s for joints 5 to 7.
    """
    return Arm(toolbox_model("DH.Panda"), velocity_limits=np.array([2.175] * 4 + [2.61] * 3))


def damped_pseudo_inverse(jacobian: np.ndarray, *, damping: float) -> np.ndarray:
    """J^T (J J^T + damping^2 I)^-1 for a Jacobian (m, n): (n, m), bounded by 1 / (2 damping) near singularities."""
    gram = jacobian @ jacobian.T + damping**2 * np.eye(len(jacobian))
    return np.linalg.solve(gram, jacobian).T


def velocity_ellipsoid(jacobian: np.ndarray) -> np.ndarray:
    """Manipulability J_v J_v^T of the linear velocities, (3, 3), m²; its determinant is the squared volume."""
    linear = jacobian[:3]
    return np.array(linear @ linear.T)


def quaternion_rate(q: np.ndarray) -> np.ndarray:
    """The matrix E(q), (4, 3), with dq/dt = E(q) w / 2 for an angular velocity w in the base frame."""
    from spatialmath.base import skew

    return np.vstack((-q[1:], q[0] * np.eye(3) - skew(q[1:])))


def quaternion_log(q: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The tangent at ``q`` of the shortest way to the *rotation* ``target``, (4,); its norm is half the angle.

    ``target`` and ``-target`` are one rotation: the one in the hemisphere of ``q`` is meant.
    """
    near: np.ndarray = target if q @ target >= 0 else -target
    # Projected twice: once leaves a rounding error along q that a tiny tangent would not outweigh.
    tangent = near - (q @ near) * q
    tangent -= (q @ tangent) * q
    sine = np.linalg.norm(tangent)
    angle = np.arctan2(sine, q @ near)
    return np.array(tangent * (angle / sine)) if sine > 0 else tangent
