"""The events of a study as they happen: from the service's stream, and from its pages where no stream gets through."""

from __future__ import annotations

from collections.abc import Iterator

import httpx

from geodrome import schemas
from geodrome.connection import Connection

POLL_S = 1.0
LARGEST_PAGE = 1000


def pages(connection: Connection, path: str, *, after: int) -> Iterator[schemas.Event]:
    """The events that there are after a position."""
    cursor: int | None = after
    while cursor is not None:
        page = connection.get(path, schemas.EventPage, params={"after": cursor, "limit": LARGEST_PAGE})
        yield from page.events
        cursor = page.next_cursor


def follow(connection: Connection, path: str, *, after: int) -> Iterator[schemas.Event]:
    """The events after a position, those to come included; see ``Study.follow``."""
    while True:
        # A page is asked for as patiently as anything else, and it says what a stream does not: that the study is
        # deleted, or that the key has ended.
        for event in pages(connection, path, after=after):
            after = event.position
            yield event
        try:
            with connection.stream(path, params={"after": after}) as sent:
                for data in sent:
                    event = schemas.Event.model_validate_json(data)
                    after = event.position
                    yield event
        except httpx.TransportError:
            pass  # it broke, or a proxy lets no stream through
        connection.pause(POLL_S)
