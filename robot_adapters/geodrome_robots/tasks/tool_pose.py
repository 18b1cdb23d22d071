"""Pose of a workpiece for an insertion: where to mount a hole, so that a Franka Panda can push a peg into it.

The point is the pose of the hole's mouth in the base frame; the tool meets it with its own pose, and the peg goes in
along the z axis of the tool. From a ready posture, inverse kinematics iterates

    theta <- theta + s (J^+ e + k (1 - J^+ J) (theta_mid - theta)),

with e the error of the pose, the pseudo-inverse damped, and each iterate kept between the stops. From there the tool
moves 8 cm into the hole in 2 s by dtheta/dt = J^+ (v + K_p e). The hole resists with 60 N. The cost is

    w_tau rms |tau| + w_c off-middle - w_m mean manipulability

over the insertion, with tau the torques against gravity and the force of the hole, the squared distance of the joints
from mid-range as a part of half their ranges, and the manipulability sqrt(det J_v J_v^T). This is a task of labs, not
of the paper. What is ours to say:

- Orientations are within 1.2 rad of one that lets the peg point down. Of free orientations 43 of 100 are infeasible.
- A hole that is not reached within 0.5 mm and 0.005 rad, a joint at its stop while the peg goes in, and a tool 2 mm off
  the axis of the hole are `Infeasible`.
- Inverse kinematics has many solutions; the one that the ready posture leads to is taken.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from geodrome_robots.points import canonical_quaternion
from geodrome_robots.robot import Infeasible
from geodrome_robots.stop import Stop
from geodrome_robots.tasks.following import manipulability, pose_error
from geodrome_robots.tasks.simulation import Arm, damped_pseudo_inverse, panda
from geodrome_robots.tasks.task import Outcome, Task

READY = (0.0, -0.3, 0.0, -2.2, 0.0, 2.0, np.pi / 4)  # rad
DOWN = (0.0, 1.0, 0.0, 0.0)  # wxyz; half a turn about x, so that the tool's z axis points down
DEPTH = 0.08  # m
HORIZON = 2.0  # s
TIME_STEP = 0.02  # s
RESISTANCE = 60.0  # N
GAIN = 5.0  # 1/s
DAMPING = 0.01
ITERATIONS = 200
RELAXATION = 0.5  # the part of the error that an iteration removes
TO_MIDDLE = 0.2  # of the self-motion, per iteration
ARRIVED = (5e-4, 5e-3)  # m, rad
LARGEST_ERROR = 0.002  # m

FRAMES = {"frame": "panda_hand", "relative_to": "panda_link0"}


class ToolPose(Task):
    """Tune where a hole is mounted; some 20 ms a trial."""

    name = "tool-pose"
    space = {
        "type": "pose",
        "position": {"bounds": [[0.3, 0.75], [-0.45, 0.45], [0.1, 0.6]], "unit": "m"},
        "orientation": {
            "type": "rotation",
            "representation": "quaternion",
            "order": "wxyz",
            "ball": {"center": list(DOWN), "radius": 1.2},
        },
        **FRAMES,
    }
    model = "Franka Panda with hand, parameters of roboticstoolbox.models.DH.Panda, velocity control"
    parameters = {
        "position": {"meaning": "where the tool enters the hole", "unit": "m", **FRAMES},
        "orientation": {
            "meaning": "of the tool in the hole, which goes in along its z axis; q and -q are the same",
            "unit": "unit quaternion",
            "order": "wxyz",
            **FRAMES,
        },
    }
    terms = {
        "torque_rms_Nm": "rms over the insertion of |tau|, torques against gravity and the hole, N m",
        "off_middle_mean": "mean over insertion and joints of (distance from mid-range / half the range)^2",
        "manipulability_mean_m3": "mean over the insertion of sqrt(det(J_v J_v^T)), m^3",
    }
    # Over 240 uniform feasible poses the terms have standard deviations of 9.8, 0.056 and 0.045.
    weightings = {"balanced": {"torque_rms_Nm": 0.1, "off_middle_mean": 17.0, "manipulability_mean_m3": -20.0}}
    settings = {
        "ready_rad": list(READY),
        "insertion_m": DEPTH,
        "resistance_N": RESISTANCE,
        "horizon_s": HORIZON,
        "time_step_s": TIME_STEP,
        "gain_per_s": GAIN,
        "damping": DAMPING,
        "largest_path_error_m": LARGEST_ERROR,
        "inverse_kinematics_iterations": ITERATIONS,
        "on_joint_limit": "infeasible",
    }

    @cached_property
    def arm(self) -> Arm:
        """The simulated arm; made at the first use, since the toolbox takes seconds to import."""
        return panda()

    def simulate(self, point: Any, stop: Stop) -> Outcome:
        """Goes to the hole, pushes for 2 s and looks at the whole insertion."""
        position = np.asarray(point["position"], dtype=float)
        # One sign for both, so that q and -q give the same bits.
        orientation = canonical_quaternion(np.asarray(point["orientation"], dtype=float))
        q, iterations = self._reach(position, orientation, stop)
        axis = self.arm.pose(q)[:3, 2]
        way, errors = [q], [0.0]
        for step in range(round(HORIZON / TIME_STEP)):
            stop.check()
            time = step * TIME_STEP
            twist = GAIN * pose_error(self.arm, q, position + DEPTH * time / HORIZON * axis, orientation)
            twist[:3] += DEPTH / HORIZON * axis
            speed = damped_pseudo_inverse(self.arm.jacobian(q), damping=DAMPING) @ twist
            q = self.arm.step(q, speed, dt=TIME_STEP, since=time)
            way.append(q)
            errors.append(self._off_axis(q, position, axis))
        metrics = {"path_error_m": max(errors), "iterations": float(iterations)}
        return Outcome(self._terms(way, -RESISTANCE * axis), metrics)

    def _reach(self, position: np.ndarray, orientation: np.ndarray, stop: Stop) -> tuple[np.ndarray, int]:
        """Joint angles with the tool at a pose, (7,), and how many iterations they took."""
        q = np.array(READY)
        for iteration in range(ITERATIONS):
            stop.check()
            error = pose_error(self.arm, q, position, orientation)
            distance, turn = float(np.linalg.norm(error[:3])), float(np.linalg.norm(error[3:]))
            if distance < ARRIVED[0] and turn < ARRIVED[1]:
                return q, iteration
            jacobian = self.arm.jacobian(q)
            inverse = damped_pseudo_inverse(jacobian, damping=DAMPING)
            inward = self.arm.middle - q
            q = self.arm.clip(q + RELAXATION * (inverse @ error + TO_MIDDLE * (inward - inverse @ (jacobian @ inward))))
        raise Infeasible(f"the pose is not reached: the tool is {distance:.4f} m and {turn:.3f} rad off")

    def _off_axis(self, q: np.ndarray, position: np.ndarray, axis: np.ndarray) -> float:
        """How far the tool is off the axis of the hole, m."""
        inside = self.arm.pose(q)[:3, 3] - position
        error = float(np.linalg.norm(inside - (inside @ axis) * axis))
        if error > LARGEST_ERROR:
            raise Infeasible(f"the tool leaves the axis of the hole by {error:.4f} m: the arm cannot follow")
        return error

    def _terms(self, way: list[np.ndarray], force: np.ndarray) -> dict[str, float]:
        jacobians = [self.arm.jacobian(q) for q in way]
        torques = np.array(
            # The tool pushes with the opposite of what the hole does to it.
            [self.arm.gravity_torques(q) - jacobian[:3].T @ force for q, jacobian in zip(way, jacobians, strict=True)]
        )
        return {
            "torque_rms_Nm": float(np.sqrt(np.mean(np.sum(torques**2, axis=1)))),
            "off_middle_mean": float(np.mean([self.arm.off_middle(q) for q in way])),
            "manipulability_mean_m3": float(np.mean([manipulability(jacobian) for jacobian in jacobians])),
        }
