"""The benchmark of the robots: runs as its command says, and writes what readers of the file expect."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.slow
def test_the_quick_run_compares_with_random_search(tmp_path):
    result = tmp_path / "robots.json"

    run = subprocess.run(
        [sys.executable, BENCHMARKS / "robots.py", "--quick", "--trials", "8", "--json", result],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )

    written = json.loads(result.read_text())
    assert [(row["method"], row["space"], len(row["costs"])) for row in written["rows"]] == [
        ("geodrome", "orientation", 8),
        ("random", "orientation", 8),
    ]
    [(name, of_it)] = written["summary"].items()
    assert name == "orientation (balanced)"
    assert of_it["geodrome"] == min(cost for cost in written["rows"][0]["costs"] if cost is not None)
    assert of_it["simulation_cpu_s"] > 0
    assert f"{of_it['geodrome']:.4f}" in run.stdout
