"""What people write: YAML or JSON, as an argument, in a file, or on the input.

YAML is read by the core schema of its version 1.2, in which 1e-3 is a number, and no, on and 12:30 are text. Nothing
but plain values is made of it.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import typer
import yaml

INPUT = "-"


class Unreadable(ValueError):
    """The text is neither YAML nor JSON; the message says where and why."""


def parsed(text: str) -> Any:
    """The value that the text stands for.

    Raises:
        Unreadable: It is neither YAML nor JSON, has a key twice, or one that is no text.
    """
    try:
        return _parsed(text)
    except Unreadable:
        raise
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = "" if mark is None else f"line {mark.line + 1}, column {mark.column + 1}: "
        raise Unreadable(f"{where}{error.problem}") from error
    except yaml.YAMLError as error:
        raise Unreadable(" ".join(str(error).split())) from error
    except RecursionError as error:
        raise Unreadable("it is nested too deeply") from error
    except ValueError as error:  # a number of more digits than Python reads
        raise Unreadable(str(error)) from error


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


def _parsed(text: str) -> Any:
    # Nearly all JSON is YAML, but not that which is indented by tabs.
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except json.JSONDecodeError:
        return yaml.load(text, _Loader)  # noqa: S506 (the loader is a SafeLoader)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, item in pairs:
        if key in found:
            raise Unreadable(f"the key {key!r} is there twice")
        found[key] = item
    return found


class _Loader(yaml.SafeLoader):  # type: ignore[misc] # yaml has no annotations
    # Not the resolvers of YAML 1.1, where 1e-3 is text, no is false and 12:30 is 750.
    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 (as in the base)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002
        seen: set[str] = set()
        for key_node, _ in node.value:
            key = key_node.value
            if key_node.tag == MERGE:
                continue
            if key_node.tag != TEXT:
                raise yaml.constructor.ConstructorError(
                    problem=f"keys are text: write {str(key)!r} in quotes" if isinstance(key, str) else "keys are text",
                    problem_mark=key_node.start_mark,
                )
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    problem=f"the key {key!r} is there twice", problem_mark=key_node.start_mark
                )
            seen.add(key)
        found: dict[Any, Any] = super().construct_mapping(node, deep)
        return found

    def construct_whole(self, node: yaml.ScalarNode) -> int:
        text = self.construct_scalar(node)
        return int(text, 0) if text.startswith(("0o", "0x")) else int(text)


TEXT = "tag:yaml.org,2002:str"
MERGE = "tag:yaml.org,2002:merge"

CORE_SCHEMA = {
    "null": (r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    "bool": (r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    "int": (r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", list("-+0123456789")),
    "float": (
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        list("-+.0123456789"),
    ),
    "merge": (r"<<", ["<"]),
}
"""What plain text stands for (YAML 1.2.2, 10.3.2), and how it may begin; and the merge key, which many files have."""

for _kind, (_pattern, _beginnings) in CORE_SCHEMA.items():
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_kind}", re.compile(rf"^(?:{_pattern})$"), _beginnings)
_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_whole)
