"""Geometry-aware Bayesian optimization: manifolds, kernels, models, acquisition and search.

A library in its own right: kernels are GPyTorch kernels, models are BoTorch models, and ``suggest`` is a pure function.
"""

from geodrome_core import features, kernels
from geodrome_core.engine import recommend, suggest, suggestion_seed
from geodrome_core.geometry.faults import Correction, Fault, PointError, SpaceError
from geodrome_core.geometry.forms import Form
from geodrome_core.geometry.lengths import Length, in_natural_units
from geodrome_core.geometry.space import CheckedPoint, Space
from geodrome_core.geometry.spec import space_from_spec
from geodrome_core.insight import Calibration, Prediction, Reason, Report, leave_one_out, predict, report, why
from geodrome_core.problem import History, Problem, Recommendation, Suggestion
from geodrome_core.viewing.views import Field, Slice, Views, views

__all__ = [
    "Calibration",
    "CheckedPoint",
    "Correction",
    "Fault",
    "Field",
    "Form",
    "History",
    "Length",
    "PointError",
    "Prediction",
    "Problem",
    "Reason",
    "Recommendation",
    "Report",
    "Slice",
    "Space",
    "SpaceError",
    "Suggestion",
    "Views",
    "features",
    "in_natural_units",
    "kernels",
    "leave_one_out",
    "predict",
    "recommend",
    "report",
    "space_from_spec",
    "suggest",
    "suggestion_seed",
    "views",
    "why",
]
