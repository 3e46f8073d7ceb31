"""Every command explains itself, and is in the reference."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import privet
from privet.cli.app import app

REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "command-line.md"


def walk(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command with its path, groups included."""
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from walk(inner, (*path, name))


COMMANDS = dict(walk(typer.main.get_command(app)))


def test_every_command_is_registered() -> None:
    leaves = {
        " ".join(path) for path, command in COMMANDS.items() if not hasattr(command, "commands")
    }
    expected = {
        "demo",
        "count",
        "schema check",
        "schema draft",
        "datasets list",
        "datasets get",
        "ledger show",
        "ledger verify",
        "ledger cap",
    }
    assert leaves >= expected


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_has_help_with_a_sentence(path: tuple[str, ...]) -> None:
    help_text = (COMMANDS[path].help or "").strip()
    sentence = help_text.partition("\n\n")[0]
    assert len(sentence.split()) >= 3
    assert sentence.endswith(".")
    ran = CliRunner().invoke(app, [*path, "--help"])
    assert ran.exit_code == 0
    assert " ".join(sentence.split()[:3]) in " ".join(ran.output.split())


@pytest.mark.parametrize("path", [path for path in COMMANDS if path], ids=" ".join)
def test_every_option_has_help(path: tuple[str, ...]) -> None:
    for parameter in COMMANDS[path].params:
        if parameter.name != "help":
            assert getattr(parameter, "help", None), (
                f"{' '.join(path)} {parameter.name} has no help"
            )


def test_the_version_is_that_of_the_package() -> None:
    assert CliRunner().invoke(app, ["--version"]).output == f"privet {privet.__version__}\n"


def test_an_unknown_command_is_exit_code_2() -> None:
    assert CliRunner().invoke(app, ["nope"]).exit_code == 2
    assert "No such command" in CliRunner().invoke(app, ["reproduce", "all"]).output


def test_every_command_is_in_the_reference() -> None:
    text = REFERENCE.read_text(encoding="utf-8") if REFERENCE.exists() else ""
    missing = [
        " ".join(("privet", *path))
        for path in COMMANDS
        if path and " ".join(("privet", *path)) not in text
    ]
    assert not missing, f"docs/reference/command-line.md does not mention: {', '.join(missing)}"
