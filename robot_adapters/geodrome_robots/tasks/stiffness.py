"""Cartesian stiffness for polishing: press an orbital sander of a Franka Panda on an oblique surface and slide along.

The point K is a stiffness in the base frame. The tip x, relative to the start of the path, follows

    L x'' = K (x_d - x) + D (x_d' - x') + m + f,     D = 2 L^(1/2) (L^(-1/2) K L^(-1/2))^(1/2) L^(1/2),

with L the inertia of the tip at a fixed posture while the orientation is held, (J M^-1 J^T)^-1 cut to translations, D
the critical damping, m the shaking of the sander, and f the contact: a spring and damper along the outward normal n
that can press and not pull, and Coulomb friction smoothed to a tanh. The desired tip x_d moves along the path by
minimum jerk, below the surface by a fixed depth; no force is measured or fed forward. The surface is wavy, which the
controller does not know. Explicit Euler, velocity first, with 1 ms for 2 s. The cost is

    w_x rms |tangential error| + w_f rms (normal force - wanted force) + w_u rms |tangential command|,

the middle one after the press of 0.5 s. This is a task of labs, not of the paper. What makes it one:

- Along the path, friction wants the arm to be stiff. Across it nothing holds the tool back, and the less stiff the arm
  is, the less of the shaking it has to bear. Along the normal, depth times stiffness is the force. The three directions
  are oblique to the base frame, and the arm is heavy in one direction, so the best K is not diagonal.
- Over 40 N, the workpiece breaks: `Infeasible`, and so is a tip that leaves the path by more than 8 cm.
- The tip moves 15 cm, and its inertia is that of the start. Gravity and the arm's own friction are compensated.
- The slope of the waves is small (0.13), so the contact pushes along n.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from geodrome_robots.robot import Infeasible
from geodrome_robots.stop import Stop
from geodrome_robots.tasks.contact import (
    CONTACT,
    DEPTH,
    FRICTION,
    HORIZON,
    LENGTH,
    PRESS_TIME,
    SHAKING,
    WANTED_FORCE,
    WAVES,
    contact_force,
    desired,
    shaking,
)
from geodrome_robots.tasks.dynamics import critical_damping
from geodrome_robots.tasks.simulation import panda
from geodrome_robots.tasks.task import Outcome, Task

POSTURE = (0.0, -0.3, 0.0, -2.2, 0.0, 2.0, np.pi / 4)  # rad
SURFACE = np.array([[1.0, 2.0, -2.0], [-2.0, 2.0, 1.0], [2.0, 1.0, 2.0]]) / 3
"""Rows in the base frame: along the path, across it, and the outward normal."""
TIME_STEP = 0.001  # s
LARGEST_FORCE = 40.0  # N
LARGEST_ERROR = 0.08  # m

FRAMES = {"unit": "N/m", "frame": "panda_link0"}


class Stiffness(Task):
    """Tune a 3 x 3 stiffness for a contact; some 40 ms a trial."""

    name = "stiffness"
    space = {"type": "spd", "dim": 3, "eigenvalues": [50.0, 2000.0], **FRAMES}
    model = "tip of a Franka Panda, inertia from roboticstoolbox.models.DH.Panda; impedance control of the translation"
    parameters = {
        "stiffness": {"meaning": "force per displacement of the tip, rows and columns x, y, z of the base", **FRAMES}
    }
    terms = {
        "tracking_rms_m": "rms of the distance from the desired tip, parallel to the surface, m",
        "force_error_rms_N": "rms of normal force minus wanted force after the press, N",
        "effort_rms_N": "rms of the commanded force, parallel to the surface, N",
    }
    # Over 270 random feasible points the terms have standard deviations of 0.0096, 3.9 and 4.7.
    weightings = {
        "balanced": {"tracking_rms_m": 110.0, "force_error_rms_N": 0.3, "effort_rms_N": 0.25},
    }
    settings = {
        "damping": "critical for every mode",
        "posture_rad": list(POSTURE),
        "along_across_normal": SURFACE.tolist(),
        "path_m": LENGTH,
        "depth_m": DEPTH,
        "wanted_force_N": WANTED_FORCE,
        "press_s": PRESS_TIME,
        "wave_amplitude_m": WAVES[0],
        "wave_length_m": WAVES[1],
        "contact_stiffness_N_per_m": CONTACT[0],
        "contact_damping_Ns_per_m": CONTACT[1],
        "friction_coefficient": FRICTION[0],
        "friction_speed_m_per_s": FRICTION[1],
        "shaking_N": SHAKING[0],
        "shaking_Hz": SHAKING[1],
        "time_step_s": TIME_STEP,
        "horizon_s": HORIZON,
        "largest_contact_force_N": LARGEST_FORCE,
        "largest_tracking_error_m": LARGEST_ERROR,
    }

    @cached_property
    def inertia(self) -> np.ndarray:
        """Inertia of the tip while the orientation is held, kg, (3, 3)."""
        arm = panda(dynamics=True)
        q = np.array(POSTURE)
        jacobian = arm.jacobian(q)
        return np.array(np.linalg.inv(jacobian @ np.linalg.solve(arm.inertia(q), jacobian.T))[:3, :3])

    def simulate(self, point: Any, stop: Stop) -> Outcome:
        """Presses, slides for 2 s and looks at the whole way."""
        # In the axes of the surface, so that forces and errors are components.
        stiffness = SURFACE @ np.asarray(point, dtype=float) @ SURFACE.T
        inertia = SURFACE @ self.inertia @ SURFACE.T
        damping = critical_damping(inertia, stiffness, ratio=1.0)
        mobility = np.linalg.inv(inertia)
        steps = round(HORIZON / TIME_STEP)
        errors, contact, command = np.empty((steps, 3)), np.empty(steps), np.empty((steps, 3))
        x, velocity = np.zeros(3), np.zeros(3)
        for step in range(steps):
            stop.check()
            time = step * TIME_STEP
            wanted, wanted_velocity = desired(time)
            errors[step] = wanted - x
            command[step] = stiffness @ errors[step] + damping @ (wanted_velocity - velocity)
            force = contact_force(x, velocity)
            contact[step] = force[2]
            _check(time, errors[step], force[2])
            velocity = velocity + TIME_STEP * mobility @ (command[step] + force + shaking(time))
            x = x + TIME_STEP * velocity
        return Outcome(
            {
                "tracking_rms_m": float(np.sqrt(np.mean(errors[:, :2] ** 2) * 2)),
                "force_error_rms_N": float(
                    np.sqrt(np.mean((contact[round(PRESS_TIME / TIME_STEP) :] - WANTED_FORCE) ** 2))
                ),
                "effort_rms_N": float(np.sqrt(np.mean(np.sum(command[:, :2] ** 2, axis=1)))),
            },
            metrics={
                "peak_contact_force_N": float(contact.max()),
                "peak_command_N": float(np.linalg.norm(command, axis=1).max()),
            },
        )


def _check(time: float, error: np.ndarray, force: float) -> None:
    if not np.isfinite(error).all():
        raise Infeasible(f"after {time:.3f} s the motion left the finite numbers: the stiffness is unstable")
    if force > LARGEST_FORCE:
        raise Infeasible(f"after {time:.3f} s the tool presses with {force:.1f} N, more than {LARGEST_FORCE:g} N")
    if (distance := float(np.hypot(error[0], error[1]))) > LARGEST_ERROR:
        raise Infeasible(f"after {time:.3f} s the tool is {distance:.3f} m off its path, more than {LARGEST_ERROR:g} m")
