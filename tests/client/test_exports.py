"""What `import geodrome` offers, and what it must not cost."""

from __future__ import annotations

import inspect
import subprocess
import sys

import geodrome
import pytest
from geodrome import errors, outcomes

PUBLIC = [
    "Ball",
    "Client",
    "ComputeUnavailable",
    "DatabaseUnavailable",
    "EmptyDomain",
    "Euclidean",
    "FieldError",
    "Forbidden",
    "GeodromeError",
    "Hyperbolic",
    "IdempotencyConflict",
    "Infeasible",
    "Integer",
    "InternalError",
    "InvalidCost",
    "InvalidPoint",
    "InvalidRequest",
    "InvalidSpace",
    "Joints",
    "LinearConstraint",
    "OutcomeConflict",
    "Pose",
    "Position",
    "Problem",
    "Product",
    "RateLimited",
    "Real",
    "RobotFault",
    "Rotation",
    "SPD",
    "ServiceUnreachable",
    "Sphere",
    "Study",
    "StudyClosed",
    "StudyExists",
    "StudyNotFound",
    "StudyPaused",
    "TooLarge",
    "Torus",
    "TrialHandle",
    "TrialNotFound",
    "Unauthorized",
    "__version__",
]


def test_the_public_names_are_these():
    assert sorted(geodrome.__all__) == PUBLIC


@pytest.mark.parametrize("module", [errors, outcomes])
def test_every_exception_is_public(module):
    defined = {name for name, kind in vars(module).items() if inspect.isclass(kind) and issubclass(kind, Exception)}

    assert defined <= set(geodrome.__all__)


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_class_says_what_it_is(name):
    thing = getattr(geodrome, name)

    assert not inspect.isclass(thing) or inspect.getdoc(thing)


def test_importing_the_client_brings_no_numerics_and_no_web():
    heavy = {
        "torch",
        "numpy",
        "scipy",
        "gpytorch",
        "botorch",
        "pymanopt",
        "fastapi",
        "sqlalchemy",
        "distributed",
        "plotly",
    }
    program = f"import sys, geodrome, geodrome.cli; print(sorted({heavy!r} & set(sys.modules)))"

    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert printed.strip() == "[]"


def test_importing_the_client_takes_less_than_half_a_second_of_cpu():
    program = "import time; start = time.process_time(); import geodrome; print(time.process_time() - start)"

    runs = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True) for _ in range(3)
    ]

    assert min(float(run.stdout) for run in runs) < 0.5
