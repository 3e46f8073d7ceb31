"""The server of the tests starts for whoever runs them, from any search path, and leaves
nothing.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests import postgres as servers


def test_the_folders_of_system_programs_are_searched_last():
    searched = servers.with_system_folders("/usr/bin:/bin").split(":")
    assert searched[:2] == ["/usr/bin", "/bin"]
    assert {"/usr/sbin", "/sbin"} <= set(searched[2:])


def test_folders_that_are_searched_already_stay_where_they_are():
    given = "/usr/sbin:/usr/bin:/sbin:/usr/local/sbin"
    assert servers.with_system_folders(given) == given


def test_an_empty_search_path_does_not_mean_the_current_folder():
    assert "" not in servers.with_system_folders("").split(":")


@pytest.fixture
def as_root(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)


def executable(path: Path) -> Path:
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_root_needs_useradd_where_the_user_is_missing(as_root, tmp_path):
    why = servers.why_no_user(str(tmp_path), "nobody of this name")
    assert "'nobody of this name'" in why
    assert "useradd" in why
    executable(tmp_path / "useradd")
    assert servers.why_no_user(str(tmp_path), "nobody of this name") == ""


def test_root_needs_no_useradd_where_the_user_exists(as_root, tmp_path):
    assert servers.why_no_user(str(tmp_path), "root") == ""


def test_others_than_root_need_no_user(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert servers.why_no_user(str(tmp_path), "nobody of this name") == ""


def test_a_server_that_cannot_start_is_a_skip_with_the_reason(monkeypatch):
    pytest.importorskip("psycopg")
    monkeypatch.setattr(servers, "why_no_user", lambda path, name: "nobody to run as")
    with pytest.raises(pytest.skip.Exception, match="nobody to run as"):
        servers.Server()


def test_useradd_is_looked_for_where_the_search_path_does_not_lead(as_root, monkeypatch, tmp_path):
    """The wheel finds it by the search path of this process."""
    pytest.importorskip("psycopg")
    seen = []

    class Wheel:
        __file__ = str(tmp_path / "wheel.py")

        @staticmethod
        def get_server(folder, cleanup_mode, start):
            seen.append(shutil.which("useradd"))
            raise RuntimeError("seen enough")

    executable(tmp_path / "useradd")
    monkeypatch.setattr(servers, "_SYSTEM", (str(tmp_path),))
    monkeypatch.setattr(servers, "_USER", "nobody of this name")
    monkeypatch.setattr(servers, "_wheel", lambda: Wheel)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    with pytest.raises(RuntimeError, match="seen enough"):
        servers.Server()
    assert seen == [str(tmp_path / "useradd")]
    assert os.environ["PATH"] == str(tmp_path / "empty")


def test_a_stopped_server_leaves_no_folder(own_postgres):
    folder = own_postgres._folder
    assert (folder / "postmaster.pid").exists()
    own_postgres.stop()
    assert not folder.exists()
