"""Templates, and how pages write what they show: numbers, moments, durations, points."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from geodrome import schemas
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from geodrome_service.roles import Role

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""What pages may load; Plotly sets its styles within the page."""

SHORT = 60
"""Letters of a point in a table, at most."""


def page(request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """A page or a part of one.

    Args:
        request: What it answers.
        template: Name of a file below ``templates``.
        status: Of HTTP.
        values: What the template shows.
    """
    state = request.scope["state"]
    text = _environment().get_template(template).render(
        request=request, role=state.get("role"), signed_in=state.get("key") is not None,
        may_run=_may(state.get("role"), Role.ROBOT), may_manage=_may(state.get("role"), Role.ADMIN), **values
    )  # fmt: skip
    # Without a referrer browsers send forms as if from nowhere, "Origin: null", and such are refused.
    return HTMLResponse(text, status, headers={"Content-Security-Policy": POLICY, "Referrer-Policy": "same-origin"})


def _may(role: Role | None, needed: Role) -> bool:
    """Whether a role allows what needs another; where there are no keys, everybody may do everything."""
    return role is None or role.allows(needed)


def number(value: float | None) -> str:
    """Six significant digits, or a dash."""
    return "–" if value is None else f"{value:.6g}".replace("-", "\N{MINUS SIGN}")


def with_unit(value: float | None, unit: str | None) -> str:
    """The same with its unit."""
    return number(value) if value is None or not unit else f"{number(value)}\N{NO-BREAK SPACE}{unit}"


def moment(value: datetime | None) -> Markup:
    """How long ago a moment was; the moment itself, in UTC, where the pointer is on it."""
    if value is None:
        return Markup("–")
    utc = value.astimezone(UTC)
    shown = f"{utc:%Y-%m-%d %H:%M:%S} UTC"
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        f"{utc:%Y-%m-%dT%H:%M:%SZ}", shown, f"{duration((datetime.now(UTC) - utc).total_seconds())} ago"
    )


def duration(seconds: float) -> str:
    """A time in its largest fitting unit, such as ``3 min``."""
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f}\N{NO-BREAK SPACE}{unit}"
    return f"{max(seconds, 0):.0f}\N{NO-BREAK SPACE}s" if seconds >= 1 else "a moment"


def point(value: schemas.Point) -> str:
    """A point as JSON, of whose numbers four digits are shown."""
    return json.dumps(_rounded(value), ensure_ascii=False)


def short(text: str) -> str:
    """The beginning of a text."""
    return text if len(text) <= SHORT else f"{text[: SHORT - 1]}…"


def _rounded(value: Any) -> Any:
    match value:
        case dict():
            return {name: _rounded(part) for name, part in value.items()}
        case list():
            return [_rounded(part) for part in value]
        case float():
            return float(f"{value:.4g}")
        case _:
            return value


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("geodrome_service.dashboard"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {shown.__name__: shown for shown in (number, with_unit, moment, duration, point, short)}
    environment.policies["json.dumps_kwargs"] = {}  # names in a study stay in their order
    environment.globals["version"] = version("geodrome")
    return environment
