"""Typical studies to start from, as people write them."""

from __future__ import annotations

from importlib.resources import files

STARTS = {
    "tool-orientation": "Tool orientation",
    "stiffness-matrix": "Stiffness matrix",
    "controller-gains": "Controller gains",
    "joint-posture": "Joint posture",
    "tool-pose": "Tool pose",
}
"""What each file in ``starts`` is about; the first is what a new study begins as."""


def text(name: str) -> str:
    """The study of this name as YAML; the first where there is none of this name."""
    known = name if name in STARTS else next(iter(STARTS))
    return (files("geodrome_service.dashboard") / "starts" / f"{known}.yaml").read_text(encoding="utf-8")
