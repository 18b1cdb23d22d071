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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import report
import torch
from geodrome_core import History, PointError, Problem, Space, Suggestion, space_from_spec, suggest
from geodrome_core.geometry.integer import Integer
from geodrome_core.promises import PROMISES
from rich.console import Console
from rich.table import Table
from torch import Tensor

STUDIES, QUICK = 2000, 60

ON_MANIFOLD = 1e-12
"""Largest distance of a number from that of the nearest point, relative to the largest number if that is above 1."""

REPEATED = 10
"""One study in so many is asked twice."""

PROGRESS = 100
"""Studies between two lines that say how far the run is."""

BOUNDS = [[0, 1], [-3, 40], [1000, 1000.01], [1e-9, 1e-8], [-1e6, 1e6], [-1e30, 1e30]]
POSITIVE_BOUNDS = [[0.1, 10], [1.0, 1.001], [1e-6, 1e6], [1e-30, 1e30]]
WHOLE_BOUNDS = [[0, 1], [7, 9], [-3, 40], [0, 2**53]]
JOINTS = [[-2.9, 2.9], [-0.07, 3.75], [0.5, 0.501]]
EIGENVALUES = [[0.1, 10], [10, 3000], [1e-4, 1e4], [1.0, 1.00001], [1e-3, 1.1e-3]]
RADII = [0.001, 0.3, 1.5, 3.14]
HYPERBOLIC_RADII = [1e-6, 0.01, 1.0, 3.0, 8.0]
SMOOTHNESS = [0.5, 1.5, 2.5, 3.7, math.inf, None]


@dataclass(frozen=True)
class Dice:
    """All that is random in a study."""

    choices: Random
    points: torch.Generator

    @classmethod
    def of(cls, seed: int) -> Dice:
        """Both generators from one seed."""
        return cls(Random(seed), torch.Generator().manual_seed(seed))

    def one(self, options: Sequence[Any]) -> Any:
        """One of the options."""
        return self.choices.choice(options)

    def happens(self, share: float) -> bool:
        """True in a share of the cases."""
        return self.choices.random() < share

    def normal(self, *shape: int) -> Tensor:
        """Standard normal numbers."""
        return torch.randn(shape, generator=self.points, dtype=torch.float64)

    def uniform(self, low: float, high: float, count: int) -> Tensor:
        """``count`` numbers between two."""
        return low + (high - low) * torch.rand(count, generator=self.points, dtype=torch.float64)


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


def name(spec: dict[str, Any]) -> str:
    """Of a space, for people."""
    if spec["type"] == "product":
        return " x ".join(name(factor) for factor in spec["factors"].values())
    options = [str(spec[key]) for key in ("dim", "scale", "metric", "model", "bounds", "eigenvalues") if key in spec]
    balls = [f"r {spec[key]['radius']}" for key in ("cap", "ball") if key in spec]
    radius = [f"r {spec['radius']}"] if "radius" in spec else []
    return " ".join([spec["type"], *options, *balls, *radius])


def real(dice: Dice) -> dict[str, Any]:
    """A bounded number."""
    scale = dice.one(["linear", "log"])
    return {"type": "real", "bounds": dice.one(BOUNDS if scale == "linear" else POSITIVE_BOUNDS), "scale": scale}


def integer(dice: Dice) -> dict[str, Any]:
    """A whole number, at times one of two."""
    return {"type": "integer", "bounds": dice.one(WHOLE_BOUNDS)}


def euclidean(dice: Dice) -> dict[str, Any]:
    """A box whose sides may be of very different lengths."""
    dim = dice.one([1, 2, 3, 6])
    return {"type": "euclidean", "dim": dim, "bounds": [dice.one(BOUNDS) for _ in range(dim)]}


def joints(dice: Dice) -> dict[str, Any]:
    """Angles between stops."""
    return {"type": "joints", "bounds": [dice.one(JOINTS) for _ in range(dice.one([1, 2, 6]))]}


def torus(dice: Dice) -> dict[str, Any]:
    """Angles without stops."""
    return {"type": "torus", "dim": dice.one([1, 2, 3, 5]), "unit": dice.one(["rad", "deg"])}


def sphere(dice: Dice) -> dict[str, Any]:
    """Directions."""
    return {"type": "sphere", "dim": dice.one([1, 2, 3, 4, 5, 6])}


def cap(dice: Dice) -> dict[str, Any]:
    """Directions near one."""
    return ball_in(sphere(dice), "cap", dice)


