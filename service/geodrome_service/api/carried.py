"""A study that was carried here, checked as a whole before any of it is stored.

Whatever a study of this service's own could not be is refused, with a pointer to each place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from geodrome.errors import EmptyDomain, FieldError, InvalidPoint, InvalidRequest, InvalidSpace
from geodrome.portable import PortableDefinition, PortableEvent, PortableStudy, PortableTrial
from geodrome.schemas import TrialState
from geodrome_core import Space
from pydantic import BaseModel, ValidationError

from geodrome_service.api import faults, kernels, spaces
from geodrome_service.store import past, portable
from geodrome_service.store.portable import Record

LARGEST_REPORT = 100
"""Broken rules that a refusal names; who mends those is told of the next."""

STATE_CHANGES = ("active", "paused", "closed")
"""Kinds of events that bring a study into the state of that name."""


PARTS: dict[str, type[BaseModel]] = {"trials": PortableTrial, "events": PortableEvent}
"""What a study has many of."""


@dataclass(frozen=True)
class Carried:
    """A study that may be stored.

    Attributes:
        study, trials, events: Records as of ``store.portable``.
    """

    study: Record
    trials: Sequence[Record]
    events: Sequence[Record]


def checked(value: Any) -> Carried:
    """The study, all of it checked.

    Args:
        value: The value of the body.

    Raises:
        InvalidRequest: It is no whole study; ``errors`` names each broken rule. About points alone it is an
            InvalidPoint, about the space an InvalidSpace or EmptyDomain.
    """
    study = _definition(value)
    # Trials and events stay as they were sent: they are whole, and what they say is kept to the last digit.
    trials, events = value["trials"], value["events"]
    space = _space(study)
    _refuse(fault for index, trial in enumerate(trials) for fault in _of_trial(index, trial, trials, study, space))
    _refuse(_of_points(trials, space))
    _refuse(_of_events(study, trials, events, space))
    return Carried(study, trials, events)


def _definition(value: Any) -> Record:
    """The study's own record, with all defaults; of trials and events the shape is only looked at."""
    if errors := list(islice(_misshapen(value), LARGEST_REPORT)):
        raise faults.refusal(faults.from_pydantic(errors, value))
    return PortableDefinition.model_validate(value["study"]).model_dump(mode="json")


def _misshapen(value: Any) -> Iterator[Mapping[str, Any]]:
    """Pydantic's errors about the parts of a study, located in the body."""
    if not (isinstance(value, dict) and all(isinstance(value.get(name), list) for name in PARTS)):
        yield from _errors(PortableStudy, value)
        return
    yield from _errors(PortableStudy, value | {name: [] for name in PARTS})
    # One by one: of all together pydantic would not let go of the interpreter, and no tell would come through.
    for name, kind in PARTS.items():
        for index, part in enumerate(value[name]):
            yield from _errors(kind, part, name, index)


def _errors(kind: type[BaseModel], value: Any, *where: str | int) -> Iterator[Mapping[str, Any]]:
    try:
        kind.model_validate(value)
    except ValidationError as error:
        for one in error.errors(include_url=False):
            yield {**one, "loc": ("body", *where, *one["loc"])}


def _refuse(found: Iterator[FieldError]) -> None:
    """Refuses the study if there is anything to say against it."""
    if errors := list(islice(found, LARGEST_REPORT)):
        raise faults.refusal(errors)


def _space(study: Record) -> Space:
    """The study's space, with its design's first point."""
    try:
        spaces.check_bounded(spaces.space_of(study["space"], []))
        space = spaces.space_of(study["space"], study["constraints"])
        kernels.check_kernel(space, kernel=study["kernel"]["type"], acquisition=study["acquisition"]["type"])
    except (InvalidRequest, InvalidSpace, EmptyDomain) as problem:
        errors = [FieldError(f"/study{error.pointer}", error.detail, error.got, error.rule) for error in problem.errors]
        raise type(problem)(problem.detail, errors=errors) from problem
    around = study["initial_design"]["around"]
    if around is not None:
        _refuse(_of_point(space, around, "/study/initial_design/around", is_to_be_run=True))
    return space


def _of_trial(index: int, trial: Record, trials: Sequence[Record], study: Record, space: Space) -> Iterator[FieldError]:
    """What is wrong with a trial beside its points."""
    here, number, state = f"/trials/{index}", trial["number"], TrialState(trial["state"])
    if number != index + 1:
        yield _fault(f"{here}/number", number, f"trials are numbered from 1 without gaps: here {index + 1}")
        return
    yield from _of_attempts(here, trial, trials, study["max_attempts"])
    is_running = state is TrialState.RUNNING
    for name in ("asked_at", "lease_expires_at"):
        if is_running and trial[name] is None:
            yield _fault(f"{here}/{name}", None, f"a running trial has {name}")
    if not is_running and trial["lease_expires_at"] is not None:
        yield _fault(f"{here}/lease_expires_at", trial["lease_expires_at"], "only a running trial has a lease")
    yield from _of_outcome(here, trial, state)
    recipe = trial["recipe"]
    if recipe is not None:
        if recipe["index"] >= recipe["count"]:
            yield _fault(f"{here}/recipe/index", recipe["index"], f"below the count, {recipe['count']}")
        if recipe["after_event"] > study["last_event"]:
            rule = f"at most the last event, {study['last_event']}"
            yield _fault(f"{here}/recipe/after_event", recipe["after_event"], rule)
        for name in ("start", "hyperparameters"):
            if recipe[name] and recipe[name]["lengthscales"].keys() != space.factors.keys():
                rule = f"a lengthscale for each part of the space: {list(space.factors)}"
                yield _fault(f"{here}/recipe/{name}/lengthscales", recipe[name]["lengthscales"], rule)


