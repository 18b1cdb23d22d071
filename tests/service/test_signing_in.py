"""People at the pages: signing in with a key, and what a browser may then do with it."""

from __future__ import annotations

import pytest
from geodrome_service.api import keyring
from geodrome_service.api.access import COOKIE

STUDY = {"name": "press", "space": {"type": "sphere", "dim": 2}}
ELSEWHERE = {"Origin": "http://elsewhere.example"}


def signed_in(service, key: str) -> dict[str, str]:
    """The cookie that a browser has afterwards."""
    answer = service("POST", "/sign-in", data={"key": key})
    return {"Cookie": answer.headers["Set-Cookie"].partition(";")[0]}


def test_a_page_without_a_key_leads_to_the_sign_in_and_back(service):
    key = service.make_key("viewer")

    asked = service("GET", "/studies/press?state=failed")
    form = service("GET", asked.headers["Location"])
    answer = service("POST", "/sign-in", data={"key": f" {key}\n", "next": "/studies/press?state=failed"})

    assert (asked.status_code, asked.headers["Location"]) == (303, "/sign-in?next=/studies/press%3Fstate%3Dfailed")
    assert 'value="/studies/press?state=failed"' in form.text
    assert (answer.status_code, answer.headers["Location"]) == (303, "/studies/press?state=failed")
    attributes = answer.headers["Set-Cookie"].lower()
    assert f"{COOKIE}={key}".lower() in attributes
    assert {"httponly", "samesite=strict"} <= {part.strip() for part in attributes.split(";")}


def test_the_key_does_then_what_its_role_allows(service):
    viewer, admin = signed_in(service, service.make_key("viewer")), signed_in(service, service.make_key("admin"))

    refused = service("POST", "/v1/studies", json=STUDY, headers=viewer)
    made = service("POST", "/v1/studies", json=STUDY, headers=admin)

    assert (refused.status_code, made.status_code) == (403, 201)
    assert "press" in service("GET", "/", headers=viewer).text
    assert service("GET", "/").status_code == 303


@pytest.mark.parametrize("key", ["", "geodrome_wrong"])
def test_a_wrong_key_is_told_at_the_form_and_never_repeated(service, key):
    service.make_key("viewer")

    answer = service("POST", "/sign-in", data={"key": key})

    assert answer.status_code == 422
    assert "Set-Cookie" not in answer.headers
    assert 'role="alert"' in answer.text
    assert "geodrome_wrong" not in answer.text


def test_a_revoked_key_ends_at_the_sign_in(service, monkeypatch):
    monkeypatch.setattr(keyring, "REFRESH_S", 0.0)  # the keys are read for every request
    cookie = signed_in(service, service.make_key("viewer"))
    assert service("GET", "/", headers=cookie).status_code == 200

    service.revoke(1)

    assert service("GET", "/", headers=cookie).status_code == 303


def test_signing_out_forgets_the_key(service):
    cookie = signed_in(service, service.make_key("viewer"))

    answer = service("POST", "/sign-out", headers=cookie)

    assert answer.headers["Location"] == "/sign-in"
    assert f'{COOKIE}=""' in answer.headers["Set-Cookie"]
    assert "Max-Age=0" in answer.headers["Set-Cookie"]


def test_no_page_elsewhere_may_use_the_key_of_a_browser(service):
    admin = service.make_key("admin")
    cookie = signed_in(service, admin)

    assert service("POST", "/v1/studies", json=STUDY, headers=cookie | ELSEWHERE).status_code == 403
    assert service("POST", "/v1/studies", json=STUDY, key=admin, headers=ELSEWHERE).status_code == 201


@pytest.mark.parametrize(
    "address", ["//elsewhere.example", "https://elsewhere.example/", "/\\elsewhere.example", "//[", "x", ""]
)
def test_the_sign_in_leads_nowhere_else(service, address):
    key = service.make_key("viewer")

    assert service("POST", "/sign-in", data={"key": key, "next": address}).headers["Location"] == "/"
    assert 'name="next" value="/"' in service("GET", "/sign-in", params={"next": address}).text


@pytest.mark.parametrize("path", ["/sign-in", "/sign-out"])
def test_nobody_signs_a_person_in_or_out_from_elsewhere(service, path):
    key = service.make_key("viewer")

    answer = service("POST", path, data={"key": key}, headers=ELSEWHERE)

    assert answer.status_code == 403
    assert "Set-Cookie" not in answer.headers


@pytest.mark.parametrize("key", ["", "anything", "a\r\nb: c", "\u20ac\x00"])
def test_where_no_key_is_needed_none_is_kept(service, key):
    answer = service("POST", "/sign-in", data={"key": key})

    assert answer.status_code == 303
    assert "Set-Cookie" not in answer.headers


def test_a_form_is_not_read_beyond_the_limit(make_service):
    service = make_service(body_limit_mib=1)

    answer = service("POST", "/sign-in", data={"key": "k" * (2**20 + 1)})

    assert answer.status_code == 413
    assert "at most 1 MiB" in answer.text


def test_problems_of_pages_are_pages_and_those_of_programs_are_json(service):
    page, part = service("GET", "/studies/nothing"), service("GET", "/studies/nothing/figures/convergence")

    assert (page.status_code, page.headers["Content-Type"]) == (404, "text/html; charset=utf-8")
    assert "no study has the name or id &#39;nothing&#39;" in page.text
    assert (part.status_code, part.headers["Content-Type"]) == (404, "application/problem+json")


def test_what_is_shown_is_text_and_never_markup(service):
    objective = {"name": "cost", "unit": "<b>N</b>"}

    unknown = service("GET", "/studies/<b>press")
    service("POST", "/v1/studies", json=STUDY | {"objective": objective})
    service("POST", "/v1/studies/press/trials", json={"point": [0, 0, 1], "cost": 2.5})
    shown = service("GET", "/studies/press").text
    assert unknown.status_code == 404
    assert "&lt;b&gt;press" in unknown.text
    assert "<b>" not in unknown.text
    assert "&lt;b&gt;N&lt;/b&gt;" in shown
    assert "<b>N" not in shown


def test_files_of_the_pages_are_kept_by_browsers_until_they_change(service):
    first = service("GET", "/assets/plotly.min.js")
    again = service("GET", "/assets/plotly.min.js", headers={"If-None-Match": first.headers["ETag"]})

    assert (first.status_code, first.headers["Cache-Control"]) == (200, "no-cache")
    assert first.headers["Content-Type"].startswith("text/javascript")
    assert (again.status_code, again.content) == (304, b"")
    for absent in ("nothing.js", "..%2F__init__.py", "__init__.py"):
        assert service("GET", f"/assets/{absent}").status_code == 404
