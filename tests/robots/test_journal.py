"""The journal: a result is on the disk before it is told, and told once, whatever ends the runner in between."""

from __future__ import annotations

import json
from uuid import uuid4

import pytest
from geodrome import Client
from geodrome_robots import journal as journals
from geodrome_robots.journal import DamagedJournal, Journal, JournalInUse, Result, UntoldResults

RESULT = Result("a-study", 3, {"cost": 0.25, "metrics": {"seed": 3}})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "arm.journal"


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_result_that_was_not_told_is_there_again(path):
    with Journal(path) as journal:
        journal.write(RESULT)

    with Journal(path, resume=True) as journal:
        assert journal.pending("a-study") == [RESULT]
        assert journal.pending("another") == []


def test_a_result_that_was_told_is_not(path):
    with Journal(path) as journal:
        journal.write(RESULT)
        journal.told(RESULT)

    with Journal(path, resume=True) as journal:
        assert journal.pending("a-study") == []
    assert len(lines(path)) == 1, "what is of no use any more is forgotten"


def test_untold_results_are_not_passed_over(path):
    with Journal(path) as journal:
        journal.write(RESULT)
    before = path.read_bytes()

    with pytest.raises(UntoldResults, match=r"holds results that were not told, of the trials 3: --resume"):
        Journal(path).__enter__()
    assert path.read_bytes() == before


def test_the_worker_comes_back_under_its_name_only_when_its_run_goes_on(path):
    with Journal(path) as journal:
        first = journal.worker

    with Journal(path, resume=True) as journal:
        assert journal.worker == first
    with Journal(path) as journal:
        assert journal.worker != first
    with Journal(path, worker="arm-1", resume=True) as journal:
        assert journal.worker == "arm-1"


def test_two_runners_share_no_journal(path):
    with Journal(path), pytest.raises(JournalInUse, match="another runner writes into"):
        Journal(path).__enter__()
    with Journal(path):
        pass


@pytest.mark.parametrize("kept", [0, 1, 20, 60])
def test_a_line_that_was_cut_off_by_a_power_failure_is_passed_over(path, kept):
    with Journal(path) as journal:
        journal.write(RESULT)
    whole = path.read_text()
    torn = json.dumps({"study": "a-study", "number": 4, "body": {"cost": 1.0}})[:kept]
    path.write_text(whole + torn)

    with Journal(path, resume=True) as journal:
        assert journal.pending("a-study") == [RESULT]


@pytest.mark.parametrize("line", ["not JSON", "[1, 2]", '{"study": "a-study"}'])
def test_a_damaged_journal_is_left_as_it_is(path, line):
    with Journal(path) as journal:
        journal.write(RESULT)
    before = path.read_text() + line + "\n"
    path.write_text(before)

    with pytest.raises(DamagedJournal, match=r"line 3 of .* is no entry of a journal"):
        Journal(path, resume=True).__enter__()
    assert path.read_text() == before


def test_what_another_has_told_meanwhile_stands(server, path, pointer):
    with Client(server) as client, Journal(path) as journal:
        study = client.create_study(f"t-{uuid4().hex}", space=pointer.space, initial_design={"size": 5})
        trials = [study.ask() for _ in range(3)]
        for trial in trials:
            journal.write(Result(study.record.id, trial.number, {"cost": 1.0}))
        trials[0].abandon(reason="it hit the table")
        trials[1].tell(cost=1.0)

        assert journals.send(journal, study) == 3

        assert [trial.state for trial in study.trials()] == ["abandoned", "completed", "completed"]
        assert journal.pending(study.record.id) == []
