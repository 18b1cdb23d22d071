"""Ask for one point, run it, tell its cost: the three lines that every robot needs.

Needs a service, `geodrome serve`; its address is GEODROME_URL, or http://127.0.0.1:8100.
"""

from __future__ import annotations

import geodrome


def press_on_the_wall(stiffness: list[list[float]]) -> float:
    """Force overshoot in N of one press; stands in for your robot. The best stiffness is diag(400, 150) N/m."""
    (kxx, kxy), (_, kyy) = stiffness
    return 2.0 + abs(kxx - 400.0) / 100 + abs(kyy - 150.0) / 100 + abs(kxy) / 50


def main() -> None:
    """Asks and tells three times, then prints the best."""
    space = geodrome.SPD(dim=2, eigenvalues=(10.0, 3000.0), unit="N/m")
    with geodrome.Client() as client:
        objective = {"name": "overshoot", "unit": "N"}
        study = client.create_study("wall-press", space=space, objective=objective, if_exists="load")
        for _ in range(3):
            trial = study.ask(worker="panda-1")
            cost = press_on_the_wall(trial.point)
            trial.tell(cost=cost, metrics={"kxx": trial.point[0][0]})
            print(f"trial {trial.number}: {cost:.3f} N")

        best = study.best().observed
        assert best is not None
        print(f"best overshoot: {best.cost:.3f} N, stiffness {best.point} N/m")


if __name__ == "__main__":
    main()
