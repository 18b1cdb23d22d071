"""A study and its trials, as the person at the robot sees them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, Self, SupportsFloat
from urllib.parse import quote

from geodrome import schemas
from geodrome.bodies import jsonable
from geodrome.connection import Connection
from geodrome.following import follow, pages
from geodrome.plotting import Plots
from geodrome.running import run
from geodrome.trial import TrialHandle

LONGEST_WAIT_S = 30.0  # how long the service may think before it answers 202


class Study(Plots):
    """A study on the service.

    Attributes:
        record: The study as the service last showed it: definition, counts, best. ``refresh`` renews it.
    """

    def __init__(self, connection: Connection, record: schemas.Study, *, form: schemas.FormQuery | None = None) -> None:
        self.record = record
        self._connection = connection
        self._form = {} if form is None else form.model_dump(exclude_none=True)
        # The id never changes hands; a name could, once studies can be deleted.
        self._path = f"/v1/studies/{quote(record.id, safe='')}"

    def __repr__(self) -> str:
        return f"<study {self.name}: {self.record.space.type}, {self.record.state.value}>"

    @property
    def name(self) -> str:
        """The study's unique name."""
        return self.record.name

    def in_form(
        self,
        *,
        representation: Literal["matrix", "quaternion"] | None = None,
        order: Literal["wxyz", "xyzw"] | None = None,
        unit: Literal["rad", "deg"] | None = None,
        encoding: Literal["mandel", "voigt", "cholesky_lower"] | None = None,
        model: Literal["lorentz", "poincare"] | None = None,
    ) -> Study:
        """The same study, whose points are told and given in another form, whatever that of its space is.

        ``study.in_form(order="xyzw").ask()`` gives quaternions as ROS has them; what is told there is read so, too.

        Args:
            representation: Of rotations.
            order: Of quaternions.
            unit: Of angles.
            encoding: Of positive definite matrices, as vectors.
            model: Of hyperbolic space.

        Raises:
            InvalidRequest: By what uses it, if the study's space has no such points.
        """
        form = schemas.FormQuery(representation=representation, order=order, unit=unit, encoding=encoding, model=model)
        return Study(self._connection, self.record, form=form)

    def refresh(self) -> Self:
        """Renews ``record``."""
        self.record = self._connection.get(self._path, schemas.Study)
        return self

    def ask(self, *, worker: str | None = None, lease_s: float | None = None, resume: bool = True) -> TrialHandle:
        """The next point to try; waits while the service computes it.

        Args:
            worker: Who asks, such as ``panda-1``. A worker that died gets its running trial back.
            lease_s: How long the trial is reserved; after that its point is offered again. None: the study's own.
            resume: False gives a new trial even to a worker that still has one running.

        Raises:
            StudyClosed: The study is closed, or its budget is spent.
            StudyPaused: The study is paused.
            ServiceUnreachable: No point came within the client's ``timeout_s``.
        """
        return self.ask_batch(1, worker=worker, lease_s=lease_s, resume=resume)[0]

    def ask_batch(
        self, count: int, *, worker: str | None = None, lease_s: float | None = None, resume: bool = True
    ) -> list[TrialHandle]:
        """``count`` points (1 to 32) that are tried side by side, chosen with regard to each other.

        Args and errors are those of ``ask``.
        """
        # Less than the deadline, so that "not ready yet" arrives instead of a timeout.
        wait_s = min(LONGEST_WAIT_S, self._connection.timeout_s / 2)
        body = {"count": count, "worker": worker, "lease_s": lease_s, "wait_s": wait_s, "resume": resume}
        answer = self._connection.post(f"{self._path}/ask", schemas.Trials, body=jsonable(body), params=self._form)
        return [TrialHandle(self, record) for record in answer.trials]

    def tell(
        self,
        number: int,
        *,
        outcome: schemas.Outcome = schemas.Outcome.COMPLETED,
        cost: SupportsFloat | None = None,
        costs: Sequence[SupportsFloat] | None = None,
        std: SupportsFloat | None = None,
        point: schemas.Point | None = None,
        reason: str | None = None,
        metrics: Mapping[str, SupportsFloat] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> schemas.Trial:
        """Tells what became of a trial that is known by its number; see ``TrialHandle.tell``."""
        body = {
            "outcome": outcome.value,
            "cost": cost,
            "costs": costs,
            "std": std,
            "point": point,
            "reason": reason,
            "metrics": metrics,
            "metadata": metadata,
        }
        path = f"{self._path}/trials/{number}/tell"
        return self._connection.post(path, schemas.Trial, body=jsonable(body), params=self._form)

    def add(
        self,
        point: schemas.Point,
        *,
        cost: SupportsFloat | None = None,
        costs: Sequence[SupportsFloat] | None = None,
        std: SupportsFloat | None = None,
        outcome: schemas.Outcome | str | None = None,
        reason: str | None = None,
        metrics: Mapping[str, SupportsFloat] | None = None,
        metadata: Mapping[str, Any] | None = None,
        skip_if_exists: bool = False,
    ) -> schemas.Trial:
        """Adds a point of one's own: with a cost, or an outcome of ``failed``, as an observation, else to the queue.

        Args:
            point: In any form that the study's space accepts. An observation may lie outside the domain.
            cost: As in ``tell``.
            costs: Repeated measurements instead.
            std: Standard deviation of the cost's noise, if it is known; 0 is exact.
            outcome: ``"failed"`` or ``"abandoned"`` for an observation without a cost.
            reason: Why.
            metrics: Further numbers to keep.
            metadata: Anything else to keep.
            skip_if_exists: Adds nothing, and returns the trial that is there, if the study has the point already.

        Raises:
            InvalidPoint: It is not in the study's space; or it is to be run and lies outside of the domain.
            StudyClosed: The study is closed, and the point is to be run.
        """
        body = {
            "point": point,
            "cost": cost,
            "costs": costs,
            "std": std,
            "outcome": outcome,
            "reason": reason,
            "metrics": metrics,
            "metadata": metadata,
            "skip_if_exists": skip_if_exists,
        }
        return self._connection.post(f"{self._path}/trials", schemas.Trial, body=jsonable(body), params=self._form)

    def add_all(self, trials: Sequence[Mapping[str, Any]]) -> list[schemas.Trial]:
        """Adds up to 1,000 points of one's own, all or none.

        Args:
            trials: The arguments of ``add``, by name.
        """
        body = {"trials": [dict(trial) for trial in trials]}
        path = f"{self._path}/trials/batch"
        return self._connection.post(path, schemas.Trials, body=jsonable(body), params=self._form).trials

    def heartbeat(self, number: int, *, lease_s: float | None = None) -> schemas.Trial:
        """Extends the lease of a running trial; see ``TrialHandle.heartbeat``."""
        path = f"{self._path}/trials/{number}/heartbeat"
        return self._connection.post(path, schemas.Trial, body=jsonable({"lease_s": lease_s}))

    def update(self, **changes: Any) -> Self:
        """Changes what may change of a study, all at once or nothing.

        Args:
            changes: Fields of ``schemas.StudyChange``: ``state``, ``budget={"trials": 200}``, ``lease_s``,
                ``metadata``.

        Raises:
            InvalidRequest: A field breaks a rule; ``errors`` names each.
            StudyClosed: The study was closed, and another state is wanted.
        """
        self.record = self._connection.patch(self._path, schemas.Study, body=jsonable(changes))
        return self

    def pause(self) -> Self:
        """Hands out nothing until ``resume``; what is told is still stored."""
        return self.update(state=schemas.StudyState.PAUSED)

    def resume(self) -> Self:
        """Hands out points again.

        Raises:
            StudyClosed: The study was closed.
        """
        return self.update(state=schemas.StudyState.ACTIVE)

    def close(self) -> Self:
        """Hands out nothing any more, for good; what is told is still stored."""
        return self.update(state=schemas.StudyState.CLOSED)

    def set_budget(self, trials: int | None) -> Self:
        """Changes how many trials may be spent; None for no limit."""
        return self.update(budget={"trials": trials})

    def delete(self) -> None:
        """Deletes the study with all its trials, for good."""
        self._connection.delete(self._path)

    def predict(self, points: Sequence[schemas.Point]) -> list[schemas.Prediction] | None:
        """What runs at points would cost, by the model; None while there is none."""
        body, path = jsonable({"points": list(points)}), f"{self._path}/predict"
        return self._connection.post(path, schemas.Predictions, body=body, params=self._form).predictions

    def model(self) -> schemas.FittedModel | None:
        """The model of the costs in natural units, and how far it can be trusted; None while there is none."""
        return self._connection.get(f"{self._path}/model", schemas.StudyModel).model

    def views(self) -> schemas.Views:
        """The model along geodesics through the recommended point and over grids about it; ``at`` is None without."""
        return self._connection.get(f"{self._path}/views", schemas.Views, params=self._form)

    def export(self, format: Literal["json", "csv"] = "json") -> bytes:  # noqa: A002 (the parameter's name on the wire)
        """The whole study, to be kept, looked into or imported elsewhere.

        Args:
            format: ``"json"`` is what ``Client.import_study`` reads, ``"csv"`` a table for spreadsheets, a row for each
                trial.
        """
        return self._connection.download(f"{self._path}/export", params={"format": format})

    def events(self, *, after: int = 0) -> Iterator[schemas.Event]:
        """Every change of the study and its trials, in order, fetched a page at a time.

        Args:
            after: Only those with a larger ``position``.
        """
        return pages(self._connection, f"{self._path}/events", after=after)

    def follow(self, *, after: int = 0) -> Iterator[schemas.Event]:
        """Every change of the study and its trials, in order, as it happens; it goes on without an end.

        A stream that breaks goes on where it was. Where a proxy lets none through, the service is asked every second.

        Args:
            after: Only those with a larger ``position``.

        Raises:
            StudyNotFound: The study was deleted.
            ServiceUnreachable: The service was away for the client's ``timeout_s``.
        """
        return follow(self._connection, f"{self._path}/events", after=after)

    def trial(self, number: int) -> TrialHandle:
        """The trial of this number, to look at or to tell something else about.

        Raises:
            TrialNotFound: The study has no trial of this number.
        """
        path = f"{self._path}/trials/{number}"
        return TrialHandle(self, self._connection.get(path, schemas.Trial, params=self._form))

    def trials(
        self, *, state: schemas.TrialState | str | None = None, worker: str | None = None, after: int = 0
    ) -> Iterator[schemas.Trial]:
        """The trials by number, fetched a page at a time.

        Args:
            state: Only those in this state, such as ``"completed"``.
            worker: Only those of this worker.
            after: Only those with a larger number.
        """
        cursor: int | None = after
        while cursor is not None:
            params = {**self._form, "state": state, "worker": worker, "after": cursor}
            page = self._connection.get(f"{self._path}/trials", schemas.TrialPage, params=params)
            yield from page.trials
            cursor = page.next_cursor

    def best(self) -> schemas.Best:
        """The best trial observed, and the point that the model recommends; each None while there is none."""
        return self._connection.get(f"{self._path}/best", schemas.Best, params=self._form)

    def run(
        self,
        evaluate: Callable[[schemas.Point], SupportsFloat],
        n: int,
        *,
        worker: str | None = None,
        progress: bool = True,
    ) -> list[schemas.Trial]:
        """Asks, evaluates and tells ``n`` times.

        Args:
            evaluate: Runs one point and returns its cost. It raises ``Infeasible`` when the point is bad (the trial
                is told as failed) and ``RobotFault`` when the lab broke (told as lost); the run goes on after both.
                After anything else, Ctrl-C included, the trial is told as lost and the exception goes on its way.
            n: How many evaluations, whatever becomes of them.
            worker: Who asks; a run that is started again under the same name first gets back what it left open.
            progress: Shows a bar with the best cost so far, on the error stream.

        Returns:
            The trials in the order in which they were told.

        Raises:
            StudyClosed: The budget was spent before ``n`` evaluations.
        """
        return run(self, evaluate, n, worker=worker, progress=progress)
