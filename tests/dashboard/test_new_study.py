"""The pages that list and make studies, in a browser: by keyboard, by text, and with what goes wrong."""

from __future__ import annotations

import json

import geodrome
import pytest
import yaml
from playwright.sync_api import Page, expect

expect.set_options(timeout=60_000)

NASTY = {
    "plain": "N m/rad",
    "words": [
        "no",
        "null",
        "Yes",
        "~",
        "",
        " a",
        "a ",
        "1e3",
        "-1",
        "a: b",
        "a #b",
        "[x]",
        "é\u2028\u0085😀",
        '"',
        "\t\n",
        "<<",
    ],
    "numbers": [0, -1, 1e-7, 1e21, 0.1, 123456789],
    "others": [None, True, False, {}, [], {"deep": {"deeper": {"deepest": [[1, 2], [3, 4]]}}}],
    "a name: with": {"signs, in": "it" * 60},
}


@pytest.fixture
def new_page(browser_page, server) -> Page:
    """The page that makes a study, with its form."""
    browser_page.goto(f"{server}/new")
    expect(browser_page.get_by_label("Name of the study")).to_have_value("tool-orientation")
    return browser_page


def text_of(page: Page):
    """What the page would send."""
    return yaml.safe_load(page.locator("#text").input_value())


def write(page: Page, value: str) -> None:
    """Writes over what is in the field that has the focus."""
    page.keyboard.press("Control+A")
    page.keyboard.type(value)


def to(page: Page, name: str) -> None:
    """Goes on by the tabulator until what is called so has the focus."""
    named = "() => document.activeElement.labels?.[0]?.textContent || document.activeElement.textContent"
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate(named) == name:
            return
    raise AssertionError(f"nothing called {name!r} can be reached")


def test_a_study_of_a_product_is_made_by_keyboard_alone(new_page, http, study_name):
    page = new_page
    to(page, "Name of the study")
    write(page, study_name)
    to(page, "Kind of space")
    page.keyboard.type("Product")
    expect(page.get_by_label("Name of the part")).to_have_count(2)
    to(page, "Name of the part")
    to(page, "Name of the part")
    write(page, "speed")
    to(page, "Kind of space")
    page.keyboard.type("Whole")
    to(page, "Add a part")
    page.keyboard.press("Enter")
    write(page, "k")
    to(page, "Kind of space")
    page.keyboard.type("Stiff")
    to(page, "Trials at most")
    write(page, "12")
    to(page, "Make the study")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/studies/{study_name}")

    made = http.get(f"/v1/studies/{study_name}").json()
    assert {name: factor["type"] for name, factor in made["space"]["factors"].items()} == {
        "tool": "rotation",
        "speed": "integer",
        "k": "spd",
    }
    assert made["space"]["factors"]["tool"]["order"] == "xyzw"
    assert made["budget"] == {"trials": 12}


def test_the_form_reads_what_is_written_and_keeps_what_it_does_not_show(new_page, http, study_name):
    page = new_page
    definition = {
        "name": study_name,
        "space": {"type": "euclidean", "dim": 2, "bounds": [[-1, 1], [0, 5]]},
        "constraints": [{"coefficients": {"[0]": 1}, "upper": 0.5}],
        "metadata": {"robot": "panda"},
    }
    page.locator("#text").fill(json.dumps(definition))
    expect(page.get_by_label("Name of the study")).to_have_value(study_name)

    page.get_by_label("How many numbers").fill("3")
    page.get_by_label("Bounds 2, upper").fill("1e-1")
    page.get_by_label("Unit", exact=True).fill("N/m")
    written = text_of(page)

    bounds = [[-1, 1], [0, 0.1], [0, 5]]
    assert written == definition | {"space": {"type": "euclidean", "dim": 3, "bounds": bounds, "unit": "N/m"}}
    page.get_by_role("button", name="Make the study").click()
    page.wait_for_url(f"**/studies/{study_name}")
    assert http.get(f"/v1/studies/{study_name}").json()["metadata"] == {"robot": "panda"}


def test_errors_are_told_at_the_text_and_at_the_field(new_page):
    page = new_page

    page.get_by_label("Trials at most").fill("many")
    note = page.get_by_label("Trials at most").locator("..").locator("[data-said]")
    expect(note).to_contain_text("many")
    expect(page.get_by_label("Trials at most")).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#said code")).to_have_text("/budget/trials")
    page.get_by_label("Trials at most").fill("10")
    expect(page.locator("#said")).to_be_empty()

    page.locator("#text").fill("name: [")
    expect(page.locator("#said")).to_contain_text("neither YAML nor JSON")
    expect(page.get_by_text("The form waits until the text can be read.")).to_be_visible()


def test_what_is_refused_comes_again_as_it_was(browser, server):
    page = browser.new_page()  # a page of its own, for a browser tells the console of each page that is a refusal
    page.goto(f"{server}/new")
    text = "# mine\nname: x y\nspace: {type: spd, dim: 9}\n"
    page.evaluate("text => { document.getElementById('text').value = text; }", text)
    with page.expect_response("**/new") as answer:
        page.get_by_role("button", name="Make the study").click()

    assert answer.value.status == 422
    expect(page.locator("#text")).to_have_value(text)
    expect(page.get_by_role("alert").locator("code")).to_have_text(["/name", "/space/dim"])
    expect(page.get_by_label("Name of the study")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("Rows")).to_have_attribute("aria-invalid", "true")
    page.close()


