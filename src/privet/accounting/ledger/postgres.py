"""Keep a durable ledger in PostgreSQL, shared by everybody who can reach the server.

The tables are in the schema ``privet`` of the database, and a charge is one SQL function there
(``sql/charge.sql``), so that the service and SQL clients charge alike.
"""

from __future__ import annotations

import json
import os
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from importlib.resources import files
from typing import TYPE_CHECKING, Any, LiteralString

from privet.accounting.cost import NOTHING, Budget, Cost
from privet.accounting.ledger.archive import (
    Keep,
    choose_answers,
    make_note,
    require_answer,
)
from privet.accounting.ledger.base import check_cap, check_name, no_budget_error
from privet.accounting.ledger.group import GroupCommit
from privet.accounting.ledger.journal import (
    Books,
    Entry,
    JournalEntry,
    cap_line,
    close_line,
    new_identity,
    parse_particulars,
    reserve_line,
)
from privet.accounting.ledger.relation import Relation, check_relation, check_stated
from privet.accounting.ledger.reservations import (
    Reservation,
    Wanted,
    check_asked,
    check_close,
    check_why,
    committed_by,
    describe_closing,
)
from privet.errors import (
    BudgetExceeded,
    KeyReused,
    LedgerError,
    MissingDependency,
    ParameterError,
    PrivacyError,
    PrivetError,
    ReservationClosed,
)

if TYPE_CHECKING:
    import psycopg
    import psycopg_pool

_EVERYONE = ""  # stands for "no analyst" in the tables; analysts have non-empty names
_VERSION = 3  # Privet 0.1 has version 1
_SCRIPTS = ("fractions.sql", "journal.sql", "reservations.sql", "relations.sql", "charge.sql")
_UPGRADES = {1: _SCRIPTS[2:], 2: _SCRIPTS[3:]}
_COLUMNS: LiteralString = (
    "number, time, kind, dataset, analyst, what, epsilon, rho, key, request, hash, more"
)
_STATE: LiteralString = "unit, reserved, charged, touched, state, closed"
_POOL_SIZE = 8
_TIMEOUT_SECONDS = 10  # seconds, for a lock or a connection