def _of_attempts(here: str, trial: Record, trials: Sequence[Record], max_attempts: int) -> Iterator[FieldError]:
    number, again = trial["number"], trial["retry_of"]
    if again is None:
        expected = {"attempt": 1, "first_attempt": number}
    elif again >= number:
        yield _fault(f"{here}/retry_of", again, "an earlier trial")
        return
    else:
        earlier = trials[again - 1]
        same = {name: earlier[name] for name in ("first_attempt", "suggested_point")}
        expected = {"attempt": earlier["attempt"] + 1, "recipe": None, **same}
    for name, wanted in expected.items():
        if trial[name] != wanted:
            yield _fault(f"{here}/{name}", trial[name], f"{wanted!r}, for retry_of is {again!r}")
    if trial["attempt"] > max_attempts:
        yield _fault(f"{here}/attempt", trial["attempt"], f"at most max_attempts, {max_attempts}")


def _of_outcome(here: str, trial: Record, state: TrialState) -> Iterator[FieldError]:
    told, is_completed = trial["told"], state is TrialState.COMPLETED
    if state in {TrialState.QUEUED, TrialState.RUNNING}:
        if told is not None:
            yield _fault(f"{here}/told", told, f"a {state} trial has no outcome")
    elif told is None:
        if state is not TrialState.LOST:
            yield _fault(f"{here}/told", None, f"a {state} trial was told")
    elif told.get("outcome", "completed") != state:
        yield _fault(f"{here}/told/outcome", told.get("outcome"), f"the trial's state, {state}")
    if is_completed and trial["cost"] is None:
        yield _fault(f"{here}/cost", None, "a completed trial has a cost")
    for name in ("cost", "std", "values"):
        # An abandoned trial keeps what it had when it was completed.
        if state not in {TrialState.COMPLETED, TrialState.ABANDONED} and trial[name] is not None:
            yield _fault(f"{here}/{name}", trial[name], f"a {state} trial has none")
    if is_completed and told is not None:
        for name, said in (("cost", "cost"), ("std", "std"), ("values", "costs")):
            if told.get(said) is not None and trial[name] != told[said]:
                yield _fault(f"{here}/{name}", trial[name], f"as it was told: {said} {told[said]}")


def _of_points(trials: Sequence[Record], space: Space) -> Iterator[FieldError]:
    for index, trial in enumerate(trials):
        here, is_to_be_run = f"/trials/{index}", trial["state"] in {TrialState.QUEUED, TrialState.RUNNING}
        yield from _of_point(space, trial["point"], f"{here}/point", is_to_be_run=is_to_be_run)
        # A repeat has the point of its first attempt, which is read there.
        if trial["suggested_point"] != trial["point"] and trial["retry_of"] is None:
            yield from _of_point(space, trial["suggested_point"], f"{here}/suggested_point", is_to_be_run=False)


def _of_point(space: Space, point: Any, pointer: str, *, is_to_be_run: bool) -> Iterator[FieldError]:
    try:
        read = spaces.check_point(space, point, pointer)
        if is_to_be_run:
            spaces.check_inside(read, pointer)
    except InvalidPoint as problem:
        yield from problem.errors
        return
    if read.point != point:
        yield _fault(pointer, point, f"in the form in which points are stored: {faults.shown(read.point)}")


def _of_events(study: Record, trials: Sequence[Record], events: Sequence[Record], space: Space) -> Iterator[FieldError]:
    """What is wrong with the events, and where trials and counters are not what they lead to."""
    then = past.Past(past.kept(trials))
    state = "active"
    for index, event in enumerate(events):
        here, kind, is_of_trial = f"/events/{index}", event["kind"], event["number"] is not None
        if event["position"] != index + 1:
            yield _fault(
                f"{here}/position", event["position"], f"positions count from 1 without gaps: here {index + 1}"
            )
            return
        if (kind in past.STATES) is not is_of_trial or (kind == "created") is not (index == 0):
            yield _fault(f"{here}/kind", kind, "of a trial with a number or of the study without one; created first")
            return
        state = kind if kind in STATE_CHANGES else state
        if is_of_trial:
            yield from _of_happened(here, event, trials, then, space)
    for number, wrong in past.disagreements(then, trials):
        yield FieldError(f"/trials/{number - 1}", f"trial {number}: {wrong}", None, "what the events lead to")
    leads_to = {"state": state, "last_event": len(events), "counts": portable.counted(trials)}
    for name, wanted in leads_to.items():
        if study[name] != wanted:
            yield _fault(f"/study/{name}", study[name], f"what trials and events lead to: {wanted}")


def _of_happened(
    here: str, event: Record, trials: Sequence[Record], then: past.Past, space: Space
) -> Iterator[FieldError]:
    told = event["details"].get("told")
    if told is not None and not isinstance(told, Mapping):
        yield _fault(f"{here}/details/told", told, "an outcome")
        return
    try:
        then.apply(past.Happened(event["position"], event["number"], event["kind"], event["details"]))
    except past.Impossible as error:
        yield FieldError(here, str(error), None, "what can follow the events before")
        return
    executed = None if told is None else told.get("point")
    # A point that still stands was read with the trial.
    if executed is not None and executed != trials[event["number"] - 1]["point"]:
        yield from _of_point(space, executed, f"{here}/details/told/point", is_to_be_run=False)


def _fault(pointer: str, got: Any, rule: str) -> FieldError:
    name = pointer.removeprefix("/").replace("/", ".")
    shown = faults.shown(got)
    return FieldError(pointer, f"{name} is {shown!r}, and should be: {rule}", shown, rule)
