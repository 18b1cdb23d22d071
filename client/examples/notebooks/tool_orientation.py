# %% [markdown]
# # How to hold a screwdriver
#
# A camera on the screwdriver watches the screw. Three things are wanted of its orientation, and none of them is known
# as well as the drawing says: the tip in line with the hole, no glare of the lamp in the camera, little twist on the
# cable. Here all three are formulas; on a robot they are measured while it drives one screw.
#
# Needs a service, `geodrome serve`; its address is GEODROME_URL, or http://127.0.0.1:8100.

# %%
from pathlib import Path

import geodrome
import numpy as np
from scipy.spatial.transform import Rotation

# %% [markdown]
# ## The space: orientations near the drawing's
#
# `Rotation`, and not three Euler angles: those have places where two of them do the same, and edges where neighbours
# are 360° apart. The model would take both for features of the screw.
#
# **The order of a quaternion is part of the space.** [1, 0, 0, 0] is half a turn about x here, and no turn at all in
# the order `wxyz`; no program can tell. `xyzw` is that of ROS and of SciPy's `from_quat`. q and -q are one point.
#
# The drawing says: the screwdriver points down, half a turn about x. The ball keeps every suggestion within 0.6 rad
# (34°) of that, so that nothing touches the workpiece; it is a bound that means the same in all directions.

# %%
DOWN = [1.0, 0.0, 0.0, 0.0]  # x, y, z, w
space = geodrome.Rotation(
    order="xyzw",
    ball=geodrome.Ball(center=DOWN, radius=0.6),
    frame="screwdriver_tip",
    relative_to="robot_base",
)

# %% [markdown]
# ## The robot
#
# The columns of the matrix are the axes of the tool in the base: z is the screwdriver, x is where the camera sits.
# The hole leans by some 13°, which nobody has told the study.

# %%
HOLE = Rotation.from_rotvec([0.16, -0.15, 0]).apply([0, 0, -1])  # the way in
LAMP = np.array([0.8, -0.5, 0.33]) / np.linalg.norm([0.8, -0.5, 0.33])
CABLE = 0.3  # rad, the turn about z at which the cable hangs free


def seconds(point):
    """Time in s until the screw is tight."""
    x, y, z, w = point
    tool = Rotation.from_quat([x, y, z, w])  # SciPy's order, by default, is x, y, z, w
    camera, _, screwdriver = tool.as_matrix().T
    tilt = np.arccos(np.clip(screwdriver @ HOLE, -1, 1))  # rad
    glare = np.exp(-4 * (1 - camera @ LAMP))  # the camera looks away from the lamp, or does not
    twist = np.arctan2(camera[1], camera[0]) - CABLE
    return 4 + 40 * tilt**2 + 8 * glare + 6 * twist**2


# %% [markdown]
# ## The study
#
# The first trial is the drawing's orientation, five more are spread over the ball, and then a model chooses.
# Run the program again, and it finds its study, with nothing left to spend: it only shows what came out.

# %%
client = geodrome.Client()
study = client.create_study(
    "screwdriver",
    space=space,
    objective={"name": "time to tighten", "goal": "minimize", "unit": "s"},
    initial_design={"size": 6, "around": DOWN},
    budget={"trials": 16},
    if_exists="load",
)
ran = study.run(seconds, study.record.budget_left, worker="panda-1")
print(f"{len(ran)} trials were run")

# %% [markdown]
# ## What came out
#
# Read an orientation as a turn from the one you know: by how much, and about which axis.
# Check that the best takes less time than the start, and that the other order, as MuJoCo and MATLAB want it, has the
# same four numbers with w first.

# %%
first, best = study.trial(1).record, study.best()
turn = (Rotation.from_quat(best.observed.point) * Rotation.from_quat(DOWN).inv()).as_rotvec(degrees=True)
screwdriver = Rotation.from_quat(best.observed.point).apply([0, 0, 1])
leaning = np.degrees(np.arccos([-HOLE[2], screwdriver @ HOLE]))
for_mujoco = study.in_form(order="wxyz").trial(best.observed.number).point
print(f"from the drawing: {np.linalg.norm(turn):.1f}° about {np.round(turn / np.linalg.norm(turn), 2)}")
print(f"out of line with the hole: {leaning[0]:.1f}° at the start, {leaning[1]:.1f}° in the best trial")
print(f"x, y, z, w: {np.round(best.observed.point, 4)}")
print(f"w, x, y, z: {np.round(for_mujoco, 4)}")
print(f"the model recommends a point of {best.recommended.mean:.2f} ± {best.recommended.std:.2f} s")
print(f"time at the start: {first.cost:.2f} s, best: {best.observed.cost:.2f} s")
assert best.observed.cost < first.cost

# %% [markdown]
# ## Figures
#
# - `convergence`: each trial, and the best so far as steps.
# - `slices`: the model along three turns through the recommended orientation, in degrees. A flat line is a turn that
#   makes no difference: leave it to other needs of the cell.
# - `ball`: each trial as axis times angle. Opposite points of the surface would be the same orientation.
# - `triads`: the frames of some trials; the blue axis is the screwdriver.

# %%
ways = study.plot_manifold()
figures = {
    "convergence": study.plot_convergence(),
    "slices": study.plot_slices(),
    "ball": ways["ball"],
    "triads": ways["triads"],
}
for name, figure in figures.items():
    if "get_ipython" in globals():
        figure.show()  # a notebook has it below the cell
    else:
        page = Path("figures", f"{study.name}-{name.replace('/', '-')}.html")  # any browser opens it
        page.parent.mkdir(exist_ok=True)
        figure.write_html(page, include_plotlyjs="directory")
