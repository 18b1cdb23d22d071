"""What the service counts, as Prometheus reads it; each process counts on its own.

What is in the database is the same for all processes, and read when somebody looks.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from fastapi import APIRouter, Request, Response
from geodrome.errors import DatabaseUnavailable
from prometheus_client import CollectorRegistry, Counter, GCCollector, Histogram, PlatformCollector, ProcessCollector
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from geodrome_service.api.problems import responses
from geodrome_service.store import counting, noting, suggesting
from geodrome_service.store.database import Database, cause
from geodrome_service.store.noting import Happening

router = APIRouter(tags=["service"])

REQUEST_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)

SUGGEST_BUCKETS_S = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)

COMPUTED = ("initial", "model", "fallback")

ORIGINS = (*COMPUTED, "enqueued")

TEXT = "text/plain; version=0.0.4"

log = logging.getLogger("geodrome.service")


class Metrics:
    """The counters of one application.

    Args:
        database: Whose transactions are counted, and where the queues are.
    """

    def __init__(self, database: Database) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        GCCollector(registry=self.registry)
        self.registry.register(Queues(database))
        self._requests = Counter(
            "geodrome_requests_total",
            "Requests that were answered; status 0 are those whose client went away first.",
            ["method", "route", "status"],
            registry=self.registry,
        )
        self._request_s = Histogram(
            "geodrome_request_seconds",
            "Time to the end of the answer; asks and event streams wait.",
            ["method", "route"],
            buckets=REQUEST_BUCKETS_S,
            registry=self.registry,
        )
        self.suggest_s = Histogram(
            "geodrome_suggest_seconds",
            "Time in which the pool computed a batch of suggestions, its queue included.",
            buckets=SUGGEST_BUCKETS_S,
            registry=self.registry,
        )
        self._happened = {
            Happening.HANDED_OUT: Counter(
                "geodrome_asked_trials_total",
                "Trials that were handed out, by where their points came from.",
                ["origin"],
                registry=self.registry,
            ),
            Happening.SUGGESTED: Counter(
                "geodrome_suggestions_total",
                "Suggestions that were computed; a fallback is one that no model could make.",
                ["origin"],
                registry=self.registry,
            ),
            Happening.LEASE_EXPIRED: Counter(
                "geodrome_leases_expired_total",
                "Running trials that were lost because their lease ended.",
                registry=self.registry,
            ),
        }
        # At 0 from the start: a rate needs a first value.
        for origin in ORIGINS:
            self._happened[Happening.HANDED_OUT].labels(origin)
        for origin in COMPUTED:
            self._happened[Happening.SUGGESTED].labels(origin)
        noting.watch(database.write, self._count)

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Counts a request."""
        self._requests.labels(method, route, status).inc()
        self._request_s.labels(method, route).observe(seconds)

    def _count(self, notes: Mapping[tuple[Happening, str], int]) -> None:
        for (happening, detail), number in notes.items():
            counter = self._happened[happening]
            (counter.labels(detail) if detail else counter).inc(number)


class Queues(Collector):
    """What waits, read from the database when somebody looks; left out while it does not answer."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """The metrics without values."""
        yield from self._families().values()

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """The metrics as they are now."""
        try:
            with self._database.read.begin() as session:
                queued, running = counting.totals(session)
                waiting = suggesting.number_waiting(session, now=datetime.now(UTC))
        except (DBAPIError, PoolTimeoutError) as error:
            log.warning("the queues cannot be read for the metrics: %s", cause(error))
            return
        families = self._families()
        families["trials"].add_metric(["queued"], queued)
        families["trials"].add_metric(["running"], running)
        families["waiting"].add_metric([], waiting)
        yield from families.values()

    def _families(self) -> dict[str, GaugeMetricFamily]:
        return {
            "trials": GaugeMetricFamily("geodrome_trials", "Trials of all studies that are open.", labels=["state"]),
            "waiting": GaugeMetricFamily("geodrome_waiting_asks", "Asks that wait for suggestions."),
        }


@router.get(
    "/metrics",
    response_class=Response,
    responses={
        200: {"description": "In Prometheus's text format", "content": {TEXT: {"schema": {"type": "string"}}}},
        **responses(DatabaseUnavailable),
    },
)
def show(request: Request) -> Response:
    """Show what this process has counted, and what waits, for Prometheus."""
    metrics: Metrics = request.app.state.metrics
    encode, kind = choose_encoder(request.headers.get("Accept", ""))
    return Response(encode(metrics.registry), headers={"Content-Type": kind})
