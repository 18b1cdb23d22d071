"""What the bridges have in common: a space in either form, and a description that says what is known without asking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from geodrome.spaces import SpaceSpec

from geodrome_robots.points import parse_space
from geodrome_robots.robot import Robot

Space = Mapping[str, Any] | SpaceSpec


@dataclass(frozen=True)
class About:
    """What the maker of a robot says about it.

    Attributes:
        name: What it is called in studies and listings.
        space: Its parameters, as ``geodrome.Real(bounds=(0, 1))`` or as the same in the form that travels.
        description: Replaces entries of ``describe()``.
        deterministic: Whether the same point and seed give the same numbers, to the last digit.
    """

    name: str
    space: Space
    description: Mapping[str, Any] | None
    deterministic: bool


class Bridge(Robot):
    """A robot that is made of something else.

    Raises:
        ValueError: No space is written like this.
    """

    def __init__(self, about: About) -> None:
        space = about.space
        self.name = about.name
        self.space = space.model_dump(mode="json", exclude_none=True) if isinstance(space, SpaceSpec) else dict(space)
        parse_space(self.space)
        self._about = about

    def origin(self) -> dict[str, Any]:
        """The ``model`` and the ``cost``, and whatever else the bridge knows of what it is made of."""
        raise NotImplementedError

    def describe(self) -> dict[str, Any]:
        """What was said about the robot, and for the rest what can be known of it."""
        known = {"version": "1", "parameters": _parameters(self.space), **self.origin()}
        return {
            "name": self.name,
            **known,
            "deterministic": self._about.deterministic,
            **(self._about.description or {}),
        }


def called(function: Any) -> str:
    """The name of a function or of a class, or else what it prints as."""
    return str(getattr(function, "__qualname__", None) or repr(function))


def first_line(function: Any, otherwise: str) -> str:
    """What a function says about itself, in a line."""
    text = getattr(function, "__doc__", None) or ""
    return next((line.strip() for line in text.splitlines() if line.strip()), otherwise)


def _parameters(space: Mapping[str, Any]) -> dict[str, Any]:
    """Each parameter as the space has it, with its bounds, unit and frame."""
    return dict(space["factors"]) if space["type"] == "product" else {"point": dict(space)}
