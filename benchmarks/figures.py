"""Figures and tables of regret, and of robots' best costs, from what ``regret.py`` has written, for the documentation.

    python benchmarks/figures.py [--results DIRECTORY] [--docs DIRECTORY] [--seeds FROM:TO]

For each space one picture, and one for all robots: for each function the median and the quartiles of log10 regret, or
of a robot's best cost, by evaluation, and beside them how it is spread at the end. ``regret.md`` holds the medians at
the end, and for each other method the p value of Wilcoxon's signed-rank test against ours, paired by seed; and how long
asks took.
"""

from __future__ import annotations

import argparse
import csv
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
from costs import PREFIX, is_robot
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from regret import EVALUATIONS, RESULTS, VERSIONS, numbers, read
from regret_methods import INITIAL, METHODS
from scipy.stats import wilcoxon

DOCS = Path(__file__).parents[1] / "docs"

LEAST = 1e-12
"""Regrets below it are rounding."""

SIGNIFICANT = 0.05
"""p values below it are shown in bold."""

FEWEST_SEEDS = 5
"""With fewer, a method is in the tables, but is not called the best of the others, and has no p value."""

WIDEST = 4
"""With more problems than these, each is a row of a table, and not a column."""

OURS = "geodrome"

PEERS = ("botorch_ambient", "botorch", "optuna", "optuna_tpe", "ax", "vizier", "cma_es", "random")
"""Methods that are not our engine's."""

LABELS = {"sphere3": "S³", "sphere5": "S⁵", "rotation3": "SO(3)", "spd2": "SPD(2)", "spd3": "SPD(3)",
    "hyperbolic3": "H³", "torus7": "T⁷", "pose": "R³ × SO(3)"}  # fmt: skip

COLOURS = {"geodrome": "#000000", "geodrome_matern": "#7f7f7f", "geodrome_euclidean": "#cc79a7",
    "botorch_ambient": "#0072b2", "botorch": "#56b4e9", "optuna": "#d55e00", "ax": "#009e73", "vizier": "#8c564b",
    "cma_es": "#e69f00", "random": "#b3b3b3"}  # fmt: skip
"""Of the methods that are drawn, told apart by the colour-blind (Okabe and Ito, and a brown); tables hold all."""


@dataclass(frozen=True)
class Cell:
    """All methods on one function.

    Attributes:
        space, function: Which.
        curves: Of each method by seed, (n,) by evaluation: log10 regret, or the best cost of a robot.
        ask_cpu_s: Of each method, the mean CPU time of an ask after the first points.
    """

    space: str
    function: str
    curves: Mapping[str, Mapping[int, np.ndarray]]
    ask_cpu_s: Mapping[str, float]

    @property
    def title(self) -> str:
        """What it is called."""
        if is_robot(self.space):
            return f"{self.space.removeprefix(PREFIX)}, {self.function}"
        return f"{self.function} on {LABELS[self.space]}"

    @property
    def quantity(self) -> str:
        """What curves show."""
        return "best cost" if is_robot(self.space) else "log10 regret"

    def finals(self, method: str) -> dict[int, float]:
        """What a method has at the end by seed."""
        return {seed: float(curve[-1]) for seed, curve in self.curves.get(method, {}).items()}

    def median(self, method: str) -> float | None:
        """Of what a method has at the end; None without runs."""
        finals = self.finals(method)
        return statistics.median(finals.values()) if finals else None

    def reached(self, level: float) -> int | None:
        """The first evaluation at which the median of ours is no larger; None if it never is."""
        curves = list(self.curves[OURS].values())
        medians = np.median([curve[: min(map(len, curves))] for curve in curves], axis=0)
        there = np.flatnonzero(medians <= level)
        return int(there[0]) + 1 if len(there) else None

    def differences(self, method: str) -> list[float]:
        """What a method has at the end less what ours has, on the seeds that both have.

        Costs are infinite where a robot had no feasible trial: two of them are equal, and one is farthest from all.
        """
        ours, others = self.finals(OURS), self.finals(method)
        seeds = sorted(ours.keys() & others.keys())
        return [difference(others[seed], ours[seed]) for seed in seeds]

    def p_value(self, method: str) -> float | None:
        """Of Wilcoxon's test of a method against ours on the seeds that both have; None if few or all equal."""
        differences = self.differences(method)
        if len(differences) < FEWEST_SEEDS or not any(differences):
            return None
        return float(wilcoxon(differences, zero_method="zsplit").pvalue)


