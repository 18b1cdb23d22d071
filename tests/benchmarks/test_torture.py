"""The benchmark of impossible studies: runs as its command says, and finds nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "torture.py"


def test_a_few_studies_get_valid_suggestions(tmp_path):
    result = tmp_path / "torture.json"

    run = subprocess.run(
        [sys.executable, SCRIPT, "--seed", "48", "--studies", "9", "--json", result],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )

    written = json.loads(result.read_text())
    assert set(written["summary"]) == {"studies", "invalid", "errors", "fallbacks"}
    assert written["summary"]["studies"] == len(written["rows"]) == 9
    assert written["summary"]["invalid"] == written["summary"]["errors"] == 0
    assert "errors = 0" in run.stdout
    assert "CPU s of a suggestion: median" in run.stdout
