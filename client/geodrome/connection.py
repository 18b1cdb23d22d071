"""One call to the service: retries, back-off, the idempotency key, and what an answer or its absence means.

A call is repeated when the network fails, when the service is busy (429, 502, 503, 504), and when the answer is 202
("not ready yet"), until the total deadline. Every repeat carries the same ``Idempotency-Key``, so that a request whose
answer was lost has its effect once.
"""

from __future__ import annotations

import contextlib
import email.utils
import logging
import random
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any, NoReturn, Self, TypeVar

import httpx
import httpx_sse
from pydantic import BaseModel, ValidationError

from geodrome.errors import Problem, ServiceUnreachable

CONNECT_TIMEOUT_S = 5.0
READ_TIMEOUT_S = 45.0  # an ask is answered within wait_s, 30 at most here, and then some
FIRST_PAUSE_S = 0.25
LONGEST_PAUSE_S = 10.0
LONGEST_SILENCE_S = 20.0  # a stream says something every 15 s
SHORTEST_TIME_S = 0.05  # a socket takes no timeout of nothing, and "Retry-After: 0" is no wish to be flooded
NOT_READY = httpx.codes.ACCEPTED
UNAVAILABLE = httpx.codes.SERVICE_UNAVAILABLE
REPEATED = frozenset({NOT_READY, 429, 502, UNAVAILABLE, 504})
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

# The rest of httpx.RequestError (a redirect loop, a header that cannot be sent) fails the same way each time.
TRANSIENT = (httpx.TimeoutException, httpx.NetworkError, httpx.RemoteProtocolError, httpx.ProxyError)

log = logging.getLogger("geodrome")

Answer = TypeVar("Answer", bound=BaseModel)


@dataclass(frozen=True)
class Clock:
    """Time as the retries see it; tests bring their own."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = random.random


class Connection:
    """HTTP to one service.

    Args:
        url: Where the service listens, such as ``http://127.0.0.1:8100``.
        key: The API key, or None on a server that runs without.
        timeout_s: Total time for one call, its repeats included.
        transport: Stands in for the network.

    Raises:
        ValueError: ``url`` has no ``http://`` or ``https://``, ``key`` cannot be a header, or ``timeout_s`` is not
            positive.
    """

    def __init__(
        self,
        url: str,
        *,
        key: str | None,
        timeout_s: float,
        transport: httpx.BaseTransport | None = None,
        clock: Clock | None = None,
    ) -> None:
        base = _checked_url(url)
        if timeout_s <= 0:
            raise ValueError(f"timeout_s is a positive number of seconds, got {timeout_s}")
        headers = {"Accept": "application/json", "User-Agent": f"geodrome/{version('geodrome')}"}
        if key is not None:
            if not (key.isascii() and key.isprintable()):
                raise ValueError("the key holds characters that no header can carry; was it copied with a line break?")
            headers["Authorization"] = f"Bearer {key}"
        self.timeout_s = timeout_s
        self._clock = clock or Clock()
        # A lab's proxy settings must not send requests for this very machine through the proxy.
        self._http = httpx.Client(
            base_url=base, headers=headers, transport=transport, trust_env=base.host not in LOOPBACK
        )

    def get(self, path: str, answer: type[Answer], *, params: Mapping[str, Any] | None = None) -> Answer:
        """What stands at ``path``; parameters that are None are left out."""
        given = {name: value for name, value in (params or {}).items() if value is not None}
        return self._call(self._http.build_request("GET", path, params=given), answer)

    def post(
        self, path: str, answer: type[Answer], *, body: Mapping[str, Any], params: Mapping[str, Any] | None = None
    ) -> Answer:
        """What the service answers to ``body``, which takes effect once however often it has to be sent."""
        headers = {"Idempotency-Key": str(uuid.uuid4())}
        request = self._http.build_request("POST", path, json=dict(body), params=dict(params or {}), headers=headers)
        return self._call(request, answer)

    def download(self, path: str, *, params: Mapping[str, Any]) -> bytes:
        """What stands at ``path``, as it is sent."""
        response = self._exchange(self._http.build_request("GET", path, params=params))
        if not response.is_success:
            raise _refusal(response)
        return response.content

    def probe(self, path: str, answer: type[Answer]) -> Answer:
        """What stands at ``path`` now, asked for once; "unavailable" (503) is an answer, too."""
        request = self._http.build_request("GET", path)
        result = self._send(request, self.timeout_s, longest_read_s=READ_TIMEOUT_S)
        if isinstance(result, httpx.RequestError):
            raise ServiceUnreachable(_said(request, result)) from result
        return _validated(result, answer) if result.status_code == UNAVAILABLE else _parsed(result, answer)

    @contextlib.contextmanager
    def stream(self, path: str, *, params: Mapping[str, Any]) -> Iterator[Iterator[str]]:
        """The data of each event that is sent at ``path``, until the stream ends.

        Raises:
            httpx.TransportError: There is no stream, or it broke.
        """
        timeout = httpx.Timeout(CONNECT_TIMEOUT_S, read=LONGEST_SILENCE_S)
        with httpx_sse.connect_sse(self._http, "GET", path, params=params, timeout=timeout) as source:
            yield (sent.data for sent in source.iter_sse())

    def pause(self, seconds: float) -> None:
        """Waits."""
        self._clock.sleep(seconds)

    def upload(self, path: str, answer: type[Answer], *, content: bytes, params: Mapping[str, Any]) -> Answer:
        """What the service answers to JSON that is sent as it is, however long it takes to look through."""
        headers = {"Idempotency-Key": str(uuid.uuid4()), "Content-Type": "application/json"}
        request = self._http.build_request("POST", path, content=content, params=params, headers=headers)
        return _parsed(self._exchange(request, longest_read_s=self.timeout_s), answer)

    def patch(self, path: str, answer: type[Answer], *, body: Mapping[str, Any]) -> Answer:
        """What the service answers to changes, which may be sent repeatedly: they say what is to be so."""
        return self._call(self._http.build_request("PATCH", path, json=dict(body)), answer)

    def delete(self, path: str) -> None:
        """Removes what stands at ``path``."""
        response = self._exchange(self._http.build_request("DELETE", path))
        if not response.is_success:
            raise _refusal(response)

    def close(self) -> None:
        """Ends the connections that are kept open."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _call(self, request: httpx.Request, answer: type[Answer]) -> Answer:
        return _parsed(self._exchange(request), answer)

    def _exchange(self, request: httpx.Request, *, longest_read_s: float = READ_TIMEOUT_S) -> httpx.Response:
        deadline = self._clock.now() + self.timeout_s
        attempt = 0
        while True:
            result = self._send(request, deadline - self._clock.now(), longest_read_s=longest_read_s)
            if isinstance(result, httpx.Response) and result.status_code not in REPEATED:
                return result
            pause_s = self._pause_s(attempt, result)
            if self._clock.now() + pause_s >= deadline:
                self._give_up(request, result)
            if not _is_not_ready(result):
                log.warning("%s; trying again in %.1f s", _said(request, result), pause_s)
            self._clock.sleep(pause_s)
            attempt += 1

    def _send(
        self, request: httpx.Request, time_left_s: float, *, longest_read_s: float
    ) -> httpx.Response | httpx.RequestError:
        left = max(time_left_s, SHORTEST_TIME_S)
        timeout = httpx.Timeout(min(longest_read_s, left), connect=min(CONNECT_TIMEOUT_S, left))
        request.extensions["timeout"] = timeout.as_dict()
        try:
            return self._http.send(request)
        except TRANSIENT as error:
            return error
        except httpx.RequestError as error:
            raise ServiceUnreachable(_said(request, error)) from error

    def _pause_s(self, attempt: int, result: httpx.Response | httpx.RequestError) -> float:
        if isinstance(result, httpx.Response):
            asked_for = _retry_after_s(result.headers.get("Retry-After", ""))
            if asked_for is not None:
                return max(asked_for, SHORTEST_TIME_S)
        # Between half and all of it, so that robots that failed together do not come back together.
        longest = min(FIRST_PAUSE_S * 2.0 ** min(attempt, 10), LONGEST_PAUSE_S)
        return longest * (1 + self._clock.jitter()) / 2

    def _give_up(self, request: httpx.Request, result: httpx.Response | httpx.RequestError) -> NoReturn:
        within = f"within {self.timeout_s:g} s"
        if isinstance(result, httpx.RequestError):
            raise ServiceUnreachable(f"{_said(request, result)} (no answer {within})") from result
        if _is_not_ready(result):
            asked = f"{request.method} {request.url.path}"
            raise ServiceUnreachable(f"{asked} has nothing ready {within}; it is still computing, ask again")
        raise _refusal(result)


