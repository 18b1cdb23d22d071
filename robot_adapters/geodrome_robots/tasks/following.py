"""What tasks of an arm's whole way share: the smoothest way, the error of a pose, and the manipulability."""

from __future__ import annotations

import numpy as np

from geodrome_robots.tasks.simulation import Arm, quaternion_log, quaternion_rate


def minimum_jerk(progress: float) -> tuple[float, float]:
    """The smoothest way from 0 to 1 as a function of progress, and its slope; at rest before 0 and after 1."""
    r = min(max(progress, 0.0), 1.0)
    return r**3 * (10 - 15 * r + 6 * r**2), 30 * r**2 * (1 - r) ** 2


def pose_error(arm: Arm, q: np.ndarray, position: np.ndarray, orientation: np.ndarray) -> np.ndarray:
    """From the tool's pose at ``q`` to the desired one, (6,): metres, and the rotation vector in the base frame.

    ``orientation`` is a unit quaternion; it and its negative are one rotation.
    """
    now = arm.orientation(q)
    # From dq/dt = E w / 2 follows w = 2 E^T dq/dt, since E^T E is the identity.
    turn = 2 * quaternion_rate(now).T @ quaternion_log(now, orientation)
    return np.concatenate((position - arm.pose(q)[:3, 3], turn))


def manipulability(jacobian: np.ndarray) -> float:
    """Yoshikawa's measure of the linear velocities, sqrt(det J_v J_v^T), m³: the volume of their ellipsoid."""
    linear = jacobian[:3]
    return float(np.sqrt(max(0.0, np.linalg.det(linear @ linear.T))))
