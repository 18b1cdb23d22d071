"""Signing in with a key, which the browser then sends by itself until it is closed."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse
from geodrome.errors import Unauthorized

from geodrome_service.api.access import COOKIE, Access
from geodrome_service.api.bodies import FormRoute
from geodrome_service.dashboard.rendering import page

router = APIRouter(include_in_schema=False, route_class=FormRoute)

SEE_OTHER, UNPROCESSABLE = 303, 422


@router.get("/sign-in")
async def show(request: Request, next: str = "/") -> Response:  # noqa: A002 (the name in the address)
    """The form."""
    return page(request, "sign_in.html", next=_own(next), problem=None)


@router.post("/sign-in")
async def sign_in(
    request: Request,
    key: Annotated[str, Form()] = "",
    next: Annotated[str, Form()] = "/",  # noqa: A002 (the name in the form)
) -> Response:
    """Takes a key, if it is valid, and goes to the page that asked for it."""
    access: Access = request.scope["state"]["access"]
    try:
        known = await access.key(key.strip() or None)
    except Unauthorized as problem:
        return page(request, "sign_in.html", status=UNPROCESSABLE, next=_own(next), problem=problem)
    answer = RedirectResponse(_own(next), SEE_OTHER)
    if known is not None:
        # Scripts cannot read it, and no request from another site carries it.
        answer.set_cookie(COOKIE, key.strip(), httponly=True, samesite="strict", secure=request.url.scheme == "https")
    return answer


@router.post("/sign-out")
async def sign_out() -> Response:
    """Forgets the key."""
    answer = RedirectResponse("/sign-in", SEE_OTHER)
    answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return answer


def _own(address: str) -> str:
    """An address of these pages; the first page where it is none, for a link may not lead elsewhere."""
    return address if address.startswith("/") and not address.startswith(("//", "/\\")) else "/"
