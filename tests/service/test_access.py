"""Who may do what: keys with roles, and what a server without keys takes from whom."""

from __future__ import annotations

import asyncio
import re
import threading
from datetime import datetime, timedelta

import pytest
from geodrome_service.api import keyring, rules
from geodrome_service.roles import Role
from geodrome_service.store import events, keys, studies
from geodrome_service.store.tables import AccessKey
from sqlalchemy import event, select
from sqlalchemy.exc import OperationalError

from tests.service.histories import fill

STUDIES = "/v1/studies"
ROLES = [None, *Role]
ALLOWED = {
    None: set(ROLES),
    Role.VIEWER: {Role.VIEWER, Role.ROBOT, Role.ADMIN},
    Role.ROBOT: {Role.ROBOT, Role.ADMIN},
    Role.ADMIN: {Role.ADMIN},
}


@pytest.fixture
def always_fresh(monkeypatch):
    """The keys are read for every request."""
    monkeypatch.setattr(keyring, "REFRESH_S", 0.0)


def code_of(answer) -> tuple[int, str]:
    assert answer.headers["Content-Type"] == "application/problem+json"
    return answer.status_code, answer.json()["code"]


def test_every_call_of_the_interface_has_its_role_written_down(service):
    paths = service.app.openapi()["paths"]
    described = {(method.upper(), template) for template, methods in paths.items() for method in methods}
    pages = {("GET", page) for page in rules.ANYBODY[3:]}
    pages |= {(rule.method, rule.template) for rule in (*rules.PAGES, *rules.PARTS)}

    assert rules.RULES_BY_CALL.keys() == described | pages
    assert len(rules.RULES_BY_CALL) == len(rules.RULES)


def test_the_description_says_which_calls_need_a_key(service):
    document = service.app.openapi()

    for (method, template), rule in rules.RULES_BY_CALL.items():
        if (described := document["paths"].get(template, {}).get(method.lower())) is None:
            continue
        assert described["security"] == ([] if rule.role is None else [{"key": []}]), template
        assert ({"401", "403", "429"} <= described["responses"].keys()) is (rule.role is not None), template
        assert rule.role is None or f"Role: `{rule.role}`." in described["description"]
    assert document["components"]["securitySchemes"]["key"]["scheme"] == "bearer"


def test_each_role_may_do_what_the_rules_say_and_nothing_else(service):
    texts = {role: service.make_key(role) for role in Role} | {None: None}

    for rule in rules.RULES:
        path = re.sub(r"{[^}]+}", "7", rule.template)
        for role, text in texts.items():
            answer = service(rule.method, path, key=text)
            if role in ALLOWED[rule.role]:
                assert answer.status_code not in {401, 403}, (rule, role)
            elif rule.is_page:
                leads_on = role is None and rule.method == "GET"
                assert answer.status_code == (303 if leads_on else 401 if role is None else 403), (rule, role)
                assert not leads_on or answer.headers["Location"].startswith("/sign-in?next=/")
            else:
                assert code_of(answer) == ((401, "unauthorized") if role is None else (403, "forbidden")), (rule, role)


def test_a_robot_goes_on_with_a_study_and_makes_none(service):
    robot, admin = service.make_key("robot"), service.make_key("admin")
    body = {"name": "press", "space": {"type": "sphere", "dim": 2}, "if_exists": "load"}

    before = service("POST", STUDIES, key=robot, json=body)
    nothing = service("GET", STUDIES, key=robot).json()["studies"]
    made = service("POST", STUDIES, key=admin, json=body)
    loaded = service("POST", STUDIES, key=robot, json=body)
    other = service("POST", STUDIES, key=robot, json=body | {"seed": 3})

    assert code_of(before) == (403, "forbidden")
    assert "'press'" in before.json()["detail"]
    assert nothing == []
    assert (made.status_code, loaded.status_code) == (201, 200)
    assert loaded.json()["id"] == made.json()["id"]
    assert code_of(other) == (409, "study-exists")


