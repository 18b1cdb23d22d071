"""YAML and JSON as people write them."""

from __future__ import annotations

import math

import pytest
from geodrome.documents import Unreadable, parsed

LAUGHS = "a0: &a0 ha\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10))
"""A billion of them, in a few lines."""


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 1e-3),
        ("1E3", 1000.0),
        ("-2.5e+2", -250.0),
        (".5", 0.5),
        ("3", 3),
        ("010", 10),
        ("+7", 7),
        ("0x1F", 31),
        ("0o17", 15),
        ("-.inf", -math.inf),
        ("true", True),
        ("null", None),
        ("", None),
        ("no", "no"),
        ("on", "on"),
        ("12:30", "12:30"),
        ("2026-11-29", "2026-11-29"),
        ("1_000", "1_000"),
        ('"1e-3"', "1e-3"),
        ("[10, 3e3]", [10, 3000.0]),
        ("{type: rotation}", {"type": "rotation"}),
        ("a: &x {b: 1}\nc:\n  <<: *x\n  d: 2", {"a": {"b": 1}, "c": {"b": 1, "d": 2}}),
        ('{\n\t"tabs": [1,\t2]\n}', {"tabs": [1, 2]}),
        ("on: 1", {"on": 1}),
    ],
)
def test_text_stands_for_what_its_writer_means(text, value):
    found = parsed(text)

    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\nb: 2\na: 3", "line 3, column 1: the key 'a' is there twice"),
        ("x:\n  - {b: 1, b: 1}", "line 2, column 12: the key 'b' is there twice"),
        ('{"a": 1, "a": 2}', "the key 'a' is there twice"),
        ("1: x", "write '1' in quotes"),
        ("? [a]\n: 1", "keys are text"),
        ("a: [1", "line 1"),
        ("a: 1\n---\nb: 2", "another document"),
        ("!!python/object/apply:os.getcwd []", "could not determine a constructor"),
        ("*a", "undefined alias"),
        ("a\x07b", "special characters"),
        ("[" * 100_000, "nested too deeply"),
        ("9" * 5000, "digits"),
        ("a: &a [*a]", "its aliases stand for too much"),
        (f"a: &a {'x' * 1000}\nb: [{'*a, ' * 2000}]", "its aliases stand for too much"),
        (LAUGHS, "its aliases stand for too much"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(text, said):
    with pytest.raises(Unreadable) as refused:
        parsed(text)

    assert said in str(refused.value)
