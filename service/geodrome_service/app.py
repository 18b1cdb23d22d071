"""The application: its parts, joined."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware
from fastapi.openapi.utils import get_openapi
from fastapi_offline import FastAPIOffline
from geodrome.errors import DatabaseUnavailable, Forbidden, RateLimited, Unauthorized

from geodrome_service.api import (
    about,
    asks,
    best,
    events,
    exports,
    imports,
    metrics,
    models,
    own,
    predictions,
    problems,
    rules,
    studies,
    trials,
    views,
)
from geodrome_service.api.access import Access
from geodrome_service.api.computed import Computed
from geodrome_service.api.headers import SecurityHeaders
from geodrome_service.api.metrics import Metrics
from geodrome_service.api.observing import Observing
from geodrome_service.api.recommendations import Recommendations
from geodrome_service.api.request_ids import RequestIds
from geodrome_service.api.suggestions import Suggestions
from geodrome_service.cluster import open_pool
from geodrome_service.dashboard import assets, refusals, routes
from geodrome_service.settings import Settings
from geodrome_service.store.database import Database

SUMMARY = "Geometry-aware Bayesian optimization for robotics labs, behind ask and tell."


KEY_SCHEME = {
    "type": "http",
    "scheme": "bearer",
    "description": "A key that `geodrome keys create` has made. On a loopback address it works without, too.",
}


def create_app(settings: Settings, database: Database) -> FastAPI:
    """The application on an open database, which it closes; the pool lives as long as the application."""
    # Labs are offline: the pages at /docs come with everything that they need.
    app = FastAPIOffline(
        title="Geodrome", summary=SUMMARY, version=version("geodrome"), lifespan=_lifespan, redoc_url=None
    )
    app.state.settings = settings
    app.state.database = database
    app.state.metrics = Metrics(database)
    for router in (
        about.router,
        metrics.router,
        studies.router,
        best.router,
        predictions.router,
        models.router,
        views.router,
        asks.router,
        own.router,
        trials.router,
        events.router,
        exports.router,
        imports.router,
        *routes.ROUTERS,
    ):
        app.include_router(router)
    app.mount("/assets", assets.FILES)
    problems.install(app, refusals.answer)
    _add_middleware(app, settings, database)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign] # FastAPI's documented way
    return app


def _add_middleware(app: FastAPI, settings: Settings, database: Database) -> None:
    # The last one added sees a request first: the id is known to all others.
    app.add_middleware(Access, database=database, settings=settings, answering=refusals.answer)
    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=["GET", "POST", "PATCH", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID", "X-Request-Id"],
            expose_headers=["Idempotent-Replayed", "Retry-After", "X-Request-Id"],
        )
    app.add_middleware(problems.LastResort, answering=refusals.answer)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(Observing, metrics=app.state.metrics)
    app.add_middleware(RequestIds)


async def finish_waiting(app: FastAPI) -> None:
    """Ends all computing, so that whoever waits for it is answered; for a server that is about to stop."""
    app.state.stopping.set()
    await app.state.suggestions.close()
    for computed in (app.state.recommendations, app.state.views, app.state.models):
        await computed.close()


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    database: Database = app.state.database
    try:
        async with open_pool(app.state.settings) as pool:
            app.state.stopping = asyncio.Event()
            app.state.pool = pool
            app.state.suggestions = Suggestions(database, pool, app.state.metrics)
            app.state.recommendations = Recommendations(pool)
            app.state.views, app.state.models = Computed(pool.views), Computed(pool.model)
            yield
            await finish_waiting(app)
    finally:
        database.close()


def _openapi(app: FastAPI) -> dict[str, Any]:
    """The description of the interface, with the problems as they really travel."""
    if app.openapi_schema is None:
        schema = get_openapi(title=app.title, version=app.version, summary=app.summary, routes=app.routes)
        schemas = schema["components"]["schemas"]
        problem = problems.ProblemBody.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas |= problem.pop("$defs")
        schemas["ProblemBody"] = problem
        for template, path in schema["paths"].items():
            for method, operation in path.items():
                # FastAPI adds its own 422 to routes whose parameters are plain text, which is never refused.
                if "application/json" in operation["responses"].get("422", {}).get("content", {}):
                    del operation["responses"]["422"]
                _describe_access(operation, rules.RULES_BY_CALL[method.upper(), template])
        schema["components"]["securitySchemes"] = {"key": KEY_SCHEME}
        for unused in ("HTTPValidationError", "ValidationError"):
            schemas.pop(unused, None)
        app.openapi_schema = schema
    return app.openapi_schema


def _describe_access(operation: dict[str, Any], rule: rules.Rule) -> None:
    """Says of a call which role it needs, and what answers a request that has it not."""
    if rule.role is None:
        operation["security"] = []
        return
    operation["security"] = [{"key": []}]
    operation["description"] += f"\n\nRole: `{rule.role}`."
    refusals = problems.responses(Unauthorized, Forbidden, RateLimited, DatabaseUnavailable)
    for status, answer in refusals.items():
        operation["responses"].setdefault(str(status), answer)
