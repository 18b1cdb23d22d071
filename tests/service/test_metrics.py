"""What the service counts for Prometheus."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from geodrome.schemas import StudyDefinition
from geodrome_service.store import counting, leases, queueing, studies
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy.exc import OperationalError

from tests.service.conftest import SPACE

STUDIES = "/v1/studies"
NO_ORIGIN = {"acquisition": None, "value": None, "mean": None, "std": None, "seed": None, "note": None}


@pytest.fixture
def scraped(service):
    """Reads the metrics: the value of a sample by its name and labels."""

    def scrape(name: str, **labels: str) -> float | None:
        text = service("GET", "/metrics").text
        samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
        found = [sample.value for sample in samples if sample.name == name and sample.labels == labels]
        return found[0] if found else None

    return scrape


@pytest.fixture
def queue(service, now):
    """Makes a study with a queue of one suggestion of each of these kinds."""

    def make(*kinds: str) -> None:
        definition = StudyDefinition.model_validate({"name": "arm", "space": SPACE}).model_dump(mode="json")
        with service.database.write.begin() as session:
            study, _ = studies.create(session, definition, load=False, now=now)
            suggested = [queueing.Suggested([0.0, 0.0], {"kind": kind, **NO_ORIGIN}, {}) for kind in kinds]
            queueing.enqueue(session, study, suggested, now=now)

    return make


def test_requests_are_counted_by_route_and_status(service, scraped):
    for path in ("/v1/studies/a", "/v1/studies/b", "/v1/studies"):
        service("GET", path)

    assert scraped("geodrome_requests_total", method="GET", route="/v1/studies/{study}", status="404") == 2
    assert scraped("geodrome_requests_total", method="GET", route="/v1/studies", status="200") == 1
    assert scraped("geodrome_request_seconds_count", method="GET", route="/v1/studies/{study}") == 2


def test_no_request_can_make_a_new_label(service, scraped):
    for path in ("/a", "/b", "/v1/studies/a/b/c/d"):
        service("GET", path)
    service("BREW", "/coffee")

    assert scraped("geodrome_requests_total", method="GET", route="(unknown)", status="404") == 3
    assert scraped("geodrome_requests_total", method="(unknown)", route="(unknown)", status="404") == 1


def test_asks_and_suggestions_are_counted_by_origin(service, scraped, queue):
    queue("model", "fallback", "model")

    service("POST", f"{STUDIES}/arm/ask", json={"count": 2})

    assert scraped("geodrome_suggestions_total", origin="model") == 2
    assert scraped("geodrome_suggestions_total", origin="fallback") == 1
    assert scraped("geodrome_suggestions_total", origin="initial") == 0
    assert scraped("geodrome_asked_trials_total", origin="model") == 1
    assert scraped("geodrome_asked_trials_total", origin="fallback") == 1


def test_leases_that_end_are_counted(service, scraped, queue):
    queue("model")
    with service.database.write.begin() as session:
        study = studies.find(session, "arm", lock=True)
        leases.hand_out(
            session, study, leases.Order(1, None, resume=True, lease_s=1), now=datetime.now(UTC) - timedelta(seconds=2)
        )

    service("GET", f"{STUDIES}/arm")

    assert scraped("geodrome_leases_expired_total") == 1


def test_what_is_rolled_back_is_not_counted(service, scraped, queue, now):
    queue("model")
    with service.database.write() as session:
        study = studies.find(session, "arm", lock=True)
        leases.hand_out(session, study, leases.Order(1, None, resume=True, lease_s=1), now=now)
        session.rollback()
        studies.find(session, "arm", lock=True)
        session.commit()

    assert scraped("geodrome_asked_trials_total", origin="model") == 0


def test_what_is_done_within_a_savepoint_is_counted_with_its_transaction(service, scraped, queue, now):
    queue("model", "model")

    def hand_out(session):
        order = leases.Order(1, None, resume=True, lease_s=1)
        leases.hand_out(session, studies.find(session, "arm", lock=True), order, now=now)

    with service.database.write() as session:
        with session.begin_nested():
            hand_out(session)
        session.rollback()
    with service.database.write.begin() as session, session.begin_nested():
        hand_out(session)

    assert scraped("geodrome_asked_trials_total", origin="model") == 1


def test_the_queues_are_read_from_the_database(service, scraped, queue):
    queue("model", "model", "model")

    service("POST", f"{STUDIES}/arm/ask", json={})

    assert scraped("geodrome_trials", state="queued") == 2
    assert scraped("geodrome_trials", state="running") == 1
    assert scraped("geodrome_waiting_asks") == 0


def test_without_a_database_the_rest_is_still_told(service, scraped, monkeypatch):
    service("GET", STUDIES)

    def fail(_session):
        raise OperationalError("SELECT", {}, Exception("gone"))

    monkeypatch.setattr(counting, "totals", fail)

    assert scraped("geodrome_trials", state="queued") is None
    assert scraped("geodrome_requests_total", method="GET", route="/v1/studies", status="200") == 1


def test_each_application_counts_on_its_own(make_service):
    first, second = make_service(), make_service()

    first("GET", STUDIES)

    assert 'route="/v1/studies"' in first("GET", "/metrics").text
    assert 'route="/v1/studies"' not in second("GET", "/metrics").text


def test_the_time_of_a_suggestion_is_counted(lab):
    lab.ask()

    text = lab.http.get("/metrics").text

    samples = {
        sample.name: sample.value for family in text_string_to_metric_families(text) for sample in family.samples
    }
    assert samples["geodrome_suggest_seconds_count"] >= 1
    assert samples["process_open_fds"] > 0


def test_either_of_prometheus_formats_is_told(service):
    plain = service("GET", "/metrics")
    opened = service("GET", "/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"})

    assert plain.headers["Content-Type"].startswith("text/plain")
    assert opened.headers["Content-Type"].startswith("application/openmetrics-text")
    assert opened.text.endswith("# EOF\n")
