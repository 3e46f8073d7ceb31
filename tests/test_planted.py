"""What another user planted where something is to be written is never followed or written to."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from privet import _planted
from privet._atomic import atomic_file, make_private_folder, save_file, write_atomically
from privet._planted import follow_own_links
from privet.accounting.cost import Budget
from privet.accounting.ledger import SQLiteLedger
from privet.cli.asking import check_writable
from privet.errors import LedgerError, PrivetError, TableError
from privet.outsource.cipher import KeyRing
from privet.outsource.files import private_file

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no folder is shared like this")
STRANGER = 54321


@pytest.fixture
def shared(tmp_path) -> Path:
    """A folder where everybody may put files, as /tmp is."""
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    return folder


@pytest.fixture
def plant(monkeypatch) -> Callable[[Path], None]:
    """Give an entry to another user; who is not root changes what is seen of its owner instead."""
    if os.geteuid() == 0:
        return lambda path: os.lchown(path, STRANGER, STRANGER)
    planted: set[int] = set()
    is_planted = _planted._is_planted

    def seen(entry: os.stat_result, folder: os.stat_result) -> bool:
        if entry.st_ino in planted:
            entry = os.stat_result((*entry[:4], STRANGER, *entry[5:]))
        return is_planted(entry, folder)

    monkeypatch.setattr(_planted, "_is_planted", seen)
    return lambda path: planted.add(path.lstat().st_ino)


@pytest.fixture
def precious(tmp_path) -> Iterator[Path]:
    """A file that must stay as it is."""
    path = tmp_path / "precious"
    path.write_text("mine")
    yield path
    assert path.read_text() == "mine"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["precious", "shared"]


def test_a_planted_link_is_not_followed(shared, plant, precious):
    link = shared / "model.json"
    for target in (precious, precious.with_name("new")):
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        plant(link)
        with pytest.raises(PermissionError, match="another user put it there"):
            write_atomically(link, b"theirs")
        with pytest.raises(PrivetError, match=r"cannot write .*model\.json: another user"):
            save_file(link, b"theirs")
    assert [entry.name for entry in shared.iterdir()] == ["model.json"]


def test_a_planted_link_on_the_way_is_not_followed(shared, plant, precious):
    (shared / "out").symlink_to(precious.parent)
    plant(shared / "out")
    with pytest.raises(PermissionError):
        write_atomically(shared / "out" / "precious", b"theirs")
    (shared / "mine").symlink_to("out/precious")  # one's own link, to somebody else's
    with pytest.raises(PermissionError):
        write_atomically(shared / "mine", b"theirs")


def test_a_planted_file_or_pipe_is_not_written_to(shared, plant):
    (shared / "a").write_text("theirs")
    os.mkfifo(shared / "b")
    for path in shared.iterdir():
        plant(path)
        with pytest.raises(PermissionError), atomic_file(path):
            pass
    assert (shared / "a").read_text() == "theirs"


def test_own_links_and_links_of_the_folders_owner_are_followed(shared, tmp_path):
    (shared / "real").mkdir()
    (shared / "folder").symlink_to("../shared/real")
    (shared / "link").symlink_to(shared / "folder" / "a")
    write_atomically(shared / "link", b"told")
    assert (shared / "link").is_symlink()
    assert (shared / "real" / "a").read_bytes() == b"told"
    assert follow_own_links(shared / "link") == (tmp_path / "shared/real/a").resolve()


def test_links_in_folders_of_few_are_followed(tmp_path, plant):
    """Somebody who may write to a folder without the mark of /tmp may do worse."""
    (tmp_path / "link").symlink_to("a")
    plant(tmp_path / "link")
    write_atomically(tmp_path / "link", b"told")
    assert (tmp_path / "a").read_bytes() == b"told"


def test_a_circle_of_links_ends(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="symbolic links"):
        follow_own_links(tmp_path / "a")


@pytest.mark.parametrize("name", ["t.ledger", "t.ledger-wal", "t.ledger-journal", "t.ledger-shm"])
def test_a_ledger_goes_along_with_nothing_planted(shared, plant, precious, name):
    (shared / name).symlink_to(precious.with_name("new"))
    plant(shared / name)
    with pytest.raises(LedgerError, match="another user put it there"):
        SQLiteLedger(shared / "t.ledger")
    (shared / name).unlink()
    (shared / name).touch()
    plant(shared / name)
    with pytest.raises(LedgerError, match="another user put it there"):
        SQLiteLedger(shared / "t.ledger")
    assert [entry.name for entry in shared.iterdir()] == [name]


def test_a_home_is_made_in_no_planted_folder(shared, plant, precious):
    from privet.outsource.server.state import ServerState
    from privet.service.state import ServiceState

    (shared / "empty").mkdir()
    (shared / "home").symlink_to("empty")
    plant(shared / "home")
    for home in (shared / "home", shared / "empty"):
        plant(home)
        with pytest.raises(PrivetError, match="another user put it there"):
            ServiceState.make(home)
        with pytest.raises(PrivetError, match="another user put it there"):
            ServerState.make(home, precious)
    assert list((shared / "empty").iterdir()) == []


def test_key_files_and_withheld_rows_go_to_nothing_planted(shared, plant, precious):
    link = shared / "k.key"
    link.symlink_to(precious.with_name("new"))
    plant(link)
    with pytest.raises(PrivetError):
        KeyRing.new().write(link)
    with pytest.raises(PrivetError, match="another user"), private_file(link):
        pass


def test_commands_look_before_they_charge(shared, plant, precious):
    (shared / "m.json").symlink_to(precious)
    check_writable(shared / "m.json", force=True)
    plant(shared / "m.json")
    with pytest.raises(TableError, match=r"cannot write .*m\.json: another user put it there"):
        check_writable(shared / "m.json", force=True)


# -- private files, whatever the umask --


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.usefixtures("open_umask")
def test_a_ledger_and_what_lies_beside_it_are_private(tmp_path):
    ledger = SQLiteLedger(tmp_path / "t.ledger")
    ledger.set_cap("t", Budget(1))
    files = sorted(tmp_path.iterdir())
    assert [path.name for path in files] == ["t.ledger", "t.ledger-shm", "t.ledger-wal"]
    assert {mode(path) for path in files} == {0o600}


@pytest.mark.usefixtures("open_umask")
def test_a_ledger_that_was_shared_on_purpose_stays_shared(tmp_path):
    SQLiteLedger(tmp_path / "t.ledger")
    (tmp_path / "t.ledger").chmod(0o660)
    SQLiteLedger(tmp_path / "t.ledger").set_cap("t", Budget(1))
    assert mode(tmp_path / "t.ledger") == 0o660


@pytest.mark.usefixtures("open_umask")
def test_private_files_are_private_from_the_beginning(tmp_path):
    with atomic_file(tmp_path / "a", private=True) as partial:
        assert mode(partial) == 0o600
        partial.write_text("told")
    assert mode(tmp_path / "a") == 0o600
    make_private_folder(tmp_path / "folder")
    assert mode(tmp_path / "folder") == 0o700
    write_atomically(tmp_path / "released", b"a model")
    assert mode(tmp_path / "released") == 0o666
