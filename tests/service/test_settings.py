"""Every setting is in the manual, with its default and its meaning, and from nowhere else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from geodrome_service.api.rules import RULES
from geodrome_service.settings import Settings

ROOT = Path(__file__).parents[2]
MANUAL = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
SOURCES = ("client/geodrome", "service/geodrome_service", "robot_adapters/geodrome_robots")
OF_THE_CLIENT = {"GEODROME_URL", "GEODROME_KEY"}


def rows(heading: str) -> list[tuple[str, ...]]:
    """The table below a heading, without its head."""
    _, _, below = MANUAL.partition(f"## {heading}\n")
    section = below.partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines[2:]]


def shown(default: object) -> str:
    if default is None or default == ():
        return "not set"
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"


def test_every_setting_is_in_the_manual_as_it_is_in_the_code():
    expected = {
        (f"`GEODROME_{name.upper()}`", shown(field.default), field.description)
        for name, field in Settings.model_fields.items()
    }

    assert set(rows("Settings")) == expected


def test_every_variable_that_the_code_speaks_of_is_in_the_manual():
    text = "\n".join(path.read_text(encoding="utf-8") for folder in SOURCES for path in (ROOT / folder).rglob("*.py"))

    named = set(re.findall(r"GEODROME_[A-Z_]*[A-Z]", text))

    assert named >= OF_THE_CLIENT
    assert all(f"`{name}`" in MANUAL for name in named)


def test_the_roles_are_in_the_manual_as_they_are_in_the_code():
    expected = {(f"`{rule.method} {rule.template}`", rule.role or "none") for rule in RULES}

    assert {(call, role) for call, role, *_ in rows("Who may do what")} == expected


def test_a_file_of_settings_is_read_and_the_environment_goes_first(tmp_path, monkeypatch):
    (tmp_path / ".env").write_text("GEODROME_PORT=9000\nGEODROME_RATE_BURST=7\nGEODROME_KEY=not-mine\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GEODROME_PORT", "9001")
    monkeypatch.setenv("GEODROME_CORS_ORIGINS", "https://a.example, http://b.example:3000")

    found = Settings()

    assert (found.port, found.rate_burst) == (9001, 7)
    assert found.cors_origins == ("https://a.example", "http://b.example:3000")


@pytest.mark.parametrize(
    "wrong",
    [{"rate_per_s": 0}, {"rate_burst": 0}, {"body_limit_mib": 0}, {"log_level": "loud"}, {"log_format": "xml"}],
)
def test_a_setting_that_breaks_a_rule_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Settings(**wrong)
