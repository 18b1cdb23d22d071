"""One trial, as the robot that runs it sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, SupportsFloat

from geodrome import schemas

if TYPE_CHECKING:
    from geodrome.study import Study


class TrialHandle:
    """One point to try. Say what became of it with ``tell``, ``fail``, ``lose`` or ``abandon``.

    Attributes:
        record: The trial as the service last showed it.
    """

    def __init__(self, study: Study, record: schemas.Trial) -> None:
        self.record = record
        self._study = study

    def __repr__(self) -> str:
        return f"<trial {self.number} of {self._study.name}: {self.record.state.value}, {self.point}>"

    @property
    def number(self) -> int:
        """The trial's number within its study, from 1."""
        return self.record.number

    @property
    def point(self) -> schemas.Point:
        """The point to run: an object of factors for a product, else the bare number, list or matrix."""
        return self.record.point

    def tell(
        self,
        *,
        cost: SupportsFloat | None = None,
        costs: Sequence[SupportsFloat] | None = None,
        std: SupportsFloat | None = None,
        point: schemas.Point | None = None,
        metrics: Mapping[str, SupportsFloat] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> schemas.Trial:
        """Tells the cost of the point. Telling the same again is harmless.

        Args:
            cost: The cost, in the unit of the objective; a finite number.
            costs: Instead of ``cost``: several measurements of the same point.
            std: Standard deviation of the cost. None lets the model infer it, 0 says that it is exact.
            point: What was really executed, if that differs from ``self.point``.
            metrics: Further numbers to keep with the trial.
            metadata: Anything else to keep with the trial.

        Returns:
            The trial as it is stored.

        Raises:
            InvalidCost: The cost is not finite; use ``fail`` for a run without a cost.
            InvalidPoint: ``point`` is not in the study's space.
            OutcomeConflict: Another outcome is stored for this trial.
        """
        self.record = self._study.tell(
            self.number, cost=cost, costs=costs, std=std, point=point, metrics=metrics, metadata=metadata
        )
        return self.record

    def fail(self, *, reason: str, metrics: Mapping[str, SupportsFloat] | None = None) -> schemas.Trial:
        """The robot ran and it went wrong (e-stop, joint limit): the search keeps away from such points."""
        return self._end(schemas.Outcome.FAILED, reason, metrics)

    def lose(self, *, reason: str, metrics: Mapping[str, SupportsFloat] | None = None) -> schemas.Trial:
        """The lab broke (network, simulator): nothing is learnt, no budget is spent, the point is offered again."""
        return self._end(schemas.Outcome.LOST, reason, metrics)

    def abandon(self, *, reason: str, metrics: Mapping[str, SupportsFloat] | None = None) -> schemas.Trial:
        """Never try this again; also takes back a completed trial, when a bad sensor is found later."""
        return self._end(schemas.Outcome.ABANDONED, reason, metrics)

    def heartbeat(self, *, lease_s: float | None = None) -> schemas.Trial:
        """Keeps the trial: its lease ends so much later.

        Args:
            lease_s: From now on; None for as long as it was given for.

        Raises:
            OutcomeConflict: The trial does not run any more.
        """
        self.record = self._study.heartbeat(self.number, lease_s=lease_s)
        return self.record

    def _end(self, outcome: schemas.Outcome, reason: str, metrics: Mapping[str, SupportsFloat] | None) -> schemas.Trial:
        self.record = self._study.tell(self.number, outcome=outcome, reason=reason, metrics=metrics)
        return self.record
