"""The pages that people read, as blocks, and how a block is run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
LANGUAGES = {"python", "sh", "json", "text"}

URL = "http://127.0.0.1:8100"
# The tests have been set up and the server started by other means.
SET_UP = re.compile(r"^(make \w+|geodrome serve|python3 -m venv .*\n\.venv/bin/(geodrome demo|pytest .*))$")
FILE = re.compile(r"^# (\w+\.py)\n")
COMMANDS = {"python": [sys.executable, "-c"], "sh": ["bash", "-euo", "pipefail", "-c"]}


class Block(NamedTuple):
    """What stands between two fences.

    Attributes:
        page: Path of the page in the repository.
        line: Where it begins.
        language: That of the fence: ``python`` and ``sh`` are run, ``json`` and ``text`` are only shown.
        text: Its lines.
    """

    page: str
    line: int
    language: str
    text: str

    @property
    def name(self) -> str:
        """Page and line."""
        return f"{self.page}:{self.line}"

    @property
    def file(self) -> str | None:
        """The name of the file that the reader is to save, if the first line is one."""
        found = FILE.match(self.text) if self.language == "python" else None
        return found[1] if found else None

    @property
    def is_run(self) -> bool:
        """Whether the block does something here."""
        return self.language in COMMANDS and not SET_UP.match(self.text)


def blocks_of(page: Path) -> list[Block]:
    """All blocks of a page, in order."""
    text = page.read_text()
    return [
        Block(str(page.relative_to(ROOT)), text[: match.start()].count("\n") + 1, match[1], match[2].rstrip("\n"))
        for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    ]


BLOCKS = [block for page in PAGES for block in blocks_of(page)]


def run(block: Block, url: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Saves the block where it is a file, and else runs it, in the folder of its page."""
    text = block.text.replace(URL, url)
    if block.file is not None:
        (folder / block.file).write_text(text)
        return subprocess.CompletedProcess([], 0, "", "")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    settings = {"GEODROME_URL": url, "GEODROME_DATABASE_URL": str(folder / "geodrome.db")}
    return subprocess.run(
        [*COMMANDS[block.language], text],
        cwd=folder,
        env={**os.environ, "PATH": path, **settings},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
