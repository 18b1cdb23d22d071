"""The README's commands are those of the Makefile, and its links lead somewhere; its blocks are run with all others.

What it says of regret is what was measured.
"""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import BLOCKS, ROOT, Block

MAKEFILE = (ROOT / "Makefile").read_text()


@pytest.mark.parametrize(
    "block", [block for block in BLOCKS if block.text.startswith("make")], ids=lambda block: block.name
)
def test_every_make_command_is_a_target(block: Block):
    target = block.text.removeprefix("make ")

    assert re.search(rf"^{target}:", MAKEFILE, flags=re.MULTILINE)


@pytest.mark.parametrize(
    "block", [block for block in BLOCKS if block.text.startswith("python3 -m venv")], ids=lambda block: block.name
)
def test_the_lines_for_people_without_make_do_what_make_does(block: Block):
    plain = MAKEFILE.replace("$(BIN)", ".venv/bin").replace("$(PYTHON)", "python3").replace("$(VENV)", ".venv")
    recipe = {line.strip() for line in plain.splitlines() if line.startswith("\t")}

    install, then = block.text.splitlines()

    venv, pip = install.split(" && ")
    assert any(line.endswith(f"|| {venv}") for line in recipe)
    assert pip in recipe
    assert then in recipe


def test_every_local_link_leads_somewhere():
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", (ROOT / "README.md").read_text()):
        assert (ROOT / target).exists(), target


def test_its_medians_are_those_of_the_page_of_regret():
    measured = (ROOT / "docs" / "regret.md").read_text().splitlines()
    rows = [line for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("| ackley on ")]

    assert len(rows) == 5
    assert set(rows) <= set(measured)
