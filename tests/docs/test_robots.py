"""What ``docs/robots.md`` names is there; its blocks are run with those of all pages."""

from __future__ import annotations

import inspect
import json
import re

from geodrome_robots.bridges import ros2
from geodrome_robots.bridges.command import Answer
from geodrome_robots.cli import run_robot

from tests.docs.pages import DOCS, ROOT, blocks_of

PAGE = DOCS / "robots.md"
BLOCKS = blocks_of(PAGE)


def test_a_robot_has_at_most_30_lines():
    (leg,) = [block for block in BLOCKS if block.file == "leg.py"]

    assert len(leg.text.splitlines()) - 1 <= 30


def test_the_lines_of_the_protocol_are_ones():
    lines = [json.loads(line) for block in BLOCKS if block.language == "json" for line in block.text.splitlines()]

    assert sum("point" in line for line in lines) == 1
    for line in lines:
        if "point" not in line:
            Answer.model_validate(line)


def test_every_option_that_it_names_exists():
    options = {f"--{name.replace('_', '-')}" for name in inspect.signature(run_robot).parameters} | {"--no-check-noise"}
    node = (ROOT / "robot_adapters/examples/ros2/geodrome_node.py").read_text()

    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", PAGE.read_text())) - {"--space", "--ros-args"}
    assert {name for name in named if name not in options} <= set(re.findall(r'"(--[a-z-]+)"', node))
    assert ros2.Limits().silence_s == 30


def test_every_file_and_page_that_it_names_exists():
    text = PAGE.read_text()
    adapters = ["examples", "examples/ros2", "geodrome_robots/bridges"]
    folders = ["benchmarks", *(f"robot_adapters/{folder}" for folder in adapters)]
    files = {path.name for folder in folders for path in (ROOT / folder).iterdir()}
    own = {block.file for block in BLOCKS if block.file}

    assert set(re.findall(r"\b\w+\.(?:py|cpp|action|msg)\b", text)) <= files | own
