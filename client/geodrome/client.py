"""The way in: studies are made, found and listed here."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import quote

import httpx

from geodrome import schemas
from geodrome.bodies import jsonable
from geodrome.connection import Connection
from geodrome.spaces import SpaceSpec
from geodrome.study import Study

DEFAULT_URL = "http://127.0.0.1:8100"


class Client:
    """A Geodrome service; a context manager that closes its connections.

    Args:
        url: Where the service listens. None: the environment's ``GEODROME_URL``, else ``http://127.0.0.1:8100``.
        key: The API key. None: the environment's ``GEODROME_KEY``, else no key is sent.
        timeout_s: Total time for one call in seconds, its repeats included; an ask waits as long for a point.
        transport: Stands in for the network, such as ``httpx.MockTransport`` in tests.

    Raises:
        ValueError: The address or the key cannot be used; the message says why.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        key: str | None = None,
        timeout_s: float = 120.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.url = url or os.environ.get("GEODROME_URL") or DEFAULT_URL
        self._connection = Connection(
            self.url, key=key or os.environ.get("GEODROME_KEY") or None, timeout_s=timeout_s, transport=transport
        )

    def create_study(
        self,
        name: str,
        *,
        space: SpaceSpec | Mapping[str, Any],
        if_exists: Literal["error", "load"] = "error",
        **definition: Any,
    ) -> Study:
        """A new study.

        Args:
            name: Unique; a letter, then letters, digits, ``_``, ``.``, ``-``.
            space: What is searched, such as ``geodrome.Rotation()``; or the same as a dict.
            if_exists: ``"load"`` returns the study of this name if it is defined equally.
            definition: Further fields of ``schemas.StudyDefinition``, as models or dicts:
                ``objective={"goal": "maximize"}``, ``kernel={"nu": 1.5}``, ``budget={"trials": 200}``, ``seed=1``,
                ``constraints=[LinearConstraint(coefficients={"p": 1, "i": 1}, upper=1)]`` …

        Raises:
            InvalidRequest: A field breaks a rule; ``errors`` names each. About the space it is an InvalidSpace or an
                EmptyDomain.
            StudyExists: The name is taken; with ``"load"``, by a study that is defined differently.
        """
        body = {"name": name, "space": space, "if_exists": if_exists, **definition}
        return self._study(self._connection.post("/v1/studies", schemas.Study, body=jsonable(body)))

    def import_study(
        self, exported: bytes | Mapping[str, Any] | str | os.PathLike[str], *, name: str | None = None
    ) -> Study:
        """A study as ``Study.export`` wrote it, on this service: whole, and with the same suggestions to come.

        Args:
            exported: The export itself, or as a dict; or the path of its file.
            name: Under which name; None for its own.

        Raises:
            InvalidRequest: It is no whole study; ``errors`` points to each place.
            StudyExists: The name is taken.
            TooLarge: It is larger than the service reads; ``geodrome db copy`` has no such limit.
        """
        match exported:
            case bytes():
                content = exported
            case Mapping():
                content = json.dumps(exported, allow_nan=False).encode()
            case _:
                content = Path(exported).read_bytes()
        params = {} if name is None else {"name": name}
        return self._study(self._connection.upload("/v1/studies/import", schemas.Study, content=content, params=params))

    def study(self, name_or_id: str) -> Study:
        """The study of this name or id.

        Raises:
            StudyNotFound: There is none.
        """
        return self._study(self._connection.get(f"/v1/studies/{quote(name_or_id, safe='')}", schemas.Study))

    def studies(
        self, *, state: schemas.StudyState | str | None = None, name_prefix: str | None = None
    ) -> Iterator[Study]:
        """The studies, newest first, fetched a page at a time.

        Args:
            state: Only those in this state, such as ``"active"``.
            name_prefix: Only those whose names begin so.
        """
        cursor: str | None = None
        while True:
            params = {"state": state, "name_prefix": name_prefix, "cursor": cursor}
            page = self._connection.get("/v1/studies", schemas.StudyPage, params=params)
            yield from map(self._study, page.studies)
            if page.next_cursor is None:
                return
            cursor = page.next_cursor

    def space_types(self) -> dict[str, Any]:
        """The JSON schema of every type of space, by its name."""
        return self._connection.get("/v1/spaces", schemas.SpaceTypes).types

    def health(self) -> schemas.Health:
        """That the service lives, and its version; asked once, without patience."""
        return self._connection.probe("/healthz", schemas.Health)

    def readiness(self) -> schemas.Readiness:
        """Whether the database answers and a worker is there; asked once, without patience."""
        return self._connection.probe("/readyz", schemas.Readiness)

    def close(self) -> None:
        """Ends the connections that are kept open."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _study(self, record: schemas.Study) -> Study:
        return Study(self._connection, record)
