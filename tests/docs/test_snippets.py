"""Every block of the README and of the documentation is run, in the order in which a reader meets it."""

from __future__ import annotations

import re
from functools import cache
from subprocess import CompletedProcess

import pytest

from tests.docs.pages import BLOCKS, LANGUAGES, Block, run

RUN_HERE = [block for block in BLOCKS if block.is_run]


@pytest.fixture(scope="module")
def ran(server, tmp_path_factory):
    """What became of the blocks of a page, up to the first that fails; each page has a folder of its own."""

    @cache
    def of_page(page: str) -> dict[str, CompletedProcess[str]]:
        folder, done = tmp_path_factory.mktemp("page"), {}
        for block in (block for block in RUN_HERE if block.page == page):
            done[block.name] = run(block, server, folder)
            if done[block.name].returncode:
                break
        return done

    return of_page


@pytest.mark.parametrize("block", RUN_HERE, ids=lambda block: block.name)
def test_the_block_runs_and_prints_what_its_comments_say(ran, block: Block):
    done = ran(block.page)
    assert block.name in done, f"stopped at {list(done)[-1]}"
    output = done[block.name].stdout

    assert done[block.name].returncode == 0, f"{output}\n{done[block.name].stderr}"
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
