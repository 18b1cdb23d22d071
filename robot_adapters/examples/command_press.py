"""Another program as a robot: ``press_program.py``, which could as well be ``["./press"]`` or ``["matlab", …]``.

geodrome robot run robot_adapters/examples/command_press.py:robot --trials 20
"""

from __future__ import annotations

import sys
from pathlib import Path

import geodrome
from geodrome_robots import from_command

robot = from_command(
    [sys.executable, str(Path(__file__).with_name("press_program.py"))],
    name="press",
    space=geodrome.Product(
        factors={
            "stiffness": geodrome.Real(bounds=(10.0, 3000.0), scale="log", unit="N/m"),
            "damping": geodrome.Real(bounds=(1.0, 100.0), scale="log", unit="N s/m"),
        }
    ),
    description={"cost": {"meaning": "overshoot, and a price for a soft and for a slow press", "unit": "N"}},
    deterministic=True,
    start_s=30.0,
)
