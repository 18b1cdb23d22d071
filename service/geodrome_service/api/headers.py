"""Headers that tell browsers what an answer is not for: to be guessed at, framed, kept, or to tell where one was."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}

DATA_POLICY = "default-src 'none'; frame-ancestors 'none'"

PAGE_POLICY = (
    "default-src 'self'; "
    # The page at /docs starts its script, and sets its styles, within itself.
    "script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


class SecurityHeaders:
    """Adds them to every answer; what a route has set itself stays."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                is_page = headers.get("Content-Type", "").startswith("text/html")
                headers.setdefault("Content-Security-Policy", PAGE_POLICY if is_page else DATA_POLICY)
                for name, value in ALWAYS.items():
                    headers.setdefault(name, value)
                # What has an ETag is a file of the pages, which the next version changes; all else is true only now.
                headers.setdefault("Cache-Control", "no-cache" if "ETag" in headers else "no-store")
            await send(message)

        await self.app(scope, receive, send_with_headers)
