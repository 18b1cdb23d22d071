"""Let the study run the loop: a progress bar, and the two ways in which a run has no cost.

Needs a service, `geodrome serve`; its address is GEODROME_URL, or http://127.0.0.1:8100.
"""

from __future__ import annotations

from typing import Any

import geodrome

REACH_M = 0.8
GOAL_M = (0.5, 0.1, 0.4)


def reach(point: dict[str, Any]) -> float:
    """Distance to the goal in m, plus a price for a high gain; stands in for your robot.

    Raises:
        Infeasible: The target is out of reach: the search learns to keep away.
        RobotFault: The arm was not ready: nothing is learnt, the point is offered again.
    """
    if not arm_is_ready():
        raise geodrome.RobotFault("the arm has no power")
    target = point["target"]
    if (distance := sum(x * x for x in target) ** 0.5) > REACH_M:
        raise geodrome.Infeasible(f"the target is {distance:.2f} m away, the arm reaches {REACH_M} m")
    miss = sum((x - goal) ** 2 for x, goal in zip(target, GOAL_M, strict=True)) ** 0.5
    return float(miss + 1e-4 * point["gain"])


def arm_is_ready() -> bool:
    """Where your robot says whether it can move."""
    return True


def main() -> None:
    """Runs twelve trials and prints what became of them."""
    space = geodrome.Product(
        factors={
            "gain": geodrome.Real(bounds=(1.0, 1000.0), scale="log", unit="1/s"),
            "target": geodrome.Euclidean(dim=3, bounds=((0.0, 1.0), (-0.5, 0.5), (0.0, 1.0)), unit="m"),
        }
    )
    with geodrome.Client() as client:
        study = client.create_study("reach", space=space, seed=1, if_exists="load")
        trials = study.run(reach, 12, worker="panda-1")

        completed = [trial.cost for trial in trials if trial.cost is not None]
        print(f"{len(completed)} completed, {len(trials) - len(completed)} out of reach")
        print(f"best cost: {min(completed):.4f}")


if __name__ == "__main__":
    main()