def rotation(dice: Dice) -> dict[str, Any]:
    """Rotations, of dimension 3 most of all."""
    dim = dice.one([2, 3, 3, 4])
    return {"type": "rotation", "dim": dim, "representation": dice.one(["quaternion", "matrix"][dim != 3 :])}


def rotation_ball(dice: Dice) -> dict[str, Any]:
    """Rotations near one."""
    return ball_in(rotation(dice), "ball", dice)


def ball_in(spec: dict[str, Any], key: str, dice: Dice) -> dict[str, Any]:
    """The part of a space that lies near one of its points."""
    space = space_from_spec(spec)
    center = space.point(space.manifold.random(1, dice.points)[0])
    return spec | {key: {"center": center, "radius": dice.one(RADII)}}


def spd(dice: Dice) -> dict[str, Any]:
    """Matrices with bounds on their eigenvalues."""
    metric = dice.one(["affine_invariant", "affine_invariant", "log_euclidean", "cholesky"])
    return {"type": "spd", "dim": dice.one([2, 3]), "eigenvalues": dice.one(EIGENVALUES), "metric": metric}


def hyperbolic(dice: Dice) -> dict[str, Any]:
    """Balls about the origin."""
    model = dice.one(["lorentz", "poincare"])
    return {"type": "hyperbolic", "dim": dice.one([2, 3, 5]), "model": model, "radius": dice.one(HYPERBOLIC_RADII)}


SPACES: dict[str, Callable[[Dice], dict[str, Any]]] = {
    "real": real,
    "integer": integer,
    "euclidean": euclidean,
    "joints": joints,
    "torus": torus,
    "sphere": sphere,
    "cap": cap,
    "rotation": rotation,
    "rotation ball": rotation_ball,
    "spd": spd,
    "hyperbolic": hyperbolic,
}
"""Specs of the types of space."""


def product(dice: Dice) -> dict[str, Any]:
    """Two or three spaces at once."""
    factors = [SPACES[dice.one(list(SPACES))](dice) for _ in range(dice.one([2, 2, 3]))]
    return {"type": "product", "factors": dict(zip("abc", factors, strict=False))}


def points(space: Space, dice: Dice, count: int) -> Tensor:
    """Random points as a client tells them."""
    return told(space, space.manifold.random(count, dice.points))


def told(space: Space, rows: Tensor) -> Tensor:
    """Rows (n, d) in the domain, after JSON."""
    return space.rows([space.point(row) for row in space.manifold.clamp(space.manifold.nearest(rows))])


def moved(space: Space, rows: Tensor, length: float, dice: Dice) -> Tensor:
    """Rows (n, d) moved so far in random directions, over borders too."""
    xi = dice.normal(len(rows), space.manifold.dim)
    xi = length * xi / torch.linalg.vector_norm(xi, dim=-1, keepdim=True)
    out = space.manifold.exp(rows, space.manifold.tangent(rows, xi))
    for label, factor in space.factors.items():
        if isinstance(factor, Integer):
            columns = space.manifold.columns[label]
            out[:, columns] = torch.round(out[:, columns] * factor.steps) / factor.steps
    return out


def smooth(space: Space, X: Tensor, dice: Dice) -> Tensor:
    """Costs with one optimum and some waves."""
    distance = space.manifold.distance(X, space.manifold.random(1, dice.points)) / space.manifold.diameter
    return distance**2 + 0.05 * torch.sin(12 * distance)


def size(dice: Dice) -> int:
    """Of a history."""
    return dice.one([2, 3, 5, 8, 15, 30])


def history(space: Space, X: Tensor | None = None, Y: Tensor | None = None, **others: Tensor) -> History:
    """Observations, and other points by what became of them."""
    none = space.rows([])
    X, Y = (none if X is None else X), (torch.empty(0, dtype=torch.float64) if Y is None else Y)
    return History(X, Y, **{"pending": none, "failed": none, "abandoned": none} | others)


def with_pending(known: History, pending: Tensor) -> History:
    """And these points are out."""
    return History(known.X, known.Y, pending, known.failed, known.abandoned)


def with_stds(known: History, dice: Dice) -> History:
    """And the noise of half the costs is known: from nothing to all of a cost."""
    stds = 10 ** dice.uniform(-12, 2, len(known.Y)) * known.Y.abs()
    stds[dice.uniform(0, 1, len(stds)) < 0.5] = math.nan
    return History(known.X, known.Y, known.pending, known.failed, known.abandoned, stds)


