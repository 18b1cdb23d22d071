"""The page about the command line names every command that there is."""

from __future__ import annotations

import re
from pathlib import Path

import typer
from geodrome.cli.root import command_line
from geodrome.mounts import MOUNTS

PAGE = (Path(__file__).parents[3] / "docs" / "command-line.md").read_text()


def leaves(command, words):
    """The words of each command that does something."""
    subcommands = getattr(command, "commands", None)
    if subcommands is None:
        return [" ".join(words)]
    return [leaf for name, one in subcommands.items() for leaf in leaves(one, [*words, name])]


def options(command):
    """Every long option of a command and of those within it."""
    found = {name for one in command.params for name in [*one.opts, *one.secondary_opts] if name.startswith("--")}
    return found.union(*(options(one) for one in getattr(command, "commands", {}).values()))


def test_the_table_has_each_command_once():
    commands = leaves(typer.main.get_command(command_line(MOUNTS)), ["geodrome"])

    listed = re.findall(r"^\| `(geodrome [a-z ]+)", PAGE, flags=re.MULTILINE)

    assert [command.strip() for command in sorted(listed)] == sorted(commands)


def test_the_page_speaks_of_no_option_that_there_is_not():
    known = options(typer.main.get_command(command_line(MOUNTS)))

    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", PAGE)) <= known | {"--help"}
