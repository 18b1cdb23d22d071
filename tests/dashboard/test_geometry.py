"""The pages of geometry and model in a browser: every figure is drawn, and stays as new as the study."""

from __future__ import annotations

import geodrome
import pytest
from geodrome.figures import views_of
from playwright.sync_api import expect

from tests.client.figures.spaces import SPACES

expect.set_options(timeout=60_000)

KINDS = ("euclidean2", "torus2", "sphere2", "rotation3", "spd2", "spd3", "hyperbolic2", "branch")


@pytest.fixture
def study(lab, study_name):
    """Makes a study of a kind of space, with some results."""

    def make(kind: str, *costs: float) -> geodrome.Study:
        made = lab.create_study(study_name, space=SPACES[kind], objective={"name": "error", "unit": "mm"})
        for cost in costs:
            made.ask().tell(cost=cost)
        return made

    return make


def opened(page, server, study, tab):
    page.goto(f"{server}/studies/{study.record.name}/{tab}")
    return page


@pytest.mark.parametrize("kind", KINDS)
def test_every_figure_is_drawn(browser_page, server, study, kind):
    made = study(kind, 3.0, 1.0, 2.0)
    page = opened(browser_page, server, made, "geometry")

    for name in [*(f"views/{view.name}" for view in views_of(made.record.space)), "slices"]:
        figure = page.locator(f'[data-figure$="/figures/{name}"]')
        figure.scroll_into_view_if_needed()
        expect(figure).to_have_attribute("data-drawn", "1" if name == "slices" else "2")
        expect(figure.locator("canvas, svg.main-svg").first).to_be_attached()
    expect(page.locator("[data-part]")).to_contain_text("The model recommends")


def test_results_are_drawn_without_loading_the_page_again(browser_page, server, study):
    made = study("hyperbolic2")
    page = opened(browser_page, server, made, "geometry")
    disc = page.locator('[data-figure$="/figures/views/disc"]')
    expect(page.get_by_text("No model yet:")).to_be_visible()
    expect(disc).to_have_attribute("data-drawn", "2")

    for cost in (2.0, 1.0):
        made.ask().tell(cost=cost)

    expect(page.locator("[data-part]")).to_contain_text("The model recommends")
    expect(disc.locator("path.point").first).to_be_attached()


@pytest.mark.parametrize("tab", ["geometry", "model"])
def test_everybody_can_use_the_pages(browser_page, server, study, violations, tab):
    made = study("sphere2", 3.0, 1.0, 2.0)
    page = opened(browser_page, server, made, tab)
    expect(page.locator("[data-part]")).to_contain_text("The model recommends" if tab == "geometry" else "Noise")
    expect(page.locator("[data-figure]").first).to_have_attribute("data-drawn", "2" if tab == "geometry" else "1")

    assert violations(page) == []
