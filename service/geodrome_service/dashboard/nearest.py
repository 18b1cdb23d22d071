"""The observations that are nearest to a trial, by geodesic distances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from geodrome import schemas
from geodrome.figures.coordinates import coordinates
from geodrome.figures.distances import diameter, distances, unit
from geodrome.figures.factors import factors

OBSERVED = 1000
"""Observations among which the nearest are looked for, the latest ones."""

SHOWN = 5


@dataclass(frozen=True)
class Neighbour:
    """An observation near a trial.

    Attributes:
        trial: The observation.
        away: How far it is, in each factor.
    """

    trial: schemas.Trial
    away: list[float]


@dataclass(frozen=True)
class Near:
    """The nearest observations, the nearest first.

    Attributes:
        columns: Name and unit of each factor.
        neighbours: The observations.
    """

    columns: list[tuple[str, str | None]]
    neighbours: list[Neighbour]


def nearest(record: schemas.Study, trial: schemas.Trial, known: Sequence[schemas.Trial]) -> Near:
    """The completed trials nearest to a trial; each factor counts by its share of the factor's diameter."""
    parts = factors(record.space)
    others = [other for other in known if other.number != trial.number]
    columns = [(part.title, unit(part.spec)) for part in parts]
    if not others:
        return Near(columns, [])
    away = np.stack(
        [
            distances(
                part.spec,
                coordinates(part, trial.point),
                np.array([coordinates(part, other.point) for other in others]),
            )
            for part in parts
        ],
        -1,
    )  # (n, factors)
    shares = away / [diameter(part.spec) for part in parts]
    order = np.argsort(np.square(shares).sum(-1), kind="stable")[:SHOWN]
    return Near(columns, [Neighbour(others[place], away[place].tolist()) for place in order])
