"""The SDK through a live server: what a person at a robot does, from the first study to the best point."""

from __future__ import annotations

import json
import uuid

import geodrome
import httpx
import numpy as np
import pytest
from geodrome.schemas import TrialState, Views

LINE = geodrome.Real(bounds=(0.0, 1.0))
TURN = geodrome.Rotation(order="xyzw")


class LosesAnswers(httpx.BaseTransport):
    """A real network that delivers every request, but loses the first answer to each POST of the paths it is given."""

    def __init__(self, *endings: str) -> None:
        self.inner = httpx.HTTPTransport()
        self.endings = endings
        self.lost: list[str] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = self.inner.handle_request(request)
        path = request.url.path
        if request.method == "POST" and path.endswith(self.endings) and path not in self.lost:
            response.read()
            response.close()
            self.lost.append(path)
            raise httpx.ReadError("the answer got lost")
        return response

    def close(self) -> None:
        self.inner.close()


@pytest.fixture
def client(server):
    with geodrome.Client(server, timeout_s=60) as client:
        yield client


@pytest.fixture
def name():
    return f"t-{uuid.uuid4().hex}"


def test_a_study_is_found_by_its_name_and_by_its_id(client, name):
    made = client.create_study(name, space=LINE, seed=3)

    assert client.study(name).record == made.record
    assert client.study(made.record.id).record == made.record
    assert made.record.seed == 3
    assert made.record.space == LINE


def test_a_study_is_loaded_if_its_definition_is_equal_and_refused_if_not(client, name):
    made = client.create_study(name, space=LINE)

    loaded = client.create_study(name, space={"type": "real", "bounds": [0, 1]}, if_exists="load")

    assert loaded.record.id == made.record.id
    with pytest.raises(geodrome.StudyExists, match=name):
        client.create_study(name, space=LINE)
    with pytest.raises(geodrome.StudyExists, match=name):
        client.create_study(name, space=TURN, if_exists="load")


def test_studies_are_listed_newest_first(client, name):
    for letter in "abc":
        client.create_study(f"{name}-{letter}", space=LINE)

    listed = [study.name for study in client.studies(name_prefix=name)]

    assert listed == [f"{name}-c", f"{name}-b", f"{name}-a"]


def test_a_study_that_is_not_there_is_not_found(client, name):
    with pytest.raises(geodrome.StudyNotFound, match=name):
        client.study(name)


def test_a_space_without_bounds_is_refused_by_the_name_of_the_field(client, name):
    with pytest.raises(geodrome.InvalidSpace) as caught:
        client.create_study(name, space=geodrome.Real())

    assert [error.pointer for error in caught.value.errors] == ["/space"]
    assert "bounds" in caught.value.errors[0].detail


def test_a_definition_with_an_unknown_field_is_refused_by_its_name(client, name):
    with pytest.raises(geodrome.InvalidRequest) as caught:
        client.create_study(name, space=LINE, colour="red")

    assert [error.pointer for error in caught.value.errors] == ["/colour"]


def test_the_cost_that_is_told_is_the_best_so_far(client, name):
    study = client.create_study(name, space=TURN)
    trial = study.ask()
    assert np.linalg.norm(trial.point) == pytest.approx(1, abs=1e-12)

    told = trial.tell(cost=np.float32(0.5), metrics={"time": np.float64(2.0)}, metadata={"by": "Ada"})

    assert (told.state, told.cost, told.metrics, told.metadata) == ("completed", 0.5, {"time": 2.0}, {"by": "Ada"})
    assert study.best().observed == told
    assert study.refresh().record.counts.completed == 1


def test_the_best_of_a_study_that_maximizes_is_the_largest(client, name):
    study = client.create_study(name, space=LINE, objective={"goal": "maximize"})

    for cost in (1.0, 3.0, 2.0):
        study.ask().tell(cost=cost)

    assert study.refresh().record.best.cost == 3.0


def test_points_that_are_asked_for_together_are_distinct(client, name):
    study = client.create_study(name, space=TURN)

    batch = study.ask_batch(4)

    assert [trial.number for trial in batch] == [1, 2, 3, 4]
    assert len({tuple(trial.point) for trial in batch}) == 4


