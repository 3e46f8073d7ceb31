"""Keep a durable ledger in one SQLite file, shared by processes of one machine."""

from __future__ import annotations

import shutil
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from os import PathLike
from pathlib import Path

from privet._atomic import create_private
from privet._planted import follow_own_links
from privet.accounting.cost import NOTHING, Budget, Cost, parse_fraction
from privet.accounting.ledger.archive import (
    Keep,
    choose_answers,
    make_note,
    require_answer,
)
from privet.accounting.ledger.base import check_cap, check_cost, fit_charge, require_same_charge
from privet.accounting.ledger.group import GroupCommit
from privet.accounting.ledger.journal import (
    Books,
    Entry,
    JournalEntry,
    cap_line,
    charge_line,
    close_line,
    current_or_latest_time,
    format_cost,
    new_identity,
    parse_particulars,
    reserve_line,
)
from privet.accounting.ledger.relation import Relation, check_relation, check_stated, settle
from privet.accounting.ledger.reservations import (
    Reservation,
    State,
    Wanted,
    check_asked,
    check_charge,
    check_close,
    check_why,
    committed_by,
    describe_closing,
    format_charge_particulars,
    held_by,
    idle_since,
)
from privet.accounting.ledger.sqlite_files import (
    VERSION,
    SQLiteConnections,
    make_tables,
    upgrade_accounts,
    upgrade_journal,
)
from privet.accounting.ledger.verify import problems_of
from privet.errors import LedgerError, ParameterError, PrivetError

#: Bytes that must be free before a ledger counts as writable.
_LEAST_ROOM = 1 << 24
_EVERYONE = ""  # stands for "no analyst" in the tables; analysts have non-empty names

_APPLICATION_ID = 0x50726976  # "Priv"
_RESTORE = "put a backup in its place, and lower the caps by what was spent since it was made"
_COLUMNS = "number, time, kind, dataset, analyst, what, epsilon, rho, key, request, hash, more"
_BESIDE = ("-wal", "-shm", "-journal")  # files that SQLite makes or reads with a database
_STATE = "unit, reserved, charged, touched, state, closed"


