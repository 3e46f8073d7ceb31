"""A server on loopback, a tiny data set to fetch from it, and the folder with the real files where
there is one.
"""

from __future__ import annotations

import io
import os
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from privet.datasets.catalog import CATALOG, Fetched

DATA = os.environ.get("PRIVET_DATA")
SKIP = "needs the real files: set PRIVET_DATA to a folder with NAME.csv files, see docs/datasets.md"

Answer = Callable[[BaseHTTPRequestHandler], None]


class Server(ThreadingHTTPServer):
    """Answers by path, and remembers what was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: dict[str, bytes | Answer] = {}
        self.asked: list[str] = []
        self.stopping = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/static"


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        answer = self.server.answers.get(self.path.removeprefix("/static/"))
        if answer is None:
            self.send_error(404)
        elif isinstance(answer, bytes):
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)
        else:
            answer(self)

    def log_message(self, *arguments: object) -> None:
        """Stay quiet."""


@pytest.fixture(autouse=True)
def own_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test sees the user's data folder, mirror or cache, nor goes through a proxy."""
    for name in ("PRIVET_DATA", "PRIVET_DATA_URL", "http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PRIVET_CACHE", str(tmp_path / "cache"))
    # a test that forgets its server must not reach the real one
    monkeypatch.setattr("privet.datasets.fetching.BASE_URL", "http://127.0.0.1:1")


@pytest.fixture
def real_data(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with the real files; without it the test is skipped."""
    if not DATA:
        pytest.skip(SKIP)
    monkeypatch.setenv("PRIVET_DATA", DATA)
    return Path(DATA)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server on loopback that stands in for the repository."""
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setenv("PRIVET_DATA_URL", server.url)
        yield server
        server.stopping.set()
        server.shutdown()
        thread.join()


def zipped(members: Mapping[str, str]) -> bytes:
    """A zip file with these text files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as package:
        for name, text in members.items():
            package.writestr(name, text)
    return buffer.getvalue()


@pytest.fixture(name="zipped")
def zipped_fixture() -> Callable[[Mapping[str, str]], bytes]:
    return zipped


VOTES = (
    "republican," + ",".join("nyn?" * 4),
    "democrat," + ",".join("y" * 16),
    "democrat," + ",".join("?" * 16),
)
#: The canonical hash of the three rows above.
TINY_SHA256 = "4f889149ff39b9b630c7d122689adb32903e26ce2bf7618621bd3ea72fa2ffd1"


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> Fetched:
    """A registered data set of three rows, in the layout of ``votes``."""
    votes = CATALOG["votes"]
    assert isinstance(votes, Fetched)
    entry = replace(votes, name="tiny", rows=3, schema_file="votes", sha256=TINY_SHA256)
    monkeypatch.setitem(CATALOG, "tiny", entry)
    return entry


@pytest.fixture
def tiny_zip() -> bytes:
    """The archive of the tiny set, as the repository would send it."""
    return zipped(
        {
            "Index": "not data",
            "house-votes-84.data": "\n".join(VOTES) + "\n\n",
            "house-votes-84.names": "no data either",
        }
    )
