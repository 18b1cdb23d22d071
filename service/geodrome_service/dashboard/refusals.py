"""Problems as pages, for people; programs get them as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from fastapi import Request, Response
from fastapi.responses import RedirectResponse
from geodrome.errors import Problem, Unauthorized

from geodrome_service.api import problems, rules
from geodrome_service.api.request_ids import request_id_of
from geodrome_service.dashboard.rendering import page


def answer(
    request: Request, problem: Problem, *, status: int | None = None, headers: Mapping[str, str] | None = None
) -> Response:
    """A page that says what is wrong, or the way to the sign-in; of what is no page, the answer of the API."""
    if not rules.call_of(request.scope).is_page:
        return problems.answer(request, problem, status=status, headers=headers)
    if isinstance(problem, Unauthorized) and request.method in {"GET", "HEAD"}:
        address = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        return RedirectResponse(f"/sign-in?next={quote(address)}", 303)
    shown = page(
        request, "problem.html", status=status or problem.status, problem=problem,
        request_id=request_id_of(request.scope),
    )  # fmt: skip
    shown.headers.update({**problems.headers_of(problem), **(headers or {})})
    return shown
