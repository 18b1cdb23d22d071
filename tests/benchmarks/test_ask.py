"""The benchmark of a suggestion: runs as its command says, and writes what readers of the file expect."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "ask.py"


@pytest.mark.slow
def test_the_quick_run_compares_every_method(tmp_path):
    result = tmp_path / "ask.json"

    run = subprocess.run(
        [sys.executable, SCRIPT, "--quick", "--json", result], capture_output=True, text=True, check=True, timeout=120
    )

    written = json.loads(result.read_text())
    assert {row["method"] for row in written["rows"]} == {"geodrome", "botorch", "floor"}
    assert {row["space"] for row in written["rows"]} == {"rotation3", "spd2"}
    assert all(row["cpu_s"] > 0 and row["n"] == 100 for row in written["rows"])
    assert "rotation3, n = 100: botorch / geodrome" in written["summary"]
    assert {"torch", "botorch", "geodrome"} <= set(written["versions"])
    assert "botorch / geodrome = " in run.stdout
