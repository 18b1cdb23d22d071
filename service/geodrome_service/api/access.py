"""Access: whose key a request carries, what its role allows, and how often it may come.

All of it is settled before a byte of the body is read.
"""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import urlsplit

from fastapi import Request
from geodrome.errors import Forbidden, Problem, RateLimited, Unauthorized
from starlette.types import ASGIApp, Receive, Scope, Send

from geodrome_service.api import rules
from geodrome_service.api.keyring import Keys
from geodrome_service.api.problems import Answering
from geodrome_service.api.rates import Rates
from geodrome_service.roles import Role
from geodrome_service.settings import Settings, is_loopback
from geodrome_service.store import keys
from geodrome_service.store.database import Database
from geodrome_service.store.tables import AccessKey

SCHEME = "bearer"

COOKIE = "geodrome_key"
"""Carries the key of a person who signed in at the pages; the browser sends it by itself."""


class Access:
    """Lets a request through, or answers why not.

    Args:
        app: What it lets them through to.
        database: Where the keys are.
        settings: Whether it may do without, and how often a caller may come.
        answering: Makes the answer to a request that is not let through.
    """

    def __init__(self, app: ASGIApp, *, database: Database, settings: Settings, answering: Answering) -> None:
        self.app = app
        self._answering = answering
        self._keys = Keys(database)
        self._rates = Rates(settings.rate_per_s, settings.rate_burst)
        self._needs_keys = settings.needs_keys
        self._is_this_machines_own = is_loopback(settings.host) and not settings.insecure
        self._origins = frozenset(settings.cors_origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on, with what it may still do in its scope."""
        if scope["type"] == "http":
            request = Request(scope)
            scope["state"]["access"] = self
            try:
                if rules.call_of(scope).role is not None:
                    await self._check(request)
                elif request.method == "POST":  # nobody signs a person in, or out, from elsewhere
                    self._check_origin(request)
            except Problem as problem:
                await self._answering(request, problem)(scope, receive, send)
                return
        await self.app(scope, receive, send)

    async def still_allows(self, request: Request) -> bool:
        """Whether a request that goes on and on would be let through now."""
        try:
            await self._allowed(request)
        except Problem:
            return False
        return True

    async def key(self, text: str | None) -> AccessKey | None:
        """The valid key of this text; None where there are no keys, and none is needed.

        Raises:
            Unauthorized: It is no valid key.
            DatabaseUnavailable: The keys cannot be read.
        """
        key = await self._known(text)
        if key is not None:
            _check_valid(key)
        return key

    async def _check(self, request: Request) -> None:
        refused: Problem | None = None
        try:
            await self._allowed(request)
        except (Unauthorized, Forbidden) as problem:
            refused = problem
        # Who is refused is counted too: guessing is no way around the limit.
        caller = f"address {request.client.host if request.client else '?'}"
        if (key_id := request.scope["state"].get("key")) is not None:
            caller = f"key {key_id}"
        if wait_s := self._rates.wait_s(caller):
            detail = f"too many requests from {caller}; come again in {wait_s} s"
            raise RateLimited(detail, extra={"retry_after_s": wait_s})
        if refused is not None:
            raise refused

    async def _allowed(self, request: Request) -> None:
        """Returns if the request is allowed, and notes whose key it carries.

        Raises:
            Unauthorized: It needs a valid key.
            Forbidden: The key's role does not allow it; or a web page elsewhere has sent it, where there are no keys or
                the browser has added the key.
            DatabaseUnavailable: The keys cannot be read.
        """
        call = rules.call_of(request.scope)
        assert call.role is not None
        sent = _bearer(request)
        key = await self._known(sent or request.cookies.get(COOKIE))
        if key is None:
            self._check_host(request)
            self._check_origin(request)
            return
        request.state.key, request.state.role = key.id, Role(key.role)
        _check_valid(key)
        if sent is None:
            self._check_origin(request)
        if not Role(key.role).allows(call.role):
            what = f"{request.method} {request.url.path}"
            if call.template == rules.UNKNOWN:
                raise Forbidden(f"{what} is nothing that the role {key.role} knows; /docs shows what there is")
            raise Forbidden(f"{what} needs the role {call.role.value}; this key has the role {key.role}")

    async def _known(self, text: str | None) -> AccessKey | None:
        key, exist = await self._keys.find(text)
        if not exist and not self._needs_keys:
            return None
        if key is None:
            detail = "this server needs a key" if text is None else "this key is not known here"
            raise Unauthorized(f"{detail}: send Authorization: Bearer <key>, as geodrome keys create has printed it")
        return key

    def _check_host(self, request: Request) -> None:
        """Refuses other names than this machine's own, where there are no keys.

        A page elsewhere can make its own name mean 127.0.0.1, and would then be answered as if it came from here.
        """
        host = request.headers.get("Host", "")
        if host and self._is_this_machines_own and not is_loopback(_name(host)):
            raise Forbidden(
                f"without keys this server answers to localhost and 127.0.0.1 alone, not to {host!r}; make a key "
                "(geodrome keys create), or start it with --insecure"
            )

    def _check_origin(self, request: Request) -> None:
        """Refuses what a browser sends for a web page elsewhere."""
        host, origin = request.headers.get("Host", ""), request.headers.get("Origin")
        if origin is not None and origin not in self._origins and origin.partition("://")[2] != host:
            raise Forbidden(
                f"a web page of {origin!r} may not speak to this server; GEODROME_CORS_ORIGINS has those that may"
            )


def _bearer(request: Request) -> str | None:
    scheme, _, text = request.headers.get("Authorization", "").partition(" ")
    return text.strip() if scheme.lower() == SCHEME and text.strip() else None


def _name(host: str) -> str:
    """The host's name or address without its port."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return host


def _check_valid(key: AccessKey) -> None:
    if (state := keys.state(key, datetime.now(UTC))) != "valid":
        raise Unauthorized(f"key {key.id} is {state}")
