"""All routes of the pages."""

from __future__ import annotations

from geodrome_service.dashboard import figures, geometry, model, new, signing_in, studies, study, trial

ROUTERS = (
    signing_in.router,
    studies.router,
    new.router,
    study.router,
    trial.router,
    geometry.router,
    model.router,
    figures.router,
)
