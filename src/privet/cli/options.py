"""Define the options of commands that ask about private rows, and check the files they name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from privet.errors import ParameterError
from privet.tables.sources.registry import file_of, load_registry

if TYPE_CHECKING:
    from privet.learners.base import PrivateClassifier


def _name_places() -> str:
    """Return how tables are written, in words that fit into a narrow terminal."""
    named = [
        f"{source.schemes[0]}://..." if source.schemes else source.example
        for source in load_registry().sources
        if source.has_places
    ]
    # brackets would be read as styles
    return f"{', '.join(named)} ('privet sources' has examples)".replace("[", r"\[")


PLACES = _name_places()
TABLE = typer.Argument(help=f"The table: {PLACES}; or the address of a curator: https://HOST.")
ROWS = typer.Argument(help=f"The table: {PLACES}.")
SCHEMA = typer.Option(
    None,
    "--schema",
    "-s",
    help="The public schema of the table (JSON). A curator at an address has its own.",
)
BUDGET = typer.Option(
    None,
    "--budget",
    help="The table's total epsilon, set the first time; without it you are asked, or 10 is taken "
    "and said.",
)
LEDGER = typer.Option(None, "--ledger", help="The ledger file; by default beside the table.")
ANALYST = typer.Option(None, "--analyst", help="Who asks (by default the owner).")
DATASET = typer.Option(
    None,
    "--dataset",
    help="Of a curator at an address: the data set, if the token is granted several.",
)
TOKEN_FILE = typer.Option(
    None,
    "--token-file",
    help="The file with the token for a curator at an address; by default PRIVET_TOKEN has it.",
)
CA = typer.Option(
    None,
    "--ca",
    envvar="PRIVET_CA",
    help="Of a curator at an address: the file with the certificates (PEM) to trust, in place of "
    "the system's and of those in SSL_CERT_FILE.",
)
KEY = typer.Option(
    None,
    "--key",
    help="Names the question: sent again with the same key, it gets the same answer, and is "
    "charged once.",
)
JSON = typer.Option(False, "--json", help="Print JSON for machines.")
TEST_SIZE = typer.Option(
    None,
    "--test-size",
    help="Keep this share of the people, or rows, apart for testing, such as 0.2: 'privet fit' "
    "takes the others, 'privet evaluate' these.",
)
SPLIT_KEY = typer.Option(
    "1", "--split-key", help="With --test-size: another key is another split; public."
)
FORCE = typer.Option(False, "--force", help="Replace a file that is there already.")


# Where files are by default.

_LEDGER = ".ledger.sqlite"
_SQLITE = b"SQLite format 3\0"


def ledger_beside(table: str) -> Path:
    """Return the ledger that lies beside a table's file, however the file is reached."""
    path = file_of(table)
    if path is None:
        raise ParameterError(
            "a table at a server has no file beside which a ledger could lie; say where with "
            "--ledger FILE"
        )
    return path.with_name(path.name + _LEDGER)


def check_apart(
    written: Iterable[Path], table: str | None, ledger: Path | None, *read: Path | None
) -> None:
    """Raise where a file that a command writes is one that it reads: the private table, its ledger,
    or another.
    """
    kept: list[tuple[Path, str]] = [
        (path, "a file that the command reads") for path in read if path is not None
    ]
    if ledger is not None:
        kept.append((ledger, "the ledger"))
    file = None if table is None else file_of(table)
    if table is not None and file is not None:
        kept += [
            (file, "the private table itself"),
            (ledger_beside(table), "the ledger of the private table"),
        ]
    for path in written:
        for other, what in kept:
            if _is_same_file(path, other):
                raise ParameterError(f"{path} is {what}; write elsewhere")


def check_no_table(path: Path) -> None:
    """Raise where a file to be written over is a table that has been asked about, or a ledger."""
    if path.with_name(path.name + _LEDGER).exists():
        raise ParameterError(f"{path} is a private table: a ledger lies beside it; write elsewhere")
    if _begins_with(path, _SQLITE):
        raise ParameterError(f"{path} is a database, such as a ledger; write elsewhere")


def check_public(rows: Path, table: str, hint: str) -> None:
    """Raise where rows that are taken as public are those of a private table.

    ``hint`` says what to do instead.
    """
    file = file_of(table)
    if rows.with_name(rows.name + _LEDGER).exists() or (
        file is not None and _is_same_file(rows, file)
    ):
        raise ParameterError(f"{rows} is taken as public here, and is a private table: {hint}")


def _begins_with(path: Path, mark: bytes) -> bool:
    try:
        if not path.is_file():  # a pipe would wait for somebody
            return False
        with path.open("rb") as file:
            return file.read(len(mark)) == mark
    except OSError:  # it must not be read
        return False


def _is_same_file(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve() or (
        one.exists() and other.exists() and one.samefile(other)
    )


# Learners by their names on the command line.

NAMES = (
    "privet",
    "gibbs-tree",
    "gibbs-boost",
    "random-trees",
    "greedy-tree",
    "forest",
    "noisy-id3",
    "additive",
)
#: Parameters that have options of their own, or none on the command line.
_NOT_SET = {"epsilon", "schema", "random_state"}


def settings_of(name: str) -> list[str]:
    """Return the settings that a learner of this name takes with --set."""
    return sorted(set(_learner_kind(name)().get_params()) - _NOT_SET)


def _learner_kind(name: str) -> Any:
    from privet import learners
    from privet._validate import check_name

    kinds: dict[str, Any] = {
        "privet": learners.PrivetClassifier,
        "gibbs-tree": learners.GibbsTreeClassifier,
        "gibbs-boost": learners.GibbsBoostClassifier,
        "random-trees": learners.RandomTreesClassifier,
        "greedy-tree": learners.GreedyTreeClassifier,
        "forest": learners.ForestClassifier,
        "noisy-id3": learners.NoisyID3Classifier,
        "additive": learners.AdditiveClassifier,
    }
    return kinds[check_name("--learner", name, kinds)]


def learner_named(name: str, epsilon: str, settings: list[str]) -> PrivateClassifier:
    """Return a learner with its settings, each given as NAME=VALUE."""
    from privet._validate import suggest

    kind = _learner_kind(name)
    called = "the default learner" if name == NAMES[0] else f"the {name} learner"
    allowed = settings_of(name)
    chosen: dict[str, Any] = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        key = key.replace("-", "_")
        if not equals:
            raise ParameterError(
                f"--set {setting}: write it as NAME=VALUE; {called} takes: {', '.join(allowed)}"
            )
        if key not in allowed:
            meant = suggest(key, allowed)
            raise ParameterError(
                f"--set {setting}: {called} has no setting {key!r}; it takes: {', '.join(allowed)}"
                + (f"; {meant}" if meant else "")
            )
        chosen[key] = _read_value(text)
        if key in kind._parameters:
            kind._parameters[key].check(key, chosen[key], f"--set {setting}")
    learner: PrivateClassifier = kind(epsilon, **chosen)
    return learner


def _read_value(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
