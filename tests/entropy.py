"""Tests draw their chance from a stream that follows the name of the test, so that what passes once
passes again.

``PRIVET_TEST_SEED`` names another stream; ``PRIVET_TEST_SEED=random`` leaves everything to the
operating system, as in use. Only Python's own doors to the system's generator are turned:
databases, OpenSSL and programs that a test starts keep theirs.
"""

import hashlib
import os
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

SEED = os.environ.get("PRIVET_TEST_SEED", "privet")
REPEATABLE = SEED != "random"


class Stream:
    """Bytes that depend on a name and on how many were drawn before; a forked process draws others
    than its parent.
    """

    def __init__(self) -> None:
        self._name, self._drawn, self._forked = "no test", 0, 0
        self._lock = threading.Lock()

    @contextmanager
    def named(self, name: str) -> Iterator[None]:
        """Draw by this name for a while."""
        before = self._name, self._drawn, self._forked
        self._name, self._drawn, self._forked = name, 0, 0
        try:
            yield
        finally:
            self._name, self._drawn, self._forked = before

    def draw(self, size: int) -> bytes:
        with self._lock:
            self._drawn += 1
            return hashlib.shake_256(f"{SEED}\0{self._name}\0{self._drawn}".encode()).digest(size)

    def before_fork(self) -> None:
        self._forked += 1

    def after_fork_in_child(self) -> None:
        self._lock = threading.Lock()  # another thread of the parent may hold the old one
        self._name, self._drawn, self._forked = f"{self._name}\0child {self._forked}", 0, 0


_stream = Stream()
if REPEATABLE:
    os.register_at_fork(before=_stream.before_fork, after_in_child=_stream.after_fork_in_child)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """The stream of a test, with its fixtures."""
    if not REPEATABLE:
        return (yield)
    with pytest.MonkeyPatch.context() as patch, _stream.named(item.nodeid):
        patch.setattr(os, "urandom", _stream.draw)
        patch.setattr(random, "_urandom", _stream.draw)  # what `secrets` draws from
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any, request: Any) -> Iterator[None]:
    """A fixture that several tests share has a stream of its own, whichever of them comes first."""
    if fixturedef.scope == "function":
        return (yield)
    with _stream.named(f"{request.node.nodeid} {fixturedef.argname} {request.param_index}"):
        return (yield)
