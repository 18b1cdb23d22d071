"""Every case from the field has a test that names it."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parent

CASES = {
    *("L01", "L02", "L04", "L05", "L07", "L08", "L10", "L11", "L13", "L14"),  # rotation matrices and quaternions
    *("L16", "L17", "L19", "L20"),  # order, layout, units
    *("L22", "L23", "L25", "L26"),  # angles and limits
    *("L28", "L29", "L31", "L32", "L34", "L35"),  # positive definite matrices
    "L37",  # hyperbolic space
    *("L38", "L40", "L41", "L43"),  # costs
    *("L44", "L46", "L47", "L49", "L50"),  # the life of a trial
    *("L52", "L53", "L55", "L56", "L58", "L59"),  # definitions
    *("L61", "L62"),  # kernels
    *("L64", "L65"),  # adapters
}


def test_every_case_is_named_in_the_docstring_of_a_test():
    files = [*TESTS.glob("service/cases/test_*.py"), *TESTS.glob("*/**/test_field_cases.py")]

    named = {case for file in files for case in re.findall(r'"""(L\d\d)\b', file.read_text())}

    assert len(CASES) == 44
    assert named == CASES
