"""JSON as it is stored."""

from __future__ import annotations

import json
from typing import Any


def canonical_json(value: Any) -> str:
    """No blanks, members in their own order, shortest digits that read back exactly."""
    return json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