def test_a_worker_that_comes_back_gets_its_trial_back(client, name):
    study = client.create_study(name, space=LINE)
    first = study.ask(worker="panda-1")

    assert study.ask(worker="panda-1").number == first.number
    assert study.ask(worker="panda-2").number != first.number
    assert study.ask(worker="panda-1", resume=False).number not in {first.number, first.number + 1}


def test_telling_the_same_again_is_harmless_and_another_cost_is_a_conflict(client, name):
    study = client.create_study(name, space=LINE)
    trial = study.ask()
    told = trial.tell(cost=1.0)

    assert trial.tell(cost=1.0) == told
    with pytest.raises(geodrome.OutcomeConflict) as caught:
        trial.tell(cost=2.0)
    assert caught.value.extra["stored"]["cost"] == 1.0


def test_repeated_measurements_are_averaged_and_kept(client, name):
    study = client.create_study(name, space=LINE)

    told = study.ask().tell(costs=[1.0, 2.0, 6.0])

    assert (told.cost, told.values) == (3.0, [1.0, 2.0, 6.0])


@pytest.mark.parametrize(
    ("end", "state"),
    [
        (geodrome.TrialHandle.fail, TrialState.FAILED),
        (geodrome.TrialHandle.lose, TrialState.LOST),
        (geodrome.TrialHandle.abandon, TrialState.ABANDONED),
    ],
)
def test_a_trial_ends_without_a_cost_for_a_reason(client, name, end, state):
    study = client.create_study(name, space=LINE)
    trial = study.ask()

    told = end(trial, reason="someone tripped over the cable")

    assert (told.state, told.reason, told.cost) == (state, "someone tripped over the cable", None)
    assert [record.number for record in study.trials(state=state)] == [1]


def test_the_point_of_a_lost_trial_is_offered_again(client, name):
    study = client.create_study(name, space=LINE)
    lost = study.ask()
    lost.lose(reason="no power")

    again = study.ask()

    assert again.point == lost.point
    assert (again.record.retry_of, again.record.attempt) == (lost.number, 2)


def test_a_completed_trial_is_taken_back_when_its_sensor_was_bad(client, name):
    study = client.create_study(name, space=LINE)
    study.ask().tell(cost=-5.0)

    study.trial(1).abandon(reason="the scale was not zeroed")

    assert study.trial(1).record.state is TrialState.ABANDONED
    assert study.best().observed is None


def test_the_point_that_was_executed_replaces_the_one_that_was_asked(client, name):
    study = client.create_study(name, space=TURN)
    trial = study.ask()

    told = trial.tell(cost=1.0, point={"w": 1, "x": 0, "y": 0, "z": 0})

    assert told.point == [0.0, 0.0, 0.0, 1.0]
    assert trial.point == told.point


def test_a_point_off_its_manifold_is_refused_and_the_trial_stays_open(client, name):
    study = client.create_study(name, space=TURN)
    trial = study.ask()

    with pytest.raises(geodrome.InvalidPoint) as caught:
        trial.tell(cost=1.0, point=[0.0, 0.0, 0.0, 2.0])

    assert caught.value.errors[0].pointer.startswith("/point")
    assert study.trial(trial.number).record.state is TrialState.RUNNING


def test_points_are_given_and_told_in_the_form_that_was_asked_for(client, name):
    study = client.create_study(name, space=geodrome.Rotation())
    ros = study.in_form(order="xyzw")

    trial = ros.ask()
    asked = trial.point
    w, x, y, z = study.trial(1).point
    ros.add([0.6, 0, 0, 0.8], cost=2.0)
    executed = [0.0, 0.6, 0.0, 0.8]
    told = trial.tell(cost=1.0, point=executed)

    assert asked == [x, y, z, w]
    assert trial.record.form.order == "xyzw"
    assert told.point == ros.trial(1).point == ros.best().observed.point == executed
    assert study.trial(1).point == [0.8, 0.0, 0.6, 0.0]
    assert [trial.point for trial in ros.trials()] == [executed, [0.6, 0.0, 0.0, 0.8]]
    assert [trial.point for trial in study.trials()][1] == [0.8, 0.6, 0.0, 0.0]
    assert ros.predict([executed]) == study.predict([[0.8, 0.0, 0.6, 0.0]])
    with pytest.raises(geodrome.InvalidRequest, match="model"):
        study.in_form(model="poincare").ask()


