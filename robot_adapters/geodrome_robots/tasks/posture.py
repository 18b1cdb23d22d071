"""Start posture of a seven-joint arm: the tool draws a circle from there, and the whole arm follows as it must.

The point is the vector of joint angles at the start. The tool draws a vertical circle of 5 cm radius in 4 s, which
begins where the tool is; the workpiece is brought there. With p the position of the tool and p_d(t) the desired one,
the joints follow

    dtheta/dt = J_v^+ (p_d' + K_p (p_d - p)),

with the pseudo-inverse damped, and explicit Euler steps of 0.02 s. The orientation is free, as for a round tool.
Redundancy is resolved by the least norm of the velocity, so the start posture decides about the whole way. The cost is

    posture         w_c off-middle + w_tau rms |tau| - w_m mean manipulability
    posture-torus   w_v peak speed + w_tau rms |tau| - w_m mean manipulability

each over the whole circle: how far the joints are from mid-range, squared, as a part of half their ranges; the torques
tau that hold the arm against gravity; the manipulability sqrt(det J_v J_v^T); the peak speed of any joint as a part of
its limit. These are tasks of labs, not of the paper. What is ours to say:

- ``posture-torus`` is for arms whose joints turn without end, as those of Kinova. No such model with masses comes with
  the toolbox, so it is the Panda without its stops; nothing can collide.
- Starts closer than 0.15 rad to a stop are not searched: half of them would meet it.
- An arm that meets a stop, or whose tool is more than 1 cm off the circle, cannot follow: `Infeasible`.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from geodrome_robots.robot import Infeasible
from geodrome_robots.stop import Stop
from geodrome_robots.tasks.following import manipulability
from geodrome_robots.tasks.simulation import Arm, damped_pseudo_inverse, panda
from geodrome_robots.tasks.task import Outcome, Task

START_BOUNDS = (
    (-2.75, 2.75),
    (-1.6, 1.6),
    (-2.75, 2.75),
    (-2.9, -0.3),
    (-2.75, 2.75),
    (0.15, 3.55),
    (-2.75, 2.75),
)
"""0.15 to 0.23 rad inside the stops of roboticstoolbox.models.DH.Panda."""
RADIUS = 0.05  # m
HORIZON = 4.0  # s
TIME_STEP = 0.02  # s
GAIN = 5.0  # 1/s
DAMPING = 0.01
LARGEST_ERROR = 0.01  # m


class Posture(Task):
    """Tune the start posture of a Panda between its stops; some 25 ms a trial."""

    name = "posture"
    space = {"type": "joints", "bounds": [list(pair) for pair in START_BOUNDS], "unit": "rad"}
    model = "Franka Panda with hand, parameters of roboticstoolbox.models.DH.Panda, velocity control"
    parameters = {"posture": {"meaning": "joint angles 1 to 7 at the start, never wrapped", "unit": "rad"}}
    terms = {
        "off_middle_mean": "mean over way and joints of (distance from mid-range / half the range)^2",
        "torque_rms_Nm": "rms over the way of |tau|, torques that hold the arm, N m",
        "manipulability_mean_m3": "mean over the way of sqrt(det(J_v J_v^T)), m^3",
    }
    # Over 250 uniform feasible postures the terms have standard deviations of 0.10, 10 and 0.042.
    weightings = {"balanced": {"off_middle_mean": 10.0, "torque_rms_Nm": 0.1, "manipulability_mean_m3": -25.0}}
    settings = {
        "circle_radius_m": RADIUS,
        "circle_plane": "y and z of panda_link0, beginning at its lowest point",
        "horizon_s": HORIZON,
        "time_step_s": TIME_STEP,
        "gain_per_s": GAIN,
        "damping": DAMPING,
        "largest_path_error_m": LARGEST_ERROR,
        "on_joint_limit": "infeasible",
    }

    @cached_property
    def arm(self) -> Arm:
        """The simulated arm; made at the first use, since the toolbox takes seconds to import."""
        return panda()

    def simulate(self, point: Any, stop: Stop) -> Outcome:
        """Draws the circle from ``point`` and looks at the whole way."""
        q = np.asarray(point, dtype=float)
        begin = self.arm.pose(q)[:3, 3]
        way, speeds, errors = [q], [0.0], [0.0]
        for step in range(round(HORIZON / TIME_STEP)):
            stop.check()
            offset, speed = circle(step * TIME_STEP)
            wanted = speed + GAIN * (begin + offset - self.arm.pose(q)[:3, 3])
            joint_speed = damped_pseudo_inverse(self.arm.jacobian(q)[:3], damping=DAMPING) @ wanted
            q = self.arm.step(q, joint_speed, dt=TIME_STEP, since=step * TIME_STEP)
            way.append(q)
            speeds.append(self.arm.saturation(joint_speed))
            errors.append(self._error(q, begin, (step + 1) * TIME_STEP))
        return Outcome(self._terms(way, speeds), metrics={"path_error_m": max(errors), "peak_speed": max(speeds)})

    def _error(self, q: np.ndarray, begin: np.ndarray, time: float) -> float:
        error = float(np.linalg.norm(begin + circle(time)[0] - self.arm.pose(q)[:3, 3]))
        if error > LARGEST_ERROR:
            raise Infeasible(f"after {time:.2f} s the tool is {error:.4f} m off its circle: the arm cannot follow")
        return error

    def _terms(self, way: list[np.ndarray], speeds: list[float]) -> dict[str, float]:
        del speeds
        return {
            "off_middle_mean": float(np.mean([self.arm.off_middle(q) for q in way])),
            **self._load(way),
        }

    def _load(self, way: list[np.ndarray]) -> dict[str, float]:
        torques = np.array([self.arm.gravity_torques(q) for q in way])
        return {
            "torque_rms_Nm": float(np.sqrt(np.mean(np.sum(torques**2, axis=1)))),
            "manipulability_mean_m3": float(np.mean([manipulability(self.arm.jacobian(q)) for q in way])),
        }


class PostureOnTorus(Posture):
    """The same circle for an arm without stops; the speed of its joints takes the place of the stops."""

    name = "posture-torus"
    space = {"type": "torus", "dim": 7, "unit": "rad"}
    model = "Franka Panda with hand and without stops, parameters of roboticstoolbox.models.DH.Panda, velocity control"
    parameters = {"posture": {"meaning": "joint angles 1 to 7 at the start, periodic", "unit": "rad"}}
    terms = {
        "peak_speed": "largest joint speed on the way, as a part of its limit",
        **{name: meaning for name, meaning in Posture.terms.items() if name != "off_middle_mean"},
    }
    # Over 290 uniform feasible postures the terms have standard deviations of 0.17, 12 and 0.045.
    weightings = {"balanced": {"peak_speed": 6.0, "torque_rms_Nm": 0.1, "manipulability_mean_m3": -25.0}}
    settings = {**Posture.settings, "on_joint_limit": "there is none"}

    @cached_property
    def arm(self) -> Arm:
        """The simulated arm without stops."""
        return panda(stops=False)

    def _terms(self, way: list[np.ndarray], speeds: list[float]) -> dict[str, float]:
        return {"peak_speed": max(speeds), **self._load(way)}


def circle(time: float) -> tuple[np.ndarray, np.ndarray]:
    """Where the tool is to be, from where it began, and its velocity, in the base frame, m and m/s."""
    rate = 2 * np.pi / HORIZON
    angle = rate * time
    offset = RADIUS * np.array([0.0, np.sin(angle), 1 - np.cos(angle)])
    return offset, RADIUS * rate * np.array([0.0, np.cos(angle), np.sin(angle)])
