"""Exceptions as answers: ``application/problem+json`` (RFC 9457), and how OpenAPI declares them."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import partial
from http import HTTPStatus
from typing import Any, Protocol

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from geodrome.errors import DatabaseUnavailable, InternalError, InvalidRequest, Problem, RateLimited, Unauthorized
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from geodrome_service.api import faults, rules
from geodrome_service.api.request_ids import request_id_of
from geodrome_service.store.database import ABSENT, cause

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_S = 2

log = logging.getLogger("geodrome.service")


class ProblemField(BaseModel):
    """One broken rule: where (a JSON pointer), what, the value found and the rule."""

    pointer: str
    detail: str
    got: Any
    rule: str


class ProblemBody(BaseModel):
    """Why a request was refused, or failed (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    code: str
    request_id: str
    retryable: bool
    errors: list[ProblemField]


class Answering(Protocol):
    """What makes an answer of a problem, such as ``answer``."""

    def __call__(
        self, request: Request, problem: Problem, *, status: int | None = None, headers: Mapping[str, str] | None = None
    ) -> Response:
        """The answer that carries a problem; ``status`` where HTTP itself knows better."""
        ...


class LastResort:
    """Answers for the faults that nobody foresaw: nothing of them is told, their trace is in the log.

    Args:
        app: What may fail.
        answering: Makes the answers.
    """

    def __init__(self, app: ASGIApp, *, answering: Answering) -> None:
        self.app = app
        self._answering = answering

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on, and answers if nobody else did."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        has_begun = False

        async def send_and_note(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self.app(scope, receive, send_and_note)
        except Exception as error:
            request = Request(scope)
            log.error("request %s: %s %s", request_id_of(scope), request.method, request.url.path, exc_info=error)
            if not has_begun:
                detail = "the service failed; its log has the cause under this request's id"
                await self._answering(request, InternalError(detail))(scope, receive, send)


def install(app: FastAPI, answering: Answering) -> None:
    """Makes every exception that a request can meet an answer."""
    app.add_exception_handler(Problem, partial(_on_problem, answering))
    app.add_exception_handler(RequestValidationError, partial(_on_invalid, answering))
    app.add_exception_handler(HTTPException, partial(_on_http, answering))
    for absent in ABSENT:
        app.add_exception_handler(absent, partial(_on_database, answering))


def answer(
    request: Request, problem: Problem, *, status: int | None = None, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """The answer that carries a problem; ``status`` where HTTP itself knows better."""
    body = problem.body(instance=request.url.path, request_id=request_id_of(request.scope))
    body["status"] = status or problem.status
    return JSONResponse(body, body["status"], media_type=MEDIA_TYPE, headers={**headers_of(problem), **(headers or {})})


def headers_of(problem: Problem) -> dict[str, str]:
    """What HTTP itself says of a problem."""
    match problem:
        case Unauthorized():
            return {"WWW-Authenticate": "Bearer"}
        case RateLimited():
            return {"Retry-After": str(problem.extra["retry_after_s"])}
        case _:
            return {"Retry-After": str(RETRY_AFTER_S)} if problem.retryable else {}


def responses(*kinds: type[Problem]) -> dict[int | str, dict[str, Any]]:
    """What OpenAPI says of the problems that a route may answer with."""
    by_status: dict[int | str, list[type[Problem]]] = {}
    all_kinds: tuple[type[Problem], ...] = (*kinds, InternalError)
    for kind in all_kinds:
        by_status.setdefault(kind.status, []).append(kind)
    return {
        status: {
            "description": "; ".join(f"`{kind.code}`: {kind.title}" for kind in group),
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemBody"}}},
        }
        for status, group in by_status.items()
    }


def _on_problem(answering: Answering, request: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)
    return answering(request, error)


def _on_invalid(answering: Answering, request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return answering(request, faults.refusal(faults.from_pydantic(error.errors(), error.body)))


def _on_http(answering: Answering, request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    asked, headers = f"{request.method} {request.url.path}", error.headers
    match error.status_code:
        case HTTPStatus.NOT_FOUND:
            detail = f"there is nothing at {asked}; /docs shows what there is"
        case HTTPStatus.METHOD_NOT_ALLOWED:
            detail = f"{asked} is not possible; /docs shows what is"
            # The framework would name those of the first route alone.
            headers = {"Allow": ", ".join(rules.methods_at(request.url.path))}
        case _:
            detail = str(error.detail)
    return answering(request, InvalidRequest(detail), status=error.status_code, headers=headers)


def _on_database(answering: Answering, request: Request, error: Exception) -> Response:
    log.error("request %s: the database does not answer: %s", request_id_of(request.scope), cause(error))
    # A connection may break while a transaction is committed: then nobody knows, but the key tells the repeat.
    detail = "the database does not answer now; repeat the request, with the same Idempotency-Key if it had one"
    return answering(request, DatabaseUnavailable(detail))
