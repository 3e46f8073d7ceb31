"""The way over the network: what is asked, what is kept, and what is said when it does not work."""

from __future__ import annotations

import io
import socket
import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from privet.datasets import fetching, load, uci
from privet.datasets.canonical import canonical_cells
from privet.datasets.catalog import Fetched
from privet.errors import DatasetError

PATH = "105/congressional+voting+records.zip"
WHAT_TO_DO = r"Set PRIVET_DATA to a folder that holds tiny\.csv, or PRIVET_DATA_URL to a mirror"
Zipped = Callable[[Mapping[str, str]], bytes]


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Where the cached files are."""
    return tmp_path / "cache" / "datasets"


def check_refused(cache: Path, reason: str) -> None:
    """Loading says why and what to do, and leaves nothing behind."""
    with pytest.raises(
        DatasetError,
        match=f"(?s)the data set 'tiny' is not on this machine.*{reason}.*{WHAT_TO_DO}",
    ):
        load("tiny")
    assert not cache.exists() or list(cache.iterdir()) == []


def test_fetched_once_and_then_from_the_cache(
    server: Any, tiny: Fetched, tiny_zip: bytes, cache: Path
) -> None:
    server.answers[PATH] = tiny_zip
    dataset = load("tiny")
    assert dataset.y.tolist() == ["republican", "democrat", "democrat"]
    assert dataset.X["handicapped_infants"].tolist() == ["n", "y", "?"]
    assert load("tiny").table.equals(dataset.table)
    assert server.asked == [f"/static/{PATH}"]
    assert [file.name for file in cache.iterdir()] == ["tiny.csv"]


def test_the_own_folder_comes_first_and_is_left_alone(
    server: Any,
    tiny: Fetched,
    tiny_zip: bytes,
    cache: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server.answers[PATH] = tiny_zip
    load("tiny")
    own = tmp_path / "own"
    own.mkdir()
    (cache / "tiny.csv").rename(own / "tiny.csv")
    monkeypatch.setenv("PRIVET_DATA", str(own))
    assert len(load("tiny").X) == 3
    assert len(server.asked) == 1
    # another set is not in the folder, so the network is asked
    (own / "tiny.csv").rename(own / "other.csv")
    assert len(load("tiny").X) == 3
    assert len(server.asked) == 2
    assert [file.name for file in own.iterdir()] == ["other.csv"]


def test_a_wrong_file_in_the_own_folder_is_an_error_and_nothing_is_fetched(
    server: Any, tiny: Fetched, tiny_zip: bytes, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answers[PATH] = tiny_zip
    load("tiny")
    file = cache / "tiny.csv"
    file.write_text(file.read_text().replace("republican", "democrat"))
    monkeypatch.setenv("PRIVET_DATA", str(cache))
    with pytest.raises(
        DatasetError, match=r"tiny\.csv is not the data set 'tiny'.*Replace the file"
    ):
        load("tiny")
    file.write_text("a,b\n1,2\n")
    with pytest.raises(
        DatasetError,
        match=r"cannot read .*tiny\.csv: the table has no column 'handicapped_infants'",
    ):
        load("tiny")
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DatasetError, match=r"cannot read .*tiny\.csv"):
        load("tiny")
    file.write_text("")
    with pytest.raises(DatasetError, match=r"cannot read .*tiny\.csv"):
        load("tiny")
    assert len(server.asked) == 1


def test_an_own_folder_that_is_not_there_is_said(
    tiny: Fetched, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PRIVET_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DatasetError, match=r"PRIVET_DATA must name a folder.*nowhere is no folder"):
        load("tiny")


@pytest.mark.parametrize("damage", ["", "a,b\n1,2\n", "changed"])
def test_a_damaged_cache_is_fetched_again(
    server: Any, tiny: Fetched, tiny_zip: bytes, cache: Path, damage: str
) -> None:
    server.answers[PATH] = tiny_zip
    expected = load("tiny").table
    file = cache / "tiny.csv"
    good = file.read_text()
    file.write_text(good.replace("republican", "democrat") if damage == "changed" else damage)
    assert load("tiny").table.equals(expected)
    assert len(server.asked) == 2
    assert file.read_text() == good


def test_another_table_of_the_same_form_is_refused(
    server: Any, tiny: Fetched, zipped: Zipped, cache: Path
) -> None:
    server.answers[PATH] = zipped({"house-votes-84.data": "democrat," + ",".join("y" * 16)})
    check_refused(cache, "the canonical hash of these 1 rows is")


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"other.data": "x"}, "there is no house-votes-84.data in the zip file"),
        ({"house-votes-84.data": "democrat,y,n\n"}, "line 1 of house-votes-84.data has 3 fields"),
        ({"house-votes-84.data": ""}, "the canonical hash of these 0 rows"),
    ],
)
def test_an_archive_with_other_content_is_refused(
    server: Any, tiny: Fetched, zipped: Zipped, cache: Path, members: dict[str, str], reason: str
) -> None:
    server.answers[PATH] = zipped(members)
    check_refused(cache, reason)


def test_files_in_a_folder_of_the_archive_are_found(
    server: Any, tiny: Fetched, zipped: Zipped, tiny_zip: bytes
) -> None:
    with zipfile.ZipFile(io.BytesIO(tiny_zip)) as package:
        text = package.read("house-votes-84.data").decode()
    server.answers[PATH] = zipped({"votes/house-votes-84.data": text})
    assert len(load("tiny").X) == 3


def test_a_page_instead_of_an_archive_is_refused(server: Any, tiny: Fetched, cache: Path) -> None:
    server.answers[PATH] = b"<html>please log in</html>"
    check_refused(cache, "not a readable zip file")


def test_a_missing_archive_is_refused(server: Any, tiny: Fetched, cache: Path) -> None:
    check_refused(cache, "the server answered 404 Not Found")


def test_a_download_that_breaks_off_is_refused(
    server: Any, tiny: Fetched, tiny_zip: bytes, cache: Path
) -> None:
    def broken(handler: Any) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(tiny_zip) + 10))
        handler.end_headers()
        handler.wfile.write(tiny_zip)  # even though the part that came is complete in itself

    server.answers[PATH] = broken
    check_refused(cache, f"broke off after {len(tiny_zip)} of {len(tiny_zip) + 10} bytes")


def test_a_download_without_a_length_works(server: Any, tiny: Fetched, tiny_zip: bytes) -> None:
    def unsized(handler: Any) -> None:
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(tiny_zip)

    server.answers[PATH] = unsized
    assert len(load("tiny").X) == 3


@pytest.mark.parametrize("after_headers", [False, True])
def test_a_silent_server_is_left_after_a_while(
    server: Any, tiny: Fetched, cache: Path, monkeypatch: pytest.MonkeyPatch, after_headers: bool
) -> None:
    def silent(handler: Any) -> None:
        if after_headers:
            handler.send_response(200)
            handler.send_header("Content-Length", "100")
            handler.end_headers()
            handler.wfile.write(b"PK")
        server.stopping.wait(10)

    server.answers[PATH] = silent
    monkeypatch.setattr(fetching, "SILENCE_SECONDS", 0.2)
    check_refused(cache, "the server was silent for 0.2 seconds")


def test_a_dripping_server_is_left_too(
    server: Any, tiny: Fetched, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dripping(handler: Any) -> None:
        handler.send_response(200)
        handler.end_headers()
        try:
            while not server.stopping.wait(0.01):
                handler.wfile.write(b"x" * fetching._CHUNK)
        except OSError:
            pass  # the client has gone, as it should

    server.answers[PATH] = dripping
    monkeypatch.setattr(fetching, "WHOLE_SECONDS", 0.1)
    check_refused(cache, "not complete after 0.1 seconds")


def test_a_download_that_is_too_large_is_refused(
    server: Any, tiny: Fetched, tiny_zip: bytes, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answers[PATH] = tiny_zip
    monkeypatch.setattr(fetching, "MAX_BYTES", len(tiny_zip) - 1)
    check_refused(cache, "the file is larger than")
    monkeypatch.setattr(fetching, "MAX_BYTES", len(tiny_zip))
    assert len(load("tiny").X) == 3


def test_an_archive_that_unpacks_to_too_much_is_refused(
    server: Any, tiny: Fetched, zipped: Zipped, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uci, "MAX_FILE_BYTES", 1000)
    server.answers[PATH] = zipped({"house-votes-84.data": "\n" * 1001})
    check_refused(cache, "house-votes-84.data in the zip file is larger than 1,000 bytes")


def test_fetching_without_a_connection_is_refused(
    tiny: Fetched, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        monkeypatch.setenv("PRIVET_DATA_URL", f"http://127.0.0.1:{unused.getsockname()[1]}")
        check_refused(cache, "no connection")


def test_a_mirror_must_be_on_the_web(
    tiny: Fetched, cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PRIVET_DATA_URL", tmp_path.as_uri())
    check_refused(cache, "not an http or https address")


def test_nothing_half_written_when_the_disk_is_full(
    server: Any, tiny: Fetched, tiny_zip: bytes, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(frame: object, path: Path) -> None:
        path.write_text("half")
        raise OSError(28, "No space left on device")

    server.answers[PATH] = tiny_zip
    monkeypatch.setattr(fetching, "_to_csv", full)
    with pytest.raises(
        DatasetError, match=r"cannot write to the cache .*No space left.*PRIVET_CACHE"
    ):
        load("tiny")
    assert list(cache.iterdir()) == []


def test_a_cache_that_cannot_be_made_is_said(
    server: Any, tiny: Fetched, tiny_zip: bytes, tmp_path: Path
) -> None:
    server.answers[PATH] = tiny_zip
    (tmp_path / "cache").write_text("a file in the way")
    with pytest.raises(DatasetError, match="cannot write to the cache"):
        load("tiny")


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert fetching.cache_path("crx") == tmp_path / "cache" / "datasets" / "crx.csv"
    monkeypatch.delenv("PRIVET_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert fetching.cache_path("crx") == tmp_path / "xdg" / "privet" / "datasets" / "crx.csv"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert fetching.cache_path("crx") == tmp_path / ".cache" / "privet" / "datasets" / "crx.csv"


class Terminal(io.StringIO):
    """Standard error that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("terminal", [True, False])