class SQLiteLedger:
    """A durable ledger in one SQLite file, shared by processes of one machine.

    A charge is one transaction that is on disk (WAL, synchronous=FULL) before :meth:`charge`
    returns, and takes the write lock before it reads what was spent, so that concurrent charges
    never overspend.

    Parameters
    ----------
    path
        The file; it is made where there is none.

    Examples
    --------
    >>> import privet as pv
    >>> ledger = pv.SQLiteLedger("car.ledger.sqlite")
    >>> car = pv.datasets.load("car")
    >>> curator = pv.Curator(car.table, car.schema, pv.Budget(1), ledger=ledger, dataset="car")
    >>> answer = curator.size(epsilon=0.25)
    >>> ledger.spent("car")
    <Cost: epsilon 0.25 (rho 0.03125)>
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        self.identity = ""
        self._whole = True  # while it is made
        self._file: int | None = None  # which file it is, once it is open
        self._connections = SQLiteConnections()
        self._group = GroupCommit(lambda _: self._transaction(), _undo_alone)
        with self._connected() as connection:
            try:
                with self._transaction():
                    self._make(connection)
                self.identity = _read_sqlite_identity(connection)
                self._whole = False  # until somebody has looked, before the first charge
            except sqlite3.Error as error:
                raise LedgerError(f"cannot open ledger {self.path}: {error}") from None

    def _make(self, connection: sqlite3.Connection) -> None:
        """Make the tables, or bring them from an older version to this one."""
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version not in range(VERSION + 1):
            raise LedgerError(
                f"ledger {self.path} has version {version}, this Privet reads versions 1 to "
                f"{VERSION}"
            )
        if version == VERSION:
            return
        # a new file has nothing in it
        if version == 0 and connection.execute("PRAGMA page_count").fetchone()[0] > 1:
            raise LedgerError(f"ledger {self.path} is damaged: it has no version; {_RESTORE}")
        if version == 3:
            upgrade_accounts(connection)
        elif version == 2:
            upgrade_journal(connection)
        else:
            make_tables(connection)
            connection.execute("INSERT INTO ledger VALUES (?)", (new_identity(),))
        if version == 1:
            self._upgrade(connection)
        connection.execute(f"PRAGMA application_id={_APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version={VERSION}")

    def _upgrade(self, connection: sqlite3.Connection) -> None:
        """Chain the charges and caps of version 1.

        They had neither hashes nor, for caps, a history.
        """
        old = connection.execute(
            "SELECT time, dataset, analyst, what, epsilon, rho FROM entries ORDER BY number"
        ).fetchall()
        for time, dataset, analyst, what, epsilon, rho in old:
            cost = _cost_from_text(epsilon, rho)
            self._append(
                connection,
                charge_line(*self._head(connection), dataset, analyst, what, cost, time=time),
            )
        for dataset, analyst, amount, unit in connection.execute(
            "SELECT dataset, analyst, amount, unit FROM caps"
        ).fetchall():
            budget = Budget(**{unit: parse_fraction(amount)})
            self._append(
                connection, cap_line(*self._head(connection), dataset, analyst or None, budget)
            )
        connection.execute("DROP TABLE entries")

    def set_cap(self, dataset: str, budget: Budget, analyst: str | None = None) -> None:
        with self._transaction() as connection:
            check_cap(self._read_cap(connection, dataset, None), dataset, budget, analyst)
            self._set_cap(connection, dataset, budget, analyst)

    def open_cap(self, dataset: str, budget: Budget) -> Budget:
        with self._transaction() as connection:
            check_cap(None, dataset, budget, None)
            cap = self._read_cap(connection, dataset, None)
            if cap is None:
                self._set_cap(connection, dataset, budget, None)
            return cap or budget

    def _set_cap(
        self, connection: sqlite3.Connection, dataset: str, budget: Budget, analyst: str | None
    ) -> None:
        self._append(connection, cap_line(*self._head(connection), dataset, analyst, budget))
        connection.execute(
            (
                "INSERT INTO caps VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET amount = "
                "excluded.amount, unit = excluded.unit"
            ),
            (dataset, analyst or _EVERYONE, str(budget.amount), budget.unit),
        )

    def cap(self, dataset: str, analyst: str | None = None) -> Budget | None:
        with self._connected() as connection:
            return self._read_cap(connection, dataset, analyst)

    def charge(
        self,
        dataset: str,
        analyst: str,
        cost: Cost,
        what: str,
        *,
        key: str = "",
        request: str = "",
        reservation: str = "",
        asked: str = "",
        schema: str = "",
        neighbours: str = "",
        rows_per_person: int = 0,
        person: str = "",
    ) -> Entry:
        check_cost(cost)
        check_asked(asked)
        stated = check_stated(neighbours, rows_per_person, person)
        self.expire()

        def write(connection: sqlite3.Connection) -> Entry:
            keyed = self._keyed(connection, analyst, key)
            if keyed is not None:
                return require_same_charge(keyed, request)
            within = None
            if reservation:
                there = self._reservation(connection, analyst, reservation)
                within = check_charge(there, reservation, dataset, analyst, cost, schema, stated)
            known = self._relation(connection, dataset)
            check_relation(dataset, known, stated)
            open_ones = [] if within else self._reservations(connection, dataset, open_only=True)
            for who in (None, analyst):
                total = fit_charge(
                    self._read_cap(connection, dataset, who),
                    self._read_spent(connection, dataset, who),
                    cost,
                    dataset,
                    who,
                    held_by(open_ones, who),
                )
                connection.execute(
                    (
                        "INSERT INTO spent VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET epsilon = "
                        "excluded.epsilon, rho = excluded.rho"
                    ),
                    (dataset, who or _EVERYONE, *format_cost(total)),
                )
            news = None if settle(known, stated) == known else stated
            more = format_charge_particulars(asked, news, within)
            line = charge_line(
                *self._head(connection), dataset, analyst, what, cost, key, request, more=more
            )
            self._append(connection, line)
            if within:
                self._keep(connection, within.after_charge(cost, self._latest(connection)))
            return line.entry

        with self._errors():
            return self._group.run(write)

    def charged(self, analyst: str, key: str) -> Entry | None:
        with self._connected() as connection:
            line = self._keyed(connection, analyst, key)
            return None if line is None or line.kind != "charge" else line.entry

    def reserve(
        self,
        dataset: str,
        analyst: str,
        budget: Budget,
        what: str,
        *,
        key: str,
        request: str,
        schema: str,
        neighbours: str,
        rows_per_person: int,
        person: str = "",
    ) -> Reservation:
        wanted = Wanted(
            dataset,
            analyst,
            budget,
            what,
            key,
            request,
            schema,
            neighbours,
            rows_per_person,
            person,
        )
        self.expire()
        with self._transaction() as connection:
            keyed = self._keyed(connection, analyst, key)
            if keyed is not None:
                wanted.check_same(keyed)
                return self._reservations(connection, number=keyed.number)[0]
            check_relation(dataset, self._relation(connection, dataset), wanted.relation)
            who = (None, analyst)
            wanted.check_room(
                {account: self._read_cap(connection, dataset, account) for account in who},
                {account: self._read_spent(connection, dataset, account) for account in who},
                self._reservations(connection, dataset, open_only=True),
            )
            line = reserve_line(
                *self._head(connection), dataset, analyst, what, budget, key, request, wanted.more
            )
            self._append(connection, line)
            made = Reservation.opened(line, self._latest(connection))
            self._keep(connection, made)
        return made

    def reservation(self, analyst: str, key: str) -> Reservation | None:
        with self._reading() as connection:
            return self._reservation(connection, analyst, key)

    def reservations(
        self, dataset: str | None = None, analyst: str | None = None, *, open_only: bool = False
    ) -> list[Reservation]:
        with self._reading() as connection:
            return self._reservations(connection, dataset, analyst, open_only=open_only)

    def close_reservation(
        self, analyst: str, key: str, *, why: str = "done", model: str = ""
    ) -> Reservation:
        reason = check_why(why, model)
        with self._transaction() as connection:
            there = self._reservation(connection, analyst, key)
            there = check_close(there, analyst, key, reason)
            return self._close(connection, there, reason, model) if there.is_open else there

    def expire(self) -> list[Reservation]:
        # Mostly there are none, and nobody need wait for the write lock.
        with self._connected() as connection:
            if not self._idle(connection):
                return []
        with self._transaction() as connection:
            idle = self._idle(connection)
            return [
                self._close(connection, self._reservations(connection, number=number)[0], "expired")
                for number in idle
            ]

    def _idle(self, connection: sqlite3.Connection) -> list[int]:
        """Return the lines of the open reservations that have expired."""
        (oldest,) = connection.execute(
            "SELECT min(touched) FROM reservations WHERE state = 'open'"
        ).fetchone()
        if oldest is None:
            return []
        rows = connection.execute(
            "SELECT number FROM reservations WHERE state = 'open' AND touched <= ? ORDER BY number",
            (idle_since(current_or_latest_time(self._latest(connection))),),
        )
        return [row[0] for row in rows.fetchall()]

    def _close(
        self, connection: sqlite3.Connection, there: Reservation, why: State, model: str = ""
    ) -> Reservation:
        line = close_line(*self._head(connection), *describe_closing(there, why, model))
        self._append(connection, line)
        closed = there.after_closing(line)
        self._keep(connection, closed)
        return closed

    def check_writable(self) -> None:
        free = shutil.disk_usage(self.path.parent).free
        if free < _LEAST_ROOM:
            raise LedgerError(f"the disk of ledger {self.path} has only {free} bytes left")
        with self._transaction():
            pass

    def committed(self, dataset: str, analyst: str | None = None) -> Fraction:
        with self._reading() as connection:
            held = held_by(self._reservations(connection, dataset, open_only=True), analyst)
            spent = self._read_spent(connection, dataset, analyst)
            return committed_by(self._read_cap(connection, dataset, None), spent, held, dataset)

    def relation(self, dataset: str) -> Relation | None:
        with self._connected() as connection:
            return self._relation(connection, dataset)

    def record(self, number: int, answer: bytes) -> bytes:
        packed = zlib.compress(answer, 1)

        def write(connection: sqlite3.Connection) -> bytes:
            connection.execute(
                "INSERT INTO answers VALUES (?, ?) ON CONFLICT DO NOTHING", (number, packed)
            )
            return self._answer(connection, number) or answer

        with self._errors():
            return self._group.run(write)

    def archive(self, before: str, name: str, keep: Keep) -> int:
        with self._transaction() as connection:
            rows = connection.execute(
                # - a constant
                f"SELECT {_COLUMNS}, body FROM journal JOIN answers USING (number) "  # noqa: S608
                "WHERE kind = 'charge' AND time < ? ORDER BY number",
                (before,),
            )
            stored = ((JournalEntry(*row[:-1]), zlib.decompress(row[-1])) for row in rows)
            open_ones = self._reservations(connection, open_only=True)
            taken = list(choose_answers(stored, open_ones, before))
            if not taken:
                return 0
            keep(taken)
            # Nothing else may change an answer, so the trigger is away within this transaction.
            (trigger,) = connection.execute(
                "SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND name = 'answers_keep'"
            ).fetchone()
            connection.execute("DROP TRIGGER answers_keep")
            connection.executemany(
                "UPDATE answers SET body = ? WHERE number = ?",
                [(zlib.compress(make_note(name, one.answer), 1), one.line.number) for one in taken],
            )
            connection.execute(trigger)
        return len(taken)

    def answer(self, number: int) -> bytes | None:
        with self._connected() as connection:
            return self._answer(connection, number)

    def spent(self, dataset: str, analyst: str | None = None) -> Cost:
        with self._connected() as connection:
            return self._read_spent(connection, dataset, analyst)

    def entries(self, dataset: str | None = None, analyst: str | None = None) -> list[Entry]:
        with self._connected() as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM journal WHERE kind = 'charge' "  # noqa: S608 - a constant
                "AND (?1 IS NULL OR dataset = ?1) AND (?2 IS NULL OR analyst = ?2) ORDER BY number",
                (dataset, analyst),
            ).fetchall()
            return [JournalEntry(*row).entry for row in rows]

    def unanswered(self) -> set[int]:
        with self._connected() as connection:
            rows = connection.execute(
                "SELECT number FROM journal WHERE key <> '' AND kind = 'charge' AND number NOT IN "
                "(SELECT number FROM answers)"
            )
            return {row[0] for row in rows}

    def datasets(self) -> list[str]:
        with self._connected() as connection:
            rows = connection.execute(
                "SELECT dataset FROM caps WHERE analyst = ? ORDER BY dataset", (_EVERYONE,)
            ).fetchall()
        return [row[0] for row in rows]

    def analysts(self, dataset: str) -> list[str]:
        with self._connected() as connection:
            rows = connection.execute(
                "SELECT analyst FROM caps WHERE dataset = ? AND analyst <> ? ORDER BY analyst",
                (dataset, _EVERYONE),
            ).fetchall()
        return [row[0] for row in rows]

    def journal(self) -> Iterator[JournalEntry]:
        with self._connected() as connection:
            # - a constant
            rows = connection.execute(f"SELECT {_COLUMNS} FROM journal ORDER BY number").fetchall()  # noqa: S608
        for row in rows:
            yield JournalEntry(*row)

    def line(self, number: int) -> JournalEntry | None:
        with self._connected() as connection:
            # - a constant
            row = connection.execute(
                f"SELECT {_COLUMNS} FROM journal WHERE number = ?",  # noqa: S608
                (number,),
            ).fetchone()
        return None if row is None else JournalEntry(*row)

    def recorded(self, analyst: str) -> int:
        with self._connected() as connection:
            sql = (
                "SELECT coalesce(sum(length(body)), 0) FROM journal JOIN answers USING (number) "
                "WHERE analyst = ?"
            )
            return int(connection.execute(sql, (analyst,)).fetchone()[0])

    def books(self) -> Books:
        with self._reading() as connection:
            return _read_books(connection)

    def close(self) -> None:
        """Close this thread's connection. The ledger can be used again afterwards."""
        self._connections.close()

    def _head(self, connection: sqlite3.Connection) -> tuple[str, int]:
        """Return the hash of the last line, and the number of the next."""
        row = connection.execute(
            "SELECT hash, number FROM journal ORDER BY number DESC LIMIT 1"
        ).fetchone()
        if row is None:
            return _read_sqlite_identity(connection), 1
        return row[0], row[1] + 1

    def _append(self, connection: sqlite3.Connection, line: JournalEntry) -> None:
        connection.execute(
            "INSERT INTO journal VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", line.columns
        )
        stated = Relation.read(line.particulars)
        if stated is not None:
            settled = settle(self._relation(connection, line.dataset), stated)
            assert settled is not None
            connection.execute(
                "INSERT OR REPLACE INTO accounts VALUES (?, ?, ?, ?)", (line.dataset, *settled)
            )

    @staticmethod
    def _keep(connection: sqlite3.Connection, reservation: Reservation) -> None:
        connection.execute(
            "INSERT OR REPLACE INTO reservations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (reservation.number, *reservation.row),
        )

    @staticmethod
    def _latest(connection: sqlite3.Connection) -> str:
        """Return the latest time of any line; clocks may have gone back since."""
        return connection.execute("SELECT max(time) FROM journal").fetchone()[0] or ""

    @staticmethod
    def _relation(connection: sqlite3.Connection, dataset: str) -> Relation | None:
        row = connection.execute(
            "SELECT neighbours, rows_per_person, person FROM accounts WHERE dataset = ?",
            (dataset,),
        ).fetchone()
        return None if row is None else Relation(*row)

    @staticmethod
    def _keyed(connection: sqlite3.Connection, analyst: str, key: str) -> JournalEntry | None:
        if not key:
            return None
        row = connection.execute(
            # - a constant
            f"SELECT {_COLUMNS} FROM journal WHERE analyst = ? AND key = ? AND key <> ''",  # noqa: S608
            (analyst, key),
        ).fetchone()
        return None if row is None else JournalEntry(*row)

    def _reservation(
        self, connection: sqlite3.Connection, analyst: str, key: str
    ) -> Reservation | None:
        line = self._keyed(connection, analyst, key)
        if line is None or line.kind != "reserve":
            return None
        return self._reservations(connection, number=line.number)[0]

    @staticmethod
    def _reservations(
        connection: sqlite3.Connection,
        dataset: str | None = None,
        analyst: str | None = None,
        *,
        number: int | None = None,
        open_only: bool = False,
    ) -> list[Reservation]:
        state = "state = 'open'" if open_only else "true"  # as the index has it
        asked = {"dataset": dataset, "analyst": analyst, "number": number}
        given = {name: value for name, value in asked.items() if value is not None}
        conditions = " AND ".join([state, *(f"{name} = :{name}" for name in given)])
        rows = connection.execute(
            f"SELECT {_COLUMNS}, {_STATE}, coalesce((SELECT more FROM journal AS j "  # noqa: S608
            "WHERE j.number = r.closed), '') "
            f"FROM (SELECT number AS line, {_STATE} FROM reservations WHERE {conditions}) AS r "
            "JOIN journal ON number = r.line ORDER BY number",
            given,
        ).fetchall()
        return [
            Reservation.read(JournalEntry(*row[:12]), row[12:18], parse_particulars(row[18]))
            for row in rows
        ]

    @staticmethod
    def _answer(connection: sqlite3.Connection, number: int) -> bytes | None:
        row = connection.execute("SELECT body FROM answers WHERE number = ?", (number,)).fetchone()
        return require_answer(number, None if row is None else zlib.decompress(row[0]))

    @staticmethod
    def _read_cap(
        connection: sqlite3.Connection, dataset: str, analyst: str | None
    ) -> Budget | None:
        row = connection.execute(
            "SELECT amount, unit FROM caps WHERE dataset = ? AND analyst = ?",
            (dataset, analyst or _EVERYONE),
        ).fetchone()
        return None if row is None else Budget(**{row[1]: parse_fraction(row[0])})

    @staticmethod
    def _read_spent(connection: sqlite3.Connection, dataset: str, analyst: str | None) -> Cost:
        row = connection.execute(
            "SELECT epsilon, rho FROM spent WHERE dataset = ? AND analyst = ?",
            (dataset, analyst or _EVERYONE),
        ).fetchone()
        return NOTHING if row is None else _cost_from_text(*row)

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """Use this thread's connection; a driver error becomes a ledger error."""
        with self._errors():
            if self._file is not None and self._file != self._found():
                raise LedgerError(
                    f"ledger {self.path} was removed or replaced while in use; nothing is charged"
                )
            with self._connections.using(self._open) as connection:
                yield connection

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Raise what the driver raises as a ledger error."""
        try:
            yield
        except PrivetError:
            raise
        except sqlite3.Error as error:
            raise LedgerError(f"cannot use ledger {self.path}: {error}") from None
        except UnicodeEncodeError:  # what came is at fault, not the ledger
            raise ParameterError(
                "names, keys and descriptions in a ledger must be text that UTF-8 can write; "
                "nothing is charged"
            ) from None
        except (
            ValueError,
            TypeError,
            zlib.error,
        ):  # an amount that is none, a text that is no UTF-8, an answer that does not unfold
            raise LedgerError(
                f"ledger {self.path} is damaged: it holds what no ledger writes; {_RESTORE}"
            ) from None

    def _check_integrity(self, connection: sqlite3.Connection) -> None:
        """Raise if the file is damaged, so that nothing is charged to it.

        SQLite may still read a damaged file, with a total that is gone or not found.
        """
        indexes = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
        damage = (
            problems_of(self.identity, _read_books(connection))
            if indexes == "ok"
            else [" ".join(indexes.split())]
        )
        if damage:
            raise LedgerError(
                f"ledger {self.path} is damaged, so nothing is charged ({damage[0]}); {_RESTORE}"
            )
        self._whole = True

    def _open(self) -> sqlite3.Connection:
        if self._file is None:  # a ledger that is gone is not made anew
            self._create()
        connection = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?mode=rw",
            timeout=60,
            isolation_level=None,
            uri=True,
            check_same_thread=False,
        )
        if self._file is None:
            self._check_kind(connection)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        # another file may get the number of one that was removed
        if self.identity and self.identity != _read_sqlite_identity(connection):
            connection.close()
            raise LedgerError(f"ledger {self.path} was replaced while in use; nothing is charged")
        self._file = self._file or self._found()
        return connection

    def _create(self) -> None:
        """Create an empty file for its owner only, unless a file is there.

        SQLite makes the files beside a database with the mode of the database. It would go along
        with what another user put into the place of one of them, so that is refused.
        """
        try:
            for beside in _BESIDE:
                follow_own_links(f"{self.path}{beside}")
            with suppress(FileExistsError):
                create_private(follow_own_links(self.path))
        except OSError as error:
            raise LedgerError(f"cannot use ledger {self.path}: {error.strerror}") from None

    def _check_kind(self, connection: sqlite3.Connection) -> None:
        """Raise for a database that is no ledger, before anything is written to it."""
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        identity = connection.execute("PRAGMA application_id").fetchone()[0]
        if tables and identity != _APPLICATION_ID:
            connection.close()
            raise LedgerError(f"{self.path} is an SQLite file, but not a Privet ledger")

    def _found(self) -> int | None:
        """Return which file is at the ledger's place, if any."""
        try:
            return self.path.stat().st_ino
        except FileNotFoundError:
            return None
        except OSError as error:
            raise LedgerError(f"cannot use ledger {self.path}: {error.strerror}") from None

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Read everything in the block as of one moment."""
        with self._connected() as connection:
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("ROLLBACK")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        # threads of this process take turns: SQLite's own way of waiting is to sleep for a while
        with self._group.turn, self._connected() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                if not self._whole:
                    self._check_integrity(connection)
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:  # some failures, such as a full disk, have ended it
                    connection.execute("ROLLBACK")
                raise


@contextmanager
def _undo_alone(connection: sqlite3.Connection) -> Iterator[None]:
    """Undo what fails in this block, and nothing else of the transaction."""
    connection.execute("SAVEPOINT alone")
    try:
        yield
    except BaseException as error:
        if not connection.in_transaction:  # a full disk, for example, has ended it
            raise LedgerError(f"nothing is charged: {error}") from error
        connection.execute("ROLLBACK TO alone")
        connection.execute("RELEASE alone")
        raise
    connection.execute("RELEASE alone")


def _read_books(connection: sqlite3.Connection) -> Books:
    # - a constant
    lines = [
        JournalEntry(*row)
        for row in connection.execute(f"SELECT {_COLUMNS} FROM journal ORDER BY number")  # noqa: S608
    ]
    caps = connection.execute("SELECT dataset, analyst, unit, amount FROM caps").fetchall()
    spent = connection.execute("SELECT dataset, analyst, epsilon, rho FROM spent").fetchall()
    rows = connection.execute(
        f"SELECT number, dataset, analyst, {_STATE} FROM reservations"  # noqa: S608 - a constant
    ).fetchall()
    facts = connection.execute("SELECT dataset, neighbours, rows_per_person, person FROM accounts")
    return Books.read(lines, caps, spent, rows, facts.fetchall())


def _read_sqlite_identity(connection: sqlite3.Connection) -> str:
    return str(connection.execute("SELECT identity FROM ledger").fetchone()[0])


def _cost_from_text(epsilon: str | None, rho: str) -> Cost:
    return Cost(None if epsilon is None else parse_fraction(epsilon), parse_fraction(rho))
