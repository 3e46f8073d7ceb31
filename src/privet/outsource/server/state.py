"""Keep the folder of a server: its accounts, its store or where that is, and its limits."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

from privet._atomic import make_private_folder, write_atomically
from privet.errors import OutsourceError, ParameterError
from privet.outsource.server.roles import Role, Roles
from privet.outsource.store.base import Store, StoreLimits
from privet.outsource.store.open import make_store, open_store
from privet.service.accounts import Accounts
from privet.service.limits import HttpLimits, limit

_CONFIG, _ACCOUNTS, _STORE = "server.json", "accounts.sqlite", "store.duckdb"
_ROLES = "roles.sqlite"
_KIND, _VERSION = "outsource server", 1


@dataclass(frozen=True)
class ServerState:
    """What a server keeps.

    The analysts of its accounts are its clients; ``place`` may hold a password.
    """

    path: Path
    accounts: Accounts
    place: str

    def __repr__(self) -> str:
        return f"ServerState({str(self.path)!r})"

    @property
    def roles(self) -> Roles:
        """What the tokens of clients are good for."""
        return Roles(self.path / _ROLES)

    def add_client(self, name: str, role: Role = "key") -> str:
        """Let a client in, and return their token."""
        self.accounts.check_new_analyst(name)
        self.roles.set(name, role)  # first: the token is never good for more
        return self.accounts.add_analyst(name)

    def set_role(self, name: str, role: Role) -> None:
        """Change what a client's token is good for, from the next request on."""
        if name not in self.accounts.analysts():
            raise ParameterError(f"there is no client {name!r}; let them in with 'client add'")
        self.roles.set(name, role)

    def store(self) -> Store:
        """Open the store.

        A DuckDB file is one process's at a time; the accounts can be changed meanwhile.
        """
        return open_store(self.path / _STORE if self.place == _STORE else self.place)

    @classmethod
    def make(
        cls, path: str | PathLike[str], folder: str | PathLike[str], store: str | None = None
    ) -> ServerState:
        """Make a new folder for the table of an owner, as a whole or not at all.

        ``store`` is a postgresql:// URL, with ``schema=`` where several share a database; by
        default the store is a file in the home.
        """
        home = Path(path)
        if home.exists() and (not home.is_dir() or any(home.iterdir())):
            raise ParameterError(
                f"{home} exists and is not an empty folder; a server needs a folder of its own"
            )
        if not home.absolute().parent.is_dir():
            raise ParameterError(f"cannot make {home}: the folder {home.parent} does not exist")
        if store is not None and not store.startswith(("postgresql://", "postgres://")):
            raise ParameterError(
                "a store is a DuckDB file in the server's home (by default), or a postgresql:// URL"
            )
        there = home.exists()
        make_private_folder(home)
        try:
            # first, since it fails where somebody else was faster
            accounts, _ = Accounts.make(home / _ACCOUNTS)
            make_store(home / _STORE if store is None else store, folder)
            # Written last: a home without it was not finished.
            config = {"privet": _KIND, "version": _VERSION, "store": store or _STORE}
            write_atomically(home / _CONFIG, json.dumps(config, indent=2).encode(), private=True)
        except FileExistsError:  # what is there is not ours to remove
            raise OutsourceError(
                f"cannot make {home}: somebody else makes a server there"
            ) from None
        except BaseException:
            with suppress(OSError):
                for entry in home.iterdir():
                    entry.unlink()
                if not there:
                    home.rmdir()
            raise
        return cls(home, accounts, store or _STORE)

    @classmethod
    def open(cls, path: str | PathLike[str]) -> ServerState:
        """Open a folder that was made before.

        Its store is not opened yet.
        """
        home = Path(path)
        try:
            config = json.loads((home / _CONFIG).read_text(encoding="utf-8"))
            kind, version, store = config["privet"], config["version"], config["store"]
        except FileNotFoundError:
            raise ParameterError(
                f"{home} is no home of a server; make one with 'privet outsource init'"
            ) from None
        except (OSError, ValueError, KeyError, TypeError):
            raise OutsourceError(f"cannot read {home / _CONFIG}") from None
        if kind != _KIND or version != _VERSION or not isinstance(store, str):
            raise OutsourceError(f"{home / _CONFIG} is not of a server that this Privet can run")
        return cls(home, Accounts(home / _ACCOUNTS), store)


# Limits, so that no client can starve the others or fill the server.


@dataclass(frozen=True)
class ServerLimits(HttpLimits):
    """What the server allows. Some limits that every server has are wider here."""

    body: int = 1 << 25
    rate: float = 1000.0
    burst: float = 4000.0
    at_once_each: int = 8
    patience: float = 60.0
    sealed: int = limit(1 << 24, "bytes of a sealed object", "413")
    inline: int = limit(
        1 << 20,
        "bytes of all sealed sub-trees that come along with the leaves that rows reach",
        "the others are left out",
    )
    rows: int = limit(10_000, "rows of one request for predictions, or of one page", "422")
    page_values: int = limit(
        1 << 18, "sensitive values on one page, counted once for each row", "the page ends"
    )
    nodes: int = limit(
        1 << 18, "nodes of a base tree while it grows", "it is grown no further there"
    )
    room: StoreLimits = field(default_factory=StoreLimits)  # how many trees and objects
