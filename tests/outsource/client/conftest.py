"""A server process with a table of people, and clients of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from privet.outsource.cipher import KeyRing
from privet.outsource.client import OutsourcedTable
from privet.outsource.files import Halves, write_halves
from privet.outsource.server.state import ServerState
from privet.outsource.split import split
from tests.outsource.people import SCHEMA, people
from tests.service.running import Service, serving


@dataclass
class Outsourced:
    """A split table at its server."""

    halves: Halves
    ring: KeyRing
    state: ServerState
    token: str
    service: Service

    def table(
        self, ring: KeyRing | None = None, *, port: int | None = None, **options
    ) -> OutsourcedTable:
        """A client, with the key unless another is given."""
        url = f"http://127.0.0.1:{self.service.port if port is None else port}"
        return OutsourcedTable(url, self.token, self.ring if ring is None else ring, **options)


def outsource(
    folder: Path, rows: int = 500, seed: int = 1, store: str | None = None
) -> tuple[Halves, KeyRing, ServerState, str]:
    """Split people and make the home of a server with them."""
    ring = KeyRing.new()
    halves = split(people(rows, seed), SCHEMA, "disease", 2, ring).halves
    write_halves(halves, folder / "halves")
    state = ServerState.make(folder / "home", folder / "halves", store)
    return halves, ring, state, state.accounts.add_analyst("ada")


@pytest.fixture(scope="module")
def there(tmp_path_factory) -> Iterator[Outsourced]:
    """One server for a module: tests of it must not depend on each other's changes."""
    folder = tmp_path_factory.mktemp("outsourced")
    halves, ring, state, token = outsource(folder)
    with serving(state.path, group="outsource") as service:
        yield Outsourced(halves, ring, state, token, service)


@pytest.fixture
def own(tmp_path) -> Iterator[Outsourced]:
    """A server for one test."""
    halves, ring, state, token = outsource(tmp_path)
    with serving(state.path, group="outsource") as service:
        yield Outsourced(halves, ring, state, token, service)


@pytest.fixture
def connect(there) -> Iterator[Callable[..., OutsourcedTable]]:
    """Clients of the module's server."""
    opened: list[OutsourcedTable] = []

    def connected(ring: KeyRing | None = None, **options) -> OutsourcedTable:
        opened.append(there.table(ring, **options))
        return opened[-1]

    yield connected
    for table in opened:
        table.close()
