"""The same examples on every machine, on one thread, with no deadline that a busy machine could miss."""

from __future__ import annotations

import torch
from hypothesis import HealthCheck, settings

settings.register_profile(
    "core",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=10,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("core")
torch.set_num_threads(1)
