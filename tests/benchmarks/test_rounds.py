"""The benchmark of long runs: runs as its command says, and no point drifts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "rounds.py"


@pytest.mark.slow
def test_the_quick_run_stays_on_its_manifolds(tmp_path):
    result = tmp_path / "rounds.json"

    subprocess.run([sys.executable, SCRIPT, "--quick", "--json", result], check=True, timeout=300)

    written = json.loads(result.read_text())
    assert {row["space"] for row in written["rows"]} == {"sphere3", "rotation3", "spd2", "gains"}
    assert all(row["n"] == 12 for row in written["rows"])
    assert written["summary"]["drift"] < 1e-12
    assert written["summary"]["outside"] == 0
