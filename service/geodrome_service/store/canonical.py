"""JSON as it is stored."""

from __future__ import annotations

import json
from typing import Any

ENCODER = json.JSONEncoder(allow_nan=False, ensure_ascii=False, separators=(",", ":"))
"""Made once: ``json.dumps`` would make one for each value."""


def canonical_json(value: Any) -> str:
    """No blanks, members in their own order, shortest digits that read back exactly."""
    return ENCODER.encode(value)
