# %% [markdown]
# # The stiffness with which a peg finds its hole
#
# An arm under impedance control pushes a peg into a hole that leans, on a pallet that is never quite where it should
# be. Too stiff to the side, and the peg is scratched; too soft, and it sags beside the hole; too soft along the hole,
# and it does not get to the ground. The hole's axis is oblique to the base, so the best matrix is not diagonal.
#
# Needs a service, `geodrome serve`; its address is GEODROME_URL, or http://127.0.0.1:8100.

# %%
from pathlib import Path

import geodrome
import numpy as np

# %% [markdown]
# ## The space: positive definite 3 × 3 matrices
#
# - A stiffness must push back in every direction, which is what positive definite means. `eigenvalues` are its bounds:
#   no direction is softer than 200 N/m or stiffer than 5000.
# - Distances are logarithmic: from 100 to 200 N/m is as far as from 1000 to 2000.
# - The metric, `affine_invariant`, does not depend on the frame in which the matrix is written, and two stiffnesses
#   are as far apart as their compliances (the inverses). Here both count: forces go by K, sagging by K⁻¹.
#
# The start is the stiffness that the lab has always taken, the same in all directions.

# %%
space = geodrome.SPD(dim=3, eigenvalues=(200, 5000), unit="N/m", frame="robot_base")
start = [[700, 0, 0], [0, 700, 0], [0, 0, 700]]

# %% [markdown]
# ## The robot
#
# Quasi-static, for one hole after the other. Before it is in, the peg hangs from the arm's spring and sags under what
# the hose pulls. In the hole its sides are held, and the spring presses by the pallet's error; along the axis, the
# spring must overcome friction and seat the peg, and the arm stops 1.5 mm too late, on the ground.
#
# The cost of a trial is the mean over the four holes of a pallet, in N: the force to the side, the force on the
# ground, 2 N for each mm of lag along the axis, and 2 N for each mm of sagging.

# %%
AXIS = np.array([0.48, 0.36, -0.80])  # into the hole
SIDES = np.array([[0.6, -0.8, 0.0], [0.64, 0.48, 0.6]])
PULL = np.array([0.3, -0.4, -0.4])  # N, of the hose
MISPLACED = 1e-3 * np.array([[5.0, 2.0], [-3.0, 4.0], [2.0, -6.0], [-5.0, -2.0]])  # m, to the two sides
FRICTION, SEATING, TOO_LATE = 0.25, 12.0, 0.0015  # 1, N, m


def insertion(point):
    """Cost in N of one pallet."""
    K = np.array(point)
    along = AXIS @ K @ AXIS
    sag = np.linalg.norm(SIDES @ np.linalg.solve(K, PULL))
    costs = []
    for misplaced in MISPLACED:
        held, lag = misplaced @ SIDES, 0.0
        for _ in range(20):  # friction depends on the side force, that on the lag, and that on friction
            side = np.linalg.norm(SIDES @ K @ (held + lag * AXIS))
            lag = (SEATING + FRICTION * side - AXIS @ K @ held) / along
        costs.append(side + along * TOO_LATE + 2000 * abs(lag) + 2000 * sag)
    return float(np.mean(costs))


# %% [markdown]
# ## The study
#
# The first trial is the start, the next seven lie about it; then a model chooses.
# Run the program again, and it finds its study, with nothing left to spend: it only shows what came out.

# %%
client = geodrome.Client()
study = client.create_study(
    "peg-in-hole",
    space=space,
    objective={"name": "insertion", "goal": "minimize", "unit": "N"},
    initial_design={"size": 8, "around": start, "spread": 0.2},
    budget={"trials": 18},
    if_exists="load",
)
ran = study.run(insertion, study.record.budget_left, worker="panda-1")
print(f"{len(ran)} trials were run")

# %% [markdown]
# ## What came out
#
# In the axes of the hole the matrix is easier to read: the last row and column belong to the way in.
# Check that the best costs less than the start, that it is stiffer along the hole than to the sides, and that the
# stiffest direction is not far from the axis.

# %%
first, best = study.trial(1).record, study.best()
axes = np.vstack([SIDES, AXIS])
in_hole = axes @ np.array(best.observed.point) @ axes.T
stiffest = np.linalg.eigh(best.observed.point).eigenvectors[:, -1]
print(f"N/m, to the sides and along the hole:\n{np.round(in_hole)}")
print(f"eigenvalues in N/m: {np.round(np.linalg.eigvalsh(best.observed.point))}")
print(f"stiffest direction and hole: {np.degrees(np.arccos(min(1, abs(stiffest @ AXIS)))):.0f}° apart")
print(f"the model recommends a point of {best.recommended.mean:.1f} ± {best.recommended.std:.1f} N")
print(f"insertion at the start: {first.cost:.1f} N, best: {best.observed.cost:.1f} N")
assert best.observed.cost < first.cost

# %% [markdown]
# ## Figures
#
# - `convergence`: each trial, and the best so far as steps.
# - `slices`: the model along lines through the recommended matrix.
# - `ellipsoids`: the three best matrices and the last three. Where they point the same way, the search is nearly over.
# - `eigenvalues`: over the trials, on a logarithmic axis. Those that run along a bound ask for a wider one.

# %%
ways = study.plot_manifold()
figures = {
    "convergence": study.plot_convergence(),
    "slices": study.plot_slices(),
    "ellipsoids": ways["ellipsoids"],
    "eigenvalues": ways["eigenvalues"],
}
for name, figure in figures.items():
    if "get_ipython" in globals():
        figure.show()  # a notebook has it below the cell
    else:
        page = Path("figures", f"{study.name}-{name.replace('/', '-')}.html")  # any browser opens it
        page.parent.mkdir(exist_ok=True)
        figure.write_html(page, include_plotlyjs="directory")
