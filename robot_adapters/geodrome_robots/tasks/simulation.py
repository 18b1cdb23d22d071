"""What simulated tasks share: an arm moved by joint velocities, ellipsoids, unit quaternions.

Units are radians, metres, seconds, newtons and their products. Quaternions are [w, x, y, z].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from geodrome_robots.robot import Infeasible, RobotFault
from geodrome_robots.tasks.models import require_inertia, require_masses, toolbox_model


class Arm:
    """A serial arm of the Robotics Toolbox, moved by joint velocities in explicit Euler steps.

    Args:
        model: A robot of the toolbox. Its kinematics are evaluated as elementary transforms, which are the same to
            rounding and 11 to 25 times faster.
        velocity_limits: The largest speed of each joint, rad/s.
        torques: Whether torques will be asked for, which need masses.
        dynamics: Whether inertia will be asked for, which needs more than masses.
        stops: Whether the joints have the ranges of the model; without, they turn without end.

    Raises:
        RobotFault: The model lacks what is needed; see ``models``.
    """

    def __init__(
        self,
        model: Any,
        *,
        velocity_limits: np.ndarray,
        torques: bool = True,
        dynamics: bool = False,
        stops: bool = True,
    ) -> None:
        if torques:
            require_masses(model)
        if dynamics:
            require_inertia(model)
        self._model = model
        self._transforms = model.ets()
        limits: np.ndarray = model.qlim if stops else np.outer((-np.inf, np.inf), np.ones(model.n))
        self._lower, self._upper = limits
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

    def inertia(self, q: np.ndarray) -> np.ndarray:
        """Joint-space inertia matrix, kg m², (n, n)."""
        return np.array(self._model.inertia(q))

    def off_middle(self, q: np.ndarray) -> float:
        """Mean square over the joints of the distance from mid-range, as a part of half the range; 1 at the stops.

        It is the measure of Liégeois 1977, "Automatic supervisory control of the configuration and behavior of
        multibody mechanisms", but for a factor.
        """
        return float(np.mean((2 * (q - self.middle) / (self._upper - self._lower)) ** 2))

    @property
    def middle(self) -> np.ndarray:
        """The posture with every joint in mid-range, rad, (n,)."""
        return np.array((self._lower + self._upper) / 2)

    def clip(self, q: np.ndarray) -> np.ndarray:
        """The nearest joint angles between the stops: for a search of postures, not for a motion."""
        return np.array(np.clip(q, self._lower, self._upper))

    def saturation(self, velocity: np.ndarray) -> float:
        """The largest joint speed as a part of its limit; above 1 the arm cannot follow."""
        return float(np.max(np.abs(velocity) / self._velocity_limits))

    def step(self, q: np.ndarray, velocity: np.ndarray, *, dt: float, since: float = 0.0) -> np.ndarray:
        """The joint angles after moving for ``dt`` seconds, ``since`` seconds after the motion began.

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
                f"after {since + dt:.2f} s, joint {joint + 1} would go to {moved[joint]:.3f} rad, "
                f"outside [{self._lower[joint]:.3f}, {self._upper[joint]:.3f}]"
            )
        return moved


def panda(*, dynamics: bool = False, stops: bool = True) -> Arm:
    """A Franka Panda with its hand: the toolbox's DH model, which has masses (its URDF model has none).

    The velocity limits are the maker's: 2.175 rad/s for joints 1 to 4, 2.61 rad/s for joints 5 to 7.
    """
    limits = np.array([2.175] * 4 + [2.61] * 3)
    return Arm(toolbox_model("DH.Panda"), velocity_limits=limits, dynamics=dynamics, stops=stops)


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
