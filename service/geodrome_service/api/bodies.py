"""Request bodies: how large they may be, and what is JSON and what only looks like it.

Python reads more than JSON allows (``NaN``, ``1e400`` as infinity, a member twice), and more than a database stores.
All of that is refused here, with a pointer to the place, before a route sees it.
"""

from __future__ import annotations

import json
import math
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from geodrome.errors import FieldError, InvalidRequest, TooLarge

from geodrome_service.api import faults

MIB = 1024 * 1024

WITHOUT_NUL = r"^[^\x00]*$"
"""Text that every database stores, in a query; bodies are looked through as a whole."""

DEEPEST_NESTING = 64  # spaces nest a few levels; pydantic gives up at about 250


class LimitedRequest(Request):
    """A request whose body is not read beyond the limit."""

    @property
    def limit_mib(self) -> int:
        """How large the body may be."""
        limit: int = self.app.state.settings.body_limit_mib
        return limit

    async def stream(self) -> AsyncGenerator[bytes, None]:
        """The body as it arrives.

        Raises:
            TooLarge: It is over the limit, or says that it will be; the rest is not read.
        """
        too_large = TooLarge(f"bodies have at most {self.limit_mib} MiB here")
        declared = self.headers.get("Content-Length", "")
        if declared.isdecimal() and int(declared) > self.limit_mib * MIB:
            raise too_large
        size = 0
        async for chunk in super().stream():
            size += len(chunk)
            if size > self.limit_mib * MIB:
                raise too_large
            yield chunk


class JsonRequest(LimitedRequest):
    """A request whose body is empty or strict JSON."""

    async def json(self) -> Any:
        """The body's value; None if it is empty.

        Raises:
            InvalidRequest: It is not strict JSON, or not declared as JSON.
            TooLarge: It is over the limit.
        """
        if not hasattr(self, "_value"):
            raw = await self.body()
            self._value = self.read(raw) if raw else None
        return self._value

    def read(self, raw: bytes) -> Any:
        """The value of the body.

        Raises:
            InvalidRequest: It is not strict JSON, or not declared as JSON.
        """
        kind = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        # A web page can make a browser send any other type here without asking; this one it cannot.
        if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
            found = f"Content-Type {kind!r}" if kind else "no Content-Type"
            raise InvalidRequest(f"the body is JSON with Content-Type: application/json (curl --json), got {found}")
        return parsed(raw)


class FormRoute(APIRoute):
    """A route that reads the body, a form's, as a ``LimitedRequest``, before all else."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, behind the reading of the body."""
        handle = super().get_route_handler()

        async def read_and_handle(request: Request) -> Response:
            limited = LimitedRequest(request.scope, request.receive)
            await limited.body()
            return await handle(limited)

        return read_and_handle


class JsonRoute(APIRoute):
    """A route that reads the body as a ``JsonRequest``, before all else."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, behind the reading of the body."""
        handle = super().get_route_handler()

        async def read_and_handle(request: Request) -> Response:
            strict = JsonRequest(request.scope, request.receive)
            # FastAPI would make "400, there was an error parsing the body" of every problem raised from there.
            await strict.json()
            return await handle(strict)

        return read_and_handle


def parsed(raw: bytes) -> Any:
    """The value of strict JSON.

    Raises:
        InvalidRequest: It is none; ``errors`` points to each number or text that cannot be kept.
    """
    try:
        value = json.loads(raw, object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"the body is not JSON in UTF-8: {error}") from error
    check_kept(value)
    return value


def check_kept(value: Any) -> None:
    """Makes sure that a body has nothing that no database and no model can take.

    Raises:
        InvalidRequest: ``errors`` points to each number or text that cannot be kept.
    """
    if errors := list(_unkept(value)):
        raise faults.refusal(errors)


def _without_repeats(members: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(members)
    if len(value) < len(members):
        names = [name for name, _ in members]
        raise ValueError(f"the member {next(name for name in names if names.count(name) > 1)!r} stands there twice")
    return value


def _unkept(value: Any) -> Iterator[FieldError]:
    """Everything in the body that no database and no model can take."""
    pending: list[tuple[str, int, Any]] = [("", 0, value)]
    while pending:
        pointer, depth, item = pending.pop()
        match item:
            case dict() | list() if depth >= DEEPEST_NESTING:
                rule = f"nested at most {DEEPEST_NESTING} deep"
                yield FieldError(pointer, f"the body is not {rule}", None, rule)
            case dict():
                pending += [(f"{pointer}/{faults.escaped(name)}", depth + 1, part) for name, part in item.items()]
                yield from (error for name in item for error in _unkept_text(pointer, name))
            case list():
                pending += [(f"{pointer}/{index}", depth + 1, part) for index, part in enumerate(item)]
            case str():
                yield from _unkept_text(pointer, item)
            case float() | int() if not _is_finite(item):
                yield FieldError(
                    pointer, f"{pointer[1:]} is {faults.shown(item)}", faults.shown(item), "a finite number"
                )


def _unkept_text(pointer: str, text: str) -> Iterator[FieldError]:
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        shown = json.dumps(text)
        yield FieldError(pointer, f"{shown} is no text in UTF-8 without NUL", shown, "text in UTF-8 without NUL")


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:  # an integer beyond all floats
        return False
