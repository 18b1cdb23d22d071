"""Gains of a planar arm of two links: a matrix of proportional gains, and a damping ratio on a log scale.

The arm lifts a payload it does not know of; the goal is a step, as labs tune gains. The controller runs at 125 Hz,
holds its torques in between, and sees the state of one period ago:

    tau = P (q_d - q) - D q' + g(q),     D = 2 zeta M^(1/2) (M^(-1/2) P M^(-1/2))^(1/2) M^(1/2),

with P in SPD(2) and zeta > 0 the point, M the mass matrix at the goal and g the gravity torques, both of the arm
without the payload. The arm is integrated with 1 ms for 1.6 s, velocity first. The cost is

    w_e mean |q_d - q| + w_u rms |tau - g| + w_o overshoot,

with the overshoot that of the joint which passes its goal the furthest. This is a task of labs, not of the paper.

- Too small gains let the payload hang; too large ones meet the delay, and the arm shakes. A joint faster than 30 rad/s
  has lost control, and the trial is `Infeasible`: 20 of 100 random points, by a hard step or by instability.
- The torques are not limited; the rms tells what they cost.
- A matrix P moves a joint on the error of the other one: the inertia couples them, and P can follow it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from geodrome_robots.robot import Infeasible
from geodrome_robots.stop import Stop
from geodrome_robots.tasks.dynamics import TwoLinks, critical_damping
from geodrome_robots.tasks.task import Outcome, Task

KNOWN = TwoLinks(lengths=(0.4, 0.35), masses=(3.0, 2.0), rotor=0.05)
PAYLOAD = 0.5  # kg
START = (-1.2, 1.6)  # rad
GOAL = (-0.4, 0.6)  # rad
PERIOD = 0.008  # s
TIME_STEP = 0.001  # s
HORIZON = 1.6  # s
LARGEST_SPEED = 30.0  # rad/s


class Gains(Task):
    """Tune a joint controller in mixed parameters; some 25 ms a trial."""

    name = "gains"
    space = {
        "type": "product",
        "factors": {
            "proportional": {"type": "spd", "dim": 2, "eigenvalues": [5.0, 200.0], "unit": "N m/rad"},
            "damping_ratio": {"type": "real", "bounds": [0.1, 2.0], "scale": "log"},
        },
    }
    simulator = "numpy"
    model = "two uniform rods in a vertical plane with a payload; joint torques with delay"
    parameters = {
        "proportional": {
            "meaning": "torque per joint error, rows and columns shoulder and elbow",
            "unit": "N m/rad",
            "frame": "joints",
        },
        "damping_ratio": {"meaning": "of every mode, for the arm without payload; 1 is critical", "unit": "1"},
    }
    terms = {
        "error_mean_rad": "mean over time of the norm of the joint error, rad",
        "torque_rms_Nm": "rms of the norm of the torques beyond the gravity of the known arm, N m",
        "overshoot_rad": "how far the worst joint passes its goal, rad",
    }
    # Over 240 random feasible points the terms have standard deviations of 0.18, 12 and 0.41.
    weightings = {"balanced": {"error_mean_rad": 5.5, "torque_rms_Nm": 0.1, "overshoot_rad": 2.4}}
    settings = {
        "equations_of_motion": "geodrome_robots.tasks.dynamics",
        "link_lengths_m": list(KNOWN.lengths),
        "link_masses_kg": list(KNOWN.masses),
        "payload_kg": PAYLOAD,
        "rotor_inertia_kg_m2": KNOWN.rotor,
        "start_rad": list(START),
        "goal_rad": list(GOAL),
        "control_period_s": PERIOD,
        "control_delay_s": PERIOD,
        "time_step_s": TIME_STEP,
        "horizon_s": HORIZON,
        "largest_speed_rad_per_s": LARGEST_SPEED,
    }

    def simulate(self, point: Any, stop: Stop) -> Outcome:
        """Lifts the payload for 1.6 s and looks at the whole way."""
        gain = np.asarray(point["proportional"], dtype=float)
        goal = np.array(GOAL)
        damping = critical_damping(KNOWN.inertia(goal), gain, ratio=float(point["damping_ratio"]))
        arm = replace(KNOWN, payload=PAYLOAD)
        q, velocity = np.array(START), np.zeros(2)
        seen = q, velocity
        errors, efforts = [], []
        for step in range(round(HORIZON / PERIOD)):
            stop.check()
            effort = gain @ (goal - seen[0]) - damping @ seen[1]
            torques = effort + KNOWN.gravity_torques(seen[0])
            seen = q, velocity
            errors.append(goal - q)
            efforts.append(effort)
            for _ in range(round(PERIOD / TIME_STEP)):
                velocity = velocity + TIME_STEP * arm.acceleration(q, velocity, torques)
                q = q + TIME_STEP * velocity
            # Written so that a speed that is no number is refused as well.
            if not (fastest := float(np.abs(velocity).max())) <= LARGEST_SPEED:
                raise Infeasible(
                    f"after {(step + 1) * PERIOD:.3f} s a joint turns with {fastest:.3g} rad/s, "
                    f"more than {LARGEST_SPEED:g} rad/s: it is out of control"
                )
        error, effort = np.array(errors), np.array(efforts)
        passed = -error * np.sign(goal - np.array(START))
        return Outcome(
            {
                "error_mean_rad": float(np.mean(np.linalg.norm(error, axis=1))),
                "torque_rms_Nm": float(np.sqrt(np.mean(np.sum(effort**2, axis=1)))),
                "overshoot_rad": float(max(0.0, passed.max())),
            },
            metrics={
                "final_error_rad": float(np.linalg.norm(goal - q)),
                "peak_torque_Nm": float(np.linalg.norm(effort, axis=1).max()),
            },
        )
