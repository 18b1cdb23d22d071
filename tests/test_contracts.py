"""The arrows between the rooms, as import-linter finds them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_every_import_contract_is_kept():
    linter = Path(sys.executable).with_name("lint-imports")

    run = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)

    assert run.returncode == 0, run.stdout
    assert "0 broken" in run.stdout


def test_a_broken_contract_is_found(tmp_path):
    """The contracts bite: a client that imports the core fails the check."""
    for package in (
        "client/geodrome",
        "service/geodrome_core",
        "service/geodrome_service",
        "robot_adapters/geodrome_robots",
    ):
        target = tmp_path / package
        target.mkdir(parents=True)
        for source in (ROOT / package).rglob("*.py"):
            copy = target / source.relative_to(ROOT / package)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(source.read_text())
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    with (tmp_path / "client/geodrome/spaces.py").open("a") as spaces:
        spaces.write("\nimport geodrome_core\n")
    paths = ":".join(str(tmp_path / folder) for folder in ("client", "service", "robot_adapters"))

    run = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=tmp_path,
        env={"PYTHONPATH": paths, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 1
    assert "The client knows nobody, and never torch BROKEN" in run.stdout


def test_importing_the_client_brings_no_torch():
    code = "import sys, geodrome; print(sorted({'torch', 'numpy', 'fastapi', 'roboticstoolbox'} & set(sys.modules)))"

    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert run.stdout.strip() == "[]"
