"""Path planning on a grid that is embedded in the hyperbolic plane: a short way past an obstacle.

A branch of straight segments leads from the start (0, 0) over the nodes x_1 ... x_m to the goal (8, 8) of a 9 x 9 grid
with spacing 1. A disc of radius 1 about (4, 4) is in the way. The cost is

    P1 = w_g dist_g + w_d dist_t,

dist_g the distance from the first point of collision to the goal, 0 without a collision, and dist_t the length of the
branch. It is the path planning experiment of Jaquier et al. 2021, "Geometry-aware Bayesian Optimization in Robotics
using Riemannian Matérn Kernels": a branch of 5 nodes, each a point of the hyperbolic plane H^2, into which the graph of
the grid is embedded as by Nickel and Kiela 2018. The paper gives no start and goal, no bounds, no embedding and no way
back to the grid, and its weights seem exchanged; these are ours:

- All 5 nodes are free, so the space is (H^2)^5; start and goal come on top. With ``path-planning-three`` they are two
  of the 5, and the space is (H^2)^3.
- The embedding is trained by ``embedding``, which tells its distortion. Points lie within 2.0 of the origin: the
  farthest node of the grid at 1.79, and half an edge.
- A point of H^2 means the mean of all nodes (i, j), weighted with exp(-d^2 / (2 h^2)), d the distance in H^2 from the
  embedded node and h = 0.22, six tenths of a mean edge. It moves smoothly with the point and never leaves the grid.
  With ``path-planning-nodes`` it means the nearest node; the cost is then constant over cells, and jumps between them.
- A collision is a segment that enters the open disc; where it does follows from the quadratic formula, without steps.
  It costs what the paper says, and is not `Infeasible`.
- dist_t goes on beyond a collision, as a planner measures: a branch that ended at the disc would cost less, the sooner
  it collides. How far a robot would get is a metric.
- The printed weights, w_g = 1 and w_d = 25, reward collisions: one costs no more than 0.27 cells of length, so straight
  through the disc (289.5) beats the shortest way round over nodes of the grid (291.5). ``swapped`` exchanges them.
  ``balanced`` gives both terms a like spread over random points; the best branches are those of ``swapped``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from geodrome_robots.stop import Stop
from geodrome_robots.tasks.embedding import distances, embedding, grid
from geodrome_robots.tasks.task import Outcome, Task

START = (0.0, 0.0)
GOAL = (8.0, 8.0)
CENTER = (4.0, 4.0)
OBSTACLE_RADIUS = 1.0
BANDWIDTH = 0.22
NODE = {"type": "hyperbolic", "dim": 2, "model": "lorentz", "radius": 2.0}


def branch(nodes: int) -> dict[str, Any]:
    """The space of a branch with so many free nodes."""
    return {"type": "product", "factors": {f"node_{number}": NODE for number in range(1, nodes + 1)}}


def explained(space: dict[str, Any]) -> dict[str, Any]:
    """What each node of a branch is."""
    return {
        name: {
            "meaning": f"free node {number} of the branch from start to goal",
            "unit": "point of the hyperboloid, the time coordinate first; curvature -1",
            "frame": "embedding of the grid",
        }
        for number, name in enumerate(space["factors"], start=1)
    }


class PathPlanning(Task):
    """P1: a branch of 5 free nodes, decoded smoothly; less than a millisecond a trial."""

    name = "path-planning"
    space = branch(5)
    model = "a point robot on a 9 x 9 grid with a disc in the way"
    simulator = "numpy"
    parameters = explained(space)
    terms = {
        "collision_to_goal_cells": "distance from the first point of collision to the goal, 0 without one, cells",
        "path_length_cells": "length of the branch from start to goal, also beyond a collision, cells",
    }
    weightings = {
        # Over 3000 random branches the terms have standard deviations of 2.7 and 6.0; with three nodes, of 3.0 and 4.9.
        "balanced": {"collision_to_goal_cells": 2.0, "path_length_cells": 1.0},
        "swapped": {"collision_to_goal_cells": 25.0, "path_length_cells": 1.0},
        "printed": {"collision_to_goal_cells": 1.0, "path_length_cells": 25.0},
    }
    settings = {
        "cell": "the spacing of the grid",
        "start_cells": list(START),
        "goal_cells": list(GOAL),
        "obstacle_center_cells": list(CENTER),
        "obstacle_radius_cells": OBSTACLE_RADIUS,
        "decoding": f"mean of the nodes of the grid, weighted with exp(-d^2 / (2 h^2)), h = {BANDWIDTH}",
        "on_collision": "part of the cost",
    }

    def simulate(self, point: Any, stop: Stop) -> Outcome:
        """Follows the branch and looks where it meets the obstacle."""
        stop.check()
        nodes = self.decode(np.array([point[name] for name in self.space["factors"]], dtype=float))
        path = np.vstack((START, nodes, GOAL))
        length = float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())
        clearance, collision = obstructed(path)
        to_goal, travelled = (0.0, length) if collision is None else collision
        return Outcome(
            {"collision_to_goal_cells": to_goal, "path_length_cells": length},
            metrics={
                "collision": float(collision is not None),
                "clearance_cells": clearance,
                "travelled_cells": travelled,
                **{
                    f"node_{number}_{axis}_cells": float(place)
                    for number, node in enumerate(nodes, start=1)
                    for axis, place in zip("ij", node, strict=True)
                },
            },
        )

    @staticmethod
    def decode(points: np.ndarray) -> np.ndarray:
        """Where points of the hyperboloid, (m, 3), are on the grid, (m, 2)."""
        squared = distances(points, embedding()) ** 2  # (m, 81)
        # Nothing underflows if the nearest node has weight 1.
        weights = np.exp((squared.min(1, keepdims=True) - squared) / (2 * BANDWIDTH**2))
        return np.array(weights @ grid() / weights.sum(1, keepdims=True))


class PathPlanningThree(PathPlanning):
    """P1 with start and goal as two of the 5 nodes."""

    name = "path-planning-three"
    space = branch(3)
    parameters = explained(space)


class PathPlanningNodes(PathPlanning):
    """P1 on the nodes of the grid alone: its cost is constant over cells."""

    name = "path-planning-nodes"
    settings = {**PathPlanning.settings, "decoding": "the nearest embedded node of the grid"}

    @staticmethod
    def decode(points: np.ndarray) -> np.ndarray:
        """The nodes of the grid that are nearest to points of the hyperboloid, (m, 3): (m, 2)."""
        return np.array(grid()[distances(points, embedding()).argmin(1)])


def obstructed(path: np.ndarray) -> tuple[float, tuple[float, float] | None]:
    """How far a path, (n, 2), stays from the obstacle's border, negative inside; and where it enters it, if it does.

    The latter is the distance to the goal from the first point of collision, and the length of the path up to there.
    """
    begin, way = path[:-1] - CENTER, np.diff(path, axis=0)
    squared, along = (way**2).sum(1), (begin * way).sum(1)
    nearest = np.clip(-along / np.where(squared > 0, squared, 1), 0, 1)  # as a part of the segment
    clearance = np.linalg.norm(begin + nearest[:, None] * way, axis=1) - OBSTACLE_RADIUS
    if clearance.min() >= 0:
        return float(clearance.min()), None
    first = int(np.flatnonzero(clearance < 0)[0])
    outside = begin[first] @ begin[first] - OBSTACLE_RADIUS**2
    # |begin + t way| = radius, the smaller root, in the form in which nothing cancels. Rounding may put the beginning
    # inside, where the segment before it ends on the border.
    root = np.sqrt(max(along[first] ** 2 - squared[first] * outside, 0.0))
    entry = outside / (root - along[first]) if outside > 0 > along[first] else 0.0
    hit = path[first] + entry * way[first]
    behind = np.linalg.norm(np.diff(path[: first + 1], axis=0), axis=1).sum()
    travelled = behind + np.linalg.norm(hit - path[first])
    return float(clearance.min()), (float(np.linalg.norm(GOAL - hit)), float(travelled))
