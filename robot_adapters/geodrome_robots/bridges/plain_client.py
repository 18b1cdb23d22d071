"""A client with nothing but Python's own library: a file to copy to where nothing can be installed.

    service = Service()
    trial = service.ask("press", worker="arm-1")
    service.tell("press", trial["number"], cost=0.44)

It needs Python 3.10, and does what the SDK does for ask, tell and heartbeat: it sends an Idempotency-Key with each
call and repeats the call, under the same key, while no answer comes (so that it takes effect once), while the point is
not ready (202) and while the service is busy (429, 502, 503, 504).
"""

from __future__ import annotations

import http.client
import json
import os
import random
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from typing import Any

DEFAULT_URL = "http://127.0.0.1:8100"
LOOPBACK = ("localhost", "127.0.0.1", "::1")
REPEATED = (202, 429, 502, 503, 504)
LONGEST_WAIT_S = 20.0
"""For which an ask lets the service compute before it answers "not ready yet"."""
LONGEST_READ_S = 45.0
FIRST_PAUSE_S = 0.25
LONGEST_PAUSE_S = 10.0


class Refused(Exception):
    """The service says no, and will say so again.

    Attributes:
        status: Of HTTP.
        code: Which problem it is, such as ``study-closed`` or ``outcome-conflict``; empty if somebody else answered.
    """

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(f"{code or status}: {detail}")
        self.status = status
        self.code = code


class Unreachable(Exception):
    """No answer came within the time; nothing is known about what the service did."""


class Service:
    """A Geodrome service.

    Args:
        url: Where it listens. None: the environment's ``GEODROME_URL``, else ``http://127.0.0.1:8100``.
        key: The API key. None: the environment's ``GEODROME_KEY``, else no key is sent.
        timeout_s: Total time for one call, its repeats included.
    """

    def __init__(self, url: str | None = None, *, key: str | None = None, timeout_s: float = 120.0) -> None:
        self.url = (url or os.environ.get("GEODROME_URL") or DEFAULT_URL).rstrip("/")
        self.timeout_s = timeout_s
        parts = urllib.parse.urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"the URL begins with http:// or https://, like {DEFAULT_URL}; got {self.url!r}")
        key = key or os.environ.get("GEODROME_KEY")
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        # A lab's proxy settings must not send requests for this very machine through the proxy.
        proxies = [urllib.request.ProxyHandler({})] if parts.hostname in LOOPBACK else []
        self._opener = urllib.request.build_opener(*proxies)

    def create_study(self, name: str, space: dict[str, Any], **definition: Any) -> dict[str, Any]:
        """The study of this name; made if there is none, refused if it is defined differently."""
        return self._post("/v1/studies", {"name": name, "space": space, "if_exists": "load", **definition})

    def study(self, study: str) -> dict[str, Any]:
        """The study of this name or id."""
        return self._call("GET", _path(study), None)

    def ask(self, study: str, **body: Any) -> dict[str, Any]:
        """The next trial. ``worker="arm-1"`` names who asks: after a crash it gets back what it left running."""
        wait_s = min(LONGEST_WAIT_S, self.timeout_s / 2)
        trial: dict[str, Any] = self._post(f"{_path(study)}/ask", {"wait_s": wait_s, **body})["trials"][0]
        return trial

    def tell(self, study: str, number: int, **body: Any) -> dict[str, Any]:
        """What became of a trial: ``cost=0.44``, or ``outcome="failed", reason="…"``; telling it again is harmless.

        Raises:
            ValueError: A number is not finite; a run without a cost has the outcome ``failed``.
        """
        return self._post(f"{_path(study)}/trials/{number}/tell", body)

    def heartbeat(self, study: str, number: int, *, lease_s: float | None = None) -> dict[str, Any]:
        """Extends the lease of a running trial."""
        body = {} if lease_s is None else {"lease_s": lease_s}
        return self._post(f"{_path(study)}/trials/{number}/heartbeat", body)

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        try:
            content = json.dumps(body, allow_nan=False).encode()
        except ValueError as error:
            raise ValueError(f"JSON has only finite numbers; a run without a cost failed: {body}") from error
        return self._call("POST", path, content)

    def _call(self, method: str, path: str, content: bytes | None) -> dict[str, Any]:
        headers = {**self._headers, "Idempotency-Key": str(uuid.uuid4())}
        end = time.monotonic() + self.timeout_s
        attempt = 0
        while True:
            request = urllib.request.Request(self.url + path, content, headers, method=method)  # noqa: S310 - checked
            left = max(0.05, end - time.monotonic())
            try:
                status, retry_after, text = self._send(request, min(LONGEST_READ_S, left))
            except (OSError, http.client.HTTPException) as error:
                status, retry_after, text = 0, "", str(error)
            if status in (200, 201):
                answer: dict[str, Any] = json.loads(text)
                return answer
            if status not in (0, *REPEATED):
                raise _refusal(status, text)
            # Between half and all of it, so that robots that failed together do not come back together.
            pause_s = min(FIRST_PAUSE_S * 2.0 ** min(attempt, 10), LONGEST_PAUSE_S) * random.uniform(0.5, 1)  # noqa: S311
            if retry_after.isdigit():
                pause_s = max(0.05, float(retry_after))
            if time.monotonic() + pause_s >= end:
                said = f"status {status}" if status else text
                raise Unreachable(f"{method} {self.url}{path}: {said} (no answer within {self.timeout_s:g} s)")
            time.sleep(pause_s)
            attempt += 1

    def _send(self, request: urllib.request.Request, timeout_s: float) -> tuple[int, str, str]:
        try:
            with self._opener.open(request, timeout=timeout_s) as response:
                return response.status, response.headers.get("Retry-After", ""), response.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers.get("Retry-After", ""), error.read().decode(errors="replace")


def _path(study: str) -> str:
    return "/v1/studies/" + urllib.parse.quote(study, safe="")


def _refusal(status: int, text: str) -> Refused:
    try:
        problem = json.loads(text)
        return Refused(status, problem["code"], problem.get("detail") or problem.get("title", ""))
    except (ValueError, TypeError, KeyError):
        # A proxy or a wrong port answers in HTML.
        return Refused(status, "", " ".join(text.split())[:200])
