"""Folders that somebody else made: the halves of a table, the home of a curator."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path
from random import Random

import duckdb

from privet.errors import PrivetError
from privet.outsource.cipher import KeyRing
from privet.outsource.files import ANATOMY, IDENTIFIERS, SEAL, VALUES, read_halves, write_halves
from privet.outsource.split import split
from privet.outsource.store.open import make_store
from privet.outsource.verify import verify
from privet.service.state import ServiceState
from tests.fuzz.mutate import mutated_bytes, mutated_json
from tests.fuzz.target import Target
from tests.outsource.people import SCHEMA, people
from tests.service.running import house


def mutated_file(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """An input is the name of a file, a line break, and what it then holds."""
    name, _, content = data.partition(b"\n")
    mutate = mutated_json if name.endswith(b".json") and rng.random() < 0.8 else mutated_bytes
    return name + b"\n" + mutate(rng, content, [other.partition(b"\n")[2] for other in others])


class HalvesFolders(Target):
    """The folder that an owner hands to a server: verified, and loaded as a whole or not at all."""

    name = "halves"
    what = (
        "folders of outsourced tables with one file changed, verified with the key; one in eight "
        "is loaded, whole or not at all"
    )
    smoke = 20
    mutate = staticmethod(mutated_file)

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._ring, self._folder = KeyRing.new(), folder / "halves"
        database, self._usual = duckdb.connect(config={"threads": 1}), duckdb.connect
        duckdb.connect = lambda *place, **options: (
            self._usual(*place, **options) if place else database.cursor()
        )
        write_halves(split(people(20, 1), SCHEMA, "disease", 2, self._ring).halves, self._folder)
        self._files = {
            name: (self._folder / name).read_bytes()
            for name in (ANATOMY, SEAL, IDENTIFIERS, VALUES)
        }

    def close(self) -> None:
        duckdb.connect = self._usual

    def corpus(self) -> list[bytes]:
        return [name.encode() + b"\n" + content for name, content in self._files.items()]

    def run(self, data: bytes) -> None:
        name, _, content = data.partition(b"\n")
        known = name.decode("latin-1")
        if known not in self._files:
            return
        (self._folder / known).write_bytes(content)
        refused: list[PrivetError] = []
        try:
            steps = [lambda: verify(read_halves(self._folder), self._ring)]
            # a database of its own takes most of the time
            if hashlib.sha256(data).digest()[0] % 8 == 0:
                steps.append(lambda: make_store(self.out / "store.duckdb", self._folder))
            for step in steps:
                try:
                    step()
                except PrivetError as error:
                    refused.append(error)
        finally:
            (self._folder / known).write_bytes(self._files[known])
        if refused:
            if not any(path.name == "store.duckdb" for path in self.out.iterdir()):
                raise refused[-1]
            # the store took what the verifier, who has the key, would not
            shutil.rmtree(self.out)
            self.out.mkdir()
            raise refused[0]


class CuratorHomes(Target):
    """What is written about where a ledger and the accounts are."""

    name = "home"
    what = "homes of curators whose settings or accounts were changed; opened, or one error"
    mutate = staticmethod(mutated_file)

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        made = house(folder)
        made.add("ada", 1)
        self._token, self._home = made.tokens["ada"], made.path
        made.state.ledger.close()
        self._files = {
            name: (self._home / name).read_bytes() for name in ("curator.json", "accounts.sqlite")
        }

    def corpus(self) -> list[bytes]:
        return [name.encode() + b"\n" + content for name, content in self._files.items()]

    def run(self, data: bytes) -> None:
        name, _, content = data.partition(b"\n")
        known = name.decode("latin-1")
        if known not in self._files:
            return
        if b"postgres" in content:  # it would be looked for
            return
        (self._home / known).write_bytes(content)
        try:
            state = ServiceState.open(self._home)
            try:
                accounts = state.accounts
                accounts.datasets()
                accounts.is_owner(self._token)
                accounts.granted(accounts.analyst_of(self._token), "people")
            finally:
                state.ledger.close()
        finally:
            (self._home / known).write_bytes(self._files[known])
            for left in self._home.glob("accounts.sqlite-*"):
                left.unlink()
