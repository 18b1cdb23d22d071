"""Retries, deadlines and keys: what one call does while the network or the service has trouble."""

from __future__ import annotations

import logging
import uuid
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import pytest
from geodrome import ComputeUnavailable, GeodromeError, InternalError, ServiceUnreachable, StudyNotFound
from geodrome.connection import Clock, Connection
from geodrome.schemas import Health

HEALTHY = {"status": "ok", "version": "1"}
BUSY = {"code": "compute-unavailable", "detail": "no worker", "errors": []}


class Time:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    @property
    def clock(self) -> Clock:
        return Clock(now=lambda: self.now, sleep=self.sleep, jitter=lambda: 1.0)


class Network(httpx.BaseTransport):
    """Gives the answers in turn, the last one for ever."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        status, headers, body = answer
        return httpx.Response(status, headers=headers, json=body)


def connected(network: Network, time: Time, *, timeout_s: float = 60.0, key: str | None = None) -> Connection:
    return Connection("http://service", key=key, timeout_s=timeout_s, transport=network, clock=time.clock)


TROUBLE = [
    pytest.param(httpx.ConnectError("refused"), id="no connection"),
    pytest.param(httpx.ReadTimeout("slow"), id="no answer in time"),
    pytest.param(httpx.RemoteProtocolError("cut off"), id="cut off"),
    pytest.param((429, {}, {"code": "rate-limited", "detail": ""}), id="429"),
    pytest.param((502, {}, None), id="502"),
    pytest.param((503, {}, BUSY), id="503"),
    pytest.param((504, {}, None), id="504"),
    pytest.param((202, {}, {"detail": "computing"}), id="202"),
]


@pytest.mark.parametrize("trouble", TROUBLE)
def test_a_call_is_repeated_under_the_same_key_until_it_is_answered(trouble):
    network = Network(trouble, trouble, (200, {}, HEALTHY))

    with connected(network, Time()) as connection:
        answer = connection.post("/v1/anything", Health, body={"count": 1})

    assert answer.status == "ok"
    assert [request.content for request in network.requests] == [b'{"count":1}'] * 3
    keys = {request.headers["Idempotency-Key"] for request in network.requests}
    assert len(keys) == 1
    assert uuid.UUID(keys.pop()).version == 4


def test_each_call_has_a_key_of_its_own():
    network = Network((200, {}, HEALTHY))

    with connected(network, Time()) as connection:
        for _ in range(2):
            connection.post("/v1/anything", Health, body={})

    first, second = (request.headers["Idempotency-Key"] for request in network.requests)
    assert first != second


def test_pauses_double_up_to_ten_seconds():
    time = Time()
    network = Network(*[httpx.ConnectError("refused")] * 8, (200, {}, HEALTHY))

    with connected(network, time) as connection:
        connection.get("/healthz", Health)

    assert time.slept == [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 10.0, 10.0]


def test_jitter_shortens_a_pause_to_no_less_than_its_half():
    time = Time()
    clock = Clock(now=lambda: time.now, sleep=time.sleep, jitter=lambda: 0.0)
    network = Network(httpx.ConnectError("refused"), (200, {}, HEALTHY))

    with Connection("http://service", key=None, timeout_s=60, transport=network, clock=clock) as connection:
        connection.get("/healthz", Health)

    assert time.slept == [0.125]


@pytest.mark.parametrize("status", [202, 429, 503])
def test_retry_after_in_seconds_is_kept(status):
    time = Time()
    network = Network((status, {"Retry-After": "7"}, BUSY), (200, {}, HEALTHY))

    with connected(network, time) as connection:
        connection.get("/healthz", Health)

    assert time.slept == [7.0]


def test_retry_after_as_a_date_is_kept():
    time = Time()
    moment = format_datetime(datetime.now(UTC) + timedelta(seconds=20), usegmt=True)
    network = Network((503, {"Retry-After": moment}, BUSY), (200, {}, HEALTHY))

    with connected(network, time) as connection:
        connection.get("/healthz", Health)

    assert time.slept == [pytest.approx(20, abs=2)]


@pytest.mark.parametrize("header", ["soon", "-3", ""])
def test_a_retry_after_that_says_nothing_leaves_the_back_off(header):
    time = Time()
    network = Network((503, {"Retry-After": header}, BUSY), (200, {}, HEALTHY))

    with connected(network, time) as connection:
        connection.get("/healthz", Health)

    assert time.slept == [0.25]


def test_a_retry_after_of_nothing_does_not_flood_the_service():
    time = Time()
    network = Network((503, {"Retry-After": "0"}, BUSY), (200, {}, HEALTHY))

    with connected(network, time) as connection:
        connection.get("/healthz", Health)

    assert time.slept == [0.05]


def test_a_service_that_never_answers_is_unreachable_at_the_deadline():
    time = Time()
    network = Network(httpx.ConnectError("Connection refused"))

    with connected(network, time, timeout_s=10) as connection, pytest.raises(ServiceUnreachable) as caught:
        connection.get("/healthz", Health)

    assert "GET http://service/healthz: Connection refused (no answer within 10 s)" in str(caught.value)
    assert 2 < time.now < 10


def test_a_service_that_stays_busy_says_so_at_the_deadline():
    network = Network((503, {"Retry-After": "4"}, BUSY))

    with connected(network, Time(), timeout_s=10) as connection, pytest.raises(ComputeUnavailable, match="no worker"):
        connection.get("/healthz", Health)

    assert len(network.requests) == 3


def test_nobody_waits_for_a_repeat_beyond_the_deadline():
    time = Time()
    network = Network((503, {"Retry-After": "3600"}, BUSY))

    with connected(network, time) as connection, pytest.raises(ComputeUnavailable):
        connection.get("/healthz", Health)

    assert time.slept == []


def test_an_answer_that_is_never_ready_says_to_ask_again():
    network = Network((202, {"Retry-After": "1"}, {"detail": "computing"}))

    with (
        connected(network, Time(), timeout_s=5) as connection,
        pytest.raises(ServiceUnreachable, match="still computing"),
    ):
        connection.post("/v1/studies/arm/ask", Health, body={})


def test_the_time_that_is_left_bounds_each_attempt():
    network = Network(httpx.ConnectError("refused"), httpx.ConnectError("refused"), (200, {}, HEALTHY))

    with connected(network, Time(), timeout_s=4) as connection:
        connection.get("/healthz", Health)

    assert [request.extensions["timeout"]["read"] for request in network.requests][-1] == pytest.approx(3.25)


@pytest.mark.parametrize("status", [400, 401, 404, 409, 413, 422, 500])
def test_a_refusal_is_not_repeated(status):
    network = Network((status, {}, {"code": "study-not-found", "detail": "no study 'arm'"}))

    with connected(network, Time()) as connection, pytest.raises(StudyNotFound):
        connection.get("/v1/studies/arm", Health)

    assert len(network.requests) == 1


def test_an_error_page_of_a_proxy_becomes_a_readable_error():
    page = httpx.Response(
        404, text="<html>\n<h1>Not Found</h1></html>", headers={"Content-Type": "text/html; charset=u"}
    )

    with (
        Connection(
            "http://service", key=None, timeout_s=5, transport=httpx.MockTransport(lambda _: page)
        ) as connection,
        pytest.raises(ServiceUnreachable) as caught,
    ):
        connection.get("/v1/studies/arm", Health)

    assert "GET http://service/v1/studies/arm answered 404 Not Found with text/html" in str(caught.value)
    assert "<h1>Not Found</h1>" in str(caught.value)


def test_a_bad_gateway_page_is_repeated_and_then_readable():
    page = httpx.Response(502, text="<html>Bad Gateway</html>")
    time = Time()

    with (
        Connection(
            "http://service", key=None, timeout_s=5, transport=httpx.MockTransport(lambda _: page), clock=time.clock
        ) as connection,
        pytest.raises(ServiceUnreachable, match="Bad Gateway"),
    ):
        connection.get("/healthz", Health)

    assert len(time.slept) > 2


def test_an_answer_of_another_shape_names_the_field_that_is_missing():
    network = Network((200, {}, {"hello": "world"}))

    with (
        connected(network, Time()) as connection,
        pytest.raises(ServiceUnreachable, match="no Health: status Field req"),
    ):
        connection.get("/healthz", Health)


def test_a_code_from_a_newer_service_is_an_error_all_the_same():
    network = Network((418, {}, {"code": "teapot", "detail": "short and stout"}))

    with connected(network, Time()) as connection, pytest.raises(InternalError, match="short and stout"):
        connection.get("/healthz", Health)


def test_trouble_that_repeating_cannot_mend_is_not_repeated():
    network = Network(httpx.DecodingError("bad gzip"))

    with connected(network, Time()) as connection, pytest.raises(ServiceUnreachable, match="bad gzip"):
        connection.get("/healthz", Health)

    assert len(network.requests) == 1


def test_a_repeat_is_logged_with_its_reason(caplog):
    network = Network(httpx.ConnectError("refused"), (200, {}, HEALTHY))

    with caplog.at_level(logging.WARNING, logger="geodrome"), connected(network, Time()) as connection:
        connection.get("/healthz", Health)

    assert caplog.messages == ["GET http://service/healthz: refused; trying again in 0.2 s"]


def test_the_key_travels_as_a_bearer_token():
    network = Network((200, {}, HEALTHY))

    with connected(network, Time(), key="secret") as connection:
        connection.get("/healthz", Health)

    assert network.requests[0].headers["Authorization"] == "Bearer secret"


def test_the_key_is_not_sent_where_a_server_redirects_to():
    elsewhere = (307, {"Location": "https://evil.example/healthz"}, {})
    network = Network(elsewhere)

    with connected(network, Time(), key="secret") as connection, pytest.raises(ServiceUnreachable, match="307"):
        connection.get("/healthz", Health)

    assert [request.url.host for request in network.requests] == ["service"]


@pytest.mark.parametrize(
    "trouble",
    [httpx.ConnectError("refused"), (202, {}, {}), (500, {}, {}), (401, {}, {"code": "unauthorized", "detail": "no"})],
)
def test_no_error_and_no_log_shows_a_key_or_a_password(caplog, trouble):
    with (
        Connection(
            "http://me:password@service", key="secret", timeout_s=1, transport=Network(trouble), clock=Time().clock
        ) as connection,
        caplog.at_level(logging.DEBUG, logger="geodrome"),
        pytest.raises(GeodromeError) as caught,
    ):
        connection.get("/healthz", Health)

    shown = [repr(connection), str(caught.value), repr(caught.value), caplog.text, *map(str, caught.value.__dict__)]
    assert not any(hidden in text for text in shown for hidden in ("secret", "password"))


def test_a_rate_is_kept_by_waiting_as_long_as_the_service_says():
    limited = {"code": "rate-limited", "detail": "too many", "errors": [], "retryable": True}
    network, time = Network((429, {"Retry-After": "7"}, limited), (200, {}, HEALTHY)), Time()

    with connected(network, time) as connection:
        connection.get("/healthz", Health)

    assert time.slept == [7.0]


def test_a_reset_by_a_real_socket_is_unreachable(closed_port):
    with (
        Connection(f"http://127.0.0.1:{closed_port}", key=None, timeout_s=0.5) as connection,
        pytest.raises(ServiceUnreachable, match="refused"),
    ):
        connection.get("/healthz", Health)


@pytest.mark.parametrize("url", ["127.0.0.1:8100", "localhost:8100", "ftp://lab", "http://", "http://lab:port", ""])
def test_an_address_without_http_is_refused(url):
    with pytest.raises(ValueError, match="URL"):
        Connection(url, key=None, timeout_s=1)


@pytest.mark.parametrize("key", ["abc\n", "schlüssel"])
def test_a_key_that_no_header_can_carry_is_refused(key):
    with pytest.raises(ValueError, match="line break"):
        Connection("http://service", key=key, timeout_s=1)


@pytest.mark.parametrize("timeout_s", [0, -1])
def test_a_deadline_in_the_past_is_refused(timeout_s):
    with pytest.raises(ValueError, match="positive"):
        Connection("http://service", key=None, timeout_s=timeout_s)
