"""Slices and the model's own summary: the numbers of the service, in the units of people."""

from __future__ import annotations

import math

import numpy as np
import pytest
from geodrome import schemas
from geodrome.figures import TEMPLATES, model, slices

QUARTER = math.sqrt(0.5)


def traces(figure, name):
    return [trace for trace in figure.data if trace.name == name]


@pytest.fixture
def views():
    """Of a rotation and a number: turns about z by a quarter to either side, and a step of the number."""
    turned = [{"tool": [QUARTER, 0, 0, z], "gain": 5.0} for z in (-QUARTER, QUARTER)]
    at = {"tool": [1.0, 0.0, 0.0, 0.0], "gain": 5.0}
    one = schemas.Slice(
        factor="tool", axis=1, distances=[-math.pi / 2, 0, math.pi / 2], points=[turned[0], at, turned[1]],
        mean=[3, 1, 2], std=[0.5, 0.1, 0.2],
    )  # fmt: skip
    other = schemas.Slice(
        factor="gain", axis=1, distances=[0, 0.5], points=[at, {**at, "gain": 10.0}], mean=[1, 4], std=[0.1, 1]
    )
    return schemas.Views(at=at, slices=[one, other], fields=[])


@pytest.fixture
def study(record):
    factors = {"tool": {"type": "rotation"}, "gain": {"type": "real", "bounds": [0, 10]}}
    return record({"type": "product", "factors": factors})


def test_slices_show_the_mean_and_two_deviations_in_degrees_and_shares(study, views):
    figure = slices(study, views)

    turns, step = traces(figure, "model's mean")
    assert turns.x == pytest.approx((-90, 0, 90))
    assert turns.y == (3, 1, 2)
    assert traces(figure, "± 2 standard deviations")[0].y == pytest.approx((4, 1.2, 2.4))
    assert step.x == (0, 0.5)
    assert figure.layout.xaxis.title.text == "distance, deg"
    assert figure.layout.xaxis2.title.text == "distance, share of the bounds"
    assert [note.text for note in figure.layout.annotations] == ["tool, geodesic 1", "gain, geodesic 1"]


def test_a_band_that_is_far_wider_than_the_costs_are_apart_does_not_flatten_the_rest(study, views, trial):
    wide = views.slices[0].model_copy(update={"std": [1e9, 0.1, 0.2]})
    views = views.model_copy(update={"slices": [wide, views.slices[1]]})
    far = {"tool": [QUARTER, 0, 0, QUARTER], "gain": 9.0}
    trials = [trial(1, 2.0, point=far), trial(2, 7.0, point=far)]

    assert slices(study, views, trials).layout.yaxis.range == pytest.approx((-3.75, 12.75))  # 2 - 5, 7 + 5, a margin


def test_the_axis_shows_bands_whole_where_they_are_no_wider(study, views):
    assert slices(study, views).layout.yaxis.range == pytest.approx((0.54, 6.26))  # 0.8 to 6


def test_observations_are_drawn_where_they_are_near_in_every_factor(study, views, trial):
    near = {"tool": [-QUARTER, 0, 0, -QUARTER], "gain": 5.5}  # -q is q
    far = {"tool": [QUARTER, 0, 0, QUARTER], "gain": 9.0}

    figure = slices(study, views, [trial(1, 2.5, point=near), trial(2, 7.0, point=far)])

    turns, step = traces(figure, "observations near")
    assert (turns.x, turns.y) == (pytest.approx((90,)), (2.5,))
    assert step.x == ()


def test_without_a_model_the_figures_say_so(record):
    study = record({"type": "rotation"})

    for figure in (slices(study, schemas.Views(at=None, slices=[], fields=[])), model(study, None)):
        assert [note.text for note in figure.layout.annotations] == ["no model yet"]


@pytest.fixture
def fitted():
    scales = [
        {"factor": "tool", "value": 40.0, "unit": "deg"},
        {"factor": "stiffness", "value": 1.5, "unit": None},
        {"factor": "flange", "value": [10.0, 20.0], "unit": "deg"},
    ]
    return schemas.FittedModel(
        status="converged", note="", observations=21, points=20, kernel="matern", nu=2.5, lengthscales=scales,
        noise_std=0.1, prior_std=1.0, mean=2.0, calibration={"within_one": 0.7, "within_two": 0.9, "error": 0.44},
    )  # fmt: skip


def test_lengthscales_of_one_unit_share_a_panel_and_calibration_is_compared(record, fitted):
    figure = model(record({"type": "rotation"}), fitted)

    pure, degrees = traces(figure, "lengthscale")
    assert (pure.y, pure.x) == (("stiffness",), (1.5,))
    assert (degrees.y, degrees.x) == (("tool", "flange[0]", "flange[1]"), (40.0, 10.0, 20.0))
    assert traces(figure, "observations")[0].x == (0.7, 0.9)
    assert traces(figure, "a right model")[0].x == pytest.approx(
        [math.erf(bound / math.sqrt(2)) for bound in (1, 2)], abs=1e-4
    )


def test_themes_are_dark_and_light(record, fitted):
    papers = {
        theme: model(record({"type": "rotation"}), fitted, theme=theme).layout.template.layout.paper_bgcolor
        for theme in TEMPLATES
    }

    assert papers == {"light": "#ffffff", "dark": "#15181d"}
    for template in TEMPLATES.values():
        paper, ink = (
            np.mean([int(colour[place : place + 2], 16) for place in (1, 3, 5)])
            for colour in (template.layout.paper_bgcolor, template.layout.font.color)
        )
        assert abs(paper - ink) > 180
    with pytest.raises(ValueError, match='theme is "light" or "dark", got \'grey\''):
        model(record({"type": "rotation"}), fitted, theme="grey")
