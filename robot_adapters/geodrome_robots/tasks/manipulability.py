"""Manipulability of a planar arm: draw a vertical line while the posture takes on a wanted velocity ellipsoid.

The point x is an ellipsoid M^, an SPD matrix. Eight joints follow, for 2 s in steps of 0.01 s,

    dtheta/dt = J^+ [dp_d/dt + K_p (p_d - p)] + N Jm^+ K_M vec(Log_M(M^)),    N = I - J^+ J,    M = J J^T,

with p the hand, p_d a line of minimum jerk, Jm = d vec(M) / dtheta (3 x 8) and Mandel's vec. With t along the line and
every term a mean over time, the costs are

    M1 = w_jerk |d3p/dt3| + w_M |vec Log_M(M^)|_1 + w_t t^T M^-1 t        M2 = w_acc |d2p/dt2| + w_M dist(M, M^)

They are the manipulability experiments of Jaquier et al. 2021, "Geometry-aware Bayesian Optimization in Robotics using
Riemannian Matérn Kernels", in the paper and in its appendix. The paper exchanges base and argument of the logarithm in
the controller, which leads away from M^ and off the line. In M1 it adds w_t t^T M t, which makes the arm slow along the
line; an aligned ellipsoid has a small t^T M^-1 t. The printed weights keep the printed term. The rest of the task is
left open, and shapes the cost more than M^ does; decision 13 tells how it was found:

- Links of 0.2 m, the hand 0.4 m from the base: random postures have eigenvalues of M from 0.015 to 3.1 m². The paper
  bounds M^ by [0.001, 5]; [0.1, 4] leaves out what is nearly singular or out of reach.
- The joints follow their commands with a lag of 0.05 s, as motors do. Without it a motion in the nullspace would not
  move the hand, and jerk and acceleration would measure the time step.
- Jm^+ is damped with 0.2, near the smallest singular value of Jm, so that the cost is no chatter; J^+ with 0.01.
  N Jm^+ is no inverse of Jm N: M nears M^, and seldom arrives within the 2 s.
- The motion in the nullspace gets 4 rad/s and is scaled down as a whole beyond: the line goes first.
- A link within 10 degrees of its neighbour ends the run as `Infeasible`: 7 of 100. The base turns freely.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from geodrome_robots.robot import Infeasible
from geodrome_robots.stop import Stop
from geodrome_robots.tasks import planar
from geodrome_robots.tasks.following import minimum_jerk
from geodrome_robots.tasks.simulation import damped_pseudo_inverse
from geodrome_robots.tasks.task import Outcome, Task

ARM = planar.PlanarArm(links=(0.2,) * 8)
START = (1.8,) + (-0.61,) * 7  # rad; an arc that holds the hand at (0.41, -0.14) m
LINE = np.array([0.0, 0.3])  # m
DIRECTION = LINE / np.linalg.norm(LINE)
LINE_GAIN = 75.0  # 1/s
ELLIPSOID_GAIN = 7.0  # 1/s
DAMPING = 0.01  # m
ELLIPSOID_DAMPING = 0.2  # m²
NULLSPACE_LIMIT = 4.0  # rad/s, of the norm
LAG = 0.05  # s
BEND_LIMIT = 170  # degrees
TIME_STEP = 0.01  # s
HORIZON = 2.0  # s


class Manipulability(Task):
    """M1: jerk, tracking and alignment; some 60 ms a trial."""

    name = "manipulability"
    space = {"type": "spd", "dim": 2, "eigenvalues": [0.1, 4.0], "metric": "affine_invariant", "unit": "m²"}
    simulator = "numpy"
    model = "planar arm of 8 revolute joints and links of 0.2 m, velocity control with lag"
    parameters = {
        "ellipsoid": {
            "meaning": "wanted manipulability J J^T of the hand, tracked in the nullspace",
            "unit": "m²",
            "frame": "base, x and y of the plane; the line runs along y",
        }
    }
    terms = {
        "jerk_m_per_s3": "|d3p/dt3| of the hand, mean over time, m/s³",
        "tracking_1norm_m2": "|vec Log_M(M^)|_1, mean over time, m²",
        "alignment_per_m2": "t^T M^-1 t with t along the line, mean over time, 1/m²",
        "printed_alignment_m2": "t^T M t, mean over time, m²",
    }
    weightings = {
        # Over 600 uniform ellipsoids the terms have standard deviations of 1.02, 1.54, 0.42 and (printed) 0.29.
        "balanced": {"jerk_m_per_s3": 1.0, "tracking_1norm_m2": 0.65, "alignment_per_m2": 2.4},
        "printed": {"jerk_m_per_s3": 0.1, "tracking_1norm_m2": 0.1, "printed_alignment_m2": 15.0},
    }
    settings = {
        "links_m": list(ARM.links),
        "start_rad": list(START),
        "line_m": LINE.tolist(),
        "line_gain_per_s": LINE_GAIN,
        "ellipsoid_gain_per_s": ELLIPSOID_GAIN,
        "damping_m": DAMPING,
        "ellipsoid_damping_m2": ELLIPSOID_DAMPING,
        "nullspace_limit_rad_per_s": NULLSPACE_LIMIT,
        "lag_s": LAG,
        "bend_limit_deg": BEND_LIMIT,
        "time_step_s": TIME_STEP,
        "horizon_s": HORIZON,
        "on_joint_limit": "infeasible",
    }

    def simulate(self, point: Any, stop: Stop) -> Outcome:
        """Draws the line with ``point`` as the wanted ellipsoid."""
        given = np.asarray(point, dtype=float)
        target = (given + given.T) / 2
        positions, ellipsoids, saturated_s = self._draw(target, stop)
        off = positions - positions[0] - LINE
        return Outcome(
            self._terms(positions, ellipsoids, target),
            metrics={
                "final_distance": float(planar.spd_log(ellipsoids[-1], target)[1]),
                "final_error_mm": float(1e3 * np.linalg.norm(off[-1])),
                "off_line_mm": float(1e3 * np.abs(off[:, 0]).max()),
                "saturated_s": saturated_s,
            },
        )

    def _terms(self, positions: np.ndarray, ellipsoids: np.ndarray, target: np.ndarray) -> dict[str, float]:
        tangents, _ = planar.spd_log(ellipsoids, target)
        return {
            "jerk_m_per_s3": planar.mean_derivative(positions, 3, dt=TIME_STEP),
            "tracking_1norm_m2": float(np.abs(planar.mandel(tangents)).sum(axis=1).mean()),
            "alignment_per_m2": float((np.linalg.inv(ellipsoids) @ DIRECTION @ DIRECTION).mean()),
            "printed_alignment_m2": float((ellipsoids @ DIRECTION @ DIRECTION).mean()),
        }

    def _draw(self, target: np.ndarray, stop: Stop) -> tuple[np.ndarray, np.ndarray, float]:
        """The hand (steps + 1, 2), the ellipsoid after each step (steps, 2, 2), how long the limit held it back, s."""
        q, velocity = np.array(START), np.zeros(len(START))
        positions, ellipsoids, saturated = [ARM.position(q)], [], 0
        steps = round(HORIZON / TIME_STEP)
        for step in range(steps):
            stop.check()
            try:
                along, across = _command(q, step / steps, positions[0], target)
            except np.linalg.LinAlgError as error:
                raise Infeasible(f"after {step * TIME_STEP:.2f} s, the arm is singular") from error
            excess = float(np.linalg.norm(across)) / NULLSPACE_LIMIT
            saturated += excess > 1
            command = along + across / max(1.0, excess)
            velocity = command + (velocity - command) * np.exp(-TIME_STEP / LAG)
            q = q + TIME_STEP * velocity
            bends = np.degrees(np.abs(q[1:]))
            if (bends > BEND_LIMIT).any():
                joint = int(bends.argmax()) + 2
                raise Infeasible(
                    f"after {step * TIME_STEP:.2f} s, joint {joint} would bend by over {BEND_LIMIT} degrees"
                )
            positions.append(ARM.position(q))
            ellipsoids.append(planar.manipulability(ARM.jacobian(q)))
        return np.array(positions), np.array(ellipsoids), float(saturated * TIME_STEP)


def _command(q: np.ndarray, time: float, begin: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Joint velocities along the line and in the nullspace, rad/s, at a time in [0, 1]."""
    way, rate = minimum_jerk(time)
    jacobian = ARM.jacobian(q)
    inverse = damped_pseudo_inverse(jacobian, damping=DAMPING)
    along = inverse @ (rate / HORIZON * LINE + LINE_GAIN * (begin + way * LINE - ARM.position(q)))
    slope = planar.manipulability_jacobian(jacobian, ARM.hessian(q))
    tangent, _ = planar.spd_log(planar.manipulability(jacobian), target)
    wanted = damped_pseudo_inverse(slope, damping=ELLIPSOID_DAMPING) @ (ELLIPSOID_GAIN * planar.mandel(tangent))
    return along, wanted - inverse @ (jacobian @ wanted)


class ManipulabilityOfTheAppendix(Manipulability):
    """M2: the same motion; acceleration and distance."""

    name = "manipulability-appendix"
    terms = {
        "acceleration_m_per_s2": "|d2p/dt2| of the hand, mean over time, m/s²",
        "tracking_distance": "affine-invariant dist(M, M^), mean over time",
    }
    weightings = {
        # Over 600 uniform ellipsoids the terms have standard deviations of 0.0169 and 0.56.
        "balanced": {"acceleration_m_per_s2": 33.0, "tracking_distance": 1.0},
        "printed": {"acceleration_m_per_s2": 0.1, "tracking_distance": 1.0},
    }

    def _terms(self, positions: np.ndarray, ellipsoids: np.ndarray, target: np.ndarray) -> dict[str, float]:
        return {
            "acceleration_m_per_s2": planar.mean_derivative(positions, 2, dt=TIME_STEP),
            "tracking_distance": float(planar.spd_log(ellipsoids, target)[1].mean()),
        }
