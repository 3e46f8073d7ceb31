"""Make the page of all commands from the commands, each time that the site is built."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click
import typer.main
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from rich.text import Text

from privet.cli.app import app

_TOP = """# Every command and its options

Made from the commands themselves; `privet COMMAND --help` shows the same.
[The commands](command-line.md) has them in one table, by what you want to do.
"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    files.append(File.generated(config, "reference/commands.md", content=write_page()))
    return files


def write_page() -> str:
    """Return the whole page as Markdown, a section for each command."""
    return _TOP + "".join(_describe(*found) for found in list_commands())


def list_commands() -> Iterator[tuple[str, click.Command]]:
    """Return every command that is not hidden, with the words that call it."""
    return _walk("privet", typer.main.get_command(app))


def _walk(words: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    members = getattr(command, "commands", None)
    if members is None:
        yield words, command
        return
    for name, member in members.items():
        if not member.hidden:
            yield from _walk(f"{words} {name}", member)


def _describe(words: str, command: click.Command) -> str:
    shown = [part for part in command.params if not getattr(part, "hidden", False)]
    arguments = [part for part in shown if part.param_type_name == "argument"]
    options = [part for part in shown if part.param_type_name == "option"]
    called = [words, *map(_call, arguments), *(["[OPTIONS]"] if options else [])]
    usage = " ".join(called)
    rows = [(_call(part), _help_of(part)) for part in arguments]
    rows += [(_spell(part), _help_of(part)) for part in options]
    table = "".join(f"| `{name}` | {told} |\n" for name, told in rows)
    return f"\n## {words}\n\n```text\n{usage}\n```\n\n{_read_help(command.help or '')}\n\n" + (
        "| | |\n|---|---|\n" + table if rows else ""
    )


def _call(argument: click.Parameter) -> str:
    name = (argument.name or "").upper() + ("..." if argument.nargs != 1 else "")
    return name if argument.required else f"[{name}]"


def _spell(option: click.Parameter) -> str:
    names = ", ".join([*option.opts, *option.secondary_opts])
    return names if getattr(option, "is_flag", False) else f"{names} {option.type.name.upper()}"


def _help_of(part: click.Parameter) -> str:
    told = _plain(getattr(part, "help", None) or "")
    if part.required and part.param_type_name == "option":
        told += " Required."
    return _escape(told.strip())


def _read_help(told: str) -> str:
    """Return help as Markdown: what Rich prints in bold is a command here."""
    paragraphs = re.split(r"\n\s*\n", told.replace("\b", "").replace("\f", ""))
    return "\n\n".join(_mark(" ".join(paragraph.split())) for paragraph in paragraphs)


def _mark(told: str) -> str:
    parts = re.split(r"\[bold\](.*?)\[/bold\]", told)
    return "".join(
        f"`{_plain(part)}`" if number % 2 else _escape(_plain(part))
        for number, part in enumerate(parts)
    )


def _plain(told: str) -> str:
    return Text.from_markup(told).plain


def _escape(told: str) -> str:
    return re.sub(r"([|<>*_\[\]])", r"\\\1", " ".join(told.split()))
