"""The study that belongs to a robot."""

from __future__ import annotations

from typing import Literal

from geodrome import Client, Study

from geodrome_robots.robot import Robot


def open_study(
    client: Client,
    robot: Robot,
    *,
    name: str,
    kernel: str | None = None,
    seed: int = 0,
    if_exists: Literal["error", "load"] = "error",
) -> Study:
    """A study of the robot's cost over its space; what the robot says about itself is kept in its metadata.

    The name of the objective holds the robot's version and its weighting: a study that began with others is not
    loaded but refused, so that no study mixes two kinds of cost.

    Args:
        client: Of the service.
        robot: Whose cost it is.
        name: Of the study.
        kernel: Type of the kernel; the service's default if not given.
        seed: Of the study.
        if_exists: What to do if the name is taken.

    Raises:
        InvalidRequest: There is no such kernel, or it is for other spaces.
        StudyExists: The name is taken; with ``load``, by a study that is defined otherwise.
    """
    described = robot.describe()
    cost = described["cost"]
    words = [robot.name, str(described["version"]), *([f"({cost['weighting']})"] if cost.get("weighting") else [])]
    return client.create_study(
        name,
        space=robot.space,
        objective={"name": " ".join(words), "goal": "minimize", "unit": cost.get("unit")},
        seed=seed,
        metadata={"robot": described},
        if_exists=if_exists,
        **({} if kernel is None else {"kernel": {"type": kernel}}),
    )
