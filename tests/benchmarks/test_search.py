"""The benchmark of the search: runs as its command says, and nothing beats a suggestion."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "search.py"


@pytest.mark.slow
def test_a_few_suggestions_are_maxima(tmp_path):
    result = tmp_path / "search.json"

    run = subprocess.run(
        [sys.executable, SCRIPT, "--posteriors", "3", "--spaces", "rotation3", "spd2", "--json", result],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )

    written = json.loads(result.read_text())
    assert len(written["rows"]) == 6
    assert all(row["restarts"] == 200 and row["n"] >= 5 for row in written["rows"])
    for space in ("rotation3", "spd2"):
        assert written["summary"][f"{space}: reached"] == 1.0
        assert written["summary"][f"{space}: beaten"] == 0
    assert "100.0 %" in run.stdout
