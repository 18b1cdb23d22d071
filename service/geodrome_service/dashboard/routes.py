"""All routes of the pages."""

from __future__ import annotations

from geodrome_service.dashboard import assets, figures, geometry, model, signing_in, studies, study, trial

ROUTERS = (
    assets.router,
    signing_in.router,
    studies.router,
    study.router,
    trial.router,
    figures.router,
    geometry.router,
    model.router,
)
