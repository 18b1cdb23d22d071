"""Definitions as people write them: YAML or JSON.

YAML is read by the core schema of its version 1.2, in which 1e-3 is a number, and no, on and 12:30 are text. Nothing
but plain values is made of it.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

import yaml

LARGEST_REPEAT = 1024 * 1024
"""Characters that the aliases of a text may stand for in all: a few lines of them could stand for any number."""


class Unreadable(ValueError):
    """The text is neither YAML nor JSON; the message says where and why."""


def parsed(text: str) -> Any:
    """The value that the text stands for.

    Raises:
        Unreadable: It is neither YAML nor JSON, has a key twice or one that is no text, or aliases without end.
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

    def get_single_node(self) -> yaml.Node | None:
        node = super().get_single_node()
        if node is not None and _repeated(node) > LARGEST_REPEAT:
            raise yaml.YAMLError("its aliases stand for too much")
        return node

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


def _repeated(root: yaml.Node) -> float:
    """Characters that aliases stand for beyond those that are there; infinite if something is within itself."""
    lengths: dict[yaml.Node, float] = {}
    whole = _length(root, lengths)
    return whole - sum(_own_length(node) for node in lengths)


def _length(node: yaml.Node, known: dict[yaml.Node, float]) -> float:
    if node not in known:
        known[node] = math.inf
        parts = node.value if isinstance(node, yaml.SequenceNode) else []
        if isinstance(node, yaml.MappingNode):
            parts = [part for pair in node.value for part in pair]
        known[node] = _own_length(node) + sum(_length(part, known) for part in parts)
    return known[node]


def _own_length(node: yaml.Node) -> int:
    return 1 + (len(node.value) if isinstance(node, yaml.ScalarNode) else 0)


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