class PostgresLedger:
    """A durable ledger in the schema ``privet`` of a PostgreSQL database (version 14 or later,
    UTF-8).

    A charge is one transaction that is on disk (``synchronous_commit``) before :meth:`charge`
    returns, and takes the ledger's lock before it reads what was spent, so that concurrent charges
    never overspend.

    Args:
        url: ``postgresql://user@host/database``. The tables are made at the first opening, and
            belong to the user.
    """

    def __init__(self, url: str) -> None:
        self.url, self.name = url, _name_server(url)
        self._lock = threading.Lock()
        self._pool: psycopg_pool.ConnectionPool[Any] | None = None
        self._process = 0
        self._group = GroupCommit(
            # one charge alone is one statement, and a transaction by itself
            lambda several: self.transaction() if several else self._connected(),
            lambda connection: connection.transaction(),
        )
        with self._errors(), _connect(url) as connection:
            try:
                with connection.transaction():
                    self.identity: str = _open_ledger(connection, self.name)
            finally:
                connection.close()

    def set_cap(self, dataset: str, budget: Budget, analyst: str | None = None) -> None:
        check_name("dataset", dataset)  # before the server sees it
        with self.transaction() as connection:
            check_cap(_read_cap_row(connection, dataset, None), dataset, budget, analyst)
            self._set_cap(connection, dataset, budget, analyst)

    def open_cap(self, dataset: str, budget: Budget) -> Budget:
        check_cap(None, dataset, budget, None)
        with self.transaction() as connection:
            cap = _read_cap_row(connection, dataset, None)
            if cap is None:
                self._set_cap(connection, dataset, budget, None)
            return cap or budget

    def _set_cap(
        self, connection: psycopg.Connection[Any], dataset: str, budget: Budget, analyst: str | None
    ) -> None:
        _append(connection, cap_line("", 0, dataset, analyst, budget))
        connection.execute(
            "INSERT INTO privet.caps VALUES ($1, $2, $3, $4) ON CONFLICT ON CONSTRAINT one_cap DO "
            "UPDATE SET amount = excluded.amount, unit = excluded.unit",
            (dataset, analyst or _EVERYONE, str(budget.amount), budget.unit),
        )

    def cap(self, dataset: str, analyst: str | None = None) -> Budget | None:
        with self._connected() as connection:
            return _read_cap_row(connection, dataset, analyst)

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
        check_name("analyst", analyst)
        check_asked(asked)
        check_stated(neighbours, rows_per_person, person)
        epsilon = "" if cost.epsilon is None else str(cost.epsilon)
        given = (
            dataset,
            analyst,
            what,
            epsilon,
            str(cost.rho),
            key,
            request,
            reservation,
            asked,
            neighbours,
            rows_per_person,
            schema,
            person,
        )

        def write(connection: psycopg.Connection[Any]) -> Entry:
            row = connection.execute(
                # - a constant
                f"SELECT {_COLUMNS} FROM "  # noqa: S608
                "privet.charge($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
                given,
            ).fetchone()
            assert row is not None
            return JournalEntry(*row).entry

        try:
            with self._errors():
                return self._group.run(write)
        except (BudgetExceeded, KeyReused, PrivacyError, ReservationClosed):
            self.expire()  # was undone with the charge
            raise

    def charged(self, analyst: str, key: str) -> Entry | None:
        with self._connected() as connection:
            line = _find_keyed_line(connection, analyst, key)
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
        with self.transaction() as connection:
            keyed = _find_keyed_line(connection, analyst, key)
            if keyed is not None:
                wanted.check_same(keyed)
                return _read_reservations(connection, number=keyed.number)[0]
            connection.execute("SELECT privet.relate($1, $2, $3, $4)", (dataset, *wanted.relation))
            who = (None, analyst)
            wanted.check_room(
                {account: _read_cap_row(connection, dataset, account) for account in who},
                {account: _read_spent_row(connection, dataset, account) for account in who},
                _read_reservations(connection, dataset, open_only=True),
            )
            line = _append(
                connection,
                reserve_line("", 0, dataset, analyst, what, budget, key, request, wanted.more),
            )
            made = Reservation.opened(line, _read_latest_time(connection))
            connection.execute(
                "INSERT INTO privet.reservations VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
                (made.number, *made.row),
            )
        return made

    def reservation(self, analyst: str, key: str) -> Reservation | None:
        with self._connected() as connection, connection.transaction():
            return _find_reservation(connection, analyst, key)

    def reservations(
        self, dataset: str | None = None, analyst: str | None = None, *, open_only: bool = False
    ) -> list[Reservation]:
        with self._connected() as connection:
            return _read_reservations(connection, dataset, analyst, open_only=open_only)

    def close_reservation(
        self, analyst: str, key: str, *, why: str = "done", model: str = ""
    ) -> Reservation:
        reason = check_why(why, model)
        with self.transaction() as connection:
            there = check_close(_find_reservation(connection, analyst, key), analyst, key, reason)
            if not there.is_open:
                return there
            line = _append(connection, close_line("", 0, *describe_closing(there, reason, model)))
            connection.execute(
                "UPDATE privet.reservations SET state = $1, closed = $2 WHERE number = $3",
                (reason, line.number, there.number),
            )
            return there.after_closing(line)

    def expire(self) -> list[Reservation]:
        with self.transaction() as connection:
            row = connection.execute("SELECT privet.expire()").fetchone()
            assert row is not None
            return [_read_reservations(connection, number=number)[0] for number in row[0]]

    def check_writable(self) -> None:
        with self.transaction() as connection:
            connection.execute("UPDATE privet.ledger SET version = version WHERE false")

    def committed(self, dataset: str, analyst: str | None = None) -> Fraction:
        row = self._fetch_row(  # one statement sees one moment
            "SELECT c.amount, c.unit, s.epsilon, s.rho, privet.held(c.dataset, $2) "
            "FROM privet.caps AS c LEFT JOIN privet.spent AS s "
            "ON s.dataset = c.dataset AND s.analyst = $2 WHERE c.dataset = $1 AND c.analyst = ''",
            (dataset, analyst or _EVERYONE),
        )
        if row is None:
            raise no_budget_error(dataset)
        cap = Budget(**{row[1]: Fraction(row[0])})
        return committed_by(cap, _cost_of_row(row[2:4]), Fraction(row[4]), dataset)

    def relation(self, dataset: str) -> Relation | None:
        row = self._fetch_row(
            "SELECT neighbours, rows_per_person, person FROM privet.accounts WHERE dataset = $1",
            (dataset,),
        )
        return None if row is None else Relation(*row)

    def record(self, number: int, answer: bytes) -> bytes:
        with self._connected() as connection:
            connection.execute(
                "INSERT INTO privet.answers VALUES ($1, $2) ON CONFLICT DO NOTHING",
                (number, answer),
            )
        return self.answer(number) or answer

    def archive(self, before: str, name: str, keep: Keep) -> int:
        with self.transaction() as connection:
            # locked first, so that what is read is what is replaced
            connection.execute("LOCK TABLE privet.answers IN SHARE ROW EXCLUSIVE MODE")
            rows = connection.execute(
                # - a constant
                f"SELECT {_COLUMNS}, body FROM privet.journal "  # noqa: S608
                "JOIN privet.answers USING (number) "
                "WHERE kind = 'charge' AND time COLLATE \"C\" < $1 ORDER BY number",
                (before,),
            )
            stored = ((JournalEntry(*row[:-1]), bytes(row[-1])) for row in rows)
            open_ones = _read_reservations(connection, open_only=True)
            taken = list(choose_answers(stored, open_ones, before))
            if not taken:
                return 0
            keep(taken)
            # Nothing else may change an answer, so the trigger is away within this transaction.
            connection.execute("ALTER TABLE privet.answers DISABLE TRIGGER answers_stay")
            for one in taken:
                connection.execute(
                    "UPDATE privet.answers SET body = $1 WHERE number = $2",
                    (make_note(name, one.answer), one.line.number),
                )
            connection.execute("ALTER TABLE privet.answers ENABLE ALWAYS TRIGGER answers_stay")
        return len(taken)

    def answer(self, number: int) -> bytes | None:
        row = self._fetch_row("SELECT body FROM privet.answers WHERE number = $1", (number,))
        return require_answer(number, None if row is None else bytes(row[0]))

    def spent(self, dataset: str, analyst: str | None = None) -> Cost:
        with self._connected() as connection:
            return _read_spent_row(connection, dataset, analyst)

    def entries(self, dataset: str | None = None, analyst: str | None = None) -> list[Entry]:
        rows = self._rows(
            # - a constant
            f"SELECT {_COLUMNS} FROM privet.journal WHERE kind = 'charge' "  # noqa: S608
            "AND ($1::text IS NULL OR dataset = $1) AND ($2::text IS NULL OR analyst = $2) ORDER "
            "BY number",
            (dataset, analyst),
        )
        return [JournalEntry(*row).entry for row in rows]

    def unanswered(self) -> set[int]:
        rows = self._rows(
            "SELECT number FROM privet.journal WHERE key <> '' AND kind = 'charge' EXCEPT SELECT "
            "number FROM privet.answers"
        )
        return {row[0] for row in rows}

    def datasets(self) -> list[str]:
        return [
            row[0]
            for row in self._rows(
                "SELECT dataset FROM privet.caps WHERE analyst = $1 ORDER BY dataset", (_EVERYONE,)
            )
        ]

    def analysts(self, dataset: str) -> list[str]:
        rows = self._rows(
            "SELECT analyst FROM privet.caps WHERE dataset = $1 AND analyst <> $2 ORDER BY analyst",
            (dataset, _EVERYONE),
        )
        return [row[0] for row in rows]

    def journal(self) -> Iterator[JournalEntry]:
        import psycopg

        with (
            self._connected() as connection,
            connection.transaction(),
            psycopg.RawServerCursor(connection, "journal") as cursor,
        ):
            cursor.itersize = 1000
            # - a constant
            cursor.execute(f"SELECT {_COLUMNS} FROM privet.journal ORDER BY number")  # noqa: S608
            for row in cursor:
                yield JournalEntry(*row)

    def line(self, number: int) -> JournalEntry | None:
        # - a constant
        row = self._fetch_row(f"SELECT {_COLUMNS} FROM privet.journal WHERE number = $1", (number,))  # noqa: S608
        return None if row is None else JournalEntry(*row)

    def recorded(self, analyst: str) -> int:
        sql: LiteralString = (
            "SELECT coalesce(sum(octet_length(body)), 0) FROM privet.journal JOIN privet.answers "
            "USING (number) WHERE analyst = $1"
        )
        row = self._fetch_row(sql, (analyst,))
        return 0 if row is None else int(row[0])

    def books(self) -> Books:
        with self._connected() as connection, connection.transaction():
            # what is read then is of one moment
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            lines = [
                JournalEntry(*row)
                for row in connection.execute(
                    f"SELECT {_COLUMNS} FROM privet.journal ORDER BY number"  # noqa: S608
                )
            ]
            caps = connection.execute(
                "SELECT dataset, analyst, unit, amount FROM privet.caps"
            ).fetchall()
            spent = connection.execute(
                "SELECT dataset, analyst, epsilon, rho FROM privet.spent"
            ).fetchall()
            rows = connection.execute(
                f"SELECT number, dataset, analyst, {_STATE} FROM privet.reservations"  # noqa: S608
            ).fetchall()
            relations = connection.execute(
                "SELECT dataset, neighbours, rows_per_person, person FROM privet.accounts"
            ).fetchall()
        return Books.read(lines, caps, spent, rows, relations)

    def check_standbys(self) -> list[str]:
        """Return warnings about standbys that may lack charges; raise where one would be used.

        A charge must be on the server that is asked next. So where the URL names several servers,
        commits must wait for a standby. What is seen of standbys depends on the user's rights.
        """
        from psycopg.conninfo import conninfo_to_dict

        row = self._fetch_row(
            "SELECT current_setting('synchronous_standby_names'), pg_is_in_recovery(), "
            "(SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'async' "
            "AND application_name NOT IN ('pg_basebackup', 'pg_receivewal'))"
        )
        assert row is not None
        waits_for, is_standby, n_behind = row
        parts = conninfo_to_dict(self.url)
        several = any("," in str(parts.get(name, "")) for name in ("host", "hostaddr", "port"))
        if is_standby:
            raise LedgerError(f"{self.name} is a standby, which records nothing; name the primary")
        if several and not waits_for:
            raise LedgerError(
                f"the ledger {self.name} names several servers, and commits wait for no standby: "
                "after a fail-over, charges could be gone, and be spent again. Set "
                "synchronous_standby_names on the primary, or name one server only"
            )
        if n_behind and not waits_for:
            return [
                "the ledger has a standby that commits do not wait for; do not fail over to it, as "
                "charges may be missing there (synchronous_standby_names)"
            ]
        return []

    def close(self) -> None:
        """Close all connections. The ledger can be used again afterwards."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    @contextmanager
    def transaction(self) -> Iterator[psycopg.Connection[Any]]:
        """Open a transaction that holds the ledger's lock, so that nobody charges meanwhile.

        Commits at the end of the block.
        """
        with self._connected() as connection, connection.transaction():
            connection.execute("SELECT privet.lock()")
            yield connection

    def _fetch_row(
        self, sql: LiteralString, parameters: Sequence[Any] = ()
    ) -> tuple[Any, ...] | None:
        with self._connected() as connection:
            return connection.execute(sql, parameters).fetchone()

    def _rows(self, sql: LiteralString, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._connected() as connection:
            return connection.execute(sql, parameters).fetchall()

    @contextmanager
    def _connected(self) -> Iterator[psycopg.Connection[Any]]:
        with self._errors(), self._connections().connection() as connection:
            yield connection

    def _connections(self) -> psycopg_pool.ConnectionPool[Any]:
        """Return the pool of this process: connections must not be carried into a forked child."""
        import psycopg
        from psycopg_pool import ConnectionPool

        with self._lock:
            if self._pool is None or self._process != os.getpid():
                self._pool = ConnectionPool(
                    self.url,
                    min_size=0,
                    max_size=_POOL_SIZE,
                    timeout=_TIMEOUT_SECONDS,
                    open=True,
                    configure=_configure,
                    check=ConnectionPool.check_connection,
                    kwargs={"autocommit": True, "cursor_factory": psycopg.RawCursor},
                    # then the next request tries at once; the pool itself would wait twice as long
                    # each time
                    reconnect_timeout=_TIMEOUT_SECONDS,
                )
                self._process = os.getpid()
                weakref.finalize(self, _close, self._pool, self._process)
            return self._pool

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Raise driver errors as ledger errors, and refusals of the server as what they are."""
        import psycopg
        from psycopg_pool import PoolTimeout

        try:
            yield
        except psycopg.errors.LockNotAvailable:
            raise LedgerError(
                f"ledger {self.name} is busy: its lock was not free for {_TIMEOUT_SECONDS} "
                "seconds; "
                "nothing is charged"
            ) from None
        except PoolTimeout:
            raise LedgerError(
                f"ledger {self.name} cannot be reached, or all connections to it are in use; "
                "nothing is charged"
            ) from None
        except psycopg.Error as error:
            if isinstance(error, psycopg.DataError) and error.sqlstate is None:
                # the driver refused it: a text of PostgreSQL cannot hold NUL
                raise ParameterError(
                    "a name or a key holds a character that the ledger cannot hold (NUL); nothing "
                    "is charged"
                ) from None
            refusal = parse_refusal(error)
            if refusal is None:
                refusal = LedgerError(
                    f"cannot use ledger {self.name}: "
                    f"{str(error).partition(chr(10))[0] or type(error).__name__}"
                )
            raise refusal from None


