# %% [markdown]
# # LQR weights for a cart-pole whose masses nobody knows
#
# An LQR is designed on a model, by two weights: Q for the state, R for the force.
# The model is wrong: the real cart and pole are heavier, there is friction, and the motor lags behind.
# So the weights are tuned on the robot: each trial solves the Riccati equation of the *model* and runs the gains on
# the *robot*, which is simulated here.
#
# Needs a service, `geodrome serve`; its address is GEODROME_URL, or http://127.0.0.1:8100.

# %%
from math import cos, sin, tau
from pathlib import Path

import geodrome
import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import block_diag, solve_continuous_are

# %% [markdown]
# ## The space: a positive definite matrix and a number
#
# - `weights` is the part of Q for the cart's position and the pole's angle. A Riccati equation needs it positive
#   definite, hence `SPD`: a box of its three entries holds many matrices that are not. It is a whole matrix and no
#   diagonal, since what counts is the place of the tip, and that is position and angle together.
# - `effort` is R. What matters is a factor and no difference, hence `scale="log"`; distances on `SPD` are logarithmic
#   by themselves.
# - Position, angle and force are divided by 0.1 m, 0.1 rad and 10 N (Bryson's rule), since a matrix must not mix units.
# - The part of Q for the speeds stays as it is. Doubling Q and R gives the same gains: if all of Q were free, one
#   direction of the space would do nothing.
#
# The start is Bryson's: all weights are 1.

# %%
space = geodrome.Product(
    factors={
        "weights": geodrome.SPD(dim=2, eigenvalues=(0.1, 20)),
        "effort": geodrome.Real(bounds=(0.1, 10), scale="log"),
    }
)
start = {"weights": [[1, 0], [0, 1]], "effort": 1}

# %% [markdown]
# ## The model, and the gains that it gives
#
# The force is u = -K x with K = R⁻¹ Bᵀ P, and P solves Aᵀ P + P A - P B R⁻¹ Bᵀ P + Q = 0.

# %%
GRAVITY, LENGTH = 9.81, 0.5  # m/s², m
CART, POLE = 1.0, 0.1  # kg, as in the data sheet

A = np.zeros((4, 4))  # of position, angle and their rates
A[:2, 2:] = np.eye(2)
A[2:, 1] = -POLE * GRAVITY / CART, (CART + POLE) * GRAVITY / (CART * LENGTH)
B = np.array([[0], [0], [1 / CART], [-1 / (CART * LENGTH)]])
BRYSON = np.diag([1 / 0.1, 1 / 0.1])  # 1/m, 1/rad
SPEEDS = np.diag([1 / 0.5**2, 1 / 0.5**2])  # s²/m², s²/rad²


def gains(point):
    """K: N/m, N/rad, N s/m, N s/rad."""
    Q = block_diag(BRYSON @ np.array(point["weights"]) @ BRYSON, SPEEDS)
    R = np.array([[point["effort"] / 10**2]])
    return np.linalg.solve(R, B.T @ solve_continuous_are(A, B, Q, R))[0]


# %% [markdown]
# ## The robot
#
# For 6 s, somebody pushes the tip by two sines.
# The cost is how far the tip strays (root mean square, in mm), and 20 mm for each N of force.
# A pole that falls has no cost, and gets no penalty: `Infeasible` says it, and the search learns to keep away.

# %%
REAL_CART, REAL_POLE = 1.5, 0.3  # kg
FRICTION, LAG, LIMIT = 3.0, 0.02, 30.0  # N s/m, s, N
RIPPLE = np.array([0.001, 0.001, 0, 0])  # m, rad: what the encoders add, at 12 Hz
HORIZON = 6.0  # s


def motion(t, state, K):
    """Rates of position, angle, speed, turning rate, force, and of both integrals of the cost."""
    x, angle, speed, rate, force, *_ = state.tolist()
    wanted = max(-LIMIT, min(LIMIT, -float(K @ (state[:4] + RIPPLE * sin(12 * tau * t)))))
    push = 0.3 * (sin(0.4 * tau * t) + sin(0.9 * tau * t))
    s, c = sin(angle), cos(angle)
    along = force - FRICTION * speed + push * s**2 + REAL_POLE * s * (LENGTH * rate**2 - GRAVITY * c)
    cart = along / (REAL_CART + REAL_POLE * s**2)
    pole = (GRAVITY * s + push * c / REAL_POLE - cart * c) / LENGTH
    return speed, rate, cart, pole, (wanted - force) / LAG, (x + LENGTH * s) ** 2, force**2


def upright(t, state, K):
    """Positive until the pole leans by 0.6 rad."""
    return 0.6 - abs(state[1])


upright.terminal = True


def sway(point):
    """Cost in mm of one run."""
    ran = solve_ivp(motion, (0, HORIZON), np.zeros(7), args=(gains(point),), events=upright, rtol=1e-5, atol=1e-7)
    if ran.t[-1] < HORIZON:
        raise geodrome.Infeasible(f"the pole fell after {ran.t[-1]:.1f} s")
    tip, force = np.sqrt(ran.y[5:, -1] / HORIZON)
    return 1000 * tip + 20 * force


# %% [markdown]
# ## The study
#
# The first trial is the start, the next five lie about it; then a model chooses.
# Run the program again, and it finds its study, with nothing left to spend: it only shows what came out.

# %%
client = geodrome.Client()
study = client.create_study(
    "cart-pole-lqr",
    space=space,
    objective={"name": "sway", "goal": "minimize", "unit": "mm"},
    initial_design={"size": 6, "around": start, "spread": 0.15},
    budget={"trials": 16},
    if_exists="load",
)
ran = study.run(sway, study.record.budget_left, worker="cart-1")
print(f"{len(ran)} trials were run")

# %% [markdown]
# ## What came out
#
# Check that the best costs less than the start, that nothing lies on a bound (it would ask for a wider one), and that
# the model expects about the same of the point that it recommends.

# %%
first, best = study.trial(1).record, study.best()
print(f"gains at the start: {np.round(gains(first.point), 1)}")
print(f"gains of the best:  {np.round(gains(best.observed.point), 1)}")
print(f"weights {np.round(best.observed.point['weights'], 2).tolist()}, effort {best.observed.point['effort']:.2f}")
print(f"fallen: {study.refresh().record.counts.failed} of {study.record.budget.trials}")
print(f"the model recommends a point of {best.recommended.mean:.1f} ± {best.recommended.std:.1f} mm")
print(f"sway at the start: {first.cost:.1f} mm, best: {best.observed.cost:.1f} mm")
assert best.observed.cost < first.cost

# %% [markdown]
# ## Figures
#
# - `convergence`: each trial, and the best so far as steps. The dashed line is what the model expects of its point.
# - `slices`: the model along lines through that point. Where a line is steep, the direction matters.
# - `weights/ellipses`: the matrices of some trials. Half axes are eigenvalues: the longest is the combination of
#   position (right) and angle (up) that is held most firmly.

# %%
ways = study.plot_manifold()
figures = {
    "convergence": study.plot_convergence(),
    "slices": study.plot_slices(),
    "weights/ellipses": ways["weights/ellipses"],
}
for name, figure in figures.items():
    if "get_ipython" in globals():
        figure.show()  # a notebook has it below the cell
    else:
        page = Path("figures", f"{study.name}-{name.replace('/', '-')}.html")  # any browser opens it
        page.parent.mkdir(exist_ok=True)
        figure.write_html(page, include_plotlyjs="directory")
