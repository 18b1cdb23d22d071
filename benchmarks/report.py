"""What the benchmarks share: their arguments, the versions that numbers depend on, and the JSON file.

The file holds ``{"rows": [{"method", "space", "n", "cpu_s", …}], "summary": {…}, "versions": {…}}``.
"""

from __future__ import annotations

import argparse
import json
import platform
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

PACKAGES = ("geodrome", "torch", "gpytorch", "botorch", "numpy", "scipy", "roboticstoolbox-python", "geometric-kernels")


def arguments(doc: str, *, quick: str) -> argparse.Namespace:
    """The command line of a benchmark: ``quick`` says what ``--quick`` leaves out."""
    return parser(doc, quick=quick).parse_args()


def parser(doc: str, *, quick: str) -> argparse.ArgumentParser:
    """What reads it, for benchmarks with more options."""
    out = argparse.ArgumentParser(description=doc.partition("\n")[0])
    out.add_argument("--quick", action="store_true", help=quick)
    out.add_argument("--json", type=Path, metavar="FILE", help="where the result goes")
    return out


def use_one_thread() -> None:
    """One thread for torch and for the linear algebra below numpy: CPU time is then the work that was done."""
    import torch  # noqa: PLC0415 - a client whose answers are timed has none, as on robots

    torch.set_num_threads(1)
    threadpool_limits(1)


def write(path: Path | None, *, rows: Sequence[Mapping[str, Any]], summary: Mapping[str, Any]) -> None:
    """Writes the result, if a file was named."""
    if path is None:
        return
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    path.write_text(json.dumps({"rows": rows, "summary": summary, "versions": versions}, indent=2) + "\n")
