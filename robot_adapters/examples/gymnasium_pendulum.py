"""A Gymnasium environment as a robot: swing a pendulum up, by its energy, and hold it there, by two gains.

    geodrome robot run robot_adapters/examples/gymnasium_pendulum.py:robot --trials 20

Pendulum-v1 never terminates; it is truncated after 200 steps, which is a whole trial.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import geodrome
import gymnasium
import numpy as np
from geodrome_robots import from_gymnasium

START = 10  # 164 degrees from upright
UPRIGHT = 0.5  # rad; nearer than this the gains hold, further away the energy is pumped
ENERGY = 15.0  # 1/s², 3 g / (2 l): of a pendulum that stands, over its inertia; speed² / 2 comes to it


class FromBelow(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Begins as the environment's seed 10 does, whatever the trial: else a lucky start would be a good point."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """The same start each time."""
        del seed
        return super().reset(seed=START, options=options)


def policy(point: dict[str, float]) -> Callable[[Any], Any]:
    """Pumps energy with one gain, holds with two; the torque is limited to 2 N m by the environment."""

    def act(observation: Any) -> Any:
        cosine, sine, speed = (float(value) for value in observation)
        angle = math.atan2(sine, cosine)  # rad, 0 is upright
        if abs(angle) < UPRIGHT:
            torque = -point["stiffness"] * angle - point["damping"] * speed
        else:
            torque = point["pumping"] * speed * (ENERGY - speed**2 / 2 - ENERGY * cosine)
        return np.array([torque], dtype=np.float32)

    return act


robot = from_gymnasium(
    lambda: FromBelow(gymnasium.make("Pendulum-v1")),
    policy,
    geodrome.Product(
        factors={
            "pumping": geodrome.Real(bounds=(0.001, 1.0), scale="log", unit="N m s³/rad³"),
            "stiffness": geodrome.Real(bounds=(1.0, 100.0), scale="log", unit="N m/rad"),
            "damping": geodrome.Real(bounds=(0.1, 30.0), scale="log", unit="N m s/rad"),
        }
    ),
    terminated="failed",
    truncated="completed",
    max_steps=200,
    name="pendulum",
    description={"model": "Pendulum-v1 of Gymnasium, from one start"},
    deterministic=True,
)
