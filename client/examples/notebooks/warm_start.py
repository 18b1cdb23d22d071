# %% [markdown]
# # Going on from an old experiment in a CSV file
#
# Last year somebody tried a dozen gaits of a quadruped by hand and kept a table: `past_gaits.csv`, beside this file.
# Those runs are paid for. They become trials of a new study, so that its first suggestion comes from a model already.
#
# Needs a service, `geodrome serve`; its address is GEODROME_URL, or http://127.0.0.1:8100.

# %%
import csv
from pathlib import Path

import geodrome
import numpy as np

# %% [markdown]
# ## The table

# %%
FOLDER = Path(globals().get("__file__", "here")).parent  # a notebook has no __file__, and runs in its own folder
with (FOLDER / "past_gaits.csv").open(newline="") as file:
    table = list(csv.DictReader(file))
for row in table:
    print(", ".join(row.values()))

# %% [markdown]
# ## The space: two phases and a rate
#
# - `phases` says when front and hind legs set down, in degrees of a stride. 350° and 10° are 20° apart, hence `Torus`.
#   The table has 0 to 360; angles are wrapped to (-180, 180], and each trial says what was wrapped.
# - `rate` matters by its factor. The table has steps per minute, and the space steps per second: units are converted
#   here, since nobody could tell later.
#
# ## From rows to trials
#
# - A cost is told as it was measured. The gait of 5 March was measured twice: both rows stay, and the model pools them.
# - A row without a cost is no 0 and no 999: the robot stumbled, so its outcome is `failed`, and it teaches where not to
#   go. (A row that is empty for want of a battery would be left out.)
# - One gait was slower than today's bounds allow. It still informs the model; it is flagged, and never suggested.
#
# `add_all` takes all rows or none: a mistake in row 7 leaves the study empty, and names row 7.


# %%
def as_trial(row):
    """A row of the table as arguments of ``study.add``."""
    point = {
        "phases": [float(row["front_deg"]), float(row["hind_deg"])],
        "rate": float(row["steps_per_min"]) / 60,
    }
    kept = {"day": row["day"]}
    if not row["energy_J_per_m"]:
        return {"point": point, "outcome": "failed", "reason": row["remark"], "metadata": kept}
    return {"point": point, "cost": float(row["energy_J_per_m"]), "metadata": kept}


MORE = 8
client = geodrome.Client()
study = client.create_study(
    "gait-2026",
    space=geodrome.Product(
        factors={
            "phases": geodrome.Torus(dim=2, unit="deg"),
            "rate": geodrome.Real(bounds=(0.8, 4.0), scale="log", unit="1/s"),
        }
    ),
    objective={"name": "energy", "goal": "minimize", "unit": "J/m"},
    budget={"trials": len(table) + MORE},
    if_exists="load",
)
if not list(study.trials()):
    study.add_all([as_trial(row) for row in table])

past = list(study.trials())[: len(table)]
for trial in past:
    print(trial.number, trial.point["phases"], round(trial.point["rate"], 2), trial.reason or trial.cost, *trial.flags)

# %% [markdown]
# ## Go on
#
# Own trials count in the budget, so it is that of the table and 8 more. The robot is a formula here: it saves energy
# where front and hind legs keep a certain order, and stumbles above 3.4 steps per second.


# %%
def energy(point):
    """Energy in J/m of one walk."""
    if point["rate"] > 3.4:
        raise geodrome.Infeasible("stumbled")
    front, hind = np.radians(np.array(point["phases"]) - [355, 190])
    legs = 14 * (1 - np.cos(front)) + 10 * (1 - np.cos(hind)) + 6 * (1 - np.cos(front - hind))
    return 38 + legs + 22 * np.log(point["rate"] / 2.4) ** 2


ran = study.run(energy, study.refresh().record.budget_left, worker="dog-1")
print(f"{len(ran)} trials were run")

# %% [markdown]
# ## What came out
#
# Check that the first suggestion came from the model (`kind` is `model`, not `initial`): that is what the table was
# good for. And that the best of today needs less energy than the best of the table.

# %%
best_past = min(trial.cost for trial in past if trial.cost is not None)
first, best = study.trial(len(table) + 1).record, study.best()
print(f"of the table: {len(past)} trials, best {best_past:.1f} J/m")
print(f"first suggestion: kind {first.origin.kind}, {first.state.value}")
print(f"phases {np.round(best.observed.point['phases'])}°, {best.observed.point['rate']:.2f} steps per second")
print(f"the model recommends a point of {best.recommended.mean:.1f} ± {best.recommended.std:.1f} J/m")
print(f"energy of the best row: {best_past:.1f} J/m, best: {best.observed.cost:.1f} J/m")
assert first.origin.kind == "model"
assert best.observed.cost < best_past

# %% [markdown]
# ## Figures
#
# - `convergence`: the table is the first 13 trials; the steps go down after them.
# - `slices`: the model along lines through the recommended point.
# - `phases/square`: both phases, one turn each. Left and right edge are the same, as are top and bottom.

# %%
ways = study.plot_manifold()
figures = {
    "convergence": study.plot_convergence(),
    "slices": study.plot_slices(),
    "phases/square": ways["phases/square"],
}
for name, figure in figures.items():
    if "get_ipython" in globals():
        figure.show()  # a notebook has it below the cell
    else:
        page = Path("figures", f"{study.name}-{name.replace('/', '-')}.html")  # any browser opens it
        page.parent.mkdir(exist_ok=True)
        figure.write_html(page, include_plotlyjs="directory")