def _close(pool: psycopg_pool.ConnectionPool[Any], process: int) -> None:
    if process == os.getpid():
        pool.close()


def parse_refusal(error: psycopg.Error) -> PrivetError | None:
    """Return the error for what ``charge.sql`` refused."""
    message = error.diag.message_primary or ""
    match error.sqlstate:
        case "PV001":
            detail = json.loads(error.diag.message_detail or "")
            return BudgetExceeded(
                Fraction(detail["asked"]),
                Fraction(detail["left"]),
                detail["unit"],
                detail["account"],
            )
        case "PV002":
            return LedgerError(message)
        case "PV003":
            return KeyReused(message)
        case "PV004":
            return PrivacyError(message)
        case "PV008":
            return ReservationClosed(message)
        case "PV009":
            detail = json.loads(error.diag.message_detail or "")
            try:
                check_relation(
                    detail["dataset"], Relation(*detail["recorded"]), Relation(*detail["stated"])
                )
            except PrivacyError as refusal:
                return refusal
    return None


def _read_cap_row(
    connection: psycopg.Connection[Any], dataset: str, analyst: str | None
) -> Budget | None:
    row = connection.execute(
        "SELECT amount, unit FROM privet.caps WHERE dataset = $1 AND analyst = $2",
        (dataset, analyst or _EVERYONE),
    ).fetchone()
    return None if row is None else Budget(**{row[1]: Fraction(row[0])})


