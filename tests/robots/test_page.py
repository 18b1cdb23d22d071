"""``docs/robots.md`` is true: its files are saved and run in a folder, in the order in which a reader meets them."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from geodrome_robots.bridges import ros2
from geodrome_robots.bridges.command import Answer
from geodrome_robots.cli import run_robot

PAGE = Path(__file__).parents[2] / "docs" / "robots.md"
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE.read_text(), flags=re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def printed(server, tmp_path_factory) -> list[str]:
    """What the commands print; a block of Python is a file, whose name is its first line."""
    folder = tmp_path_factory.mktemp("page")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    outputs = []
    for language, text in BLOCKS:
        if language == "python":
            (folder / text.splitlines()[0].removeprefix("# ")).write_text(text)
        elif language == "sh":
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", text],
                cwd=folder,
                env={**os.environ, "PATH": path, "GEODROME_URL": server},
                capture_output=True,
                text=True,
                check=False,
                timeout=180,
            )
            assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
            outputs.append(done.stdout)
    return outputs


def test_every_command_runs_and_ends_with_a_best_cost(printed):
    assert len(printed) == 3
    assert all("best cost" in output for output in printed)


def test_a_robot_has_at_most_30_lines():
    (leg,) = [text for _, text in BLOCKS if text.startswith("# leg.py")]

    assert len(leg.splitlines()) - 1 <= 30


def test_the_lines_of_the_protocol_are_ones():
    lines = [json.loads(line) for language, text in BLOCKS if language == "json" for line in text.splitlines()]

    assert sum("point" in line for line in lines) == 1
    for line in lines:
        if "point" not in line:
            Answer.model_validate(line)


def test_every_option_that_it_names_exists():
    options = {f"--{name.replace('_', '-')}" for name in inspect.signature(run_robot).parameters} | {"--no-check-noise"}
    node = (PAGE.parents[1] / "robot_adapters/examples/ros2/geodrome_node.py").read_text()

    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", PAGE.read_text())) - {"--space", "--ros-args"}
    assert {name for name in named if name not in options} <= set(re.findall(r'"(--[a-z-]+)"', node))
    assert ros2.Limits().silence_s == 30


def test_every_file_and_page_that_it_names_exists():
    text = PAGE.read_text()
    adapters = ["examples", "examples/ros2", "geodrome_robots/bridges"]
    folders = ["benchmarks", *(f"robot_adapters/{folder}" for folder in adapters)]
    files = {path.name for folder in folders for path in (PAGE.parents[1] / folder).iterdir()}
    own = {text.splitlines()[0].removeprefix("# ") for language, text in BLOCKS if language == "python"}

    assert set(re.findall(r"\b\w+\.(?:py|cpp|action|msg)\b", text)) <= files | own
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (PAGE.parent / target).exists()
