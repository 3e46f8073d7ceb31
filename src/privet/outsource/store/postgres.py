"""Keep a store in a schema of a PostgreSQL database. Several servers may share it."""

from __future__ import annotations

import re
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from privet._scratch import ScratchFolder
from privet._types import Ints
from privet.errors import MissingDependency, OutsourceError, ParameterError, Unavailable
from privet.outsource.store.sql import SqlStore
from privet.outsource.store.staging import stage
from privet.outsource.store.tables import BLOCK, INDEXES, NUMBERS, cell_names, create_statements

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[tuple[Any, ...]]

_SCHEMA = "privet_outsource"
_CONNECTIONS = 16
_CONNECT_SECONDS = 10  # seconds, for a connection
_WRITING = 60  # seconds, for who writes
_OWN = (
    "SELECT nspowner = (SELECT oid FROM pg_roles WHERE rolname = current_user) FROM pg_namespace "
    "WHERE nspname = $1"
)
_USED = (
    "SELECT count(*) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE "
    "n.nspname = $1"
)


class PostgresStore(SqlStore):
    """A store in a schema of its own. A writer holds a lock, whichever server it is."""

    def __init__(self, place: str) -> None:
        url, self._schema = parse_place(place)
        import psycopg
        from psycopg_pool import ConnectionPool

        with _connected(url, self._schema) as connection:
            if connection.execute(
                "SELECT to_regclass($1)", (f"{self._schema}.meta",)
            ).fetchone() == (None,):
                raise OutsourceError(
                    f"there is no store in the schema {self._schema!r} of this database"
                )
            _check_own(connection, self._schema)
        self._pool: ConnectionPool[Connection] = ConnectionPool(
            url,
            min_size=0,
            max_size=_CONNECTIONS,
            timeout=_CONNECT_SECONDS,
            open=True,
            configure=self._configure,
            check=ConnectionPool.check_connection,
            # then the next request tries at once; the pool itself would wait twice as long each
            # time
            reconnect_timeout=_CONNECT_SECONDS,
            kwargs={
                "autocommit": True,
                "cursor_factory": psycopg.RawCursor,
                "prepare_threshold": None,
                "client_encoding": "utf8",
            },
        )
        self._finalizer = weakref.finalize(self, self._pool.close)
        try:
            super().__init__()
        except BaseException:
            self.close()
            raise

    @classmethod
    def make(cls, place: str, folder: Path) -> None:
        """Make a store of the owner's folder, in one transaction."""
        import duckdb

        url, schema = parse_place(place)
        with (
            ScratchFolder() as scratch,
            duckdb.connect(scratch / "staged") as staged,
        ):
            stage(staged, folder)
            with _connected(url, schema) as connection, _errors(), connection.transaction():
                _make_schema(connection, schema)
                _load(connection, staged)

    def _configure(self, connection: Connection) -> None:
        _configure(connection, self._schema)

    def close(self) -> None:
        self._finalizer()

    @contextmanager
    def reading(self) -> Iterator[_Transaction]:
        with _errors(), self._pool.connection() as connection, connection.transaction():
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield _Transaction(connection)

    @contextmanager
    def writing(self) -> Iterator[_Transaction]:
        with _errors(), self._pool.connection() as connection, connection.transaction():
            # before anything is read
            connection.execute("LOCK TABLE meta IN SHARE ROW EXCLUSIVE MODE")
            yield _Transaction(connection)


