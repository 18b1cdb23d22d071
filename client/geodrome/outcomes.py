"""What an evaluation raises when it has no cost: the two cases that must never look alike.

A penalty such as 1e6 in place of a cost breaks the model; these exceptions say what happened instead.
"""

from __future__ import annotations


class Infeasible(Exception):
    """The robot ran and the point is bad: an e-stop, a joint limit, an instability.

    The trial is told as ``failed`` with this text as its reason, and the search learns to keep away.
    """


class RobotFault(Exception):
    """The lab broke: the network, the simulator, a robot that was not ready.

    It says nothing about the point. The trial is told as ``lost`` with this text as its reason, it costs no budget, and
    its point is offered again.
    """
