"""A function as a robot: the settling time of a joint, over two gains.

geodrome robot run robot_adapters/examples/callable_joint.py:robot --trials 20
"""

from __future__ import annotations

import geodrome
from geodrome_robots import Infeasible, Measurement, Stop, from_callable

INERTIA = 0.5  # kg m²
TIME_STEP = 0.002  # s
HORIZON = 3.0  # s
TORQUE_LIMIT = 20.0  # N m
ERROR_LIMIT = 0.02  # rad


def settling_time(point: dict[str, float], stop: Stop) -> Measurement:
    """Time after which a joint stays within 0.02 rad of a step of 1 rad, s."""
    angle, velocity, settled, peak = 0.0, 0.0, 0.0, 0.0
    for step in range(round(HORIZON / TIME_STEP)):
        stop.check()
        torque = point["stiffness"] * (1.0 - angle) - point["damping"] * velocity
        peak = max(peak, abs(torque))
        velocity += TIME_STEP * max(-TORQUE_LIMIT, min(TORQUE_LIMIT, torque)) / INERTIA
        angle += TIME_STEP * velocity
        if abs(1.0 - angle) > ERROR_LIMIT:
            settled = (step + 1) * TIME_STEP
    if abs(1.0 - angle) > ERROR_LIMIT:
        raise Infeasible(f"it has not settled after {HORIZON:g} s: {1.0 - angle:.3f} rad are left")
    return Measurement(settled, metrics={"peak_torque_Nm": peak})


robot = from_callable(
    settling_time,
    name="joint",
    space=geodrome.Product(
        factors={
            "stiffness": geodrome.Real(bounds=(5.0, 200.0), scale="log", unit="N m/rad"),
            "damping": geodrome.Real(bounds=(1.0, 30.0), scale="log", unit="N m s/rad"),
        }
    ),
    description={"cost": {"meaning": "settling time", "unit": "s"}, "model": "one joint of 0.5 kg m²"},
    deterministic=True,
)
