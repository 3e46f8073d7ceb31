"""Call the SQL functions of one data set, with a login that can do nothing else."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from uuid import UUID

from privet._types import Ints, Json
from privet.accounting.cost import NOTHING, Cost, Unit, parse_fraction
from privet.accounting.ledger.postgres import parse_refusal
from privet.client.session import Charged
from privet.domain import Schema
from privet.errors import (
    AccessError,
    MissingDependency,
    ParameterError,
    PrivetError,
    QuestionError,
    SchemaError,
    TableError,
    Unavailable,
)
from privet.text import escape_invisible, hide_password, shorten

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[tuple[Any, ...]]

#: How often a call is made anew where the connection was lost or somebody else came first. Calls
#: are safe to repeat: what is charged or reserved has a key.
_TRIES = 4


class Database:
    """A login at a database. One call at a time; a lost connection is made anew."""

    def __init__(self, url: str) -> None:
        try:
            import psycopg
        except ImportError:
            raise MissingDependency("psycopg", "postgres", "asking a database") from None
        self._psycopg, self._conninfo = psycopg, url
        self.url = hide_password(url)
        self._lock = threading.Lock()
        self._connection: Connection | None = None
        self._closed = False
        self.call("SELECT 1")

    def close(self) -> None:
        """End the connection."""
        with self._lock:
            self._closed = True
            if self._connection is not None:
                self._connection.close()

    def call(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run one statement as a transaction of its own, and return its rows."""
        psycopg = self._psycopg
        with self._lock:
            for tried in range(1, _TRIES + 1):
                try:
                    connection = self._connect()
                    return connection.execute(sql.encode(), values).fetchall()
                except (psycopg.OperationalError, psycopg.errors.LockNotAvailable) as error:
                    if tried == _TRIES or (self._connection is None and tried > 1):
                        raise self._explain(error) from None
                    if self._connection is not None and self._connection.closed:
                        self._connection = None
                    time.sleep(0.1 * 2**tried)  # nothing is charged, or it is under the same key
                except psycopg.Error as error:
                    raise self._explain(error) from None
        raise AssertionError

    def _connect(self) -> Connection:
        if self._closed:
            raise ParameterError("this connection is closed; connect again")
        if self._connection is None or self._connection.closed:
            self._connection = None
            self._connection = self._psycopg.connect(
                self._conninfo,
                autocommit=True,
                cursor_factory=self._psycopg.RawCursor,
                prepare_threshold=None,
                connect_timeout=10,
                client_encoding="utf8",
            )
        return self._connection

    def _explain(self, error: psycopg.Error) -> PrivetError:
        refusal = parse_refusal(error)
        if refusal is not None:
            return refusal
        told = error.diag.message_primary or str(error).partition("\n")[0] or type(error).__name__
        said = shorten(escape_invisible(told), 2000)
        match error.sqlstate:
            case "PV005":
                return AccessError(said)
            case "PV006":
                return QuestionError(said)
            case "PV007":
                return TableError(said)
            case "42501" | "3F000" | "42883" | "28000" | "28P01":
                return AccessError(
                    f"{self.url} has no Privet functions of this version for this login ({said}); "
                    "ask its owner for a role (privet curator analyst role), or for an upgrade "
                    "(privet sql upgrade)"
                )
        return Unavailable(f"the database {self.url} did not answer ({said})")


