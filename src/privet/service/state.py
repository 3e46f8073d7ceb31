"""Keep the folder of a curator: its accounts, its ledger (or where that is) and the witness.

The witness is that of the ledger.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from privet._atomic import make_private_folder, write_atomically
from privet.accounting.cost import Number, parse_epsilon
from privet.accounting.ledger import Entry, Ledger, SQLiteLedger, Witness, verify
from privet.errors import LedgerError, ParameterError
from privet.queries.release_kinds import LEAST_EPSILON
from privet.service.accounts import Accounts
from privet.service.audit_log.store import (
    AuditLog,
    PostgresAuditLog,
    SQLiteAuditLog,
    verify_stored,
)

if TYPE_CHECKING:
    from privet.service.sql import SQLFunctions

_CONFIG, _ACCOUNTS, _LEDGER, _WITNESS = (
    "curator.json",
    "accounts.sqlite",
    "ledger.sqlite",
    "witness",
)
_AUDIT_LOG, _AUDIT_WITNESS = "audit-log.sqlite", "audit-log-witness"
_VERSION = 1


@dataclass(frozen=True)
class ServiceState:
    """What a curator keeps."""

    path: Path
    accounts: Accounts
    ledger: Ledger
    witness: Witness
    #: What every query must ask for at least.
    least_epsilon: Fraction = LEAST_EPSILON
    #: Another witness, which should be on another disk than home and ledger.
    elsewhere: Witness | None = None

    @property
    def witnesses(self) -> tuple[Witness, ...]:
        """All witnesses of the ledger."""
        return (self.witness,) if self.elsewhere is None else (self.witness, self.elsewhere)

    def check_witnesses(self) -> None:
        """Raise where a witness cannot be written: a charge that it cannot note gets no answer."""
        for witness in self.witnesses:
            witness.check_writable()

    def note(self, entry: Entry) -> None:
        """Remember a line in every witness; raise where the ledger is not what one has seen."""
        for witness in self.witnesses:
            witness.note(self.ledger, entry)

    def verify(self) -> list[str]:
        """Return what is wrong with the ledger, by itself and by what the witnesses have seen."""
        problems = verify(self.ledger, self.witness)
        if self.elsewhere is not None:
            beside = verify(self.ledger, self.elsewhere)
            problems += [f"{self.elsewhere.path}: {one}" for one in beside if one not in problems]
        return problems

    def verify_audit_log(self) -> list[str]:
        """Return what is wrong with the audit log, by itself and by what its witness has seen."""
        return verify_stored(self.audit_log, self.audit_witness)

    @property
    def functions(self) -> SQLFunctions | None:
        """The functions for SQL clients, where the ledger is in PostgreSQL.

        They are installed when they are first needed.
        """
        if isinstance(self.ledger, SQLiteLedger):
            return None
        from privet.accounting.ledger.postgres import PostgresLedger
        from privet.service.sql import SQLFunctions

        return SQLFunctions(self.ledger) if isinstance(self.ledger, PostgresLedger) else None

    def find_functions(self) -> tuple[int, int] | None:
        """Return the version of the SQL functions that are installed, and that of this Privet; None
        where there are none. Installs nothing.
        """
        if isinstance(self.ledger, SQLiteLedger):
            return None
        from privet.accounting.ledger.postgres import PostgresLedger
        from privet.service.sql.installation import VERSION, find_version

        if not isinstance(self.ledger, PostgresLedger):
            return None
        with self.ledger.transaction() as connection:
            installed = find_version(connection)
        return None if installed is None else (installed, VERSION)

    def require_functions(self) -> SQLFunctions:
        """Return the functions for SQL clients, or raise where there are none."""
        functions = self.functions
        if functions is None:
            raise ParameterError(
                "SQL clients can ask where the ledger is in PostgreSQL: init the curator with "
                "--ledger postgresql://..."
            )
        return functions

    @cached_property
    def audit_log(self) -> AuditLog:
        """The audit log: where the ledger is in PostgreSQL beside it, else a file in the home.

        It is made when it is first needed.
        """
        if not isinstance(self.ledger, SQLiteLedger):
            from privet.accounting.ledger.postgres import PostgresLedger

            if isinstance(self.ledger, PostgresLedger):
                return PostgresAuditLog(self.ledger)
        return SQLiteAuditLog(self.path / _AUDIT_LOG)

    @cached_property
    def audit_witness(self) -> Witness:
        """The witness of the audit log."""
        return Witness(self.path / _AUDIT_WITNESS, "audit log")

    @classmethod
    def make(
        cls,
        path: str | PathLike[str],
        ledger: str | None = None,
        least_epsilon: Number = LEAST_EPSILON,
    ) -> tuple[ServiceState, str]:
        """Make a new folder, and return it with the owner's token.

        ``ledger`` is a postgresql:// URL; by default the ledger is an SQLite file in the home. All
        that can be wrong is looked at first.
        """
        place, least = Path(path), parse_epsilon("least_epsilon", least_epsilon)
        if place.exists() and (not place.is_dir() or any(place.iterdir())):
            raise ParameterError(
                f"{place} exists and is not an empty folder; a curator needs a folder of its own"
            )
        if not place.parent.is_dir():
            raise ParameterError(f"cannot make {place}: the folder {place.parent} does not exist")
        if ledger is not None:
            _open_ledger(place, ledger)
        there = place.exists()
        make_private_folder(place)
        try:
            # first, since it fails where somebody else was faster
            accounts, token = Accounts.make(place / _ACCOUNTS)
            opened = _open_ledger(place, ledger)
            # Written last: a home without it was not finished.
            config = {
                "privet": "curator",
                "version": _VERSION,
                "ledger": ledger or _LEDGER,
                "least_epsilon": str(least),
            }
            write_atomically(place / _CONFIG, json.dumps(config, indent=2).encode(), private=True)
        except FileExistsError:  # what is there is not ours to remove
            raise LedgerError(f"cannot make {place}: somebody else makes something there") from None
        except BaseException as error:
            _remove_unfinished(place, itself=not there)
            if isinstance(error, OSError):
                raise LedgerError(f"cannot make {place}: {error.strerror}") from None
            raise
        return cls(place, accounts, opened, Witness(place / _WITNESS), least), token

    @classmethod
    def open(cls, path: str | PathLike[str]) -> ServiceState:
        """Open a folder that was made before."""
        place = Path(path)
        try:
            config = json.loads((place / _CONFIG).read_text(encoding="utf-8"))
            version, ledger = config["version"], config["ledger"]
            # a home of 0.1 does not say
            least = parse_epsilon("least_epsilon", config.get("least_epsilon", LEAST_EPSILON))
        except FileNotFoundError:
            raise ParameterError(
                f"{place} is no home of a curator; make one with 'privet curator init --home "
                f"{place}'"
            ) from None
        except (
            OSError,
            ValueError,
            KeyError,
            TypeError,
            AttributeError,
            RecursionError,
            ParameterError,
        ) as error:
            raise LedgerError(f"cannot read {place / _CONFIG}: {error}") from None
        if version != _VERSION:
            raise LedgerError(
                f"{place / _CONFIG} has version {version!r}, this Privet reads version {_VERSION}"
            )
        if not isinstance(ledger, str):  # no place at all would be that of a new ledger
            raise LedgerError(f"{place / _CONFIG} must say where the ledger is")
        if ledger == _LEDGER and not (place / _LEDGER).is_file():
            raise LedgerError(
                f"the ledger {place / _LEDGER} is gone; put it back, a new one would forget what "
                "was spent"
            )
        return cls(
            place,
            Accounts(place / _ACCOUNTS),
            _open_ledger(place, ledger),
            Witness(place / _WITNESS),
            least,
        )


def _remove_unfinished(place: Path, *, itself: bool) -> None:
    """What was made of a home that could not be finished; nothing was asked there yet."""
    with suppress(OSError):
        for entry in place.iterdir():
            entry.unlink()
        if itself:
            place.rmdir()


def _open_ledger(place: Path, ledger: str | None) -> Ledger:
    if ledger is None or ledger == _LEDGER:
        return SQLiteLedger(place / _LEDGER)
    if not ledger.startswith(("postgresql://", "postgres://")):
        raise ParameterError(
            "a ledger is an SQLite file in the curator's home (by default), or a postgresql:// URL"
        )
    from privet.accounting.ledger.postgres import PostgresLedger

    return PostgresLedger(ledger)
