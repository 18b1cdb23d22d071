"""The table of a study's trials: which of them, in which order, and on how many pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from geodrome import schemas
from geodrome.schemas import TrialState
from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from geodrome_service.api import answers
from geodrome_service.api.bodies import WITHOUT_NUL
from geodrome_service.store import listing, tables
from geodrome_service.store.listing import Choice, Flag

ROWS = 50
"""Trials on a page."""

NEAR = 2
"""Pages on each side of the one that is shown to which there are links."""

LARGEST_PAGE = 10**6


class TableQuery(BaseModel):
    """What of the trials is wanted; empty is as good as absent, as forms send it."""

    state: TrialState | Literal[""] = ""
    worker: Annotated[str, Field(max_length=128, pattern=WITHOUT_NUL)] = ""
    flag: Flag | Literal[""] = ""
    sort: Literal["number", "cost"] = "number"
    order: Literal["desc", "asc"] = "desc"
    page: Annotated[int, Field(ge=1, le=LARGEST_PAGE)] = 1

    @property
    def choice(self) -> Choice:
        """The same as the store understands it."""
        return Choice(
            self.state or None, self.worker or None, self.flag or None, self.sort == "cost", self.order == "desc"
        )


@dataclass(frozen=True)
class Table:
    """A page of trials.

    Attributes:
        query: What was wanted.
        trials: Those on this page.
        total: How many there are on all pages.
        page: Which page this is.
    """

    query: TableQuery
    trials: list[schemas.Trial]
    total: int
    page: int

    @property
    def first(self) -> int:
        """Place of the first one among all, from 1."""
        return (self.page - 1) * ROWS + 1

    @property
    def last(self) -> int:
        """Place of the last one."""
        return self.first + len(self.trials) - 1

    @property
    def pages(self) -> int:
        """How many pages there are, at least one."""
        return max(1, -(-self.total // ROWS))

    @property
    def links(self) -> list[int | None]:
        """Pages to which there are links; None where some are left out."""
        near = range(max(1, self.page - NEAR), min(self.pages, self.page + NEAR) + 1)
        shown = sorted({1, self.pages, *near})
        links: list[int | None] = []
        for number in shown:
            if links and number != (links[-1] or 0) + 1:
                links.append(None)
            links.append(number)
        return links

    @property
    def shown_state(self) -> TrialState | None:
        """The state of all trials that are listed; None for any."""
        return self.query.choice.shown_state

    @property
    def is_chosen(self) -> bool:
        """Whether not all trials are listed."""
        return bool(self.shown_state or self.query.worker or self.query.flag)

    def address(self, **changes: Any) -> str:
        """The query of another table: this one's but for the changes; the first page, unless another is named."""
        wanted = self.query.model_copy(update={"page": 1, **changes}).model_dump(mode="json", exclude_defaults=True)
        return f"?{urlencode(wanted)}"

    def sorted_by(self, column: Literal["number", "cost"]) -> str:
        """The query of the table in the order of a column; the other way round where it is in that order already."""
        first = "desc" if column == "number" else "asc"
        turned = "asc" if self.query.order == "desc" else "desc"
        return self.address(sort=column, order=turned if self.query.sort == column else first)


def table(session: Session, study: tables.Study, query: TableQuery) -> Table:
    """The page that was asked for, or the last one where there are fewer."""
    total = listing.count(session, study, query.choice)
    number = min(query.page, max(1, -(-total // ROWS)))
    rows = listing.page(session, study, query.choice, offset=(number - 1) * ROWS, limit=ROWS)
    return Table(query, [answers.trial(row, study) for row in rows], total, number)