class SQLSession:
    """What is public about a data set in a database, the analyst's account, and asking."""

    reserves = True
    moved = 0

    def __init__(self, database: Database, dataset: str | None) -> None:
        self.link = database
        listed = database.call("SELECT dataset, unit, account, schema FROM privet.my_datasets()")
        names = [row[0] for row in listed]
        if dataset is None and len(names) > 1:
            raise ParameterError(
                "dataset must be one of those that you are granted: "
                f"{', '.join(map(escape_invisible, names))}"
            )
        chosen = [row for row in listed if dataset in (None, row[0])]
        if not chosen:
            raise AccessError(
                f"{database.url} grants you no data set"
                + ("" if dataset is None else f" {dataset!r}")
            )
        self.dataset, unit, self.account, schema = chosen[0]
        if not schema:
            raise SchemaError(
                f"data set {self.dataset!r} was added by an older Privet, without its schema; its "
                "owner can add it again"
            )
        if unit not in ("epsilon", "rho"):
            raise AccessError(f"data set {self.dataset!r} has no budget yet; ask its owner")
        self.unit: Unit = unit
        self.schema = Schema.from_json(json.loads(schema))
        self.private, self.reason = True, ""  # schemas that were read off the data are refused
        self.receipts: dict[str, None] = {}

    # -- the account -------------------------------------------------------------------------------

    @property
    def left(self) -> Fraction:
        """What the analyst can still spend, as of now."""
        rows = self.link.call("SELECT exactly FROM privet.budget($1)", [self.dataset])
        return min(parse_fraction(row[0]) for row in rows)

    @property
    def spent(self) -> Cost:
        """What the analyst has spent, as of now."""
        return sum((entry.cost for entry in self.history()), NOTHING)

    def history(self) -> Iterator[Charged]:
        """Return the analyst's charges, oldest first."""
        rows = self.link.call(
            "SELECT number, time::text, what, epsilon, rho, key, answered FROM privet.my_history() "
            "WHERE dataset = $1",
            [self.dataset],
        )
        for number, when, what, epsilon, rho, key, answered in rows:
            cost = Cost(parse_fraction(epsilon) if epsilon else None, parse_fraction(rho))
            yield Charged(number, when, self.dataset, "", what, cost, key, answered=answered)

    def snapshot(self, reservation: str = "") -> AbstractContextManager[None]:  # noqa: ARG002
        """Do nothing: each answer is about the rows as they are when it is asked for."""
        return nullcontext()

    def reserve(self, body: Json) -> Json:
        """Set an amount aside."""
        epsilon: str | None = body.get("epsilon")
        rho: str | None = body.get("rho")
        if rho is None:  # it follows
            rho = str(parse_fraction(str(epsilon)) ** 2 / 2)
        given = [self.dataset, epsilon, rho, body["what"], body["key"]]
        self.link.call("SELECT privet.reserve($1, $2, $3, $4, $5)", given)
        return {}

    def close_reservation(self, key: str, why: str, model: str) -> None:
        """End a reservation."""
        self.link.call("SELECT privet.close_reservation($1, $2, $3)", [key, why, model])

    def reservation(self, key: str) -> Json:
        """Return a reservation; empty where there is none."""
        rows = self.link.call(
            "SELECT state, reserved, charged FROM privet.my_reservations() WHERE key = $1 AND "
            "dataset = $2",
            [key, self.dataset],
        )
        return dict(zip(("state", "reserved", "charged"), rows[0], strict=True)) if rows else {}

    # -- asking ------------------------------------------------------------------------------------

    def ask(self, function: str, arguments: Mapping[str, Any], types: Mapping[str, str]) -> Ints:
        """Ask for a ticket and then, in a transaction of its own, for its numbers."""
        import numpy as np

        given = {"dataset": self.dataset, **arguments}
        places = ", ".join(
            f"{name} => ${place + 1}::{types.get(name, 'text')}" for place, name in enumerate(given)
        )
        sql = f"SELECT privet.{function}({places})"  # names of this package only
        ((ticket,),) = self.link.call(sql, [_written(value) for value in given.values()])
        return np.array(self._numbers(ticket), dtype=np.int64)

    def _numbers(self, ticket: UUID) -> list[int]:
        sql = "SELECT privet.numbers($1), privet.receipt($1)"
        ((numbers, receipt),) = self.link.call(sql, [ticket])
        self.receipts[str(receipt)] = None
        return list(numbers)


def _written(value: Any) -> Any:
    """Return an array as PostgreSQL's text, which is faster than number by number."""
    if isinstance(value, str | int):
        return str(value)
    listed = value.tolist() if hasattr(value, "tolist") else value
    return f"{{{','.join(map(str, listed))}}}"