def test_a_tell_without_a_cost_is_refused_with_a_way_out(client, name):
    trial = client.create_study(name, space=LINE).ask()

    with pytest.raises(geodrome.InvalidRequest, match="outcome: failed"):
        trial.tell(cost=None)


def test_a_trial_that_is_not_there_is_not_found(client, name):
    study = client.create_study(name, space=LINE)

    with pytest.raises(geodrome.TrialNotFound, match="99"):
        study.trial(99)


def test_more_trials_than_one_page_are_listed_in_order(client, name):
    study = client.create_study(name, space=LINE, initial_design={"size": 200})
    for _ in range(4):
        study.ask_batch(32)

    # More points are queued: those of a large design are computed ahead.
    assert [trial.number for trial in study.trials(state="running")] == list(range(1, 129))
    assert [trial.number for trial in study.trials(state="running", after=126)] == [127, 128]


def test_a_study_whose_budget_is_spent_is_closed(client, name):
    study = client.create_study(name, space=LINE, budget={"trials": 2})

    with pytest.raises(geodrome.StudyClosed, match="budget"):
        study.run(lambda point: point, 3, progress=False)

    assert study.refresh().record.counts.completed == 2
    assert study.record.budget_left == 0


def test_a_run_tells_what_the_evaluation_returns_and_raises(client, name):
    study = client.create_study(name, space=LINE)
    happenings = iter([1.0, geodrome.Infeasible("joint limit"), geodrome.RobotFault("no power"), 2.0])

    def evaluate(point):
        happening = next(happenings)
        if isinstance(happening, Exception):
            raise happening
        return happening

    trials = study.run(evaluate, 4, worker="panda-1", progress=False)

    assert [trial.state.value for trial in trials] == ["completed", "failed", "lost", "completed"]
    assert [trial.reason for trial in trials] == [None, "joint limit", "no power", None]
    assert trials[3].retry_of == trials[2].number


def test_a_run_that_is_interrupted_leaves_nothing_running(client, name):
    study = client.create_study(name, space=LINE)

    def evaluate(point):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study.run(evaluate, 4, progress=False)

    counts = study.refresh().record.counts
    assert (counts.running, counts.lost) == (0, 1)


def test_a_run_beyond_the_initial_design_asks_the_model(client, name):
    study = client.create_study(name, space=LINE, seed=1)

    trials = study.run(lambda x: (x - 0.3) ** 2, 8, progress=False)

    assert [trial.origin.kind for trial in trials] == ["initial"] * 5 + ["model"] * 3
    best = study.best()
    assert best.observed.cost == min(trial.cost for trial in trials)
    assert best.recommended.point == pytest.approx(0.3, abs=0.1)


def test_answers_that_get_lost_make_neither_a_second_trial_nor_a_second_cost(server, name):
    network = LosesAnswers("/studies", "/ask", "/tell")
    with geodrome.Client(server, transport=network) as client:
        study = client.create_study(name, space=LINE)

        trials = study.run(lambda point: 1.0, 2, progress=False)

        assert len(network.lost) == 4  # the study, the first ask, two tells
        assert [trial.number for trial in trials] == [1, 2]
        assert [trial.number for trial in study.trials()] == [1, 2]
        assert study.refresh().record.counts.completed == 2


