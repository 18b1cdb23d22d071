"""Studies on the live server, as a robot without the SDK sees them."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from geodrome import Client, Study

GAINS = {
    "type": "product",
    "factors": {
        "stiffness": {"type": "spd", "dim": 2, "eigenvalues": [1.0, 10.0]},
        "tool": {"type": "rotation", "representation": "quaternion", "order": "xyzw"},
    },
}


@pytest.fixture
def new_study(server: str, study_name: str) -> Iterator[Callable[..., Study]]:
    """Makes the one study of a test, with more initial points than it spends: no model is under test."""
    with Client(server) as client:

        def make(**definition: Any) -> Study:
            return client.create_study(study_name, **{"space": GAINS, "initial_design": {"size": 20}, **definition})

        yield make


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port of this machine that refuses connections: it is taken, but nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]
