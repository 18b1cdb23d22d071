"""Tool orientation of a Franka Panda: reach an orientation, hold little torque, keep the arm nimble.

The point x is a target orientation. From a fixed posture, the joints follow

    dtheta/dt = J_q(theta)^+ K_p Log_q(x),    J_q = E(q) J_w / 2,

with q the current orientation as a unit quaternion, for 2 s in steps of 0.01 s. At the final state the costs are

    O1 = w_q |Log_q(q0)|_1 + w_tau |tau|^2 - w_M det M          O2 = w_q dist(q0, q) + w_tau |tau|^2 + w_M cond M

with q0 a preferred orientation, tau the torques that hold the arm against gravity, M = J_v J_v^T. They are the
orientation experiments of Jaquier et al. 2021, "Geometry-aware Bayesian Optimization in Robotics using Riemannian
Matérn Kernels", in the paper and in its appendix. The paper prints the controller with base and argument of the
logarithm exchanged, tracks q0 in place of x, and gives neither robot and posture nor time step, horizon and torque;
these are ours:

- The target is x; its sign is flipped into the hemisphere of q, since x and -x are one rotation.
- A velocity over the limits is scaled down as a whole, so that the tool still turns the shortest way.
- A joint at its limit ends the run as `Infeasible`, as the reflex of the real arm does: 1 to 3 of 100 uniform targets.
- With ``damping`` 0.01, the pseudo-inverse is exact to 1e-3 at the postures met here and bounded at singular ones.
- The cost jumps where the target is half a turn from the start: there are two shortest ways, which end in different
  postures.
- Balanced weights give each term a like spread over uniform targets, so that the best point is a compromise. With the
  printed ones O1 is nearly the distance to q0, and O2 nearly the torque.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from geodrome_robots.points import canonical_quaternion
from geodrome_robots.stop import Stop
from geodrome_robots.tasks.simulation import (
    Arm,
    damped_pseudo_inverse,
    panda,
    quaternion_log,
    quaternion_rate,
    velocity_ellipsoid,
)
from geodrome_robots.tasks.task import Outcome, Task

START = (0.0, -0.3, 0.0, -2.2, 0.0, 2.0, np.pi / 4)  # rad; the ready posture of the arm's maker
PREFERRED = (0.8, 0.6, 0.0, 0.0)  # wxyz
GAIN = 6.0  # 1/s
TIME_STEP = 0.01  # s
HORIZON = 2.0  # s
DAMPING = 0.01

FRAMES = {"order": "wxyz", "frame": "panda_hand", "relative_to": "panda_link0"}


class Orientation(Task):
    """O1: turn the tool of a Panda; some 20 ms a trial."""

    name = "orientation"
    space = {"type": "rotation", "representation": "quaternion", **FRAMES}
    model = "Franka Panda with hand, parameters of roboticstoolbox.models.DH.Panda, velocity control"
    parameters = {
        "orientation": {
            "meaning": "target orientation of the tool; q and -q are the same",
            "unit": "unit quaternion",
            **FRAMES,
        }
    }
    terms = {
        "orientation_1norm_rad": "|Log_q(q0)|_1 at the final state, rad",
        "torque_squared_N2m2": "|tau|^2 of the torques that hold the final posture, (N m)^2",
        "manipulability_det_m6": "det(J_v J_v^T) at the final posture, m^6",
    }
    weightings = {
        # Over 300 uniform targets the terms have standard deviations of 0.45, 232 and 0.0086.
        "balanced": {"orientation_1norm_rad": 1.0, "torque_squared_N2m2": 2e-3, "manipulability_det_m6": -50.0},
        "printed": {"orientation_1norm_rad": 1.0, "torque_squared_N2m2": 1e-4, "manipulability_det_m6": -1.0},
    }
    settings = {
        "preferred_orientation": list(PREFERRED),
        "start_rad": list(START),
        "gain_per_s": GAIN,
        "damping": DAMPING,
        "time_step_s": TIME_STEP,
        "horizon_s": HORIZON,
        "on_joint_limit": "infeasible",
    }

    @cached_property
    def arm(self) -> Arm:
        """The simulated arm; made at the first use, since the toolbox takes seconds to import."""
        return panda()

    def simulate(self, point: Any, stop: Stop) -> Outcome:
        """Turns the tool towards ``point`` for 2 s and looks at the final state."""
        # One sign for both, so that q and -q give the same bits even half a turn away, where no hemisphere decides.
        target = canonical_quaternion(np.asarray(point, dtype=float))
        posture, saturated_s = self._turn(target, stop)
        orientation = self.arm.orientation(posture)
        to_target = quaternion_log(orientation, target)
        return Outcome(
            self._terms(posture, quaternion_log(orientation, np.asarray(PREFERRED))),
            metrics={
                "final_error_deg": float(np.degrees(2 * np.linalg.norm(to_target))),  # twice the arc on S^3
                "saturated_s": saturated_s,
            },
        )

    def _terms(self, posture: np.ndarray, to_preferred: np.ndarray) -> dict[str, float]:
        return {
            "orientation_1norm_rad": float(np.abs(to_preferred).sum()),
            "torque_squared_N2m2": self._squared_torque(posture),
            "manipulability_det_m6": float(np.linalg.det(velocity_ellipsoid(self.arm.jacobian(posture)))),
        }

    def _squared_torque(self, posture: np.ndarray) -> float:
        torques = self.arm.gravity_torques(posture)
        return float(torques @ torques)

    def _turn(self, target: np.ndarray, stop: Stop) -> tuple[np.ndarray, float]:
        """The final joint angles, (7,), and for how long the velocity limits held the arm back, s."""
        q = np.array(START)
        saturated = 0
        for step in range(round(HORIZON / TIME_STEP)):
            stop.check()
            orientation = self.arm.orientation(q)
            jacobian = 0.5 * quaternion_rate(orientation) @ self.arm.jacobian(q)[3:]  # (4, 7)
            velocity = damped_pseudo_inverse(jacobian, damping=DAMPING) @ (GAIN * quaternion_log(orientation, target))
            saturated += self.arm.saturation(velocity) > 1
            q = self.arm.step(q, velocity, dt=TIME_STEP, since=step * TIME_STEP)
        return q, float(saturated * TIME_STEP)


class OrientationOfTheAppendix(Orientation):
    """O2: the same motion; arc, torque and condition of the manipulability."""

    name = "orientation-appendix"
    terms = {
        "orientation_arc_rad": "dist(q0, q) on S^3 at the final state: half the angle of rotation, rad",
        "torque_squared_N2m2": "|tau|^2 of the torques that hold the final posture, (N m)^2",
        "manipulability_condition": "condition number of J_v J_v^T at the final posture",
    }
    weightings = {
        # Over 300 uniform targets the terms have standard deviations of 0.32, 232 and 11.
        "balanced": {"orientation_arc_rad": 1.0, "torque_squared_N2m2": 1.4e-3, "manipulability_condition": 0.03},
        "printed": {"orientation_arc_rad": 1.0, "torque_squared_N2m2": 0.1, "manipulability_condition": 1e-4},
    }

    def _terms(self, posture: np.ndarray, to_preferred: np.ndarray) -> dict[str, float]:
        return {
            "orientation_arc_rad": float(np.linalg.norm(to_preferred)),
            "torque_squared_N2m2": self._squared_torque(posture),
            "manipulability_condition": float(np.linalg.cond(velocity_ellipsoid(self.arm.jacobian(posture)))),
        }
