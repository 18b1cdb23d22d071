"""The site is built without a warning, and needs nothing from outside: labs are offline."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, ROOT

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
OUTSIDE = re.compile(r"^(https?:)?//")


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The site as ``make docs`` builds it."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [Path(sys.executable).with_name("mkdocs"), "build", "--strict", "--quiet", "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


class Resources(HTMLParser):
    """What a browser loads with a page, by tag and address."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []
        self.feed(page.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        address = dict(attrs).get(LOADED.get(tag, ""))
        if address:
            self.found.append((tag, address))


def test_every_page_is_there(site):
    pages = {path.relative_to(DOCS).with_suffix(".html") for path in DOCS.rglob("*.md")}

    assert all((site / page).exists() for page in pages)


def test_pages_load_nothing_from_outside(site):
    pages = list(site.rglob("*.html"))
    loaded = {(page.name, *found) for page in pages for found in Resources(page).found}

    assert {tag for _, tag, _ in loaded} >= {"script", "link", "img"}
    assert {found for found in loaded if OUTSIDE.match(found[2])} == set()


def test_styles_load_nothing_from_outside(site):
    styles = "".join(path.read_text() for path in [*site.rglob("*.css"), *site.rglob("*.html")])

    addresses = re.findall(r"url\(\s*[\"']?([^)\"']+)|@import\s+[\"']([^\"']+)", styles)
    assert [address for pair in addresses for address in pair if OUTSIDE.match(address)] == []


def test_formulas_are_drawn_by_the_browser_itself(site):
    page = (site / "kernels.html").read_text()

    assert page.count("<math ") == page.count('class="formula"') >= 8
    assert "arithmatex" not in page
