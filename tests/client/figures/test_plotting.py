"""Figures in the SDK: what they ask the service for, and what they say where Plotly is not installed."""

from __future__ import annotations

import subprocess
import sys

import httpx
import pytest

ORIGIN = {"kind": "initial", "acquisition": None, "value": None, "mean": None, "std": None, "seed": 1, "note": None}
VIEWS = {"at": [1.0, 0.0, 0.0, 0.0], "slices": [], "fields": []}


@pytest.fixture
def study(scripted, study_body):
    """A study whose next answers are those given, and the script that shows what was asked."""

    def make(*answers):
        bodies = [study_body(), *answers]
        client, script = scripted(*[httpx.Response(200, json=body) for body in bodies])
        found = client.study("arm")
        script.requests.clear()
        return found, script

    return make


@pytest.fixture
def page(trial_body):
    return {"trials": [trial_body(state="completed", cost=2.0)], "next_cursor": None}


def test_convergence_has_all_trials_and_the_recommendation(study, page):
    recommended = {"point": [1.0, 0.0, 0.0, 0.0], "form": None, "mean": 1.5, "std": 0.1}
    arm, _ = study(page, {"observed": None, "recommended": recommended})

    figure = arm.plot_convergence(theme="dark")

    assert {trace.name for trace in figure.data} >= {"completed", "best so far", "recommended, by the model"}


def test_views_are_asked_for_in_the_form_of_the_space_and_trials_in_that_of_the_study(study, page):
    arm, script = study(page, VIEWS)

    figures = arm.in_form(order="xyzw").plot_manifold()

    assert {"ball", "triads", "distances"} == set(figures)
    trials, views = script.requests
    assert trials.url.params["order"] == "xyzw"
    assert (views.url.path, dict(views.url.params)) == ("/v1/studies/5b0c/views", {})


def test_slices_without_observations_ask_for_no_trials(study):
    arm, script = study(VIEWS)

    arm.plot_slices(near=0)

    assert len(script.requests) == 1


def test_the_model_is_shown_or_said_to_be_missing(study):
    arm, _ = study({"model": None})

    assert arm.plot_model().layout.annotations[0].text == "no model yet"


def test_without_plotly_the_client_works_and_figures_say_what_to_install():
    program = """
import sys
sys.modules["plotly"] = None
import geodrome
try:
    geodrome.Study.plot_model(None)
except ModuleNotFoundError as error:
    print(error)
"""

    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert printed.startswith("figures need Plotly: pip install 'geodrome[plots]' (")