def test_every_kind_of_space_can_be_chosen_and_searched(new_page, http):
    page = new_page
    kinds = page.locator("select[id^=space] option").evaluate_all(
        "all => all.map((one) => [one.value, one.textContent])"
    )
    assert len(kinds) == 11

    for kind, label in kinds:
        page.get_by_label("Kind of space").first.select_option(label)
        assert text_of(page)["space"]["type"] == kind
        answer = http.post("/new/check", data={"text": page.locator("#text").input_value()})
        assert answer.json()["problem"] is None, (kind, answer.text)


def test_parts_of_a_space_come_and_go(new_page):
    page = new_page

    page.get_by_label("Only near a known orientation").check()
    page.get_by_label("Radius (rad)").fill("0.5")
    assert text_of(page)["space"]["ball"] == {"center": {"w": 1, "x": 0, "y": 0, "z": 0}, "radius": 0.5}
    page.get_by_label("Only near a known orientation").uncheck()
    assert text_of(page)["space"] == {"type": "rotation", "order": "xyzw"}
    page.get_by_label("Kind of space").select_option("Joints within limits")
    page.get_by_role("button", name="One more").click()
    assert len(text_of(page)["space"]["bounds"]) == 3
    page.get_by_label("Kind of space").select_option("Product of several")
    page.get_by_label("Name of the part").last.fill("tool")
    expect(page.get_by_text("Another part has this name.").last).to_be_visible()
    assert list(text_of(page)["space"]["factors"]) == ["tool", "gain"]
    page.get_by_role("button", name="Remove tool").click()
    assert list(text_of(page)["space"]["factors"]) == ["gain"]
    expect(page.get_by_role("button", name="Add a part")).to_be_focused()


def test_a_typical_study_is_chosen_from_a_list(new_page):
    page = new_page

    page.get_by_label("Start from a typical study").select_option("Stiffness matrix")
    page.get_by_role("button", name="Use it").click()

    expect(page.get_by_label("Name of the study")).to_have_value("stiffness-matrix")
    expect(page.get_by_label("Eigenvalues, upper")).to_have_value("3000")


def test_without_scripts_the_text_makes_a_study(browser, server, http, study_name):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{server}/new")

    expect(page.locator("#builder")).to_be_hidden()
    page.locator("#text").fill(f"name: {study_name}\nspace: {{type: rotation}}\n")
    page.get_by_role("button", name="Make the study").click()

    assert page.url == f"{server}/studies/{study_name}"
    assert http.get(f"/v1/studies/{study_name}").status_code == 200
    context.close()


def test_what_the_form_writes_means_what_it_was_made_of(new_page, http):
    text = new_page.evaluate("async (value) => (await import('/assets/yaml.js')).write(value)", NASTY)

    read = http.post("/new/check", data={"text": text}).json()

    assert read["value"] == NASTY
    assert "plain: N m/rad\n" in text


def test_an_exported_study_is_imported(new_page, http, study_name, tmp_path):
    page = new_page
    http.post("/v1/studies", json={"name": study_name, "space": {"type": "sphere", "dim": 2}})
    file = tmp_path / "study.json"
    file.write_bytes(http.get(f"/v1/studies/{study_name}/export").content)
    page.get_by_label("File of an export (JSON)").set_input_files(file)

    page.get_by_role("button", name="Import").click()
    expect(page.locator("#imported")).to_contain_text("import it under another one")
    page.get_by_label("Another name, if it is taken").fill(f"{study_name}-2")
    page.get_by_role("button", name="Import").click()

    page.wait_for_url(f"**/studies/{study_name}-2")


def test_nothing_hinders_anybody_at_the_list(browser_page, lab, server, study_name, violations):
    lab.create_study(study_name, space=geodrome.Rotation(), budget={"trials": 3})
    browser_page.goto(server)

    assert violations(browser_page) == []


@pytest.mark.parametrize("start", ["tool-pose", "controller-gains"])
def test_nothing_hinders_anybody_at_a_new_study(new_page, server, violations, start):
    new_page.goto(f"{server}/new?start={start}")
    expect(new_page.get_by_label("Name of the study")).to_have_value(start)

    assert violations(new_page) == []


def test_the_list_renews_itself_and_leaves_the_focus(browser_page, server, http, study_name):
    page = browser_page
    http.post("/v1/studies", json={"name": study_name, "space": {"type": "rotation"}})
    page.goto(f"{server}/?name_prefix={study_name}")
    page.get_by_role("link", name=study_name).focus()
    page.evaluate("() => { window.stays = true; }")

    http.post("/v1/studies", json={"name": f"{study_name}-2", "space": {"type": "rotation"}})

    expect(page.get_by_role("link", name=f"{study_name}-2")).to_be_visible()
    expect(page.get_by_role("link", name=study_name, exact=True)).to_be_focused()
    assert page.evaluate("window.stays")
