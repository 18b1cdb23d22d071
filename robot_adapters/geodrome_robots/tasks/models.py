"""Models of the Robotics Toolbox: made without a network, and refused if they cannot simulate what a task needs.

Most models of the toolbox have kinematics alone. Some have masses but no inertia, so that torques can be told and
accelerations cannot; one has its centre of mass 200 km away. The toolbox takes seconds to import, so it is imported
where a model is made.
"""

from __future__ import annotations

import os
from functools import cache
from operator import attrgetter
from typing import Any

import numpy as np

from geodrome_robots.robot import RobotFault

DYNAMIC_MODELS = ("DH.Panda", "DH.Puma560", "DH.TwoLink", "DH.Stanford", "DH.P8")
"""Models with masses and inertia that come with the toolbox. It puts the third link of Stanford 6 m off."""

FARTHEST_CENTRE_OF_MASS = 10.0  # m from its joint; the longest arm of the toolbox reaches 4 m
SINGULAR = (
    1e-9  # smallest over largest inertia; that of DH.UR10 is 2e-5, of URDF.px100 2e-6, of the singular ones 1e-16
)


@cache
def toolbox() -> Any:
    """The Robotics Toolbox, imported without a display."""
    os.environ.setdefault("MPLBACKEND", "Agg")  # the toolbox imports pyplot, which looks for a screen
    import roboticstoolbox

    return roboticstoolbox


def toolbox_model(name: str) -> Any:
    """A model of the toolbox, such as ``DH.Panda``; only what is on this machine, nothing is fetched.

    Raises:
        RobotFault: There is no such model here.
    """
    models = toolbox().models
    # Some descriptions are cloned from the network at first use, which may take for ever: git may read files only.
    before = os.environ.get("GIT_ALLOW_PROTOCOL")
    os.environ["GIT_ALLOW_PROTOCOL"] = "file"
    try:
        return attrgetter(name)(models)()
    except Exception as error:
        # Every description has a loader of its own, with errors of its own.
        reason = " ".join(str(error).split())
        hint = f"models.DH.{name.rpartition('.')[2]}, if there is one, comes with the toolbox"
        raise RobotFault(f"the model {name} is not on this machine: {reason}; {hint}; {_usable()}") from error
    finally:
        if before is None:
            del os.environ["GIT_ALLOW_PROTOCOL"]
        else:
            os.environ["GIT_ALLOW_PROTOCOL"] = before


def require_masses(model: Any) -> None:
    """Refuses a model whose torques would be zero or nonsense.

    Raises:
        RobotFault: It has no masses, or a centre of mass that no arm has.
    """
    if not any(getattr(link, "m", None) for link in model.links):
        raise RobotFault(f"the model {_kind(model)} has no masses, and so no torques; {_usable()}")
    farthest = max(float(np.linalg.norm(link.r)) for link in model.links if link.m)
    if farthest > FARTHEST_CENTRE_OF_MASS:
        raise RobotFault(f"the model {_kind(model)} has a centre of mass {farthest:.6g} m from its joint; {_usable()}")


def require_inertia(model: Any) -> None:
    """Refuses a model that cannot be accelerated: one without masses, or with a joint that nothing holds back.

    Raises:
        RobotFault: Its torques are nonsense, or its inertia matrix is singular.
    """
    require_masses(model)
    # Two postures: what lacks inertia lacks it in all of them, but a sound arm may be stretched out in one.
    postures = (np.zeros(model.n), 0.3 * np.arange(1, model.n + 1))
    smallest, largest = max(
        (np.linalg.eigvalsh(model.inertia(q))[[0, -1]] for q in postures), key=lambda pair: pair[0] / pair[1]
    )
    if not smallest > SINGULAR * largest:
        raise RobotFault(
            f"the model {_kind(model)} has a singular inertia matrix, eigenvalues {smallest:.2g} to {largest:.2g}, "
            f"and so no accelerations; {_usable()}"
        )


def _kind(model: Any) -> str:
    """The name to find it by, such as DH.UR5."""
    _, _, family, *_ = [*type(model).__module__.split("."), "", "", ""]
    return f"{family}.{type(model).__name__}" if family in {"DH", "URDF", "ETS"} else type(model).__name__


def _usable() -> str:
    return f"models with dynamics that come with the toolbox are {', '.join(DYNAMIC_MODELS)}"
