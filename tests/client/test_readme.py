"""Every block in the README and the pages beside it is run, or compared with the Makefile."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text()
PAGES = [
    "README.md",
    "docs/quickstart.md",
    "docs/command-line.md",
    "docs/spaces.md",
    "docs/suggestions.md",
    "docs/operations.md",
    "docs/carrying.md",
    "docs/geometry/index.md",
    "docs/geometry/features.md",
    "docs/geometry/sphere.md",
    "docs/geometry/rotation.md",
]
URL = "http://127.0.0.1:8100"
# The tests have been set up and the server started by other means.
SET_UP = re.compile(r"^(make \w+|geodrome serve|python3 -m venv .*\n\.venv/bin/(geodrome demo|pytest .*))$")


class Block(NamedTuple):
    page: str
    line: int
    language: str
    text: str


def blocks() -> list[Block]:
    found = []
    for page in PAGES:
        text = (ROOT / page).read_text()
        for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL):
            line = text[: match.start()].count("\n") + 1
            found.append(Block(page, line, match[1], match[2].rstrip("\n")))
    return found


def ids(block: Block) -> str:
    return f"{block.page}:{block.line}"


BLOCKS = blocks()
RUN_HERE = [block for block in BLOCKS if block.language not in {"json", "text"} and not SET_UP.match(block.text)]
COMMANDS = {"python": [sys.executable, "-c"], "sh": ["bash", "-euo", "pipefail", "-c"]}


def run(block: Block, url: str, database: Path) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "GEODROME_URL": url, "GEODROME_DATABASE_URL": str(database)}
    done = subprocess.run(
        [*COMMANDS[block.language], block.text.replace(URL, url)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, f"{ids(block)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def printed(server, tmp_path_factory):
    """What each block prints; they run in the order of the pages, as a reader runs them."""
    database = tmp_path_factory.mktemp("readme") / "geodrome.db"
    return {ids(block): run(block, server, database) for block in RUN_HERE}


@pytest.mark.parametrize("block", RUN_HERE, ids=ids)
def test_the_block_runs_and_prints_what_its_comments_say(printed, block):
    output = printed[ids(block)]

    # print(…)  # what comes out
    for promised in re.findall(r"^print\(.*\)  # (.*)$", block.text, flags=re.MULTILINE):
        assert promised in output


def test_there_is_a_block_for_curl_for_the_sdk_for_the_command_line_and_for_the_library():
    texts = "\n".join(block.text for block in RUN_HERE if block.page == "README.md")

    assert all(word in texts for word in ("curl ", "geodrome.Client", "geodrome tell", "from geodrome_core import"))


@pytest.mark.parametrize("block", [block for block in BLOCKS if block.text.startswith("make")], ids=ids)
def test_every_make_command_is_a_target(block):
    target = block.text.removeprefix("make ")

    assert re.search(rf"^{target}:", MAKEFILE, flags=re.MULTILINE)


@pytest.mark.parametrize("block", [block for block in BLOCKS if block.text.startswith("python3 -m venv")], ids=ids)
def test_the_lines_for_people_without_make_do_what_make_does(block):
    plain = MAKEFILE.replace("$(BIN)", ".venv/bin").replace("$(PYTHON)", "python3").replace("$(VENV)", ".venv")
    recipe = {line.strip() for line in plain.splitlines() if line.startswith("\t")}

    install, then = block.text.splitlines()

    venv, pip = install.split(" && ")
    assert any(line.endswith(f"|| {venv}") for line in recipe)
    assert pip in recipe
    assert then in recipe


def test_every_local_link_leads_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", (ROOT / page).read_text()):
            assert ((ROOT / page).parent / target).exists(), f"{page}: {target}"
