"""The benchmark of regret: all begin at the same points, runs are kept, and the service does what the engine does."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import geodrome
import problems
import pytest
import regret
import torch
from regret_methods import INITIAL, METHODS, Method, first_points
from regret_runs import Run, rows_of

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "regret.py"
OURS = [name for name in METHODS if name.startswith("geodrome")]


def benchmark(directory: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, SCRIPT, "--quick", "--workers", "1", "--results", directory, *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return done.stdout


def rows(directory: Path, method: str) -> list[dict[str, str]]:
    with (directory / f"regret-{method}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_runs_are_kept_and_the_benchmark_goes_on_where_it_was_stopped(tmp_path):
    first = benchmark(tmp_path, "--methods", "random", "geodrome")
    again = benchmark(tmp_path, "--methods", "random", "geodrome")
    more = benchmark(tmp_path, "--methods", "random", "geodrome", "--seeds", "0:2")

    assert first.startswith("0 of 2 runs are there")
    assert again == "2 of 2 runs are there\n"
    assert more.startswith("2 of 4 runs are there")
    for method in ("random", "geodrome"):
        of_it = rows(tmp_path, method)
        assert tuple(of_it[0]) == regret.COLUMNS
        assert [(row["seed"], int(row["evaluation"])) for row in of_it] == [
            (seed, number) for seed in "01" for number in range(1, 9)
        ]
        bests = [float(row["best"]) for row in of_it[:8]]
        assert bests == sorted(bests, reverse=True)
        assert float(of_it[7]["regret"]) == pytest.approx(min(float(row["cost"]) for row in of_it[:8]), rel=1e-5)
    assert [row["cost"] for row in rows(tmp_path, "random")[:5]] == [
        row["cost"] for row in rows(tmp_path, "geodrome")[:5]
    ]
    versions = (tmp_path / "versions.csv").read_text().splitlines()
    assert [line.partition(",")[0] for line in versions] == ["method", "geodrome", "random", "geodrome", "random"]
    assert f"torch {torch.__version__}" in versions[1]


def test_what_was_cut_off_or_is_too_short_is_made_again(tmp_path):
    run = Run("random", "sphere3", "ackley", 0)
    regret.append(tmp_path, "random", rows_of(run, 8))
    short, cut, other = (Run("random", "sphere3", "ackley", seed) for seed in (1, 2, 3))
    regret.append(tmp_path, "random", rows_of(short, 6))
    regret.append(tmp_path, "random", rows_of(other, 6))
    regret.append(tmp_path, "random", rows_of(cut, 8))
    path = tmp_path / "regret-random.csv"
    path.write_text(path.read_text()[:-5])

    there = regret.completed(tmp_path, [run, short, cut], 8)

    assert there == {run}
    assert sorted(row["seed"] for row in rows(tmp_path, "random")) == ["0"] * 8 + ["3"] * 6  # that is not wanted now
    assert path.read_text().endswith("\n")


def test_only_methods_that_are_installed_can_be_named():
    assert METHODS["geodrome"].is_installed
    assert METHODS["botorch"].is_installed
    assert not Method(METHODS["random"].begin, "no-such-package").is_installed


@pytest.mark.parametrize(
    ("method", "space"),
    [
        (method, space)
        for method in (*OURS, "botorch", "botorch_ambient", "cma_es", "random")
        for space in ("sphere3", "spd2")
        if space in (METHODS[method].spaces or problems.SPECS)
    ],
)
def test_each_method_proposes_points_of_the_domain(method, space):
    of_it = METHODS[method]
    function = problems.cost_function(space, "levy")
    manifold = function.space.manifold
    prepare = of_it.begin(function, 3)
    X = first_points(function, 3)

    for _ in range(3):
        row = prepare(X, function.costs(X))()
        assert bool(manifold.contains(row[None])[0])
        assert float((manifold.nearest(row[None]) - row).abs().max()) < 1e-9
        X = torch.cat([X, row[None]])

    assert float(manifold.distance(X[-3:], X[:-3, None]).min()) > 0


def test_the_service_gives_the_points_of_the_engine_to_the_last_digit(server, study_name):
    function = problems.cost_function("spd2", "ackley")
    prepare, X = METHODS["geodrome"].begin(function, 11), first_points(function, 11)
    with geodrome.Client(server) as client:
        study = client.create_study(study_name, space=problems.SPECS["spd2"], seed=11, initial_design={"size": INITIAL})
        told = study.add_all(
            [
                {"point": function.space.point(row), "cost": cost}
                for row, cost in zip(X, function.costs(X).tolist(), strict=True)
            ]
        )
        X = function.space.rows([trial.point for trial in told])

        for _ in range(4):
            trial = study.ask()
            row = prepare(X, function.costs(X))()

            assert function.space.point(row) == trial.point
            trial.tell(cost=function.cost(trial.point))
            X = torch.cat([X, row[None]])
