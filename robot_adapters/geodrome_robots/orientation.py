"""Tool orientation of a Franka Panda: reach an orientation, hold little torque, keep the arm nimble.

The point x is a target orientation. From a fixed posture, the joints follow

    dtheta/dt = J_q(theta)^+ K_p Log_q(x),    J_q = E(q) J_w / 2,

with q the current orientation as a unit quaternion, for 2 s in steps of 0.01 s. At the final state the cost is

    f = w_q |Log_q(q0)|_1 + w_tau |tau|^2 - w_M det M

with q0 a preferred orientation, tau the torques that hold the arm against gravity, M = J_v J_v^T. It is the first
orientation experiment of Jaquier et al. 2021, "Geometry-aware Bayesian Optimization in Robotics using Riemannian Matérn
Kernels". The paper prints the controller with base and argument of the logarithm exchanged, tracks q0 in place of x,
and gives neither robot and posture nor time step, horizon and torque; these are ours:

- The target is x; its sign is flipped into the hemisphere of q, since x and -x are one rotation.
- A velocity over the limits is scaled down as a whole, so that the tool still turns the shortest way.
- A joint at its limit ends the run as `Infeasible`, as the reflex of the real arm does: 1 to 3 of 100 uniform targets.
- With ``damping`` 0.01, the pseudo-inverse is exact to 1e-3 at the postures met here and bounded at singular ones.
- The cost jumps where the target is half a turn from the start: there are two shortest ways, which end in different
  postures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import cached_property
from importlib.metadata import version
from typing import Any

import numpy as np

from geodrome_robots.points import canonical_quaternion, parse_space, point_faults
from geodrome_robots.robot import Infeasible, Measurement, Robot
from geodrome_robots.simulation import (
    Arm,
    damped_pseudo_inverse,
    panda,
    quaternion_log,
    quaternion_rate,
    velocity_ellipsoid,
)

SPACE = {
    "type": "rotation",
    "representation": "quaternion",
    "order": "wxyz",
    "frame": "panda_hand",
    "relative_to": "panda_link0",
}
START = (0.0, -0.3, 0.0, -2.2, 0.0, 2.0, np.pi / 4)  # rad; the ready posture of the arm's maker
PREFERRED = (0.8, 0.6, 0.0, 0.0)  # wxyz
GAIN = 6.0  # 1/s
TIME_STEP = 0.01  # s
HORIZON = 2.0  # s
DAMPING = 0.01


class Weighting(StrEnum):
    """Which weights the cost has."""

    BALANCED = "balanced"
    PRINTED = "printed"


@dataclass(frozen=True)
class Weights:
    """What each term of the cost counts.

    Attributes:
        orientation: Per radian of quaternion arc, summed over components.
        torque: Per (N m)².
        manipulability: Per m⁶.
    """

    orientation: float
    torque: float
    manipulability: float


WEIGHTS: Mapping[Weighting, Weights] = {
    # Over 300 uniform targets the terms have standard deviations of 0.45, 232 (N m)² and 0.0086 m⁶. These weights give
    # each of the three a spread of 0.43 to 0.46, so that the best point is a compromise.
    Weighting.BALANCED: Weights(orientation=1.0, torque=2e-3, manipulability=50.0),
    # As in the paper: spreads of 0.45, 0.023 and 0.0086, so that the answer is nearly the preferred orientation itself.
    Weighting.PRINTED: Weights(orientation=1.0, torque=1e-4, manipulability=1.0),
}


class Orientation(Robot):
    """Turn the tool of a Panda; minimize distance to an orientation and holding torque, keep manipulability.

    Deterministic to the bit; about 20 ms a trial.

    Args:
        weights: ``balanced`` (three terms of like spread) or ``printed`` (the paper's numbers).
    """

    name: str = "orientation"
    space: Mapping[str, Any] = SPACE

    def __init__(self, weights: str = Weighting.BALANCED) -> None:
        self.weighting = Weighting(weights)
        self.weights = WEIGHTS[self.weighting]

    @cached_property
    def arm(self) -> Arm:
        """The simulated arm; made at the first use, since the toolbox takes seconds to import."""
        return panda()

    def describe(self) -> dict[str, Any]:
        """What defines the task."""
        return {
            "name": self.name,
            "version": "1",
            "model": "Franka Panda with hand, parameters of roboticstoolbox.models.DH.Panda, velocity control",
            "simulator": f"roboticstoolbox-python {version('roboticstoolbox-python')}",
            "parameters": {
                "orientation": {
                    "meaning": "target orientation of the tool; q and -q are the same",
                    "unit": "unit quaternion",
                    "order": "wxyz",
                    "frame": "panda_hand",
                    "relative_to": "panda_link0",
                }
            },
            "cost": {
                "meaning": "w_q |Log_q(q0)|_1 + w_tau |tau|^2 - w_M det(J_v J_v^T) at the final state",
                "unit": None,
                "weighting": str(self.weighting),
                "weights": asdict(self.weights),
                "preferred_orientation": list(PREFERRED),
            },
            "start_rad": list(START),
            "gain_per_s": GAIN,
            "damping": DAMPING,
            "time_step_s": TIME_STEP,
            "horizon_s": HORIZON,
            "on_joint_limit": "infeasible",
            "deterministic": True,
        }

    def evaluate(self, point: Any, *, seed: int) -> Measurement:
        """Turn the tool towards ``point`` for 2 s and weigh the final state.

        Raises:
            ValueError: ``point`` is no unit quaternion.
            Infeasible: A joint reached its limit on the way.
            RobotFault: The simulation left the finite numbers.
        """
        del seed
        if faults := point_faults(parse_space(self.space), point):
            raise ValueError("; ".join(f"the target orientation {fault}" for fault in faults))
        # One sign for both, so that q and -q give the same bits even half a turn away, where no hemisphere decides.
        target = canonical_quaternion(np.asarray(point, dtype=float))
        q, saturated_s = self._turn(target)
        orientation = self.arm.orientation(q)
        deviation = float(np.abs(quaternion_log(orientation, np.asarray(PREFERRED))).sum())
        torques = self.arm.gravity_torques(q)
        torque = float(torques @ torques)
        manipulability = float(np.linalg.det(velocity_ellipsoid(self.arm.jacobian(q))))
        cost = (
            self.weights.orientation * deviation
            + self.weights.torque * torque
            - self.weights.manipulability * manipulability
        )
        residual = float(np.linalg.norm(quaternion_log(orientation, target)))
        return Measurement(
            cost,
            metrics={
                "orientation_1norm_rad": deviation,
                "torque_squared_N2m2": torque,
                "manipulability_det_m6": manipulability,
                "final_error_deg": float(np.degrees(2 * residual)),  # the rotation angle is twice the arc on S^3
                "saturated_s": saturated_s,
            },
        )

    def _turn(self, target: np.ndarray) -> tuple[np.ndarray, float]:
        """The final joint angles, (7,), and for how long the velocity limits held the arm back, s."""
        q = np.array(START)
        saturated = 0
        for step in range(round(HORIZON / TIME_STEP)):
            orientation = self.arm.orientation(q)
            jacobian = 0.5 * quaternion_rate(orientation) @ self.arm.jacobian(q)[3:]  # (4, 7)
            velocity = damped_pseudo_inverse(jacobian, damping=DAMPING) @ (GAIN * quaternion_log(orientation, target))
            saturated += self.arm.saturation(velocity) > 1
            try:
                q = self.arm.step(q, velocity, dt=TIME_STEP)
            except Infeasible as error:
                raise Infeasible(f"after {step * TIME_STEP:.2f} s, {error}") from error
        return q, float(saturated * TIME_STEP)
