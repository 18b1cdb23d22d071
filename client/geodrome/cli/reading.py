"""What people write: YAML or JSON, as an argument, in a file, or on the input."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import typer

from geodrome.documents import Unreadable, parsed

INPUT = "-"


def content(file: Path, hint: str) -> str:
    """The text of a file; of the input if it is called ``-``.

    Raises:
        typer.BadParameter: It cannot be read.
    """
    try:
        return sys.stdin.read() if str(file) == INPUT else file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"cannot read {file}: {error}", param_hint=hint) from error


def document(file: Path, hint: str) -> Any:
    """The value in a file.

    Raises:
        typer.BadParameter: It cannot be read.
    """
    text = content(file, hint)
    try:
        return parsed(text)
    except Unreadable as error:
        raise typer.BadParameter(f"{file}: {error}", param_hint=hint) from error


def value(text: str, hint: str) -> Any:
    """The value of an argument; ``@FILE`` takes that in a file.

    Raises:
        typer.BadParameter: It cannot be read.
    """
    if text.startswith("@"):
        return document(Path(text[1:]), hint)
    try:
        return parsed(text)
    except Unreadable as error:
        raise typer.BadParameter(f"neither JSON nor @file.json, nor YAML: {error}", param_hint=hint) from error


def mapping(text: str, hint: str) -> dict[str, Any]:
    """Likewise, of what has names for its parts."""
    found = value(text, hint)
    if not isinstance(found, dict):
        raise typer.BadParameter(
            f"neither JSON nor @file.json, nor YAML with names for its parts: {text!r}", param_hint=hint
        )
    return found
