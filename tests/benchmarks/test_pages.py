"""The benchmark of pages: runs as its command says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pages
import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "pages.py"


@pytest.mark.slow
def test_the_quick_run_times_a_page_from_its_paint_to_its_figure(tmp_path):
    if not os.environ.get("CI") and not any(map(shutil.which, pages.CHROMES)):
        pytest.skip("there is no browser")
    result = tmp_path / "pages.json"

    subprocess.run([sys.executable, SCRIPT, "--quick", "--json", result], check=True, timeout=300)

    written = json.loads(result.read_text())
    [row] = written["rows"]
    assert 0 < row["paint_ms"] <= row["figure_ms"]
    assert row["last_page_ms"] > 0
    assert row["by_cost_ms"] > 0
    assert written["summary"] == {"paint_ms_at_500": row["paint_ms"]}