def test_own_points_are_added_and_the_study_predicts_them(client, name):
    study = client.create_study(name, space=geodrome.Real(bounds=(0.0, 1.0)))

    added = study.add_all([{"point": x / 5, "cost": (x / 5 - 0.5) ** 2, "std": 0.0} for x in range(6)])
    failed = study.add(0.55, outcome="failed", reason="joint limit")
    same = study.add(0.2, skip_if_exists=True)
    queued = study.add(0.7)

    assert [trial.number for trial in added] == [1, 2, 3, 4, 5, 6]
    assert (failed.state, same.number, queued.state) == (TrialState.FAILED, 2, TrialState.QUEUED)
    assert study.ask().number == queued.number
    predicted = study.predict([0.0, 0.4])
    assert predicted is not None
    assert predicted[0].mean == pytest.approx(0.25, abs=0.05)


def test_a_trial_is_kept_by_its_heartbeat(client, name):
    study = client.create_study(name, space=LINE)
    trial = study.ask(lease_s=50)

    extended = trial.heartbeat(lease_s=5000)

    assert extended.lease_expires_at is not None
    assert trial.record.lease_expires_at == extended.lease_expires_at
    trial.tell(cost=1.0)
    with pytest.raises(geodrome.OutcomeConflict):
        trial.heartbeat()


def test_a_study_is_paused_resumed_changed_closed_and_deleted(client, name):
    study = client.create_study(name, space=LINE)

    study.pause()
    with pytest.raises(geodrome.StudyPaused):
        study.ask()
    study.resume().set_budget(7)
    assert study.record.budget.trials == 7
    study.close()
    with pytest.raises(geodrome.StudyClosed):
        study.ask()
    assert [event.kind for event in study.events()] == ["created", "paused", "active", "changed", "closed"]
    assert [event.position for event in study.events(after=3)] == [4, 5]
    study.delete()
    with pytest.raises(geodrome.StudyNotFound):
        client.study(name)


def test_a_study_is_exported_and_imported_as_bytes_as_a_file_and_as_a_dict(client, name, tmp_path):
    study = client.create_study(name, space=LINE)
    study.ask(worker="panda-1").tell(cost=0.5)
    exported = study.export()
    file = tmp_path / "study.json"
    file.write_bytes(exported)

    copies = [
        client.import_study(form, name=f"{name}-{index}")
        for index, form in enumerate([exported, file, str(file), json.loads(exported)])
    ]

    assert [copy.name for copy in copies] == [f"{name}-{index}" for index in range(4)]
    assert all([trial.cost for trial in copy.trials()] == [0.5] for copy in copies)
    with pytest.raises(geodrome.StudyExists):
        client.import_study(exported)
    with pytest.raises(geodrome.InvalidRequest) as refused:
        client.import_study({"format": "geodrome-study"}, name=f"{name}-x")
    assert "/trials" in [error.pointer for error in refused.value.errors]


def test_a_table_for_spreadsheets_has_a_row_for_each_trial(client, name):
    study = client.create_study(name, space=LINE)
    study.ask().tell(cost=0.5)

    lines = study.export("csv").decode().splitlines()

    assert lines[0].startswith("number,state,")
    assert len(lines) == 2


def test_an_import_whose_answer_is_lost_makes_one_study(server, client, name):
    exported = client.create_study(name, space=LINE).export()

    with geodrome.Client(server, transport=LosesAnswers("/import")) as unlucky:
        copy = unlucky.import_study(exported, name=f"{name}-copy")

    assert copy.record.id == client.study(f"{name}-copy").record.id


def test_the_model_is_there_once_two_costs_are_known(client, name):
    study = client.create_study(name, space=TURN)
    assert study.model() is None

    for cost in (0.5, 0.7):
        study.ask().tell(cost=cost)

    [scale] = study.model().lengthscales
    assert (scale.factor, scale.unit) == ("", "deg")


def test_there_is_something_to_see_once_two_costs_are_known(client, name):
    study = client.create_study(name, space=TURN)
    assert study.views() == Views(at=None, slices=[], fields=[])

    for cost in (0.5, 0.7):
        study.ask().tell(cost=cost)

    seen = study.in_form(representation="matrix").views()
    assert [(one.factor, one.axis) for one in seen.slices] == [(None, 1), (None, 2), (None, 3)]
    assert [len(row) for row in seen.at] == [3, 3, 3]
    assert seen.slices[0].points[seen.slices[0].distances.index(0)] == seen.at
