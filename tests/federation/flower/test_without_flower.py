"""Where Flower is not installed, everything else works, and the app says what is missing."""

from __future__ import annotations

import subprocess
import sys

BLOCKED = "import sys; sys.modules['flwr'] = None\n"


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BLOCKED + code], capture_output=True, text=True, timeout=120
    )


def test_the_app_says_what_to_install():
    done = python(
        "from importlib import import_module\n"
        "for name in ('client', 'server', 'relay_client', 'relay_server'):\n"
        "    try:\n"
        "        import_module(f'privet.federation.flower.{name}')\n"
        "    except ImportError as problem:\n"
        "        print(name, type(problem).__name__, problem)\n"
    )
    said = done.stdout.splitlines()
    assert len(said) == 4, done.stderr
    assert all("MissingDependency" in line for line in said)
    assert all("pip install 'privet[flower]'" in line for line in said)


def test_nothing_else_needs_it():
    done = python(
        "import privet.federation.flower.party, privet.federation.flower.relay_party, "
        "privet.federation.flower.terms\nprint('fine')"
    )
    assert done.stdout == "fine\n", done.stderr
