"""Define options that several of these commands share, and open the keys and tables they name."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from privet.errors import ParameterError

if TYPE_CHECKING:
    from privet.outsource.cipher import KeyRing
    from privet.outsource.client import OutsourcedTable

PASSPHRASE = "PRIVET_PASSPHRASE"  # noqa: S105 - the name of a variable
NEW_PASSPHRASE = "PRIVET_NEW_PASSPHRASE"  # noqa: S105 - the name of a variable
KEY_FILE = typer.Option(..., "--key-file", "-k", help="The client's key file.")
URL = typer.Argument(help="The address of the server: https://HOST[:PORT].")
TOKEN_FILE = typer.Option(
    None, "--token-file", help="The file with the client's token; by default PRIVET_TOKEN has it."
)
CA = typer.Option(
    None, "--ca", help="A file with the certificates to trust (PEM), in place of the usual ones."
)
TREE = typer.Option(
    None, "--tree", help="The base tree, by the beginning of its id; by default the newest."
)


def read_keys(path: Path) -> KeyRing:
    """Read the keys of a file."""
    return unlock_keys(path)[0]


def unlock_keys(path: Path) -> tuple[KeyRing, str | None]:
    """Read the keys of a file, and its passphrase from the environment or the terminal."""
    from privet.outsource.cipher import KeyRing

    passphrase = os.environ.get(PASSPHRASE)
    if passphrase is None and KeyRing.needs_passphrase(path) and sys.stdin.isatty():
        passphrase = typer.prompt(f"passphrase of {path}", hide_input=True, err=True)
    return KeyRing.read(path, passphrase), passphrase


@contextmanager
def locked(path: Path) -> Iterator[tuple[KeyRing, str | None]]:
    """Read the keys of a file and its passphrase, while no other command changes the file."""
    import fcntl

    lock = path.with_name(f".{path.name}.lock")
    try:
        handle = os.open(lock, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise ParameterError(f"cannot use the key file {path}: {error.strerror}") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield unlock_keys(path)
    finally:
        os.close(handle)  # the file stays: whoever waits for it has it open


def ask_new_passphrase(variable: str = PASSPHRASE) -> str:
    """Return a passphrase from the environment, or ask for it twice."""
    if (given := os.environ.get(variable)) is not None:
        return given
    if not sys.stdin.isatty():
        raise ParameterError(f"nobody is there to type a passphrase; set {variable}")
    return str(typer.prompt("new passphrase", hide_input=True, confirmation_prompt=True, err=True))


def connect_to_table(
    url: str,
    token_file: Path | None,
    key_file: Path | None,
    ca: Path | None,
    anatomy: Path | None = None,
) -> OutsourcedTable:
    """Connect to the table at its server."""
    from privet.cli.asking import token_of
    from privet.client.address import find_token
    from privet.outsource.anatomy import Anatomy
    from privet.outsource.client import OutsourcedTable

    ring = None if key_file is None else read_keys(key_file)
    token = find_token(None if token_file is None else token_of(token_file))
    return OutsourcedTable(
        url, token, ring, anatomy=None if anatomy is None else Anatomy.read(anatomy), ca=ca
    )


def rows_of(place: str) -> Any:
    """Read all rows of a table that the caller holds."""
    from privet.tables.open import read_public

    return read_public(place)
