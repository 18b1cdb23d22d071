"""Robots small enough to test the room around them."""

from __future__ import annotations

import os

os.environ.setdefault("MPLBACKEND", "Agg")

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from geodrome_robots.robot import Measurement, Robot
from geodrome_robots.stop import Stop
from geodrome_robots.tasks.orientation import Orientation

ROTATION = {"type": "rotation", "representation": "quaternion", "order": "wxyz"}


class Pointer(Robot):
    """Distance of a rotation from the identity, as 1 - |w|; ``before`` runs first and may raise."""

    name = "pointer"
    space = ROTATION

    def __init__(self, before: Callable[[int], None] = lambda calls: None) -> None:
        self.before = before
        self.calls = 0
        self.stops = 0

    def describe(self) -> dict[str, Any]:
        return {
            "name": "pointer",
            "version": "1",
            "model": "a formula",
            "parameters": {"rotation": {"meaning": "where it points", "unit": "unit quaternion"}},
            "cost": {"meaning": "1 - |w|", "unit": None},
            "deterministic": True,
        }

    def evaluate(self, point: Any, *, seed: int, stop: Stop) -> Measurement:
        self.calls += 1
        self.before(self.calls)
        return Measurement(1 - abs(point[0]), metrics={"seed": seed})

    def safe_stop(self) -> None:
        self.stops += 1


@pytest.fixture
def pointer() -> type[Pointer]:
    return Pointer


@pytest.fixture(scope="session")
def orientation() -> Orientation:
    return Orientation()


@pytest.fixture
def generator() -> np.random.Generator:
    return np.random.default_rng(20211115)
