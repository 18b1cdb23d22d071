"""What it is all for: the orientation task, tuned over a live service, ends better than by random search."""

from __future__ import annotations

from uuid import uuid4

import pytest
from geodrome import Client
from geodrome_robots.demo import random_search
from geodrome_robots.opening import open_study
from geodrome_robots.runner import run


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_twenty_trials_beat_forty_of_random_search(server, orientation, seed):
    with Client(server) as client:
        study = open_study(client, orientation, name=f"orientation-{uuid4().hex}", seed=seed)
        report = run(orientation, study, 20)

    random = min(cost for cost in random_search(orientation, 40, seed=seed) if cost is not None)
    assert report.best.measurement.cost < random
