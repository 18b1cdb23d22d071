"""Geodrome: geometry-aware Bayesian optimization for robots, behind ask and tell."""

from importlib.metadata import version

from geodrome.client import Client
from geodrome.errors import (
    ComputeUnavailable,
    DatabaseUnavailable,
    EmptyDomain,
    FieldError,
    Forbidden,
    GeodromeError,
    IdempotencyConflict,
    InternalError,
    InvalidCost,
    InvalidPoint,
    InvalidRequest,
    InvalidSpace,
    OutcomeConflict,
    Problem,
    RateLimited,
    ServiceUnreachable,
    StudyClosed,
    StudyExists,
    StudyNotFound,
    StudyPaused,
    TooLarge,
    TrialNotFound,
    Unauthorized,
)
from geodrome.outcomes import Infeasible, RobotFault
from geodrome.spaces import (
    SPD,
    Euclidean,
    Product,
    Real,
    Rotation,
    Sphere,
)
from geodrome.study import Study, TrialHandle

__version__ = version("geodrome")

__all__ = [
    "SPD",
    "Client",
    "ComputeUnavailable",
    "DatabaseUnavailable",
    "EmptyDomain",
    "Euclidean",
    "FieldError",
    "Forbidden",
    "GeodromeError",
    "IdempotencyConflict",
    "Infeasible",
    "InternalError",
    "InvalidCost",
    "InvalidPoint",
    "InvalidRequest",
    "InvalidSpace",
    "OutcomeConflict",
    "Problem",
    "Product",
    "RateLimited",
    "Real",
    "RobotFault",
    "Rotation",
    "ServiceUnreachable",
    "Sphere",
    "Study",
    "StudyClosed",
    "StudyExists",
    "StudyNotFound",
    "StudyPaused",
    "TooLarge",
    "TrialHandle",
    "TrialNotFound",
    "Unauthorized",
    "__version__",
]
