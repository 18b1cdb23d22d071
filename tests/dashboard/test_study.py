"""The pages of a study and of its trials in a browser: live, and with everything that a person does there."""

from __future__ import annotations

import json
import re

import geodrome
import pytest
from playwright.sync_api import Page, expect

DRAWN = "() => document.querySelector('[data-figure]').data?.find((trace) => trace.name === 'completed')?.x.length ?? 0"

RECOMMENDED = "() => document.querySelector('[data-figure]').data.some((one) => one.name?.startsWith('recommended'))"

expect.set_options(timeout=60_000)


@pytest.fixture
def study(lab, study_name):
    """A study whose design is so large that nobody waits for a model."""
    space = geodrome.Product(
        factors={"tool": geodrome.Rotation(order="xyzw"), "speed": geodrome.Real(bounds=(0, 1), unit="m/s")}
    )
    return lab.create_study(
        study_name,
        space=space,
        objective={"name": "error", "unit": "mm"},
        initial_design={"size": 500},
        budget={"trials": 400},
    )


@pytest.fixture
def at(server):
    """Opens a page of the server."""

    def go(page: Page, path: str) -> Page:
        page.goto(f"{server}{path}")
        return page

    return go


def opened(page: Page, name: str):
    """The controls under a heading."""
    page.get_by_text(name, exact=True).click()
    return page.locator("details[open]")


def test_results_of_a_robot_move_the_plot_without_loading_the_page_again(browser_page, at, study, eventually):
    page = at(browser_page, f"/studies/{study.record.name}")
    page.evaluate("() => { window.stays = true; }")

    study.run(lambda point: point["speed"], 4, worker="panda-1", progress=False)
    eventually(lambda: page.evaluate(DRAWN) == 4, timeout_s=60)

    expect(page.get_by_role("progressbar")).to_have_attribute("aria-valuetext", "4 of 400 trials spent")
    expect(page.get_by_role("region", name="Robots")).to_contain_text("panda-1")
    expect(page.locator("#trials tbody tr")).to_have_count(4)
    assert page.evaluate("() => window.stays") is True
    # The model's recommendation comes when it is computed, and is drawn too.
    eventually(lambda: page.evaluate(RECOMMENDED), timeout_s=60)
    expect(page.get_by_text("Recommended by the model")).to_be_visible()


def test_trials_are_sorted_filtered_and_paged_in_place(browser_page, at, study):
    own = [{"point": {"tool": [0, 0, 0, 1], "speed": n / 200}, "cost": float((n * 37) % 120)} for n in range(120)]
    study.add_all(own)
    page = at(browser_page, f"/studies/{study.record.name}")
    page.evaluate("() => { window.stays = true; }")
    costs = page.locator("#trials tbody td:nth-child(3)")

    page.get_by_role("link", name="Cost, mm").click()
    expect(costs.first).to_have_text("0")
    assert page.evaluate("() => document.activeElement.id") == "by-cost"
    page.get_by_role("link", name="Next").click()
    expect(costs.first).to_have_text("50")
    expect(page.get_by_text("51–100 of 120")).to_be_visible()
    assert page.url.endswith("?sort=cost&order=asc&page=2#trials")

    page.get_by_label("State").select_option("failed")
    expect(page.get_by_text("none like that")).to_be_visible()
    page.go_back()
    expect(page.get_by_text("51–100 of 120")).to_be_visible()
    page.get_by_role("link", name="Show all").click()
    expect(page.get_by_text("1–50 of 120")).to_be_visible()
    assert page.evaluate("() => window.stays") is True


def test_a_person_queues_runs_and_tells_trials(browser_page, at, study):
    page = at(browser_page, f"/studies/{study.record.name}")

    form = opened(page, "Add a point to run")
    form.get_by_role("textbox").fill('{"tool": [0, 0, 0, 3], "speed": 0.5}')
    form.get_by_role("button").click()
    expect(form.get_by_role("alert")).to_contain_text("/point/tool")
    expect(form.get_by_role("textbox")).to_have_attribute("aria-invalid", "true")
    form.get_by_role("textbox").fill("{")
    form.get_by_role("button").click()
    expect(form.get_by_role("alert")).to_contain_text("This is no JSON")
    form.get_by_role("textbox").fill('{"tool": [0, 0, 0, 1], "speed": 0.5}')
    form.get_by_role("button").click()
    expect(form.get_by_role("status")).to_contain_text("In the queue, to be run next: trial 1")
    expect(page.locator("#trials tbody tr")).to_contain_text("queued")
    page.get_by_text("Add a point to run", exact=True).click()

    form = opened(page, "Run a trial by hand")
    form.get_by_label("Your name, if you like").fill("Ada")
    form.get_by_role("button", name="Ask for a point").click()
    expect(form.get_by_role("status").first).to_contain_text('Yours to run: trial 1{"tool":[0,0,0,1],"speed":0.5}')
    form.get_by_label("Cost, mm").fill("0.25")
    form.get_by_role("button", name="Tell", exact=True).click()

    expect(page.locator("#trials tbody tr")).to_contain_text("completed")
    assert study.trial(1).record.cost == 0.25
    assert study.trial(1).record.worker == "Ada"