def test_what_no_rule_speaks_of_is_for_admins_alone(service):
    robot, admin = service.make_key("robot"), service.make_key("admin")

    assert code_of(service("GET", "/v1/secrets")) == (401, "unauthorized")
    assert code_of(service("GET", "/v1/secrets", key=robot)) == (403, "forbidden")
    assert service("GET", "/v1/secrets", key=admin).status_code == 404
    assert service("PUT", STUDIES, key=admin).status_code == 405
    assert code_of(service("GET", f"{STUDIES}/a/b/c", key=robot)) == (403, "forbidden")


def test_no_text_of_a_key_is_kept(service):
    text = service.make_key("robot")

    with service.database.read() as session:
        row = session.scalars(select(AccessKey)).one()
        kept = [str(getattr(row, column.name)) for column in AccessKey.__table__.columns]
    assert text.startswith("geodrome_")
    assert len(text) == len("geodrome_") + 43, "256 bits"
    assert not any(text in value or text[9:] in value for value in kept)
    assert service("GET", STUDIES, key=text).status_code == 200


def test_two_keys_are_never_the_same(service):
    assert len({service.make_key("viewer") for _ in range(10)}) == 10


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("", "needs a key"),
        ("Bearer", "needs a key"),
        ("Basic Z2VvZHJvbWU6c2VjcmV0", "needs a key"),
        ("Bearer geodrome_wrong", "not known"),
        ("Bearer geodrome_wr\u00f6ng", "not known"),
    ],
)
def test_a_request_without_a_key_that_is_known_is_unauthorized(service, header, said):
    service.make_key("admin")

    answer = service("GET", STUDIES, headers={"Authorization": header.encode("latin-1")} if header else {})

    assert code_of(answer) == (401, "unauthorized")
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert said in answer.json()["detail"]
    assert "geodrome_wr" not in answer.text


def test_the_scheme_may_be_written_in_any_case(service):
    text = service.make_key("viewer")

    assert service("GET", STUDIES, headers={"Authorization": f"bearer {text}"}).status_code == 200


def test_a_key_ends_when_it_expires(service, now):
    over = service.make_key("admin", expires_at=now)
    good = service.make_key("admin", expires_at=datetime.max.replace(tzinfo=now.tzinfo))

    assert service("GET", STUDIES, key=over).json()["detail"] == "key 1 is expired"
    assert service("GET", STUDIES, key=good).status_code == 200


def test_a_revoked_key_is_refused_by_servers_that_know_it(service, always_fresh):
    text = service.make_key("admin")
    service.make_key("admin")
    before = service("GET", STUDIES, key=text)

    service.revoke(1)

    assert before.status_code == 200
    assert service("GET", STUDIES, key=text).json()["detail"] == "key 1 is revoked"


def test_all_servers_of_a_database_share_its_keys(make_service, always_fresh):
    first, second = make_service(), make_service()
    text = first.make_key("viewer")
    before = [service("GET", STUDIES, key=text).status_code for service in (first, second)]

    first.revoke(1)

    assert before == [200, 200]
    assert [service("GET", STUDIES, key=text).status_code for service in (first, second)] == [401, 401]


def test_a_server_whose_keys_are_all_revoked_is_closed(service, always_fresh):
    service.make_key("admin")
    service.revoke(1)

    assert code_of(service("GET", STUDIES)) == (401, "unauthorized")


def test_the_first_key_closes_a_server_that_runs(service, always_fresh):
    before = service("GET", STUDIES)

    service.make_key("viewer")

    assert before.status_code == 200
    assert code_of(service("GET", STUDIES)) == (401, "unauthorized")


def test_requests_share_one_reading_of_the_keys(service):
    text = service.make_key("viewer")
    read = []
    event.listen(
        service.database._readers,
        "before_cursor_execute",
        lambda _c, _cursor, statement, *_: read.append("access_keys" in statement),
    )

    assert {service("GET", "/v1/spaces", key=text).status_code for _ in range(5)} == {200}
    assert sum(read) == 1


def test_a_new_key_works_from_its_first_request(service):
    service.make_key("admin")
    assert service("GET", STUDIES).status_code == 401, "the keys are read"

    text = service.make_key("viewer")

    assert service("GET", STUDIES, key=text).status_code == 200


