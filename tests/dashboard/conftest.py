"""A browser at the pages: what it complains about fails the test, and axe looks at each page."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from geodrome import Client
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

HERE = Path(__file__).parent

CHROMES = ("chromium", "chromium-browser", "google-chrome")

ELSEWHERE = "geodrome.test"
"""A name of this machine that is not its own: pages from there are trusted less."""

# Software draws what is in space; and nothing is fetched from anywhere.
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
    f"--host-resolver-rules=MAP {ELSEWHERE} 127.0.0.1",
]  # fmt: skip

SIZE = {"width": 1280, "height": 850}

REFUSING = ("/v1/", "/sign-in")

SERIOUS = {"serious", "critical"}

TIMEOUT_MS = 60_000
"""A busy machine takes its time; a test that passes does not wait."""


# Not for the session: as long as it is open, an event loop runs in this thread, and other tests want their own.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A Chromium that tests share; without one they are skipped, but not where everything must be checked."""
    found = next(filter(None, map(shutil.which, CHROMES)), None)
    if found is None:
        _absent("none of " + ", ".join(CHROMES))
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture
def browser_page(browser: Browser) -> Iterator[Page]:
    """An empty page; in the end there must have been no error in it."""
    context = browser.new_context(viewport=SIZE, reduced_motion="reduce")
    context.set_default_timeout(TIMEOUT_MS)
    page = context.new_page()
    errors: list[str] = []

    def note(message: ConsoleMessage) -> None:
        # What is refused there is no error of a page, which shows it.
        if message.type == "error" and not any(place in message.location["url"] for place in REFUSING):
            errors.append(message.text)

    page.on("console", note)
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    context.close()
    assert errors == []


@pytest.fixture
def elsewhere() -> str:
    """The name by which other machines would know the server."""
    return ELSEWHERE


@pytest.fixture
def lab(server: str) -> Iterator[Client]:
    """A client of the server that the pages come from."""
    with Client(server) as client:
        yield client


@pytest.fixture(scope="session")
def axe() -> str:
    """The script that finds what some people cannot use."""
    source = HERE / "node_modules" / "axe-core" / "axe.min.js"
    if not source.exists():
        npm = shutil.which("npm")
        if npm is None:
            _absent("no npm")
        command = [npm, "install", "--no-package-lock", "--no-audit", "--no-fund"]
        subprocess.run(command, cwd=HERE, check=True, capture_output=True)
    return source.read_text()


@pytest.fixture
def violations(axe: str) -> Callable[[Page], list[str]]:
    """What serious there is against a page in both themes, on a screen and on a phone, sideways scrolling included."""

    def find(page: Page) -> list[str]:
        found = []
        page.evaluate(axe)
        for width in (SIZE["width"], 390):
            page.set_viewport_size({"width": width, "height": SIZE["height"]})
            for theme in ("light", "dark"):
                page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
                seen = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
                found += [
                    f"{theme}, {width}: {one['id']} at {[node['target'] for node in one['nodes']]}"
                    for one in seen
                    if one["impact"] in SERIOUS
                ]
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                found.append(f"{width}: the page scrolls sideways")
        page.set_viewport_size(SIZE)
        return found

    return find


def _absent(what: str) -> NoReturn:
    text = f"tests of the pages need a browser, and npm for axe-core: {what} found"
    if os.environ.get("CI"):
        pytest.fail(text)
    pytest.skip(text)
