"""Every notebook is a program that runs, finds something better than where it began, and leaves its figures."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import geodrome
import numpy as np
import pytest

NOTEBOOKS = Path(__file__).parents[2] / "client" / "examples" / "notebooks"
STUDIES = {
    "contact_stiffness.py": "peg-in-hole",
    "human_rating.py": "handover",
    "lqr_gains.py": "cart-pole-lqr",
    "tool_orientation.py": "screwdriver",
    "two_robots.py": "bin-picking",
    "warm_start.py": "gait-2026",
}
RESULT = re.compile(r"^\w+ (?:at the start|of the best row): ([\d.]+) \S+, best: ([\d.]+) \S+$")


def program(name: str, url: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "GEODROME_URL": url}
    return subprocess.run(
        [sys.executable, NOTEBOOKS / name],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Where the notebooks are run, as by somebody who stands elsewhere."""
    return tmp_path_factory.mktemp("notebooks")


@pytest.fixture(scope="module")
def ran(server, folder):
    """What a notebook printed; each is run once."""

    @cache
    def of(name: str) -> list[str]:
        done = program(name, server, folder)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return of


@pytest.fixture
def trials(ran, server):
    """The trials that a notebook left in its study."""

    def of(name: str) -> list[geodrome.schemas.Trial]:
        ran(name)
        with geodrome.Client(server) as client:
            return list(client.study(STUDIES[name]).trials())

    return of


def test_every_notebook_is_run():
    assert sorted(path.name for path in NOTEBOOKS.glob("*.py")) == sorted(STUDIES)


@pytest.mark.parametrize("name", STUDIES)
def test_the_best_is_better_than_the_start(ran, server, name):
    start, best = map(float, RESULT.match(ran(name)[-1]).groups())
    with geodrome.Client(server) as client:
        goal = client.study(STUDIES[name]).record.objective.goal

    assert best < 0.8 * start if goal == "minimize" else best > 1.5 * start


@pytest.mark.parametrize("name", STUDIES)
def test_the_study_has_a_unit_and_a_goal_and_its_budget_is_spent(ran, server, name):
    ran(name)
    with geodrome.Client(server) as client:
        record = client.study(STUDIES[name]).record

    assert record.objective.unit
    assert record.objective.name != "cost"
    assert record.budget_left == 0
    assert record.counts.running == record.counts.queued == 0


@pytest.mark.parametrize("name", STUDIES)
def test_the_figures_are_pages_that_need_no_network(ran, folder, name):
    ran(name)
    pages = sorted((folder / "figures").glob(f"{STUDIES[name]}-*.html"))
    shown = {page.stem.removeprefix(f"{STUDIES[name]}-") for page in pages}

    assert {"convergence", "slices"} < shown
    assert all('src="plotly.min.js"' in page.read_text() for page in pages)
    assert (folder / "figures" / "plotly.min.js").exists()


@pytest.mark.parametrize("name", STUDIES)
def test_the_cells_alternate_as_editors_and_jupytext_read_them(name):
    text = (NOTEBOOKS / name).read_text()
    cells = re.split(r"^# %%(?: (\[markdown\]))?\n", text, flags=re.MULTILINE)[1:]
    kinds, bodies = cells[::2], cells[1::2]

    assert text.startswith("# %% [markdown]\n# # ")
    assert all(line.startswith("#") or not line for kind, body in zip(kinds, bodies, strict=True) if kind
               for line in body.splitlines())  # fmt: skip
    assert all(body.count("\n") < 50 for body in bodies)
    assert "GEODROME_URL" in bodies[0]


def test_a_second_run_evaluates_nothing_and_says_the_same(ran, server, folder, trials):
    before = ran("tool_orientation.py")[-1], len(trials("tool_orientation.py"))

    again = program("tool_orientation.py", server, folder)

    assert again.returncode == 0, again.stderr
    assert (again.stdout.splitlines()[-1], len(trials("tool_orientation.py"))) == before


def test_two_robots_share_the_budget_and_run_no_point_twice(trials):
    found = trials("two_robots.py")
    points = np.array([[*trial.point["approach"], np.log(trial.point["grip"])] for trial in found])
    apart = np.linalg.norm(points[:, None] - points, axis=-1)[np.triu_indices(len(points), 1)]

    assert {trial.worker for trial in found} == {"ur5-left", "ur5-right"}
    assert apart.min() > 1e-6


def test_ratings_are_told_by_number_after_the_program_that_asked(ran, trials):
    lines = ran("human_rating.py")
    asked = [line for line in lines if re.match(r"cup \d: \{", line)]
    rated = [line for line in lines if re.match(r"cup \d: [\d.]+ points$", line)]

    assert len(asked) == len(rated) == 3
    assert all(trial.metadata == {"rated_by": "Ada"} for trial in trials("human_rating.py"))


def test_the_table_becomes_trials_from_which_the_model_goes_on(trials):
    with (NOTEBOOKS / "past_gaits.csv").open() as file:
        rows = len(file.readlines()) - 1
    found = trials("warm_start.py")
    past, new = found[:rows], found[rows:]

    assert {trial.origin.kind for trial in past} == {"told"}
    assert new[0].origin.kind == "model"
    assert [trial.number for trial in past if trial.state.value == "failed"] == [10]
    assert [trial.number for trial in past if "outside_domain" in trial.flags] == [13]
    assert past[3].point == past[4].point
