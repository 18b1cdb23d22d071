"""The benchmark of load: runs as its command says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import load
import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "load.py"


@pytest.mark.slow
def test_the_quick_run_counts_pairs(tmp_path):
    result = tmp_path / "load.json"
    options = ["--quick", "--databases", "sqlite", "--trials", "100", "10000", "--seconds", "2"]

    subprocess.run([sys.executable, SCRIPT, *options, "--json", result], check=True, timeout=300)

    written = json.loads(result.read_text())
    ours = [row for row in written["rows"] if row["method"] == "geodrome"]
    assert [(row["database"], row["n"], row["clients"]) for row in ours] == [("sqlite", 100, 8), ("sqlite", 10_000, 8)]
    assert all(row["pairs_per_s"] > 0 and row["p50_ms"] <= row["p99_ms"] for row in ours)
    assert written["summary"]["growth_100_to_10000"] > 0


def test_a_client_that_cannot_begin_ends_the_run_instead_of_holding_it_up():
    def connect():
        raise ConnectionError("too many clients already\nand more")

    with pytest.raises(load.CannotBegin, match=r"^too many clients already$"):
        load.run(connect, clients=3, seconds=0.1)