def test_a_bar_on_a_terminal_only(
    server: Any, tiny: Fetched, tiny_zip: bytes, monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    server.answers[PATH] = tiny_zip
    monkeypatch.setenv("TERM", "xterm")
    error = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", error)
    load("tiny")
    assert ("tiny" in error.getvalue()) == terminal


def test_values_that_look_like_nothing_stay_text(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text("a,n\nNA,1\nNone,?\nnull,\nnan,00202\n")
    assert fetching.read_cells(file, {"a": False, "n": True}) == {
        "a": ["NA", "None", "null", "nan"],
        "n": ["1", "?", "?", "202"],
    }


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_a_damaged_archive_is_refused_or_read(
    tiny: Fetched, tiny_zip: bytes, data: st.DataObject
) -> None:
    """Whatever byte is wrong, there is one kind of error."""
    position = data.draw(st.integers(0, len(tiny_zip) - 1))
    damaged = bytearray(tiny_zip)
    damaged[position] ^= data.draw(st.integers(1, 255))
    try:
        rows = tiny.archive.rows(bytes(damaged), len(tiny.columns()))
    except DatasetError:
        return
    assert rows == tiny.archive.rows(tiny_zip, len(tiny.columns()))


def test_the_layouts_of_the_repository() -> None:
    """Class first, identifier first, a remark on top, labels with a dot, blanks as separators."""
    read = uci.Archive(1, "x", ("f",), first="class")._rows_of
    assert list(read("f", "c,1,2\n\n", 3)) == [["1", "2", "c"]]
    read = uci.Archive(1, "x", ("f",), first="identifier")._rows_of
    assert list(read("f", "17,1,2,c\n", 3)) == [["1", "2", "c"]]
    read = uci.Archive(1, "x", ("f",))._rows_of
    assert list(read("f", "|1x3 Cross validator\n25, Private, 2.50, <=50K.\n", 4)) == [
        ["25", "Private", "2.50", "<=50K"]
    ]
    read = uci.Archive(1, "x", ("f",), separator=None)._rows_of
    assert list(read("f", "1  22.08 c \r\n", 3)) == [["1", "22.08", "c"]]


def test_cells_keep_the_order_of_rows() -> None:
    frame = pd.DataFrame({"n": ["3", "1", "2"]})
    assert canonical_cells(frame, {"n": True}) == {"n": ["3", "1", "2"]}
