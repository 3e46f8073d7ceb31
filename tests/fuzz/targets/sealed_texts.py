"""What is sealed with a client's key, and the file of the key."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np

from privet.errors import SealError
from privet.model.structure import tree_to
from privet.outsource.cipher import KeyRing, Sealer, keys
from privet.outsource.client.subtrees import TrueRows, pad_tree, unpad_tree
from tests.fuzz.mutate import mutated_bytes, mutated_json
from tests.fuzz.target import Target
from tests.report.models import SCHEMA, small_tree

PLACE = ("tree", 3)


class Ciphertexts(Target):
    """Nothing opens but what was sealed, with one error that says nothing."""

    name = "ciphertext"
    what = (
        "sealed texts; none opens but those that were sealed, and all are refused with the same "
        "words"
    )
    mutate = staticmethod(mutated_bytes)

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._sealer = Sealer(KeyRing.new().add_fresh_key(), "0" * 32)
        self._texts = {
            self._sealer.seal("subtree", PLACE, text): text
            for text in (b"", b"a text", pad_tree(small_tree(), 10), os.urandom(3000))
        }

    def corpus(self) -> list[bytes]:
        return list(self._texts)

    def extra(self) -> list[bytes]:
        return [
            self._sealer.seal("sequence", PLACE, b"a text"),
            self._sealer.seal("subtree", ("tree", 4), b"a text"),
        ]

    def run(self, data: bytes) -> None:
        try:
            opened = self._sealer.open("subtree", PLACE, data)
        except SealError as error:
            if str(error) != str(SealError()):
                raise AssertionError("it says what was wrong") from error
            raise
        assert opened == self._texts.get(data), "a text opened that nobody sealed"


def _folded(text: bytes) -> bytes:
    """A text as it is sealed: its length, the compressed text, zeros."""
    packed = zlib.compress(text, 1)
    return (len(packed).to_bytes(4, "big") + packed).ljust(1024, b"\0")


class SealedTrees(Target):
    """A holder of the key may be wrong too: what opens is no tree yet."""

    name = "sealed-tree"
    what = (
        "texts of encrypted trees, opened with the right key; a tree or one error that says nothing"
    )

    def corpus(self) -> list[bytes]:
        return [json.dumps(tree_to(small_tree()), separators=(",", ":")).encode()]

    def extra(self) -> list[bytes]:
        tree = small_tree()
        codes = [np.zeros(9, dtype=attribute.dtype) for attribute in SCHEMA.attributes.values()]
        classes = np.zeros(9, dtype=SCHEMA.label.dtype)
        rows = TrueRows(1, codes, classes, np.arange(9) < 3)
        return [pad_tree(tree, 10), pad_tree(tree, 9, rows)]

    def run(self, data: bytes) -> None:
        raw = data[:1] in (b"\0", b"\1", b"\2", b"\xff")  # the folded text itself, changed
        tree = unpad_tree(SCHEMA, data if raw else _folded(data))
        assert tree.counts.shape == (tree.n_nodes, SCHEMA.n_classes)


def _mutated_key(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Keep most changes out of the sealed part: its tag finds all of them."""
    return mutated_json(rng, data, others)


class KeyFiles(Target):
    """Passphrases are stretched at the least cost here, or every input would take a second."""

    name = "key"
    what = "key files, plain and under a passphrase"
    seconds = 60
    mutate = staticmethod(_mutated_key)

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._usual = dict(keys._SCRYPT)
        keys._SCRYPT.update(n=2)

    def close(self) -> None:
        keys._SCRYPT.update(self._usual)

    def corpus(self) -> list[bytes]:
        made = []
        for ring, passphrase in (
            (KeyRing.new(), None),
            (KeyRing.new("AES-128-GCM").add_fresh_key().bind_to_table("0" * 32), None),
            (KeyRing.new(), "open"),
        ):
            path = self.folder / "made.key"
            ring.write(path, passphrase, over=True)
            made.append(path.read_bytes())
        return made

    def run(self, data: bytes) -> None:
        path = self.folder / "input.key"
        path.touch(mode=0o600)
        path.write_bytes(data)
        ring = KeyRing.read(path, "open" if KeyRing.needs_passphrase(path) else None)
        text = Sealer(ring, "0" * 32).seal("naive", (), b"text")
        assert Sealer(ring, "0" * 32).open("naive", (), text) == b"text"
        ring.write(self.out / "again.key")
        assert KeyRing.read(self.out / "again.key") == ring
