"""The files of the pages: styles, scripts, and Plotly's own, which its Python package brings along."""

from __future__ import annotations

from pathlib import Path

from starlette.staticfiles import StaticFiles

FILES = StaticFiles(directory=Path(__file__).parent / "assets", packages=[("plotly", "package_data")])