def difference(one: float, other: float) -> float:
    """How much more the first is; nothing between two infinite costs."""
    return 0.0 if one == other else one - other


def main() -> None:
    """Draw and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="DIRECTORY")
    parser.add_argument("--docs", type=Path, default=DOCS, metavar="DIRECTORY")
    parser.add_argument("--seeds", type=numbers, metavar="FROM:TO", help="all, if not given")
    arguments = parser.parse_args()
    cells = list(cells_of(arguments.results, arguments.seeds))
    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "geodrome"  # the same results give the same files
    images = arguments.docs / "images"
    images.mkdir(parents=True, exist_ok=True)
    for name, of_it in pictures(cells).items():
        draw(of_it, images / f"regret-{name}.svg")
    (arguments.docs / "regret.md").write_text(page(cells, arguments.results), encoding="utf-8")


def cells_of(directory: Path, seeds: range | None) -> Iterator[Cell]:
    """Everything that was measured, in the order of the methods' and functions' first runs."""
    found: dict[tuple[str, str], dict[str, dict[int, np.ndarray]]] = defaultdict(lambda: defaultdict(dict))
    times: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for method in METHODS:
        for run, rows in read(directory, method).items():
            if seeds is None or run.seed in seeds:
                found[run.space, run.function][method][run.seed] = (
                    np.array([float(row["best"]) for row in rows])
                    if is_robot(run.space)
                    else np.log10(np.maximum([float(row["regret"]) for row in rows], LEAST))
                )
                times[run.space, run.function][method] += [float(row["ask_cpu_s"]) for row in rows[INITIAL:]]
    order = [*LABELS]
    of_robots = sorted(key for key in found if is_robot(key[0]))
    others = sorted((key for key in found if not is_robot(key[0])), key=lambda key: order.index(key[0]))
    for space, function in others + of_robots:
        if OURS in found[space, function]:
            means = {method: statistics.fmean(own) for method, own in times[space, function].items() if own}
            yield Cell(space, function, found[space, function], means)


def pictures(cells: Sequence[Cell]) -> dict[str, list[Cell]]:
    """Cells by the name of the picture that they are in."""
    out: dict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        out["robots" if is_robot(cell.space) else cell.space].append(cell)
    return dict(out)


def draw(cells: Sequence[Cell], path: Path) -> None:
    """One picture of a space."""
    figure, axes = plt.subplots(
        len(cells), 2, figsize=(9, 3.2 * len(cells)), width_ratios=(3, 2), squeeze=False, layout="constrained"
    )
    for cell, (left, right) in zip(cells, axes, strict=True):
        methods = [method for method in COLOURS if cell.curves.get(method)]
        left.set_title(cell.title, loc="left")
        for method in methods:
            add_curve(left, method, list(cell.curves[method].values()))
        left.axvline(INITIAL, color="#d0d0d0", linewidth=0.8, zorder=0)
        left.set(xlabel="evaluation", ylabel=cell.quantity)
        add_boxes(right, {method: list(cell.finals(method).values()) for method in methods})
        right.set_xlabel(f"{cell.quantity} at the end")
    axes[0, 0].legend(fontsize="x-small", frameon=False, ncols=2)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def add_curve(axes: Axes, method: str, curves: Sequence[np.ndarray]) -> None:
    """Median and quartiles of a method."""
    count = min(map(len, curves))
    with np.errstate(invalid="ignore"):  # between two infinite costs there is no number, and nothing is drawn
        low, middle, high = np.quantile([curve[:count] for curve in curves], (0.25, 0.5, 0.75), axis=0)
    at = np.arange(1, count + 1)
    axes.fill_between(at, low, high, color=COLOURS[method], alpha=0.12, linewidth=0)
    axes.plot(at, middle, color=COLOURS[method], linewidth=2 if method == OURS else 1, label=method)


def add_boxes(axes: Axes, finals: Mapping[str, Sequence[float]]) -> None:
    """How regrets are spread at the end."""
    boxes = axes.boxplot(
        list(finals.values()), orientation="horizontal", tick_labels=list(finals), patch_artist=True,
        medianprops={"color": "white"}, flierprops={"markersize": 3},
    )  # fmt: skip
    for box, method in zip(boxes["boxes"], finals, strict=True):
        box.set(facecolor=COLOURS[method], edgecolor=COLOURS[method])
    axes.invert_yaxis()
    axes.tick_params(axis="y", labelsize="x-small")


def page(cells: Sequence[Cell], directory: Path) -> str:
    """The page of the documentation."""
    lines = ["# Regret, measured", "", *introduction(cells), "", "## Where we stand", "", *standing(cells)]
    for name, of_it in pictures(cells).items():
        title = LABELS.get(name, "Robots")
        lines += ["", f"## {title}", "", f"![Regret on {title}](images/regret-{name}.svg)", "", *table(of_it)]
    lines += ["", "## What the kernel does", "", *kernels(cells)]
    lines += ["", "## Time", "", *asks(cells), "", "## Versions", "", *versions(directory)]
    return "\n".join(lines) + "\n"


def introduction(cells: Sequence[Cell]) -> list[str]:
    """What the numbers are."""
    functions = [cell for cell in cells if not is_robot(cell.space)]
    robots = [cell for cell in cells if is_robot(cell.space)]
    lines = [
        "`benchmarks/figures.py` writes this page from what `benchmarks/regret.py` has measured; the methods are",
        "described there, what follows from the numbers in [does geometry help?](geometry-helps.md).",
        "",
    ]
    if functions:
        lines += [f"Numbers are medians of log10 regret (best cost less the optimum) {extent(functions)}:"]
        lines += ["lower is better, by 1 is ten times nearer."]
    if robots:
        lines += [f"Of robots, whose optimum nobody knows, they are medians of the best cost {extent(robots)}."]
    return [
        *lines,
        f"All methods begin with the same {INITIAL} random points. *p* is Wilcoxon's, of the difference to Geodrome",
        "seed by seed. A number in brackets is that of the seeds, where it is another than Geodrome's.",
        "",
        "Priors, starts and everything else in the engine were chosen on seeds below 100, which the last command",
        "leaves out; but for [the lengthscales of products](decisions/0017-lengthscales-grow-with-the-dimensions.md),",
        "where seeds 100 to 104 of robots that plan paths were looked at, too.",
        "",
        "```text",
        *commands(cells),
        "python benchmarks/figures.py --seeds 100:130",
        "```",
    ]


def commands(cells: Sequence[Cell]) -> Iterator[str]:
    """Those that make the runs: one for all functions that have the same seeds, evaluations and spaces."""
    spaces: dict[tuple[int, int, int, str], list[str]] = defaultdict(list)
    for cell in cells:
        seeds, length = cell.finals(OURS), max(map(len, cell.curves[OURS].values()))
        spaces[min(seeds), max(seeds) + 1, length, cell.function].append(cell.space)
    functions: dict[tuple[int, int, int, tuple[str, ...]], list[str]] = defaultdict(list)
    for (first, end, length, function), own in spaces.items():
        functions[first, end, length, tuple(own)].append(function)
    for (first, end, length, names), of_them in functions.items():
        evaluations = f" --evaluations {length}" if length != EVALUATIONS else ""
        chosen = f"--functions {' '.join(of_them)} --spaces {' '.join(names)}"
        yield f"python benchmarks/regret.py --seeds {first}:{end}{evaluations} {chosen}"


def extent(cells: Sequence[Cell]) -> str:
    """How much was measured."""
    counts = {len(cell.curves[OURS]) for cell in cells}
    lengths = {len(curve) for cell in cells for curve in cell.curves[OURS].values()}
    return f"after {among(lengths)} evaluations, over {among(counts)} seeds"


def among(values: set[int]) -> str:
    """A number, or from which to which."""
    return f"{min(values)}" if len(values) == 1 else f"{min(values)} to {max(values)}"


def standing(cells: Sequence[Cell]) -> list[str]:
    """Ours beside the best of the others, cell by cell, and in all."""
    rows, differences = [], defaultdict(list)
    for cell in cells:
        peers = [peer for peer in PEERS if len(cell.finals(peer)) >= FEWEST_SEEDS]
        others = {peer: median for peer in peers if (median := cell.median(peer)) is not None}
        ours = cell.median(OURS)
        if not others or ours is None:
            continue
        best = min(others, key=others.__getitem__)
        ahead = difference(ours, others[best])
        differences[cell.quantity].append(ahead)
        reached = cell.reached(others[best]) or "not yet"
        rows.append([cell.title, f"{ours:.2f}", f"{others[best]:.2f}", best, f"{ahead:+.2f}", reached])
    lines = [
        "*Reached after* is the evaluation at which Geodrome's median is that of the best other method at the end.",
        f"Methods that were run with fewer than {FEWEST_SEEDS} seeds are left out here.",
        "",
        *_markdown(["problem", "Geodrome", "best other", "its name", "difference", "reached after"], rows),
    ]
    for quantity, own in differences.items():
        good = sum(ahead <= 0 for ahead in own)
        lines += ["", f"At or below the best other in {good} of {len(own)} by {quantity}; at worst {max(own):+.2f}."]
    return lines


def table(cells: Sequence[Cell]) -> list[str]:
    """Medians and p values of all methods on a space."""
    methods = [method for method in METHODS if any(cell.curves.get(method) for cell in cells)]
    medians = {method: [_median(cell, method) for cell in cells] for method in methods}
    p_values = {method: [_p_value(cell, method) for cell in cells] for method in methods}
    if len(cells) > WIDEST:
        rows = [[cell.title] for cell in cells]
        for method in methods:
            for row, median, p in zip(rows, medians[method], p_values[method], strict=True):
                row.append(f"{median}, p = {p}" if p else median)
        return _markdown(["problem", *methods], rows)
    head = ["method", *(name for cell in cells for name in (cell.title, "p"))]
    pairs = {method: zip(medians[method], p_values[method], strict=True) for method in methods}
    return _markdown(head, [[method, *(entry for pair in pairs[method] for entry in pair)] for method in methods])


def _median(cell: Cell, method: str) -> str:
    median = cell.median(method)
    return "" if median is None else f"{median:.2f}" + _seeds(cell, len(cell.finals(method)))


def _seeds(cell: Cell, count: int) -> str:
    """Their number in brackets, where it is another than that of ours."""
    return f" ({count})" if count != len(cell.finals(OURS)) else ""


def _p_value(cell: Cell, method: str) -> str:
    p = cell.p_value(method) if method != OURS else None
    return "" if p is None else f"{p:.3f}"


def _markdown(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in (head, *rows)]
    return [lines[0], "|---" * len(head) + "|", *lines[1:]]


def kernels(cells: Sequence[Cell]) -> list[str]:
    """Other kernels in our engine: how far they end from ours, seed by seed."""
    methods = [m for m in METHODS if m not in (OURS, *PEERS) and any(cell.curves.get(m) for cell in cells)]
    rows = [[cell.title, *(_against(cell, method) for method in methods)] for cell in cells]
    return [
        "The same engine with other kernels: medians of the difference to Geodrome, seed by seed. Above 0, Geodrome",
        f"is better. Bold is p < {SIGNIFICANT}.",
        "",
        *_markdown(["problem", *methods], [row for row in rows if any(row[1:])]),
    ]


def _against(cell: Cell, method: str) -> str:
    """How far a method ends from ours, in bold where that is significant."""
    differences, p = cell.differences(method), cell.p_value(method)
    if not differences:
        return ""
    median = f"{statistics.median(differences):+.2f}"
    return (f"**{median}**" if p is not None and p < SIGNIFICANT else median) + _seeds(cell, len(differences))


def asks(cells: Sequence[Cell]) -> list[str]:
    """Mean CPU times of asks, by space."""
    by_space: dict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        by_space["robots" if is_robot(cell.space) else LABELS[cell.space]].append(cell)
    rows = []
    for method in METHODS:
        entries = []
        for of_it in by_space.values():
            means = [cell.ask_cpu_s[method] for cell in of_it if method in cell.ask_cpu_s]
            entries.append(f"{statistics.fmean(means):.2g}" if means else "")
        if any(entries):
            rows.append([method, *entries])
    return [
        "CPU seconds of one ask, fit and search together, on one thread: means over all asks of all functions of a",
        "space. Runs shared the machine's cores, so that times are good to a third. Those of Vizier hold what it takes",
        "to compile its search, which it did in some runs for each tenth trial, and in others not again.",
        "",
        *_markdown(["method", *by_space], rows),
    ]


def versions(directory: Path) -> list[str]:
    """With which versions each method was last run."""
    last: dict[str, str] = {}
    with (directory / VERSIONS).open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            last[row["method"]] = f"{row['packages']}; Python {row['python']} on {row['machine']}"
    by_text: dict[str, list[str]] = defaultdict(list)
    for method, text in last.items():
        by_text[text].append(method)
    return [f"- {', '.join(methods)}: {text}" for text, methods in by_text.items()]


if __name__ == "__main__":
    main()