def test_nobody_is_let_in_while_the_keys_cannot_be_read(service, monkeypatch):
    def fail(_session):
        raise OperationalError("SELECT", {}, Exception("gone"))

    monkeypatch.setattr(keys, "every", fail)

    answer = service("GET", "/v1/spaces")

    assert code_of(answer) == (503, "database-unavailable")
    assert int(answer.headers["Retry-After"]) > 0
    assert service("GET", "/healthz").status_code == 200


def test_on_another_address_nobody_is_let_in_without_keys(make_service):
    """The server refuses to start so; but a database may be exchanged while it runs."""
    service = make_service(host="0.0.0.0")

    assert code_of(service("GET", STUDIES)) == (401, "unauthorized")
    assert make_service(host="0.0.0.0", insecure=True)("GET", STUDIES).status_code == 200
    assert make_service(host="::1")("GET", STUDIES).status_code == 200


def test_insecure_does_not_switch_keys_off(make_service):
    service = make_service(insecure=True)
    service.make_key("admin")

    assert code_of(service("GET", STUDIES)) == (401, "unauthorized")


def test_a_refused_request_is_answered_before_its_body_is_read(service):
    service.make_key("admin")

    async def body():
        raise AssertionError("the body was read")
        yield b""

    answer = service("POST", STUDIES, content=body(), headers={"Content-Type": "application/json"})

    assert code_of(answer) == (401, "unauthorized")


@pytest.mark.parametrize("host", ["localhost:8100", "127.0.0.1", "[::1]:8100", "127.0.0.2:80"])
def test_without_keys_this_machine_is_answered(service, host):
    assert service("GET", STUDIES, headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("host", ["lab.example", "127.0.0.1.nip.example:8100", "192.0.2.1", "[::", "localhost.evil"])
def test_without_keys_a_name_that_a_web_page_chose_is_refused(make_service, host):
    """A page's name may be made to mean 127.0.0.1 after the page is loaded."""
    service = make_service()

    assert code_of(service("GET", STUDIES, headers={"Host": host})) == (403, "forbidden")
    assert make_service(insecure=True)("GET", STUDIES, headers={"Host": host}).status_code == 200
    key = service.make_key("viewer")
    assert make_service()("GET", STUDIES, key=key, headers={"Host": host}).status_code == 200


def test_without_keys_a_web_page_elsewhere_cannot_ask(make_service, database):
    service = make_service(cors_origins="https://lab.example")
    ask = f"{STUDIES}/nobody/ask"

    for origin, status in {
        "https://evil.example": 403,
        "null": 403,
        "http://127.0.0.1:3000": 403,
        "http://127.0.0.1:8100": 404,
        "https://lab.example": 404,
    }.items():
        assert service("POST", ask, headers={"Origin": origin}).status_code == status, origin


def test_a_stream_ends_when_its_key_does(service, empty_url, monkeypatch):
    fill(empty_url, "followed", observations=1)
    text = service.make_key("viewer")
    monkeypatch.setattr(keyring, "REFRESH_S", 0.05)
    read, looked = events.page, threading.Event()

    def page(*study, **options):
        found = read(*study, **options)
        looked.set()
        return found

    monkeypatch.setattr(events, "page", page)

    async def follow():
        service.app.state.stopping = asyncio.Event()
        stream = asyncio.create_task(
            service.send("GET", f"{STUDIES}/followed/events", key=text, headers={"Accept": "text/event-stream"})
        )
        assert await asyncio.to_thread(looked.wait, 20)
        assert not stream.done()
        await asyncio.to_thread(service.revoke, 1)
        return await asyncio.wait_for(stream, 20)

    answer = asyncio.run(follow())

    assert answer.status_code == 200
    assert "event: completed" in answer.text


def test_keys_are_no_part_of_a_study(service, now):
    """Deleting everything that a key has made leaves the key."""
    admin = service.make_key("admin", expires_at=now + timedelta(days=36_500))
    body = {"name": "a", "space": {"type": "rotation"}}

    made = service("POST", STUDIES, key=admin, json=body)
    removed = service("DELETE", f"{STUDIES}/a", key=admin)

    assert (made.status_code, removed.status_code) == (201, 204)
    with service.database.read() as session:
        assert keys.exist(session)
        assert studies.page(session, state=None, name_prefix="", before=None, limit=1)[0] == []
