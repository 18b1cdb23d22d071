"""On one thread, as workers compute: with another number of them, last digits are others."""

from __future__ import annotations

import torch

torch.set_num_threads(1)