class _Transaction:
    """A transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def run(self, sql: str, values: Sequence[Any] = ()) -> None:
        self._connection.execute(sql.encode(), values)

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql.encode(), values).fetchall()

    def blocks(self, sql: str, values: Sequence[Any] = ()) -> Iterator[list[tuple[Any, ...]]]:
        import psycopg

        with psycopg.RawServerCursor(self._connection, "blocks") as cursor:
            cursor.execute(sql.encode(), values)
            while block := cursor.fetchmany(BLOCK):
                yield block

    def put(self, table: str, *columns: Ints) -> None:
        with self._connection.cursor().copy(f"COPY {table} FROM STDIN".encode()) as copy:
            for line in zip(*(column.tolist() for column in columns), strict=True):
                copy.write_row(line)


def parse_place(place: str) -> tuple[str, str]:
    """Return the URL for the driver, and the schema.

    Parts of a password that stand in the wrong place must not get into a message.
    """
    try:
        import psycopg
        import psycopg_pool  # noqa: F401 - whether it is there
        from psycopg.conninfo import conninfo_to_dict
    except ImportError:
        raise MissingDependency("psycopg", "postgres", "a store in PostgreSQL") from None
    server, _, query = place.partition("?")
    pairs = [pair for pair in query.split("&") if pair]
    named = [
        value
        for pair in pairs
        for key, value in parse_qsl(pair, keep_blank_values=True)
        if key == "schema"
    ]
    rest = [pair for pair in pairs if not pair.startswith("schema=")]
    url = f"{server}?{'&'.join(rest)}" if rest else server
    try:
        said = {key: str(value) for key, value in conninfo_to_dict(url).items()}
    except psycopg.Error:
        said = {"host": "@"}
    port = said.get("port", "")
    if "@" in said.get("host", "") + said.get("dbname", "") or (
        port and not port.replace(",", "").isdecimal()
    ):
        raise ParameterError(
            "a store in PostgreSQL is given as "
            "postgresql://user:password@host/database?schema=name, special characters "
            "percent-encoded"
        )
    schema = named[0] if named else _SCHEMA
    reserved = schema.lower().startswith("pg_") or schema.lower() in (
        "information_schema",
        "public",
    )
    if len(named) > 1 or reserved or not re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", schema):
        raise ParameterError(
            "schema must be one name of small letters, digits and underscores, and not one of "
            "PostgreSQL's own or 'public'"
        )
    return url, schema


@contextmanager
def _connected(url: str, schema: str) -> Iterator[Connection]:
    import psycopg

    settings = {"connect_timeout": 10, "client_encoding": "utf8", "prepare_threshold": None}
    try:
        connection = psycopg.connect(
            url,
            autocommit=True,
            cursor_factory=psycopg.RawCursor,
            **settings,  # type: ignore[arg-type]
        )
    except psycopg.Error as error:
        raise Unavailable(
            f"cannot reach the PostgreSQL server: {str(error).partition(chr(10))[0]}"
        ) from None
    with _errors(), connection:
        _configure(connection, schema)
        yield connection


def _configure(connection: Connection, schema: str) -> None:
    """What every connection needs, whatever the server's defaults are. Nobody else's functions
    answer to the names in a statement.
    """
    connection.execute(
        "SELECT set_config('search_path', $1, false), set_config('lock_timeout', $2, false), "
        "set_config('jit', 'off', false), "
        # what is asked is found by an index, a few rows of many
        "set_config('random_page_cost', '1.1', false), set_config('default_transaction_isolation', "
        "'read committed', false), set_config('default_transaction_read_only', 'off', false)",
        (f'pg_catalog, "{schema}", pg_temp', f"{_WRITING}s"),
    )
    # Anything above "on" waits for replicas too: the owner's choice.
    connection.execute(
        "SELECT set_config(name, 'on', false) FROM pg_settings WHERE name = 'synchronous_commit' "
        "AND setting IN ('off', 'local')"
    )


@contextmanager
def _errors() -> Iterator[None]:
    """What the server says may quote rows, so it is not passed on."""
    import psycopg
    from psycopg_pool import PoolClosed, PoolTimeout

    try:
        yield
    except psycopg.errors.LockNotAvailable:
        raise Unavailable(
            f"the store is busy: others wrote for more than {_WRITING} seconds"
        ) from None
    except (PoolTimeout, PoolClosed):
        raise Unavailable(
            "the store cannot be reached, or all connections to it are in use"
        ) from None
    except psycopg.Error as error:
        raise Unavailable(f"the store cannot be used ({type(error).__name__})") from None


def _check_own(connection: Connection, schema: str) -> None:
    """Whoever owns a schema could put anything into it."""
    if connection.execute(_OWN, (schema,)).fetchone() == (False,):
        raise OutsourceError(f"the schema {schema!r} belongs to another user")


def _make_schema(connection: Connection, schema: str) -> None:
    encoding = connection.execute("SELECT getdatabaseencoding()").fetchone()
    if connection.info.server_version < 140000 or encoding != ("UTF8",):
        raise OutsourceError("a store needs PostgreSQL 14 or later, and a database in UTF-8")
    if connection.execute(_OWN, (schema,)).fetchone() is None:
        connection.execute(f'CREATE SCHEMA "{schema}"'.encode())
    _check_own(connection, schema)
    if connection.execute(_USED, (schema,)).fetchone() != (0,):
        raise ParameterError(
            f"the schema {schema!r} of this database is not empty; a store needs one of its own"
        )
    # where tables are made
    connection.execute(
        "SELECT set_config('search_path', $1, true)", (f'"{schema}", pg_catalog, pg_temp',)
    )


def _load(connection: Connection, staged: Any) -> None:
    ((n_cells,),) = staged.execute(
        "SELECT count(*) FROM information_schema.columns WHERE table_name = 'it' AND "
        "regexp_full_match(column_name, 'c[0-9]+')"
    ).fetchall()
    for statement in create_statements(n_cells):
        connection.execute(statement.encode())
    _copy(
        connection,
        staged,
        "it",
        ["number", *cell_names(n_cells), "pruning", "gid", "eseq"],
        "number",
    )
    _copy(connection, staged, "st", ["seq", "gid", "value"], "seq")
    _copy(connection, staged, "sealed", ["name", "version", "body"], "name")
    for statement in INDEXES:
        connection.execute(statement)
    _copy(connection, staged, "meta", ["anatomy", *NUMBERS], "format")
    connection.execute("ANALYZE it, st")


def _copy(connection: Connection, staged: Any, table: str, columns: list[str], order: str) -> None:
    listed = ", ".join(columns)
    cursor = staged.execute(f"SELECT {listed} FROM {table} ORDER BY {order}")
    with connection.cursor().copy(f"COPY {table} ({listed}) FROM STDIN".encode()) as copy:
        while block := cursor.fetchmany(BLOCK):
            for line in block:
                copy.write_row(line)
