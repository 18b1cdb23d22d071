"""The benchmark of a suggestion: runs as its command says, and writes what readers of the file expect."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from geodrome_core import space_from_spec

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.slow
def test_the_quick_run_compares_every_method(tmp_path):
    """Of the peers, BoTorch is always there; others are where they are installed."""
    result = tmp_path / "ask.json"

    run = subprocess.run(
        [sys.executable, BENCHMARKS / "ask.py", "--quick", "--json", result],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )

    written = json.loads(result.read_text())
    assert {row["method"] for row in written["rows"]} >= {"geodrome", "geodrome_cold", "botorch", "floor"}
    assert {row["space"] for row in written["rows"]} == {"rotation3", "spd2"}
    assert all(row["cpu_s"] > 0 and row["n"] == 100 for row in written["rows"])
    assert {"rotation3, n = 100: botorch / geodrome", "spd2, n = 100: geodrome / floor"} <= set(written["summary"])
    assert {"torch", "botorch", "geodrome"} <= set(written["versions"])
    assert "botorch / geodrome = " in run.stdout


def test_peers_get_the_unit_cube(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    import ask
    import ask_peers

    for name, spec in ask.SPACES.items():
        space = space_from_spec(spec)
        X, Y = ask.data(space, 40)

        U = ask_peers.chart(space, X)

        assert U.shape == (40, space.manifold.dim), name
        assert (U.amin(0) == 0).all(), name
        assert (U.amax(0) == 1).all(), name
        assert len(U.unique(dim=0)) == 40, name
        assert torch.isfinite(Y).all(), name


def test_botorch_improves_on_the_least_cost(monkeypatch):
    """Its costs are standardized within the model only: what is to be improved on is given in their own units."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    import ask_peers

    def costs(U):
        return 100 + 50 * ((U - torch.tensor([0.3, 0.6])) ** 2).sum(-1)

    U = torch.rand(ask_peers.INITIAL, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    for seed in range(6):
        U = torch.cat([U, torch.tensor([ask_peers.botorch(U, costs(U), seed)()], dtype=torch.float64)])

    assert costs(U).min() - 100 < 0.1