def _read_spent_row(connection: psycopg.Connection[Any], dataset: str, analyst: str | None) -> Cost:
    row = connection.execute(
        "SELECT epsilon, rho FROM privet.spent WHERE dataset = $1 AND analyst = $2",
        (dataset, analyst or _EVERYONE),
    ).fetchone()
    return _cost_of_row(row)


def _cost_of_row(row: Sequence[Any] | None) -> Cost:
    """Return a total, or that of an account that has none."""
    if row is None or row[1] is None:
        return NOTHING
    return Cost(None if row[0] is None else Fraction(row[0]), Fraction(row[1]))


def _append(connection: psycopg.Connection[Any], line: JournalEntry) -> JournalEntry:
    """Return the line as the server numbered, timed and chained it."""
    row = connection.execute(
        # - a constant
        f"SELECT {_COLUMNS} FROM privet.append($1, $2, $3, $4, $5, $6, $7, $8, $9)",  # noqa: S608
        (
            line.kind,
            line.dataset,
            line.analyst,
            line.what,
            line.epsilon,
            line.rho,
            line.key,
            line.request,
            line.more,
        ),
    ).fetchone()
    assert row is not None
    return JournalEntry(*row)


def _read_latest_time(connection: psycopg.Connection[Any]) -> str:
    row = connection.execute("SELECT privet.latest()").fetchone()
    assert row is not None
    return str(row[0])