def constant(space: Space, dice: Dice) -> History:
    """One cost everywhere."""
    X = points(space, dice, size(dice))
    return history(space, X, torch.full((len(X),), dice.one([0.0, 1.0, -1e9, 1e50]), dtype=torch.float64))


def repeated_equal(space: Space, dice: Dice) -> History:
    """A few points, each with the same cost every time."""
    X = points(space, dice, dice.one([1, 2, 4]))
    picks = torch.arange(size(dice)) % len(X)
    return history(space, X[picks], smooth(space, X, dice)[picks])


def repeated_unequal(space: Space, dice: Dice) -> History:
    """A few points with another cost every time."""
    known = repeated_equal(space, dice)
    return history(space, known.X, known.Y + dice.normal(len(known.Y)))


def single(space: Space, dice: Dice) -> History:
    """One observation."""
    X = points(space, dice, 1)
    return history(space, X, smooth(space, X, dice))


def nothing(space: Space, dice: Dice) -> History:
    """A new study."""
    del dice
    return history(space)


def all_failed(space: Space, dice: Dice) -> History:
    """No run went well."""
    return history(space, failed=points(space, dice, size(dice)))


def half_failed(space: Space, dice: Dice) -> History:
    """Every other run went wrong."""
    X = points(space, dice, size(dice))
    return history(space, X, smooth(space, X, dice), failed=points(space, dice, len(X)))


def abandoned(space: Space, dice: Dice) -> History:
    """Nobody wants most points."""
    X = points(space, dice, size(dice))
    return history(space, X, smooth(space, X, dice), abandoned=points(space, dice, 2 * len(X)))


def all_sizes(space: Space, dice: Dice) -> History:
    """Costs of every power of ten that a double knows."""
    X = points(space, dice, size(dice))
    signs = torch.sign(dice.normal(len(X))) if dice.happens(0.5) else 1.0
    return history(space, X, signs * 10 ** dice.uniform(-300, 50, len(X)))


def offset(space: Space, dice: Dice) -> History:
    """Differences of 1e-9 on a large number."""
    X = points(space, dice, size(dice))
    return history(space, X, dice.one([1.0, 1e3, -1e6, 1e12]) + 1e-9 * dice.normal(len(X)))


def clusters(space: Space, dice: Dice) -> History:
    """Points within 1e-8 of a few."""
    centers = points(space, dice, dice.one([1, 2, 3]))
    X = told(space, moved(space, centers[torch.arange(size(dice)) % len(centers)], 1e-8, dice))
    Y = smooth(space, X, dice)
    return history(space, X, Y + dice.normal(len(X)) if dice.happens(0.5) else Y)


def border(space: Space, dice: Dice) -> History:
    """Points on the border of the domain."""
    X = space.manifold.random(size(dice), dice.points)
    X = space.manifold.clamp(space.manifold.nearest(moved(space, X, space.manifold.diameter, dice)))
    return history(space, X, smooth(space, X, dice))


def outside(space: Space, dice: Dice) -> History:
    """Points that a lab measured although they are outside."""
    length = min(3.0, dice.one([0.1, 1.0]) * space.manifold.diameter)
    X = space.manifold.nearest(moved(space, space.manifold.random(size(dice), dice.points), length, dice))
    return history(space, X, smooth(space, X, dice))


def all_pending(space: Space, dice: Dice) -> History:
    """Everything is out, but for two observations at times."""
    X = points(space, dice, dice.one([0, 2]))
    return history(space, X, smooth(space, X, dice), pending=points(space, dice, size(dice)))


def many(space: Space, dice: Dice) -> History:
    """As many points as a long day gives."""
    X = points(space, dice, dice.choices.randint(60, 150))
    return history(space, X, smooth(space, X, dice))


HISTORIES: dict[str, Callable[[Space, Dice], History]] = {
    "constant": constant,
    "repeated, equal": repeated_equal,
    "repeated, unequal": repeated_unequal,
    "single": single,
    "nothing": nothing,
    "all failed": all_failed,
    "half failed": half_failed,
    "abandoned": abandoned,
    "all sizes": all_sizes,
    "offset": offset,
    "clusters": clusters,
    "border": border,
    "outside": outside,
    "all pending": all_pending,
    "many": many,
}
"""Kinds of history."""


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
