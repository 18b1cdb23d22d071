"""The benchmark of faults: runs as its command says, and nothing is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "faults.py"


@pytest.mark.slow
def test_the_quick_run_loses_nothing(tmp_path):
    result = tmp_path / "faults.json"
    options = ["--quick", "--databases", "sqlite", "--tells", "60"]

    subprocess.run([sys.executable, SCRIPT, *options, "--json", result], check=True, timeout=600)

    summary = json.loads(result.read_text())["summary"]
    assert summary["acknowledged"] >= 60
    assert summary["kills"] >= 5
    assert (summary["lost"], summary["doubled"], summary["stuck"]) == (0, 0, 0)
