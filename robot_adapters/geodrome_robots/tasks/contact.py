"""Sanding a wavy surface: where the tool is to be, and what surface and tool do to its tip.

Components are along the path, across it, and along the outward normal. Units are metres, seconds and newtons.
"""

from __future__ import annotations

import numpy as np

from geodrome_robots.tasks.following import minimum_jerk

HORIZON = 2.0  # s
LENGTH = 0.15  # m
DEPTH = 0.03  # m
WANTED_FORCE = 10.0  # N
PRESS_TIME = 0.5  # s
WAVES = (0.002, 0.1)  # m; amplitude and length along the path
CONTACT = (5000.0, 50.0)  # N/m, N s/m
FRICTION = (1.0, 0.01)  # its coefficient, that of sandpaper, and the speed at which it is nearly full, m/s
SHAKING = (14.0, 6.0)  # N, Hz


def desired(time: float) -> tuple[np.ndarray, np.ndarray]:
    """The desired tip and its velocity along the path, across it and along the normal, m and m/s."""
    way, speed = minimum_jerk((time - PRESS_TIME) / (HORIZON - PRESS_TIME))
    press, rate = minimum_jerk(time / PRESS_TIME)
    return (
        np.array([LENGTH * way, 0.0, -DEPTH * press]),
        np.array([LENGTH * speed / (HORIZON - PRESS_TIME), 0.0, -DEPTH * rate / PRESS_TIME]),
    )


def contact_force(x: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """What the surface does to the tip at ``x``, N, (3,); the last component is the normal force, never negative."""
    amplitude, length = WAVES
    phase = 2 * np.pi * x[0] / length
    depth = amplitude * np.sin(phase) - x[2]
    rate = amplitude * 2 * np.pi / length * np.cos(phase) * velocity[0] - velocity[2]
    normal = max(0.0, CONTACT[0] * depth + CONTACT[1] * rate) if depth > 0 else 0.0
    speed = np.hypot(velocity[0], velocity[1])
    drag = FRICTION[0] * normal * (np.tanh(speed / FRICTION[1]) / speed if speed > 0 else 0.0)
    return np.array([-drag * velocity[0], -drag * velocity[1], normal])


def shaking(time: float) -> np.ndarray:
    """The force of the sander on the tip, going round in the surface, N, (3,)."""
    amplitude, frequency = SHAKING
    phase = 2 * np.pi * frequency * time
    return np.array([amplitude * np.cos(phase), amplitude * np.sin(phase), 0.0])
