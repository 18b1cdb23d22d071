"""What the cases from the field share: own points, predictions, distances, and what a refusal leaves as it was."""

from __future__ import annotations

from typing import Any

import httpx
from geodrome_core import space_from_spec

from tests.service.conftest import Lab


def add(lab: Lab, point: Any, **body: Any) -> httpx.Response:
    """A point of one's own: with a cost an observation, else one to be run."""
    return lab.http.post(f"{lab.path}/trials", json={"point": point, **body})


def observed(lab: Lab, point: Any, cost: float = 1.0) -> dict[str, Any]:
    """An observation that is accepted."""
    answer = add(lab, point, cost=cost)
    assert answer.status_code == 201, answer.text
    return answer.json()


def predicted(lab: Lab, *points: Any) -> list[dict[str, Any]]:
    """What runs at points would cost."""
    answer = lab.http.post(f"{lab.path}/predict", json={"points": list(points)})
    assert answer.status_code == 200, answer.text
    return answer.json()["predictions"]


def asked(lab: Lab, count: int) -> list[dict[str, Any]]:
    """Many trials, in batches."""
    trials: list[dict[str, Any]] = []
    while len(trials) < count:
        answer = lab.http.post(f"{lab.path}/ask", json={"count": min(32, count - len(trials)), "wait_s": 60})
        assert answer.status_code == 200, answer.text
        trials += answer.json()["trials"]
    return trials


def distance(space: dict[str, Any], one: Any, other: Any) -> float:
    """Geodesic distance of two points in any accepted form."""
    manifold = space_from_spec(space)
    first, second = manifold.rows([one, other])
    return float(manifold.manifold.distance(first, second))


def refusal(lab: Lab, point: Any) -> dict[str, Any]:
    """The fault for which a tell of a point is refused: nothing changes, the trial stays open, the next ask works."""
    trial = lab.ask(worker="panda-1")

    answer = lab.tell(trial["number"], cost=1.0, point=point)

    assert (answer.status_code, answer.json()["code"]) == (422, "invalid-point")
    assert lab.trial(trial["number"]) == trial
    assert add(lab, point, cost=1.0).status_code == 422
    assert lab.show()["counts"]["completed"] == 0
    assert lab.ask(worker="panda-2")["state"] == "running"
    return answer.json()["errors"][0]
