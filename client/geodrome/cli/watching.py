"""The command that shows a study as it goes on."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import typer
from rich.console import Console
from rich.live import Live

from geodrome import Study, schemas
from geodrome.cli.board import Board
from geodrome.cli.lists import print_event
from geodrome.cli.options import AsJsonLines, StudyName, Timeout, Url, connected

WATCHING_S = 600.0  # a night's restart of the service is no reason to stop


def watch(study: StudyName, *, url: Url = None, timeout_s: Timeout = WATCHING_S, as_json: AsJsonLines = False) -> None:
    """Watch a study until it is closed, its budget is spent, or Ctrl-C; in a pipe, one line for each event."""
    console = Console()
    with connected(url, timeout_s) as client:
        found = client.study(study)
        board = Board(found.record)
        try:
            position = _catch_up(found, board)
            changes = _changes(found, board, position)
            if as_json:
                for event in changes:
                    print_event(event, as_json=True)
            elif console.is_terminal:
                with Live(get_renderable=board.shown, console=console, refresh_per_second=4):
                    deque(changes, maxlen=0)
            else:
                print(board.summary(), flush=True)  # noqa: T201
                for event in changes:
                    print_event(event, as_json=False)
                typer.echo(board.summary())
        except KeyboardInterrupt:  # how a watch ends
            pass


def _catch_up(study: Study, board: Board) -> int:
    """Lets the board know what was before; the position of the last event."""
    position = 0
    for event in study.events():
        position = event.position
        board.note(event)
    board.record = study.refresh().record
    return position


def _changes(study: Study, board: Board, position: int) -> Iterator[schemas.Event]:
    """What happens after a position, until the study has ended; the board knows of it."""
    if not board.has_ended:
        for event in study.follow(after=position):
            position = event.position
            board.note(event)
            board.record = study.refresh().record
            yield event
            if board.has_ended:
                break
    for event in study.events(after=position):  # what came with the last one
        board.note(event)
        yield event