def _find_keyed_line(
    connection: psycopg.Connection[Any], analyst: str, key: str
) -> JournalEntry | None:
    row = connection.execute(
        # - a constant
        f"SELECT {_COLUMNS} FROM privet.journal WHERE analyst = $1 AND key = $2 AND key <> ''",  # noqa: S608
        (analyst, key),
    ).fetchone()
    return None if row is None else JournalEntry(*row)


def _find_reservation(
    connection: psycopg.Connection[Any], analyst: str, key: str
) -> Reservation | None:
    line = _find_keyed_line(connection, analyst, key)
    if line is None or line.kind != "reserve":
        return None
    return _read_reservations(connection, number=line.number)[0]


def _read_reservations(
    connection: psycopg.Connection[Any],
    dataset: str | None = None,
    analyst: str | None = None,
    *,
    number: int | None = None,
    open_only: bool = False,
) -> list[Reservation]:
    rows = connection.execute(
        # - constants
        f"SELECT {_COLUMNS}, {_STATE}, coalesce((SELECT j.more FROM privet.journal AS j "  # noqa: S608
        "WHERE j.number = r.closed), '') "
        f"FROM (SELECT number AS line, {_STATE} FROM privet.reservations "
        "WHERE ($1::text IS NULL OR dataset = $1) AND ($2::text IS NULL OR analyst = $2) "
        "AND ($3::bigint IS NULL OR number = $3) AND (state = 'open' OR NOT $4)) AS r "
        "JOIN privet.journal ON number = r.line ORDER BY number",
        (dataset, analyst, number, open_only),
    ).fetchall()
    return [
        Reservation.read(JournalEntry(*row[:12]), row[12:18], parse_particulars(row[18]))
        for row in rows
    ]


