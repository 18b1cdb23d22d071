"""Every block of the README and of the documentation is run, in the order in which a reader meets it."""

from __future__ import annotations

import re
from functools import cache

import pytest

from tests.docs.pages import BLOCKS, LANGUAGES, Block, run

RUN_HERE = [block for block in BLOCKS if block.is_run]


@pytest.fixture(scope="module")
def printed(server, tmp_path_factory):
    """What a block prints, after all that stand before it on its page; each page has a folder of its own."""

    @cache
    def of_page(page: str) -> dict[str, str]:
        folder = tmp_path_factory.mktemp("page")
        done = {}
        for block in (block for block in RUN_HERE if block.page == page):
            ran = run(block, server, folder)
            assert ran.returncode == 0, f"{block.name}\n{ran.stdout}\n{ran.stderr}"
            done[block.name] = ran.stdout
        return done

    return lambda block: of_page(block.page)[block.name]


@pytest.mark.parametrize("block", RUN_HERE, ids=lambda block: block.name)
def test_the_block_runs_and_prints_what_its_comments_say(printed, block: Block):
    output = printed(block)

    # print(…)  # what comes out
    for promised in re.findall(r"^print\(.*\)  # (.*)$", block.text, flags=re.MULTILINE):
        assert promised in output
    if "geodrome robot run" in block.text:
        assert "best cost" in output


def test_every_block_says_what_it_is():
    assert {block.name: block.language for block in BLOCKS if block.language not in LANGUAGES} == {}


def test_the_readme_has_a_block_for_curl_for_the_sdk_for_the_command_line_and_for_the_library():
    texts = "\n".join(block.text for block in RUN_HERE if block.page == "README.md")

    assert all(word in texts for word in ("curl ", "geodrome.Client", "geodrome tell", "from geodrome_core import"))
