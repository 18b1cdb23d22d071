"""The pages of a study's geometry and of its model, and the figures that they fetch."""

from __future__ import annotations

import asyncio
import html
import json

import pytest
import torch
from geodrome import schemas
from geodrome.errors import ComputeUnavailable
from geodrome.figures import TEMPLATES, views_of
from geodrome_core import space_from_spec
from geodrome_service.api.computed import Computed
from geodrome_service.compute import tasks
from geodrome_service.dashboard.captions import CAPTIONS
from geodrome_service.dashboard.drawn import chosen
from geodrome_service.dashboard.lengths import rows
from geodrome_service.dashboard.trust import trust

from tests.client.figures.spaces import SPACES

NAME = "press"
KINDS = ("real", "euclidean2", "euclidean3", "joints7", "torus1", "torus2", "sphere2", "rotation3", "spd2", "spd3",
         "hyperbolic2", "branch", "pose")  # fmt: skip


async def absent(question):
    raise ComputeUnavailable("no worker has been there for 10 s")


@pytest.fixture
def lab(service):
    """The same application, with the engine in its own process."""

    async def views(question):
        return tasks.views(question)

    async def model(question):
        return tasks.model(question)

    service.app.state.views, service.app.state.models = Computed(views), Computed(model)
    return service


def make(service, space, costs):
    """A study with a result for each cost."""
    body = {"name": NAME, "space": space, "objective": {"name": "error", "unit": "mm"}}
    assert service("POST", "/v1/studies", json=body).status_code == 201
    engine = space_from_spec(space)
    points = [engine.point(row) for row in engine.manifold.random(len(costs), torch.Generator().manual_seed(1))]
    trials = [{"point": point, "cost": cost} for point, cost in zip(points, costs, strict=True)]
    if trials:
        assert service("POST", f"/v1/studies/{NAME}/trials/batch", json={"trials": trials}).status_code == 201


def figure(service, name, **query):
    answer = service("GET", f"/studies/{NAME}/figures/{name}", params=query)
    assert answer.status_code == 200, answer.text
    return json.loads(answer.text, parse_constant=pytest.fail)


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_has_every_figure_of_its_space(lab, kind):
    make(lab, SPACES[kind], [3.0, 1.0, 2.0])
    spec = schemas.Study.model_validate(lab("GET", f"/v1/studies/{NAME}").json())

    page = lab("GET", f"/studies/{NAME}/geometry").text

    for view in views_of(spec.space):
        shown = figure(lab, f"views/{view.name}", stage="trials", theme="dark")
        assert f"/figures/views/{view.name}" in page
        assert CAPTIONS[view.figure].title in html.unescape(page)
        assert shown["layout"]["template"]["layout"]["paper_bgcolor"] == TEMPLATES["dark"].layout.paper_bgcolor
        assert shown["data"] or view.figure == "side_by_side"
        assert shown["layout"]["title"]["text"] == ""


def test_the_model_comes_in_the_second_stage_and_is_computed_once(lab):
    make(lab, SPACES["sphere2"], [3.0, 1.0, 2.0, 2.5])
    asked = []

    async def views(question):
        asked.append(question)
        return tasks.views(question)

    lab.app.state.views = Computed(views)

    first = figure(lab, "views/globe", stage="trials")
    assert asked == []
    second, slices = figure(lab, "views/globe"), figure(lab, "slices")

    names = [{trace["name"] for trace in one["data"]} for one in (first, second)]
    assert "model's mean" in names[1] - names[0]
    assert len(slices["data"]) > 0
    assert len(asked) == 1
    assert "The model recommends" in lab("GET", f"/studies/{NAME}/geometry/state").text


@pytest.mark.parametrize(("costs", "known"), [([], "none is"), ([1.0], "one is")])
def test_fewer_than_two_costs_are_told_in_words(lab, costs, known):
    make(lab, SPACES["rotation3"], costs)

    for part in ("geometry/state", "model/numbers"):
        text = lab("GET", f"/studies/{NAME}/{part}").text
        assert "No model yet" in text
        assert f"{known} known so far" in text
    for name in ("views/ball", "views/triads", "slices", "model"):
        figure(lab, name)


def test_without_a_worker_the_trials_are_shown_all_the_same(lab):
    lab.app.state.views = lab.app.state.models = Computed(absent)
    make(lab, SPACES["real"], [1.0, 2.0])

    assert figure(lab, "views/line", stage="trials")["data"]
    assert lab("GET", f"/studies/{NAME}/figures/views/line").status_code == 503
    for part in ("geometry/state", "model/numbers"):
        assert "no worker has been there for 10 s" in lab("GET", f"/studies/{NAME}/{part}").text


