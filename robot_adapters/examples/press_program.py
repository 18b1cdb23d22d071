"""The other side of ``from_command``: a program that knows nothing of Geodrome, and speaks lines of JSON.

It stands for MATLAB, C++, or a Python with packages of its own: a line in, a line out, until the input ends.
"""

from __future__ import annotations

import json
import sys


def press(stiffness: float, damping: float) -> dict[str, object]:
    """One press on a wall: what became of it."""
    ratio = damping / (2 * stiffness**0.5)
    if ratio < 0.05:
        return {"outcome": "failed", "reason": f"it oscillates, with a damping ratio of {ratio:.3f}"}
    overshoot = 100 * max(0.0, 1 - ratio) ** 2
    return {"cost": overshoot + 2000 / stiffness + damping / 10, "metrics": {"damping_ratio": ratio}}


def main() -> None:
    """Answers until the end of the input."""
    print("press 1.0 is up")  # no JSON: it goes to the log
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        point = json.loads(line)["point"]
        print(json.dumps(press(point["stiffness"], point["damping"])), flush=True)


if __name__ == "__main__":
    main()
