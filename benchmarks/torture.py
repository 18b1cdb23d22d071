"""Studies that no lab should see, asked of ``geodrome_core.suggest``: every suggestion must be valid all the same.

    python benchmarks/torture.py [--quick] [--studies N] [--seed SEED] [--only SEED] [--json FILE]

Study number i is drawn from the seed SEED + i: a space of any type with narrow or wide bounds, a kernel, an acquisition
function, and a history of a kind in ``HISTORIES``. A suggestion is invalid if it breaks one of the rules in ``broken``.
``--only`` runs one study again, with its traceback. CPU seconds are those of one suggestion of a batch; one thread.
"""

from __future__ import annotations

import json
import math
import statistics
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import report
import torch
from geodrome_core import History, PointError, Problem, Space, Suggestion, space_from_spec, suggest
from geodrome_core.geometry.integer import Integer
from geodrome_core.promises import PROMISES
from rich.console import Console
from rich.table import Table
from strange_histories import HISTORIES, points, with_pending, with_stds
from strange_spaces import SMOOTHNESS, SPACES, Dice, name, product

STUDIES, QUICK = 2000, 60

ON_MANIFOLD = 1e-12
"""Largest distance of a number from that of the nearest point, relative to the largest number if that is above 1."""

REPEATED = 10
"""One study in so many is asked twice."""

PROGRESS = 100
"""Studies between two lines that say how far the run is."""


@dataclass(frozen=True)
class Study:
    """A question: what to ask next, of which problem, knowing what.

    Attributes:
        seed: That it was drawn from.
        kind: Of its history.
        name: Of its space.
        problem: What is optimized.
        history: What is known.
        count: Suggestions in the batch.
    """

    seed: int
    kind: str
    name: str
    problem: Problem
    history: History
    count: int

    def ask(self) -> tuple[Suggestion, ...]:
        """The suggestions."""
        return suggest(self.problem, self.history, self.count, seed=self.seed)


def main() -> None:
    """Ask, print and write."""
    parser = report.parser(__doc__, quick=f"{QUICK} studies")
    parser.add_argument("--studies", type=int, metavar="N", help=f"how many; {STUDIES} without")
    parser.add_argument("--seed", type=int, default=0, help="of the first study")
    parser.add_argument("--only", type=int, metavar="SEED", help="the only study to run")
    arguments = parser.parse_args()
    report.use_one_thread()
    count = arguments.studies or (QUICK if arguments.quick else STUDIES)
    seeds = range(arguments.seed, arguments.seed + count)
    rows = list(run(seeds)) if arguments.only is None else list(run([arguments.only], explains=True))
    show(rows)
    report.write(arguments.json, rows=rows, summary=summary(rows))


def run(seeds: Sequence[int], *, explains: bool = False) -> Iterator[dict[str, Any]]:
    """A row for each study; what is wrong is printed at once, with tracebacks if one ``explains``."""
    for done, seed in enumerate(seeds, start=1):
        study = drawn(seed)
        row = {"method": "geodrome", "space": study.name, "n": len(study.history.Y), "seed": seed, "kind": study.kind}
        row |= {"invalid": 0, "error": None, "fallbacks": {}, "suggestions": 0, "cpu_s": None}
        start = time.process_time()
        try:
            suggestions = study.ask()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what this benchmark looks for
            row["error"] = f"{type(error).__name__}: {error}"
            print(f"study {seed} ({study.kind}, {study.name}): {row['error']}", flush=True)
            if explains:
                traceback.print_exc()
        else:
            row["cpu_s"] = (time.process_time() - start) / len(suggestions)
            row["suggestions"] = len(suggestions)
            row["fallbacks"] = dict(Counter(each.note for each in suggestions if each.kind == "fallback"))
            faults = broken(study, suggestions)
            row["invalid"] = len(faults)
            for index, rules in faults.items():
                print(f"study {seed} ({study.kind}, {study.name}), suggestion {index}: {'; '.join(rules)}", flush=True)
        if explains:
            print(json.dumps(study.problem.space.spec), study.problem, study.history, sep="\n")
        if done % PROGRESS == 0:
            print(f"{done} of {len(seeds)} studies", flush=True)
        yield row


