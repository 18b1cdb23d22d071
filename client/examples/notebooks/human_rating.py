# %% [markdown]
# # A person rates each trial
#
# A robot hands a cup over, and a person says how pleasant that was: 1 to 10 points. Ratings come when people have time,
# so the program must not wait for them. A trial is asked for and run; the program may end, the computer too; the rating
# is told hours later, by whoever knows the study's name and the trial's number.
#
# Needs a service, `geodrome serve`; its address is GEODROME_URL, or http://127.0.0.1:8100.

# %%
from pathlib import Path

import geodrome
import numpy as np

# %% [markdown]
# ## The space, the goal and the lease
#
# - `handle` is where the handle of the cup points, an angle that turns without end: 179° and -179° are neighbours on
#   a `Torus`, and far apart for a `Real`.
# - `speed` matters by its factor, `height` by its difference.
# - More points are better: `goal="maximize"`. Points are told as they are, without a minus sign.
# - A lease of a day: until then, a trial that nobody has rated yet is not offered again.
#
# The budget is small, since a person has patience for a coffee break, and not for a hundred cups.

# %%
DEFINITION = {
    "space": geodrome.Product(
        factors={
            "handle": geodrome.Torus(dim=1, unit="deg"),
            "speed": geodrome.Real(bounds=(0.05, 1.0), scale="log", unit="m/s"),
            "height": geodrome.Real(bounds=(0.7, 1.4), unit="m"),
        }
    ),
    "objective": {"name": "rating", "goal": "maximize", "unit": "points"},
    "initial_design": {"size": 6, "around": {"handle": [180], "speed": 0.6, "height": 0.9}},
    "budget": {"trials": 18},
    "lease_s": 86400,
}

# %% [markdown]
# ## Somebody who rates
#
# Stands in for the person, so that this program runs by itself: likes the handle to the right, a speed of 0.25 m/s and
# a height of 1.1 m, and gives half points at best. For a real one, show the cup and take `float(input("1 to 10: "))`.


# %%
def rating(point):
    """Points from 1 to 10, in halves."""
    turned = np.radians(point["handle"][0] - 80)
    pleasure = 9.6 - 2.5 * (1 - np.cos(turned)) - 1.5 * np.log(point["speed"] / 0.25) ** 2
    pleasure -= 20 * (point["height"] - 1.1) ** 2
    return float(np.round(2 * np.clip(pleasure, 1, 10)) / 2)


def rounded(point):
    """As one would say it."""
    return {name: np.round(value, 2).tolist() for name, value in point.items()}


# %% [markdown]
# ## In the morning: ask, run, go away
#
# Three cups at once. Nothing that this program knows is needed later.

# %%
with geodrome.Client() as client:
    study = client.create_study("handover", **DEFINITION, if_exists="load")
    if study.record.budget_left == 18:
        for trial in study.ask_batch(3, worker="kitchen-robot"):
            print(f"cup {trial.number}: {rounded(trial.point)}")

# %% [markdown]
# ## In the afternoon: who is not rated yet?
#
# Another program, perhaps on another computer. What runs is listed by the service, and rated by number. A shell does
# the same:
#
#     geodrome tell handover 2 6.5
#
# And so does whoever has a browser: http://localhost:8100/studies/handover/trials/2 shows what was run, with a field
# for the rating; http://localhost:8100/ leads there. (Several people: `costs=[6, 7]` tells what each of them says.)

# %%
client = geodrome.Client()
study = client.study("handover")
for trial in study.trials(state="running"):
    points = rating(trial.point)
    study.tell(trial.number, cost=points, metadata={"rated_by": "Ada"})
    print(f"cup {trial.number}: {points} points")

# %% [markdown]
# ## And so on
#
# One after the other, when the person has time for it. Should the program end between a cup and its rating, then
# `ask` with the same `worker` gives that cup once more.

# %%
while study.refresh().record.budget_left:
    trial = study.ask(worker="kitchen-robot")
    trial.tell(cost=rating(trial.point), metadata={"rated_by": "Ada"})

# %% [markdown]
# ## What came out
#
# Ratings are rounded, and people change their minds: the best rated cup may have been a lucky one. Take the point that
# the model recommends, and show it once more. Check that it is better than the start, and that `std` is small beside
# the range of the ratings.

# %%
first, best = study.trial(1).record, study.best()
recommended = best.recommended
print(f"the model recommends {rounded(recommended.point)}")
print(f"it expects {recommended.mean:.1f} ± {recommended.std:.1f} points, and gets {rating(recommended.point)}")
print(f"rating at the start: {first.cost} points, best: {best.observed.cost} points")
assert best.observed.cost > first.cost
assert rating(recommended.point) > first.cost

# %% [markdown]
# ## Figures
#
# - `convergence`: each rating, and the best so far as steps, upwards.
# - `slices`: the model along lines through the recommended point. Where the band is wide, nobody has been asked yet.
# - `handle/circle`: one turn of the handle, unrolled; its right edge is its left one.

# %%
ways = study.plot_manifold()
figures = {
    "convergence": study.plot_convergence(),
    "slices": study.plot_slices(),
    "handle/circle": ways["handle/circle"],
}
for name, figure in figures.items():
    if "get_ipython" in globals():
        figure.show()  # a notebook has it below the cell
    else:
        page = Path("figures", f"{study.name}-{name.replace('/', '-')}.html")  # any browser opens it
        page.parent.mkdir(exist_ok=True)
        figure.write_html(page, include_plotlyjs="directory")
