"""The journal of a runner: what it has measured, on its own disk, until the service has it.

A file of JSON lines. The first names the worker. A result is written, and on the disk, before it is told; another line
says that it has been. Whatever ends the runner in between, the result is told by the next one.
"""

from __future__ import annotations

import json
import logging
import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from filelock import FileLock, Timeout
from geodrome import InvalidRequest, OutcomeConflict, Study, StudyNotFound, TrialNotFound
from geodrome.schemas import Outcome

log = logging.getLogger("geodrome.robots")


class JournalInUse(ValueError):
    """Another runner writes into this journal."""


class DamagedJournal(ValueError):
    """A journal has been changed by something else than a runner."""


class UntoldResults(ValueError):
    """A journal holds results that the service may not have."""


@dataclass(frozen=True)
class Result:
    """What became of a trial, as it is told.

    Attributes:
        study: Identifier of its study.
        number: Of the trial.
        body: The arguments of ``Study.tell``, as JSON.
    """

    study: str
    number: int
    body: Mapping[str, Any]

    def tell(self, study: Study) -> None:
        """Tells it; telling it again is harmless.

        Raises:
            GeodromeError: The service refused, or did not answer.
        """
        outcome = Outcome(self.body.get("outcome", Outcome.COMPLETED))
        study.tell(self.number, **{**self.body, "outcome": outcome})


class Journal:
    """A journal, for as long as the block of a ``with`` lasts.

    Args:
        path: Its file; made if there is none.
        worker: Who asks. None for the last one if its run is resumed, else for somebody new.
        resume: Whether the run goes on that wrote the file; without it, results that were never told are an error.
    """

    def __init__(self, path: Path, *, worker: str | None = None, resume: bool = False) -> None:
        self.path = path
        self.worker = worker or ""
        self._resume = resume
        self._pending: dict[tuple[str, int], Result] = {}
        self._lock = FileLock(path.with_name(path.name + ".lock"))

    def __enter__(self) -> Self:
        """Reads what the file holds, and keeps others out.

        Raises:
            JournalInUse: Another runner is there.
            DamagedJournal: It cannot be read, and is left as it is.
            UntoldResults: The file holds results, and the run that wrote it is not to go on.
        """
        try:
            self._lock.acquire(timeout=0)
        except Timeout as error:
            raise JournalInUse(
                f"another runner writes into {self.path}: give this one a journal or a worker of its own"
            ) from error
        try:
            self._begin()
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()

    def pending(self, study: str) -> list[Result]:
        """The results of a study that the service may not have, in the order in which they were measured."""
        return [result for result in self._pending.values() if result.study == study]

    def write(self, result: Result) -> None:
        """Keeps a result; it is on the disk when this returns."""
        self._pending[result.study, result.number] = result
        self._append({"study": result.study, "number": result.number, "body": result.body})

    def told(self, result: Result) -> None:
        """Notes that the service has a result, or refuses it for good."""
        self._pending.pop((result.study, result.number), None)
        self._append({"study": result.study, "number": result.number, "told": True})

    def _begin(self) -> None:
        self._read()
        if self._pending and not self._resume:
            numbers = ", ".join(str(result.number) for result in self._pending.values())
            raise UntoldResults(
                f"{self.path} holds results that were not told, of the trials {numbers}: --resume tells them"
            )
        self.worker = self.worker or f"worker-{uuid.uuid4().hex[:12]}"
        self._rewrite()

    def _append(self, line: Mapping[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, allow_nan=False) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def _read(self) -> None:
        text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        # What stands after the last line's end was being written when the power went.
        for number, line in enumerate(text.split("\n")[:-1], start=1):
            try:
                self._note(json.loads(line))
            except (ValueError, KeyError, TypeError) as error:
                # Passing over it would lose a result.
                raise DamagedJournal(f"line {number} of {self.path} is no entry of a journal: {line[:200]}") from error

    def _note(self, line: Mapping[str, Any]) -> None:
        if "worker" in line:
            self.worker = self.worker or (line["worker"] if self._resume else "")
        elif "told" in line:
            self._pending.pop((line["study"], line["number"]), None)
        else:
            self._pending[line["study"], line["number"]] = Result(line["study"], line["number"], line["body"])

    def _rewrite(self) -> None:
        """The file with nothing but what is still of use; the old one stands until the new one is whole."""
        new = self.path.with_name(self.path.name + ".new")
        new.unlink(missing_ok=True)
        lines: list[dict[str, Any]] = [{"worker": self.worker}]
        lines += [{"study": r.study, "number": r.number, "body": dict(r.body)} for r in self._pending.values()]
        with new.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self.path)


def send(journal: Journal, study: Study) -> int:
    """Tells the service what it may not have of a study, and says how many results that were.

    Raises:
        GeodromeError: The service did not answer; what it does not have stays in the journal.
    """
    results = journal.pending(study.record.id)
    for result in results:
        tell(journal, study, result)
    return len(results)


def tell(journal: Journal, study: Study, result: Result) -> None:
    """Tells one result that the journal holds.

    Raises:
        GeodromeError: The service did not answer, or says that there is something wrong with the result.
    """
    try:
        result.tell(study)
    except (OutcomeConflict, TrialNotFound, StudyNotFound) as error:
        # Somebody was faster: a person abandoned the trial, or the study is gone. It will not be wanted later, either.
        log.warning("the result of trial %d is not wanted any more: %s", result.number, error)
    except InvalidRequest:
        journal.told(result)
        raise
    journal.told(result)