def broken(study: Study, suggestions: Sequence[Suggestion]) -> dict[int, list[str]]:
    """The rules that suggestions break, by their index in the batch."""
    space = study.problem.space
    again = study.ask() if study.seed % REPEATED == 0 else suggestions
    known = [space.point(row) for row in study.history.pending]
    others = known + [each.point for each in suggestions]
    out: dict[int, list[str]] = {}
    for index, each in enumerate(suggestions):
        rules = broken_alone(space, each)
        if each.point in others[: len(known) + index] and has_room(study):
            rules.append("repeats a pending point, or one before it in the batch")
        if not torch.equal(each.row, again[index].row) or each.point != again[index].point:
            rules.append("differs when it is asked again")
        if rules:
            out[index] = rules
    return out


def broken_alone(space: Space, suggestion: Suggestion) -> list[str]:
    """The rules that one suggestion breaks by itself."""
    row, manifold = suggestion.row, space.manifold
    if not bool(torch.isfinite(row).all()):
        return [f"not finite: {row.tolist()}"]
    rules = []
    off = float((manifold.nearest(row) - row).abs().max()) / max(1.0, float(row.abs().max()))
    if off > ON_MANIFOLD:
        rules.append(f"off its manifold by {off:.3g}")
    if not bool(manifold.contains(row)):
        rules.append(f"outside the domain: {row.tolist()}")
    wire = json.loads(json.dumps(suggestion.point))
    for form, point in {"JSON": wire, "float32": as_float32(wire)}.items():
        try:
            rules += [f"outside as {form}: {fault}" for fault in space.check(point).outside]
        except PointError as error:
            rules.append(f"not read as {form}: {error}")
    return rules


def as_float32(point: Any) -> Any:
    """The same JSON with every number rounded to 32 bits."""
    if isinstance(point, dict):
        return {key: as_float32(value) for key, value in point.items()}
    if isinstance(point, list):
        return [as_float32(value) for value in point]
    return float(torch.tensor(point, dtype=torch.float32))


def has_room(study: Study) -> bool:
    """Whether there are so many points that a batch need not repeat any."""
    factors = study.problem.space.factors.values()
    if not all(isinstance(factor, Integer) for factor in factors):
        return True
    history = study.history
    taken = torch.cat([history.X, history.pending, history.failed, history.abandoned])
    return math.prod(factor.steps + 1 for factor in factors) - len(taken.unique(dim=0)) >= study.count


def drawn(seed: int) -> Study:
    """The study of a seed."""
    dice = Dice.of(seed)
    spec = product(dice) if dice.happens(0.3) else SPACES[dice.one(list(SPACES))](dice)
    space = space_from_spec(spec)
    kind = dice.one(list(HISTORIES))
    history = HISTORIES[kind](space, dice)
    if dice.happens(0.3) and len(history.pending) == 0:
        history = with_pending(history, points(space, dice, dice.one([1, 3])))
    if dice.happens(0.3):
        history = with_stds(history, dice)
    problem = Problem(
        space,
        nu=dice.one(SMOOTHNESS),
        acquisition=dice.one(list(PROMISES)),
        initial_size=dice.one([1, 5]),
        maximize=dice.happens(0.5),
        noise=dice.one(["inferred", "zero"]),
        ard=dice.happens(0.2),
    )
    return Study(seed, kind, name(spec), problem, history, dice.one([1, 1, 1, 2, 3, 8]))


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, int]:
    """How many studies there were, suggestions that break a rule, studies without an answer, and fallbacks."""
    return {
        "studies": len(rows),
        "invalid": sum(row["invalid"] for row in rows),
        "errors": sum(row["error"] is not None for row in rows),
        "fallbacks": sum(sum(row["fallbacks"].values()) for row in rows),
    }


def show(rows: Sequence[dict[str, Any]]) -> None:
    """Prints why there were fallbacks, the time of a suggestion, and the summary."""
    table = Table("history", "suggestions", "fallbacks", "why")
    for kind in HISTORIES:
        own = [row for row in rows if row["kind"] == kind]
        asked = sum(row["suggestions"] for row in own)
        notes = sum((Counter(row["fallbacks"]) for row in own), Counter())
        for note, count in notes.items():
            table.add_row(kind, str(asked), str(count), note)
    Console().print(table)
    if answered := sorted((row for row in rows if row["cpu_s"] is not None), key=lambda row: row["cpu_s"]):
        times, last = [row["cpu_s"] for row in answered], answered[-1]
        high = times[math.ceil(0.99 * len(times)) - 1]
        print(f"CPU s of a suggestion: median {statistics.median(times):.3f}, 99th percentile {high:.3f}, ", end="")
        print(f"largest {times[-1]:.3f} (study {last['seed']}: {last['kind']}, {last['space']}, n = {last['n']})")
    for key, value in summary(rows).items():
        print(f"{key} = {value}")


if __name__ == "__main__":
    main()