def _name_server(url: str) -> str:
    """Return host and database.

    Parts of a password that stand in the wrong place must not get into a message.
    """
    try:
        import psycopg
        from psycopg.conninfo import conninfo_to_dict
    except ImportError:
        raise MissingDependency("psycopg", "postgres", "a ledger in PostgreSQL") from None
    try:
        parts = {key: str(value) for key, value in conninfo_to_dict(url).items()}
    except psycopg.Error:
        parts = {"host": "@"}
    host, port, database = parts.get("host", ""), parts.get("port", ""), parts.get("dbname", "")
    if "@" in host + database or (port and not port.replace(",", "").isdecimal()):
        raise LedgerError(
            "this is no PostgreSQL URL: postgresql://user:password@host/database, special "
            "characters percent-encoded"
        )
    return f"{host}/{database}"


def _connect(url: str) -> psycopg.Connection[Any]:
    import psycopg

    connection = psycopg.connect(url, autocommit=True, cursor_factory=psycopg.RawCursor)
    _configure(connection)
    return connection


def _configure(connection: psycopg.Connection[Any]) -> None:
    """Set what every connection of a ledger needs, whatever the server's defaults are."""
    connection.execute(
        "SELECT set_config('search_path', 'pg_catalog, pg_temp', false), "
        "set_config('lock_timeout', $1, false), set_config('default_transaction_isolation', 'read "
        "committed', false), set_config('default_transaction_read_only', 'off', false)",
        (f"{_TIMEOUT_SECONDS}s",),
    )
    # Anything above "on" waits for replicas too: the owner's choice.
    connection.execute(
        "SELECT set_config(name, 'on', false) FROM pg_settings WHERE name = 'synchronous_commit' "
        "AND setting IN ('off', 'local')"
    )


def _open_ledger(connection: psycopg.Connection[Any], name: str) -> str:
    """Return the identity of the ledger, which is made if there is none. Within a transaction."""
    import psycopg

    there = connection.execute(
        "SELECT to_regclass('privet.ledger') IS NOT NULL, getdatabaseencoding(), (SELECT "
        "pg_get_userbyid(nspowner) = current_user FROM pg_namespace WHERE nspname = 'privet')"
    ).fetchone()
    assert there is not None
    ledger, encoding, own = there
    if connection.info.server_version < 140000 or encoding != "UTF8":
        raise LedgerError(f"ledger {name} needs PostgreSQL 14 or later, and a database in UTF-8")
    if own is False:  # its functions run with the rights of whoever charges
        raise LedgerError(
            f"the schema 'privet' of {name} belongs to another user; open a ledger as its owner"
        )
    if own and not ledger:
        raise LedgerError(f"{name} has a schema 'privet' that is no Privet ledger")
    if not ledger:
        try:
            with connection.transaction():
                # waits for who is making one; an advisory lock could be held by any login
                connection.execute("CREATE SCHEMA privet")
        except (psycopg.errors.DuplicateSchema, psycopg.errors.UniqueViolation):
            return _open_ledger(connection, name)
        for script in _SCRIPTS:
            connection.execute(script_of(script))
        connection.execute(
            "INSERT INTO privet.ledger VALUES ($1, $2, 0)", (new_identity(), _VERSION)
        )
    identity, version = _read_identity_and_version(connection)
    if version in _UPGRADES:
        connection.execute("SELECT privet.lock()")
        identity, version = _read_identity_and_version(
            connection
        )  # somebody may have done it meanwhile
        if version in _UPGRADES:
            for script in _UPGRADES[version]:
                connection.execute(script_of(script))
            connection.execute("UPDATE privet.ledger SET version = $1", (_VERSION,))
            identity, version = _read_identity_and_version(connection)
    if version != _VERSION:
        raise LedgerError(
            f"ledger {name} has version {version}, this Privet reads versions 1 to {_VERSION}"
        )
    return identity


def _read_identity_and_version(connection: psycopg.Connection[Any]) -> tuple[str, int]:
    row = connection.execute("SELECT identity, version FROM privet.ledger").fetchone()
    assert row is not None
    return str(row[0]), row[1]


def script_of(name: str) -> bytes:
    """Return an SQL script of this package."""
    return files("privet.accounting.ledger").joinpath("sql", name).read_bytes()
