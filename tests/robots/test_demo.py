"""``geodrome demo``: the whole loop, and the pieces it is made of."""

from __future__ import annotations

import math
import re
import signal
import socket
import subprocess
import sys

import pytest
from geodrome import Infeasible
from geodrome_robots.demo import best_so_far, plot_convergence, random_search

PNG = b"\x89PNG\r\n\x1a\n"


def test_the_demo_ends_with_the_two_costs_and_leaves_a_plot(tmp_path):
    command = [sys.executable, "-m", "geodrome.cli", "demo", "--trials", "7", "--seed", "1"]

    done = subprocess.run(
        [*command, "--directory", str(tmp_path / "demo")], capture_output=True, text=True, timeout=120, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr
    *_, plot, ours, random = done.stdout.splitlines()
    assert re.fullmatch(r"geodrome best cost: -?\d+\.\d{6}", ours)
    assert re.fullmatch(r"random search best cost: -?\d+\.\d{6}", random)
    assert (tmp_path / "demo" / "orientation-seed1.png").read_bytes().startswith(PNG)
    assert plot == f"convergence plot: {tmp_path / 'demo' / 'orientation-seed1.png'}"
    assert "quaternion wxyz" in done.stdout
    assert "deg" in done.stdout


def test_a_demo_that_is_ended_takes_its_server_with_it(tmp_path):
    command = [sys.executable, "-m", "geodrome.cli", "demo", "--trials", "1000", "--directory", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as demo:
        listening = demo.stdout.readline()
        demo.send_signal(signal.SIGTERM)
        code = demo.wait(timeout=60)

    port = re.fullmatch(r"Geodrome listens on http://127\.0\.0\.1:(\d+)\n", listening)[1]
    assert code == 130
    assert not _answers(int(port))


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_a_server_that_does_not_start_is_told_with_its_log(tmp_path):
    (tmp_path / "geodrome.db").mkdir()  # a folder where the database belongs
    command = [sys.executable, "-m", "geodrome.cli", "demo", "--directory", str(tmp_path)]

    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)

    assert done.returncode == 1
    assert "the server ended with code" in done.stderr
    assert "geodrome.db" in done.stderr


def test_random_search_repeats_itself_for_a_seed_and_differs_for_another(orientation):
    assert random_search(orientation, 4, seed=3) == random_search(orientation, 4, seed=3)
    assert random_search(orientation, 4, seed=3) != random_search(orientation, 4, seed=4)


def test_random_search_spends_a_trial_on_an_infeasible_point(pointer):
    def limit(calls: int) -> None:
        if calls == 2:
            raise Infeasible("too far")

    costs = random_search(pointer(limit), 3, seed=0)

    assert costs[1] is None
    assert all(cost is not None for cost in (costs[0], costs[2]))


@pytest.mark.parametrize(
    ("costs", "expected"), [([3.0, None, 1.0, 2.0], [3.0, 3.0, 1.0, 1.0]), ([None, 2.0], [math.inf, 2.0])]
)
def test_the_best_so_far_never_rises(costs, expected):
    assert best_so_far(costs) == expected


def test_the_plot_is_a_png_even_before_the_first_cost(tmp_path):
    path = tmp_path / "plot.png"

    plot_convergence(path, {"geodrome": [math.inf, 2.0, 1.0], "random search": [3.0, 3.0, 2.5]})

    assert path.read_bytes().startswith(PNG)
