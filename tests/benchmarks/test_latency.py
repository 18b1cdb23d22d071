"""The benchmark of latencies: runs as its command says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "latency.py"


@pytest.mark.slow
def test_the_quick_run_times_every_kind_of_request(tmp_path):
    result = tmp_path / "latency.json"

    subprocess.run(
        [sys.executable, SCRIPT, "--quick", "--databases", "sqlite", "--requests", "10", "--json", result],
        check=True,
        timeout=300,
    )

    written = json.loads(result.read_text())
    kinds = {"study", "best", "page of trials", "page of one state", "page of events", "trial", "tell"}
    assert {row["request"] for row in written["rows"]} == kinds
    assert all(0 < row["p50_ms"] <= row["p99_ms"] for row in written["rows"])
    assert written["summary"].keys() == {"looking_p99_ms", "tell_p99_ms"}
