"""The benchmark of covariance matrices: runs as its command says, and writes what readers of the file expect."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "kernels.py"


@pytest.mark.slow
def test_the_quick_run_measures_seconds_and_digits(tmp_path):
    result = tmp_path / "kernels.json"

    run = subprocess.run(
        [sys.executable, SCRIPT, "--quick", "--json", result], capture_output=True, text=True, check=True, timeout=120
    )

    written = json.loads(result.read_text())
    ours = [row for row in written["rows"] if row["method"] == "geodrome"]
    assert {row["space"] for row in ours} == {"R^3", "S^2", "SPD(2)"}
    assert all(row["cpu_s"] > 0 and row["n"] == 100 and row["error"] < 1e-12 for row in ours)
    assert written["rows"][0]["method"] == "gpytorch"
    assert "S^2: geodrome / gpytorch on R^3 = " in run.stdout
