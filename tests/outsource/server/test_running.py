"""A real process: what it loads, and that it owns its file."""

from __future__ import annotations

import subprocess
import sys

import pytest

from privet.errors import ParameterError, PrivacyError
from privet.outsource.server.serve import run
from privet.outsource.server.state import ServerLimits
from tests.outsource.server.running import serving
from tests.outsource.server.test_routes import group, text


def test_a_server_that_has_done_everything_never_loaded_a_cipher(state, token):
    with serving(state.path, with_none=True) as server:
        ada = server.asking(token)
        status, tree = ada.call("POST", "trees", {"leaf_size": 2})
        assert status == 201
        path = f"trees/{tree['id']}"
        status, reached = ada.call("POST", f"{path}/leaves", {"rows": [["red", 20]]})
        leaf = f"{path}/leaves/{reached['leaves'][0]}"
        asked = [
            ("GET", "about", None, 200),
            ("GET", path, None, 200),
            ("POST", f"{path}/predictions", {"rows": [["red", 1]]}, 200),
            ("GET", f"{leaf}/rows", None, 200),
            ("GET", "rows", None, 200),
            ("PUT", f"{leaf}/subtree", {"sealed": text(b"x"), "replaces": None}, 201),
            ("GET", f"{leaf}/subtree", None, 200),
            ("PUT", "sealed/naive", {"sealed": text(b"x"), "replaces": None}, 201),
            ("GET", "sealed/naive", None, 200),
            ("POST", "changes", {"version": 1, **group(), "pending": [text(b"x")]}, 200),
            ("GET", "pending", None, 200),
            ("DELETE", path, None, 204),
        ]
        for method, where, body, expected in asked:
            status, told = ada.call(method, where, body)
            assert status == expected, (method, where, told)
        ada.close()
        modules = server.stop()
    assert "privet.outsource.server.app" in modules
    loaded = [
        name
        for name in modules
        if name.startswith(("cryptography", "privet.outsource.cipher", "privet.outsource.client"))
    ]
    assert loaded == []
    assert server.told.count("\n") == 1, server.told  # where it listens, and no complaint


def test_a_second_server_of_the_same_home_is_told_why(state, token):
    with serving(state.path) as server:
        code = (
            "import sys\nfrom privet.outsource.server.state import ServerState\nfrom "
            "privet.outsource.server.state import ServerLimits\n"
            "from privet.outsource.server.serve import run\n"
            "run(ServerState.open(sys.argv[1]), ServerLimits(), "
            "'127.0.0.1', 0)"
        )
        ended = subprocess.run(
            [sys.executable, "-c", code, str(state.path)], capture_output=True, text=True
        )
        assert ended.returncode == 1
        assert "in use by another process; one server owns it at a time" in ended.stderr
        with server.asking(token) as ada:
            assert ada.call("GET", "about")[0] == 200
            state.accounts.revoke("ada")  # while it runs
            assert ada.call("GET", "about")[0] == 401


def test_it_listens_to_others_only_with_tls(state):
    with pytest.raises(PrivacyError, match="without TLS"):
        run(state, ServerLimits(), "0.0.0.0", 0)
    with pytest.raises(ParameterError, match="both cert and key"):
        run(state, ServerLimits(), "127.0.0.1", 0, cert=state.path)
    state.store().close()  # which was not opened for that
