"""Cases from the field: hyperbolic space."""

from __future__ import annotations

import itertools
import math

import pytest

from tests.service.cases.wire import asked, distance

BALL = {"type": "hyperbolic", "dim": 2, "model": "poincare", "radius": 4.0}


@pytest.mark.slow
def test_a_cost_that_pulls_outwards_stays_inside_the_ball(make_lab):
    """L37, SauersML/gam#354. Of 500 asks, the last 20 are answered by the model."""
    lab = make_lab(space=BALL, initial_design={"size": 480})

    points = []
    for count in (*[30] * 16, *[5] * 4):
        for trial in asked(lab, count):
            points.append(trial["point"])
            lab.tell(trial["number"], cost=-math.hypot(*trial["point"]))

    assert len(points) == 500
    assert lab.trial(500)["origin"]["kind"] == "model"
    assert all(math.hypot(*point) < 1 for point in points)
    last = points[-12:]
    assert all(math.isfinite(distance(BALL, one, other)) for one, other in itertools.combinations(last, 2))