def test_a_person_tells_releases_and_abandons_at_the_page_of_a_trial(browser_page, at, study):
    for _ in range(2):
        study.ask(worker="panda-1", resume=False)
    page = at(browser_page, f"/studies/{study.record.name}/trials/1")
    expect(page.get_by_role("heading", name="Why this point")).to_be_visible()

    page.get_by_label("What became of it").select_option("failed")
    expect(page.get_by_label("Cost, mm")).to_be_hidden()
    page.get_by_label("Reason or remark, if any").fill("it shook")
    page.get_by_role("button", name="Tell", exact=True).click()
    expect(page.locator("h1 + .state")).to_have_text("failed")
    expect(page.get_by_text("Reason: it shook")).to_be_visible()
    expect(page.get_by_role("button", name="Tell", exact=True)).to_have_count(0)
    page.get_by_role("button", name="Abandon").click()
    page.get_by_role("dialog").get_by_role("button", name="Abandon").click()
    expect(page.locator("h1 + .state")).to_have_text("abandoned")

    at(page, f"/studies/{study.record.name}/trials/2")
    page.get_by_role("button", name="Release").click()
    page.get_by_role("dialog").get_by_label("Why").fill("the robot is off")
    page.get_by_role("dialog").get_by_role("button", name="Release").click()
    expect(page.locator("h1 + .state")).to_have_text("lost")
    assert study.trial(3).record.retry_of == 2


def test_a_person_pauses_pays_and_closes(browser_page, at, study):
    page = at(browser_page, f"/studies/{study.record.name}")
    state = page.locator("h1 + .state")

    page.get_by_role("button", name="Pause").click()
    expect(state).to_have_text("paused")
    form = opened(page, "Run a trial by hand")
    form.get_by_role("button", name="Ask for a point").click()
    expect(form.get_by_role("alert").first).to_contain_text("is paused")
    page.get_by_role("button", name="Resume").click()
    expect(state).to_have_text("active")
    page.get_by_text("Run a trial by hand", exact=True).click()

    form = opened(page, "Budget, export, end")
    form.get_by_label("Budget in trials").fill("7")
    form.get_by_role("button", name="Change the budget").click()
    expect(page.get_by_role("progressbar")).to_have_attribute("aria-valuemax", "7")
    form.get_by_role("button", name="Close the study").click()
    page.get_by_role("button", name="Keep it open").click()
    expect(state).to_have_text("active")
    form.get_by_role("button", name="Close the study").click()
    page.get_by_role("button", name="Close for good").click()
    expect(state).to_have_text("closed")


def test_the_whole_study_is_downloaded(browser_page, at, study):
    study.add({"tool": [0, 0, 0, 1], "speed": 0.5}, cost=1.0)
    page = at(browser_page, f"/studies/{study.record.name}")
    opened(page, "Budget, export, end")

    files = {}
    for form in ("JSON", "CSV"):
        with page.expect_download() as download:
            page.get_by_role("link", name=f"Export as {form}").click()
        files[form] = download.value

    assert json.loads(files["JSON"].path().read_text())["study"]["name"] == study.record.name
    assert files["CSV"].suggested_filename == f"{study.record.name}.csv"
    assert re.match("number,state,", files["CSV"].path().read_text())


def test_nothing_that_is_written_is_lost_while_there_are_no_scripts(browser, at, study):
    context = browser.new_context(java_script_enabled=False)
    page = at(context.new_page(), f"/studies/{study.record.name}")
    form = opened(page, "Add a point to run")
    point = '{"tool": [0, 0, 0, 1], "speed": 0.25}'

    form.get_by_role("textbox").fill(point)
    form.get_by_role("button").click()

    expect(form.get_by_role("textbox")).to_have_value(point)
    assert page.url.endswith(f"/studies/{study.record.name}")
    assert list(study.trials()) == []
    context.close()


def test_a_page_says_that_its_study_is_gone_and_that_the_server_does_not_answer(browser, start_server, tmp_path):
    server = start_server(tmp_path / "geodrome.db")
    context = browser.new_context()
    page = context.new_page()
    with geodrome.Client(server.url) as client:
        for name in ("first", "second"):
            client.create_study(name, space=geodrome.Real(bounds=(0, 1)))
        with page.expect_request("**/events**"):
            page.goto(f"{server.url}/studies/first")
        client.study("first").delete()
    expect(page.get_by_text("no study has the name or id 'first'")).to_be_visible()

    page.goto(f"{server.url}/studies/second")
    expect(page.get_by_text("what is shown may be old")).to_be_hidden()
    server.stop()
    expect(page.get_by_text("what is shown may be old")).to_be_visible()
    expect(page.get_by_role("heading", name="second")).to_be_visible()
    context.close()


def test_everybody_can_use_the_pages(browser_page, at, study, violations, eventually):
    study.run(lambda point: point["speed"], 3, worker="panda-1", progress=False)
    study.ask(worker="panda-2")
    page = at(browser_page, f"/studies/{study.record.name}")
    eventually(lambda: page.evaluate(DRAWN) == 3, timeout_s=60)
    for name in ("Add a point to run", "Run a trial by hand", "Budget, export, end"):
        page.get_by_text(name, exact=True).click()
    assert violations(page) == []

    at(page, f"/studies/{study.record.name}/trials/4")
    assert violations(page) == []
    page.get_by_role("button", name="Abandon").click()
    assert violations(page) == []