def test_what_is_not_there_is_refused(lab):
    make(lab, SPACES["pose"], [])

    unknown = lab("GET", f"/studies/{NAME}/figures/views/globe").json()
    shade = lab("GET", f"/studies/{NAME}/figures/slices?theme=pink").json()

    assert unknown["code"] == "invalid-request"
    assert "has no figure 'globe'; it has position/space" in unknown["detail"]
    assert shade["code"] == "invalid-request"
    for page in ("geometry", "model", "geometry/state", "model/numbers"):
        assert lab("GET", f"/studies/absent/{page}").status_code == 404
    assert lab("GET", "/studies/absent/figures/model").json()["code"] == "study-not-found"


def test_tabs_lead_from_page_to_page(lab):
    make(lab, SPACES["real"], [])

    for path, name in (("geometry", "Geometry"), ("model", "Model")):
        page = lab("GET", f"/studies/{NAME}/{path}").text
        assert f'href="/studies/{NAME}/{path}" aria-current="page">{name}<' in page
        assert page.count("aria-current") == 1


def test_the_model_is_told_in_numbers_with_units_and_in_words(lab):
    make(lab, SPACES["real"], [3.0, 1.0, 2.0, 2.5])

    text = lab("GET", f"/studies/{NAME}/model/numbers").text

    assert "Of 4 left-out results" in text
    assert "Too early to tell" in text
    assert "decades" in text
    assert "\N{NO-BREAK SPACE}mm" in text
    assert "None of the latest 50 trials" in text


@pytest.mark.parametrize(
    ("kind", "kernel", "words"), [("sphere2", "matern", "That of the space."), ("spd2", "flat_matern", "It is flat: ")]
)
def test_the_model_says_which_kernel_it_has(lab, kind, kernel, words):
    make(lab, SPACES[kind], [3.0, 1.0, 2.0, 2.5])

    text = lab("GET", f"/studies/{NAME}/model/numbers").text

    assert f"<td>{kernel}</td>" in text
    assert words in text
    assert ("The costs do not speak for that of the space." in text) == (kernel != "matern")


def test_of_very_many_trials_only_what_is_drawn_is_read():
    known = [(number, "completed", float((number * 7919) % 5003)) for number in range(1, 20_001)]
    known += [(number, "failed", None) for number in range(20_001, 22_001)]

    numbers = chosen(known, maximize=False)

    best = sorted(known[:20_000], key=lambda one: one[2])[:3]
    assert len(numbers) < 2_300
    assert {number for number, _, _ in best} | {19_998, 19_999, 20_000, 20_001, 22_000} <= numbers


def fitted(**fields):
    calibration = {"within_one": 0.7, "within_two": 0.95, "error": 0.3} | fields.pop("calibration", {})
    return schemas.FittedModel(
        **{
            "status": "converged", "note": "converged", "observations": 20, "points": 20, "kernel": "matern",
            "nu": 2.5, "lengthscales": [],
            "noise_std": 0.1, "prior_std": 1.0, "mean": 2.0, "calibration": calibration,
        } | fields
    )  # fmt: skip


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        ({}, "To be trusted"),
        ({"points": 7}, "Too early to tell"),
        ({"calibration": {"error": 0.97}}, "Not to be trusted yet"),
        ({"calibration": {"within_one": 0.3}}, "Too sure of itself"),
        ({"calibration": {"within_two": 0.75}}, "Too sure of itself"),
        ({"calibration": {"within_one": 1.0, "within_two": 1.0}}, "Careful"),
    ],
)
def test_what_calibration_means_for_trust(found, verdict):
    assert trust(fitted(**found)).verdict == verdict


def test_results_within_a_band_are_counted():
    one, two = trust(fitted()).counts

    assert (one.found, two.found) == (14, 19)
    assert one.verdict == two.verdict == "as expected"


@pytest.mark.parametrize(
    ("kind", "scale", "shares"),
    [
        ("sphere2", {"factor": "", "value": 1.5708, "unit": "rad"}, [0.5]),
        ("rotation3", {"factor": "", "value": 90.0, "unit": "deg"}, [0.5]),
        ("real", {"factor": "", "value": 1.0, "unit": "decades"}, [0.25]),
        ("euclidean2", {"factor": "", "value": [1.0, 2.0], "unit": None}, [0.5, 0.5]),
        ("torus2", {"factor": "", "value": [0.31416, 3.1416], "unit": "rad"}, [0.1, 1.0]),
    ],
)
def test_lengthscales_stand_beside_their_ranges(lab, kind, scale, shares):
    make(lab, SPACES[kind], [])
    record = schemas.Study.model_validate(lab("GET", f"/v1/studies/{NAME}").json())

    found = rows(record, fitted(lengthscales=[schemas.Lengthscale(**scale)]))

    assert [row.share for row in found] == pytest.approx(shares, rel=1e-3)


def test_whoever_waits_while_the_server_stops_is_answered():
    async def forever(question):
        await asyncio.Event().wait()

    async def read():
        return None

    async def stop():
        computed = Computed(forever)
        waiting = asyncio.create_task(computed.answer(1, (2, 0, 0), read))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        await computed.close()
        with pytest.raises(ComputeUnavailable, match="stopping"):
            await waiting

    asyncio.run(stop())
