"""Where Flower is not installed, everything else works, and the app says what is missing."""

from __future__ import annotations

import subprocess
import sys

import pytest

BLOCKED = "import sys; sys.modules['flwr'] = None\n"


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BLOCKED + code], capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize("module", ["client", "server", "relay_client", "relay_server"])
def test_the_app_says_what_to_install(module):
    done = python(f"import privet.federation.flower.{module}")
    assert done.returncode == 1
    assert "MissingDependency" in done.stderr
    assert "pip install 'privet[flower]'" in done.stderr


def test_nothing_else_needs_it():
    done = python(
        "import privet.federation.flower.party, privet.federation.flower.relay_party, "
        "privet.federation.flower.terms\nprint('fine')"
    )
    assert done.stdout == "fine\n", done.stderr
