"""Studies and trials as a person reads them in a terminal; scripts use ``--json``."""

from __future__ import annotations

import json
from collections.abc import Iterable

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from geodrome import schemas

PIPE_WIDTH = 10_000


def show_studies(records: Iterable[schemas.Study]) -> None:
    """One line for each study."""
    table = Table(folded("name"), "space", "state", "completed", "running", "failed", "best", box=None)
    for record in records:
        counts = record.counts
        table.add_row(
            Text(record.name),
            record.space.type,
            record.state.value,
            str(counts.completed),
            str(counts.running),
            str(counts.failed),
            _cost(record.best, record.objective.unit),
        )
    print_table(table)


def show_study(record: schemas.Study) -> None:
    """Definition and progress of one study."""
    table = pairs()
    table.add_row("study", Text(f"{record.name} ({record.id})"))
    table.add_row("state", record.state.value)
    table.add_row("space", Text(record.space.model_dump_json(exclude_none=True)))
    table.add_row("objective", Text(f"{record.objective.goal} {record.objective.name}"))
    table.add_row("kernel", f"{record.kernel.type}, nu {record.kernel.nu}")
    table.add_row("seed", str(record.seed))
    table.add_row("lease", f"{record.lease_s:g} s, at most {record.max_attempts} attempts at a point")
    counts = record.counts.model_dump()
    table.add_row("trials", ", ".join(f"{count} {state}" for state, count in counts.items() if count) or "none yet")
    left = "unlimited" if record.budget_left is None else f"{record.budget_left} of {record.budget.trials} left"
    table.add_row("budget", left)
    table.add_row("best", _cost(record.best, record.objective.unit))
    print_table(table)


def show_best(best: schemas.Best) -> None:
    """The best trial observed and the point that the model recommends."""
    table = pairs()
    if best.observed is None:
        table.add_row("observed", "no cost yet")
    else:
        table.add_row("observed", f"cost {best.observed.cost!r} in trial {best.observed.number}")
        table.add_row("", shown_point(best.observed.point))
    if best.recommended is None:
        table.add_row("recommended", "no model yet")
    else:
        table.add_row("recommended", f"cost {best.recommended.mean:.6g} ± {best.recommended.std:.2g} by the model")
        table.add_row("", shown_point(best.recommended.point))
    print_table(table)


def show_model(model: schemas.FittedModel | None, unit: str | None) -> None:
    """The model's hyperparameters and its calibration."""
    if model is None:
        print_table(Text("no model yet"))
        return
    table = pairs()
    table.add_row("fit", Text(model.note))
    table.add_row("observations", f"{model.observations}, at {model.points} points")
    table.add_row("kernel", f"{model.kernel}, nu {model.nu}")
    for scale in model.lengthscales:
        values = scale.value if isinstance(scale.value, list) else [scale.value]
        said = ", ".join(f"{value:.4g}" for value in values)
        table.add_row("lengthscale", Text(f"{scale.factor} {said} {scale.unit or ''}".strip()))
    for name, value in (("noise", model.noise_std), ("prior", model.prior_std)):
        table.add_row(name, Text(f"± {value:.4g} {unit or ''}".rstrip()))
    table.add_row("mean", Text(f"{model.mean:.6g} {unit or ''}".rstrip()))
    found = model.calibration
    table.add_row(
        "left out",
        f"{found.within_one:.0%} within one deviation of their prediction, {found.within_two:.0%} within two; "
        f"error {found.error:.2f} of that of the mean",
    )
    print_table(table)


def show_asked(records: Iterable[schemas.Trial]) -> None:
    """The points to run now."""
    table = Table("trial", folded("point"), "from", "lease ends", box=None)
    for record in records:
        ends = f"{record.lease_expires_at:%Y-%m-%d %H:%M:%S %Z}" if record.lease_expires_at else ""
        table.add_row(str(record.number), shown_point(record.point), record.origin.kind, ends)
    print_table(table)


def show_told(record: schemas.Trial) -> None:
    """What is stored now."""
    said = [f"trial {record.number} is {record.state.value}"]
    if record.cost is not None:
        said.append(f"cost {record.cost!r}")
    if record.reason:
        said.append(record.reason)
    said += record.flags
    print_table(Text(", ".join(said)))


def pairs() -> Table:
    """A table of names and values."""
    return Table(Column(style="bold"), folded(""), box=None, show_header=False)


def folded(header: str) -> Column:
    """A column whose cells are never cut off."""
    # What is too long for the terminal goes on below: a name or a point that ends in "…" cannot be copied.
    return Column(header, overflow="fold")


def shown_point(point: schemas.Point) -> Text:
    """A point as JSON."""
    # Text, because rich reads square brackets in a string as markup.
    return Text(json.dumps(point))


def _cost(best: schemas.Trial | None, unit: str | None) -> Text:
    if best is None or best.cost is None:
        return Text("-")
    return Text(f"{best.cost:.6g} {unit or ''}".rstrip() + f" (trial {best.number})")


def print_table(shown: Table | Text) -> None:
    """Prints to the output: as wide as the terminal, or in a pipe as wide as it takes."""
    terminal = Console()
    # In a pipe, a row is one line.
    (terminal if terminal.is_terminal else Console(width=PIPE_WIDTH)).print(shown)
