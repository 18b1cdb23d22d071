"""The files of the pages: styles, scripts, and Plotly's own, which its Python package brings along."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, Response
from starlette.exceptions import HTTPException

router = APIRouter(include_in_schema=False)

HERE = Path(__file__).parent / "assets"

PLOTLY = "plotly.min.js"

UNCHANGED = 304


@router.get("/assets/{file}")
async def asset(file: str, request: Request) -> Response:
    """A file of the pages; a browser that has it asks whether it is still the same."""
    known = {path.name: path for path in HERE.iterdir()} | {
        PLOTLY: Path(str(files("plotly") / "package_data" / PLOTLY))
    }
    if (path := known.get(file)) is None:
        raise HTTPException(404)
    answer = FileResponse(path, stat_result=path.stat(), headers={"Cache-Control": "no-cache"})
    if request.headers.get("If-None-Match") == answer.headers["ETag"]:
        return Response(status_code=UNCHANGED, headers={"ETag": answer.headers["ETag"]})
    return answer
