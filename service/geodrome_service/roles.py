"""Roles: what a key is for."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """What a key is for; each role may do all that those before it may."""

    VIEWER = "viewer"
    ROBOT = "robot"
    ADMIN = "admin"

    def allows(self, needed: Role) -> bool:
        """Whether this role may do what ``needed`` may."""
        order = list(Role)
        return order.index(self) >= order.index(needed)