def _checked_url(url: str) -> httpx.URL:
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise ValueError(f"{url!r} is not a URL: {error}") from error
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise ValueError(f"the URL begins with http:// or https://, like http://127.0.0.1:8100; got {url!r}")
    return parsed


def _parsed(response: httpx.Response, answer: type[Answer]) -> Answer:
    if not response.is_success:
        raise _refusal(response)
    return _validated(response, answer)


def _validated(response: httpx.Response, answer: type[Answer]) -> Answer:
    try:
        return answer.model_validate_json(response.content)
    except ValidationError as error:
        first = error.errors()[0]
        where = "/".join(str(part) for part in first["loc"])
        raise ServiceUnreachable(
            f"{_said(response.request, response)}, which is no {answer.__name__}: {where} {first['msg']}"
        ) from error


def _refusal(response: httpx.Response) -> Problem | ServiceUnreachable:
    # A proxy, a wrong port or a captive portal answers in HTML: that is not the service's word about the request.
    try:
        body = response.json()
    except ValueError:
        body = None
    if isinstance(body, dict) and "code" in body:
        return Problem.from_body(body)
    beginning = " ".join(response.text.split())[:200]
    return ServiceUnreachable(
        f"{_said(response.request, response)}, not with a problem of Geodrome's: {beginning!r}. "
        "Is the address right, is there a proxy in between?"
    )


def _is_not_ready(result: httpx.Response | httpx.RequestError) -> bool:
    return isinstance(result, httpx.Response) and result.status_code == NOT_READY


def _said(request: httpx.Request, result: httpx.Response | httpx.RequestError) -> str:
    asked = f"{request.method} {request.url.copy_with(userinfo=b'')}"
    if isinstance(result, httpx.RequestError):
        return f"{asked}: {str(result) or type(result).__name__}"
    kind = result.headers.get("Content-Type", "nothing").partition(";")[0]
    return f"{asked} answered {result.status_code} {result.reason_phrase} with {kind}"


def _retry_after_s(header: str) -> float | None:
    # RFC 9110, 10.2.3: seconds, or a date.
    if header.strip().isdecimal():
        return float(header)
    try:
        moment = email.utils.parsedate_to_datetime(header)
    except ValueError:
        return None
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
