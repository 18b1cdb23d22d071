# %% [markdown]
# # Two robots on one study
#
# Two robots pick from the same kind of bin and learn together. Neither knows of the other: both speak to the service,
# and that knows which points are out. While one robot runs, its point is still without a cost; the next suggestion
# takes into account where it is, so that nobody runs the same point.
#
# Here each robot is a thread with a client of its own. On two machines it would be the same function in two programs.
#
# Needs a service, `geodrome serve`; its address is GEODROME_URL, or http://127.0.0.1:8100.

# %%
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import geodrome
import numpy as np

# %% [markdown]
# ## The space: a direction and a force
#
# - `approach` is the direction from which the gripper comes: a unit vector, hence `Sphere`. Two angles would meet in
#   a pole, right above the bin, where most of the good directions are. The cap keeps it within 0.8 rad (46°) of
#   straight above.
# - `grip` is a force, of which a factor matters: `scale="log"`.

# %%
space = geodrome.Product(
    factors={
        "approach": geodrome.Sphere(dim=2, cap=geodrome.Ball(center=[0, 0, 1], radius=0.8), frame="bin"),
        "grip": geodrome.Real(bounds=(5, 60), scale="log", unit="N"),
    }
)
start = {"approach": [0, 0, 1], "grip": 10}
client = geodrome.Client()
study = client.create_study(
    "bin-picking",
    space=space,
    objective={"name": "slip and squeeze", "goal": "minimize", "unit": "mm"},
    initial_design={"size": 6, "around": start},
    budget={"trials": 16},
    if_exists="load",
)

# %% [markdown]
# ## The robots
#
# The parts lie askew in the bin, so the best approach leans. The cost is how far a part slips in the hand, and how
# much it is squeezed, in mm. One robot is quicker than the other; it simply asks more often.

# %%
BEST_APPROACH = np.array([0.42, -0.35, 0.84]) / np.linalg.norm([0.42, -0.35, 0.84])


def picked(point):
    """Cost in mm of one pick."""
    off = np.arccos(np.clip(np.dot(point["approach"], BEST_APPROACH), -1, 1))  # rad
    slip = 30 * (1 + 4 * off**2) / point["grip"]
    return slip + 0.12 * point["grip"] + 6 * off**2


def robot(worker, takes_s):
    """Runs until the budget is spent; the numbers of the trials that it ran."""
    ran = []
    with geodrome.Client() as own:
        shared = own.study("bin-picking")
        while True:
            try:
                trial = shared.ask(worker=worker)
            except geodrome.StudyClosed:
                return ran
            time.sleep(takes_s)
            trial.tell(cost=picked(trial.point))
            ran.append(trial.number)


with ThreadPoolExecutor() as both:
    left, right = both.submit(robot, "ur5-left", 0.3), both.submit(robot, "ur5-right", 0.5)
    print(f"left ran {left.result()}")
    print(f"right ran {right.result()}")

# %% [markdown]
# ## What came out
#
# Check that both took part and that all points are different: the nearest two are some way apart. Where a trial was
# asked for before the one before it was told, both robots ran at once.

# %%
trials = list(study.trials())
points = [(np.array(trial.point["approach"]), np.log(trial.point["grip"])) for trial in trials]
nearest = min(
    np.arccos(np.clip(a @ b, -1, 1)) + abs(grip - other)
    for i, (a, grip) in enumerate(points)
    for b, other in points[:i]
)
overlapped = sum(later.asked_at < earlier.told_at for earlier, later in pairwise(trials))
workers = Counter(trial.worker for trial in trials)
print(f"trials of each robot: {dict(workers)}")
print(f"the nearest two points are {nearest:.4f} apart (rad, and logarithm of the grip)")
print(f"asked for while the trial before ran: {overlapped} of {len(trials) - 1}")
assert len(workers) == 2
assert nearest > 0

# %%
first, best = study.trial(1).record, study.best()
approach, grip = best.observed.point["approach"], best.observed.point["grip"]
print(f"approach {np.round(approach, 2)}, {np.degrees(np.arccos(approach[2])):.0f}° from above, with {grip:.0f} N")
print(f"the model recommends a point of {best.recommended.mean:.2f} ± {best.recommended.std:.2f} mm")
print(f"cost at the start: {first.cost:.2f} mm, best: {best.observed.cost:.2f} mm")
assert best.observed.cost < first.cost

# %% [markdown]
# ## Figures
#
# - `convergence`: each trial of either robot, and the best so far as steps.
# - `slices`: the model along lines through the recommended point.
# - `approach/globe`: the sphere of directions, coloured by what the model expects at the recommended grip.

# %%
ways = study.plot_manifold()
figures = {
    "convergence": study.plot_convergence(),
    "slices": study.plot_slices(),
    "approach/globe": ways["approach/globe"],
}
for name, figure in figures.items():
    if "get_ipython" in globals():
        figure.show()  # a notebook has it below the cell
    else:
        page = Path("figures", f"{study.name}-{name.replace('/', '-')}.html")  # any browser opens it
        page.parent.mkdir(exist_ok=True)
        figure.write_html(page, include_plotlyjs="directory")
