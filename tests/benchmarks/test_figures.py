"""Figures and tables of regret say what was measured."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import figures
import numpy as np
import pytest
import regret
from regret_runs import Run

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "figures.py"


def run_of(
    method: str, seed: int, regrets: list[float], function: str = "ackley", space: str = "sphere3"
) -> list[dict[str, object]]:
    """Rows of a run with these regrets, on a function whose optimum is 0."""
    return [
        {
            "method": method, "space": space, "function": function, "seed": seed, "evaluation": number,
            "cost": value, "best": value, "regret": value, "ask_cpu_s": "0.1",
        }
        for number, value in enumerate(regrets, start=1)
    ]  # fmt: skip


@pytest.fixture
def measured(tmp_path):
    """Ours ends ten times nearer than random search, for each of eight seeds."""
    directory = tmp_path / "results"
    for seed in range(8):
        end = 10.0 ** -(seed / 4 + 1)
        regret.append(directory, "geodrome", run_of("geodrome", seed, [1.0, 0.5, end]))
        regret.append(directory, "random", run_of("random", seed, [1.0, 0.7, 10 * end]))
    regret.append(directory, "geodrome", run_of("geodrome", 0, [1.0, 0.5, 0.0], function="levy"))
    regret.note_versions(directory, ["geodrome", "random"])
    return directory


def test_the_page_has_medians_and_the_test_against_ours(measured, tmp_path):
    docs = tmp_path / "docs"

    subprocess.run([sys.executable, SCRIPT, "--results", measured, "--docs", docs], check=True, timeout=300)

    page = (docs / "regret.md").read_text()
    assert "| ackley on S³ | -1.88 | -0.88 | random | -1.00 | 3 |" in page
    assert "At or below the best other in 1 of 1 by log10 regret; at worst -1.00." in page
    # Eight differences of one sign: 2 / 2^8. Levy's function was not run with the other method.
    assert "| random | -0.88 | 0.008 |  |  |" in page
    assert "after 3 evaluations" in page
    assert "- geodrome, random: geodrome " in page
    picture = docs / "images" / "regret-sphere3.svg"
    first = picture.read_text()
    assert first.startswith("<?xml")
    subprocess.run([sys.executable, SCRIPT, "--results", measured, "--docs", docs], check=True, timeout=300)
    assert picture.read_text() == first


def test_regrets_below_rounding_are_one(measured):
    cells = {cell.function: cell for cell in figures.cells_of(measured, None)}

    assert cells["levy"].median("geodrome") == pytest.approx(np.log10(figures.LEAST))


def test_seeds_that_were_held_out_are_told_apart(measured):
    [cell] = [cell for cell in figures.cells_of(measured, range(4, 8)) if cell.function == "ackley"]

    assert set(cell.finals("geodrome")) == {4, 5, 6, 7}


def test_a_method_that_is_ours_everywhere_has_no_p_value(measured):
    [cell] = [cell for cell in figures.cells_of(measured, None) if cell.function == "ackley"]
    same = figures.Cell(
        cell.space, cell.function, {"geodrome": cell.curves["geodrome"], "random": cell.curves["geodrome"]}, {}
    )

    assert same.p_value("random") is None
    run = Run("geodrome", "sphere3", "ackley", 0)
    assert regret.completed(measured, [run], 3) == {run}


def test_a_robot_without_a_feasible_trial_is_the_worst_of_all():
    def curves(*ends: float) -> dict[int, np.ndarray]:
        return {seed: np.array([end]) for seed, end in enumerate(ends)}

    found = {
        "geodrome": curves(1, 2, np.inf, 1, 1),
        "random": curves(np.inf, 4, np.inf, 4, 4),
        "optuna": curves(9, 4, np.inf, 4, 4),
    }
    cell = figures.Cell("robot:orientation", "balanced", found, {})

    assert cell.p_value("random") == cell.p_value("optuna")
    assert 0 < cell.p_value("random") < 1
    assert figures.difference(np.inf, np.inf) == 0


def test_it_is_said_when_ours_reaches_what_another_has_at_the_end(measured):
    [cell] = [cell for cell in figures.cells_of(measured, None) if cell.function == "ackley"]

    assert cell.reached(0.0) == 1
    assert cell.reached(np.log10(0.5)) == 2
    assert cell.reached(-3.0) is None


def test_the_page_says_where_a_method_has_other_seeds_and_how_long_asks_took(tmp_path):
    for seed in range(3):
        regret.append(tmp_path, "geodrome", run_of("geodrome", seed, [1.0] * 5 + [0.1, 0.01]))
    regret.append(tmp_path, "ax", run_of("ax", 0, [1.0] * 6 + [0.5]))
    cells = list(figures.cells_of(tmp_path, None))

    assert figures.table(cells)[2:] == ["| geodrome | -2.00 |  |", "| ax | -0.30 (1) |  |"]
    assert figures.asks(cells)[-2:] == ["| geodrome | 0.1 |", "| ax | 0.1 |"]
    assert "after 7 evaluations, over 3 seeds:" in "\n".join(figures.introduction(cells))
    assert "log10" not in "\n".join(figures.introduction([]))


def test_the_page_names_the_commands_that_make_its_runs(measured):
    regret.append(measured, "geodrome", run_of("geodrome", 0, [1.0] * 3, "rosenbrock"))
    for seed in range(2):
        regret.append(measured, "geodrome", run_of("geodrome", seed, [1.0] * figures.EVALUATIONS, space="torus7"))
    regret.append(measured, "geodrome", run_of("geodrome", 0, [1.0] * 6, "balanced", "robot:stiffness"))

    lines = figures.introduction(list(figures.cells_of(measured, None)))

    begin = lines.index("```text") + 1
    assert lines[begin:-2] == [
        "python benchmarks/regret.py --seeds 0:8 --evaluations 3 --functions ackley --spaces sphere3",
        "python benchmarks/regret.py --seeds 0:1 --evaluations 3 --functions levy rosenbrock --spaces sphere3",
        "python benchmarks/regret.py --seeds 0:2 --functions ackley --spaces torus7",
        "python benchmarks/regret.py --seeds 0:1 --evaluations 6 --functions balanced --spaces robot:stiffness",
    ]


def test_other_kernels_are_compared_seed_by_seed(tmp_path):
    for seed in range(8):
        end = 10.0 ** -(seed + 1)
        regret.append(tmp_path, "geodrome", run_of("geodrome", seed, [1.0, end]))
        regret.append(tmp_path, "geodrome_se", run_of("geodrome_se", seed, [1.0, 100 * end]))
        regret.append(tmp_path, "random", run_of("random", seed, [1.0, 1.0]))
    for seed, other in enumerate((0.1, 10.0, 1.0)):
        regret.append(
            tmp_path, "geodrome_euclidean", run_of("geodrome_euclidean", seed, [1.0, other * 10.0 ** -(seed + 1)])
        )

    lines = figures.kernels(list(figures.cells_of(tmp_path, None)))

    assert lines[-3:] == [
        "| problem | geodrome_se | geodrome_euclidean |",
        "|---|---|---|",
        "| ackley on S³ | **+2.00** | +0.00 (3) |",
    ]


def test_a_method_with_few_seeds_is_not_the_best_of_the_others(measured):
    for seed in range(figures.FEWEST_SEEDS - 1):
        regret.append(measured, "ax", run_of("ax", seed, [1.0, 0.5, 1e-9]))

    lines = figures.standing(list(figures.cells_of(measured, None)))

    assert "| ackley on S³ | -1.88 | -0.88 | random | -1.00 | 3 |" in lines


def test_many_problems_are_rows_of_a_table():
    def curves(end: float) -> dict[int, np.ndarray]:
        return {seed: np.array([1.0, end + seed]) for seed in range(8)}

    cells = [
        figures.Cell("robot:posture", f"weights {number}", {"geodrome": curves(0.0), "random": curves(number)}, {})
        for number in range(figures.WIDEST + 1)
    ]

    assert figures.table(cells)[:4] == [
        "| problem | geodrome | random |",
        "|---|---|---|",
        "| posture, weights 0 | 3.50 | 3.50 |",
        "| posture, weights 1 | 3.50 | 4.50, p = 0.008 |",
    ]
    assert len(figures.table(cells[:-1])) == 4


def test_robots_are_compared_by_their_costs(measured, tmp_path):
    for seed in range(8):
        for method, end in (("geodrome", -2.0), ("random", 0.5 + seed)):
            rows = run_of(method, seed, [1.0, 0.9, end], function="balanced")
            regret.append(measured, method, [row | {"space": "robot:posture", "regret": "nan"} for row in rows])

    [cell] = [cell for cell in figures.cells_of(measured, None) if cell.function == "balanced"]
    docs = tmp_path / "docs"
    subprocess.run([sys.executable, SCRIPT, "--results", measured, "--docs", docs], check=True, timeout=300)

    assert cell.median("geodrome") == -2.0
    page = (docs / "regret.md").read_text()
    assert "| posture, balanced | -2.00 | 4.00 | random | -6.00 | 1 |" in page
    assert "At or below the best other in 1 of 1 by best cost; at worst -6.00." in page
    assert "![Regret on Robots](images/regret-robots.svg)" in page
    assert (docs / "images" / "regret-robots.svg").exists()
