"""Signing in, as in a lab: at the server's name, without TLS, where browsers trust pages less than on one's machine."""

from __future__ import annotations

from datetime import UTC, datetime

import geodrome
import pytest
from geodrome_service.roles import Role
from geodrome_service.store import keys
from geodrome_service.store.database import Database, database_url
from playwright.sync_api import expect


@pytest.fixture(scope="module")
def guarded(start_server, tmp_path_factory):
    """URL of a server that wants keys, and a key for each role."""
    path = tmp_path_factory.mktemp("guarded") / "geodrome.db"
    database = Database(database_url(str(path)))
    with database.write.begin() as session:
        texts = {role: keys.make(session, role, name="", now=datetime.now(UTC))[1] for role in Role}
    database.close()
    server = start_server(path)
    with geodrome.Client(server.url, key=texts[Role.ADMIN]) as client:
        client.create_study("arm", space=geodrome.Real(bounds=(0, 1)))
    return server.url, texts


@pytest.fixture
def at(guarded, elsewhere):
    """The address of the server as other machines know it."""
    return guarded[0].replace("127.0.0.1", elsewhere)


def test_a_person_signs_in_works_and_signs_out(browser_page, guarded, at, violations):
    url, texts = guarded
    page = browser_page

    page.goto(f"{at}/studies/arm?sort=cost")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert violations(page) == []
    page.get_by_label("Key").fill("geodrome_wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("not known")
    page.get_by_label("Key").fill(texts[Role.ADMIN])
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(f"{at}/studies/arm?sort=cost")
    page.wait_for_load_state()  # its scripts send the form

    page.get_by_text("Add a point to run", exact=True).click()
    form = page.locator("details[open]")
    form.get_by_role("textbox").fill("0.5")
    form.get_by_role("button").click()
    expect(form.get_by_role("status")).to_contain_text("trial 1")
    page.get_by_role("button", name="Sign out (admin)").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.goto(f"{at}/studies/arm")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()

    with geodrome.Client(url, key=texts[Role.VIEWER]) as client:
        assert client.study("arm").trial(1).point == 0.5


def test_what_a_viewer_may_not_do_is_switched_off(browser_page, guarded, at):
    page = browser_page
    page.goto(f"{at}/sign-in")
    page.get_by_label("Key").fill(guarded[1][Role.VIEWER])
    page.get_by_role("button", name="Sign in").click()

    page.get_by_role("link", name="arm").click()

    expect(page.get_by_role("heading", name="arm")).to_be_visible()
    expect(page.get_by_role("button", name="Pause")).to_be_disabled()
    page.get_by_text("Run a trial by hand", exact=True).click()
    expect(page.get_by_role("button", name="Ask for a point")).to_be_disabled()
