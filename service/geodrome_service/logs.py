"""The log: one pipeline for this program's lines and those of its libraries, one line of JSON each, or for a terminal.

Nothing secret is logged in the first place: no header, no body, no address of a database. As a last resort whatever
looks like a key or a password is blotted out of every line.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Any, Literal

import structlog

LIBRARIES_WITH_HANDLERS = ("distributed", "distributed.client", "distributed.gc", "bokeh", "tornado", "uvicorn")
"""Loggers that their libraries set up at import, for themselves."""

SECRETS = (
    (re.compile(r"geodrome_[A-Za-z0-9_-]{43}"), "geodrome_***"),
    (re.compile(r"(?i)\b(bearer|basic)\s+[^\s\"'\\]+"), r"\1 ***"),
    (re.compile(r"(://[^\s:/@\"']*):[^\s@\"']+@"), r"\1:***@"),
    (re.compile(r"(?i)\b(password=)[^\s&\"'\\]+"), r"\1***"),
)


@dataclass(frozen=True)
class Logging:
    """How to log; plain data, so that it travels to worker processes.

    Attributes:
        form: For programs or for people.
        level: The least that is logged, such as ``info``.
    """

    form: Literal["console", "json"]
    level: str


def logging_of(form: Literal["console", "json"] | None, level: str) -> Logging:
    """How to log where nobody may have said so."""
    return Logging(form or ("console" if sys.stderr.isatty() else "json"), level)


def configure(how: Logging) -> None:
    """Sends all that this process logs to its error stream."""
    handler = logging.StreamHandler()
    handler.setFormatter(_formatter(how.form))
    level = logging.getLevelNamesMapping()[how.level.upper()]
    for name in LIBRARIES_WITH_HANDLERS:
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
        logger.setLevel(logging.NOTSET)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    # Of libraries, nobody wants to read more than what goes wrong.
    root.setLevel(max(level, logging.WARNING))
    logging.getLogger("geodrome").setLevel(level)


def without_secrets(_logger: object, _method: str, line: Any) -> str:
    """A line, rendered, in which whatever looks like a key or a password is blotted out."""
    for pattern, replacement in SECRETS:
        line = pattern.sub(replacement, line)
    return str(line)


def _formatter(form: Literal["console", "json"]) -> logging.Formatter:
    rendering: list[Any]
    if form == "json":
        rendering = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    else:
        # Its own traces show the values of variables, of which some are secret.
        plain = structlog.dev.plain_traceback
        rendering = [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=plain)]
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            structlog.contextvars.merge_contextvars,
            structlog.stdlib.ExtraAdder(),
        ],
        processors=[_without_meta, *rendering, without_secrets],
    )


def _without_meta(_logger: object, _method: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    return structlog.stdlib.ProcessorFormatter.remove_processors_meta(None, "", line)
