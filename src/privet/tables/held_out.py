"""Keep some rows of a table apart for testing, by a keyed hash of each row or person.

Which part a row is in depends on that row (or on whose row it is) and a public key alone, never on
other rows, so the same key gives the same parts in every command, and no row is in both. Adding or
removing a person changes one part only. Where a person may be *replaced*, one part may lose a row
and the other gain one.

What is asked about both parts is charged to one account and added up, as for any two questions
about a table. Where one person is added or removed, a person's own loss is that of their part
alone, so the sum is more than what is given away; the ledger claims no less than the sum.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

from privet.accounting.cost import Number, parse_exact
from privet.domain.attributes.base import What
from privet.domain.encode.values import plain_value_of
from privet.domain.schema import Schema
from privet.errors import ParameterError
from privet.tables.base import CountSource, Table
from privet.tables.memory import Matrix, MemorySource, MemoryTable
from privet.tables.open import READ_ROWS, open_table

Part = Literal["train", "test"]
#: A hash is an integer below this; those below the share of it are test rows.
_RANGE = 1 << 64


def split_table(table: object, test_size: Number, key: str = "1") -> tuple[HeldOut, HeldOut]:
    """Return two disjoint parts of a table, to train on and to test on.

    A row's part follows from a keyed hash of the person that the schema names, or else of all
    entries of the row, so that equal rows stay together. The rows of a part are held in memory.

    Parameters
    ----------
    table
        A table, or where it is: what :func:`privet.open_table` takes.
    test_size
        The share of people, or rows, to test on, between 0 and 1.
    key
        Another key gives another split. It is public, and must not be chosen by looking at rows.

    Returns
    -------
    tuple
        Tables for :class:`~privet.Curator`, both under the name of the whole: charges add up.

    Examples
    --------
    >>> import privet as pv
    >>> nursery = pv.datasets.load("nursery")
    >>> train, test = pv.split_table(nursery.table, test_size=0.2)
    >>> book = pv.MemoryLedger()
    >>> curator = pv.Curator(train, nursery.schema, pv.Budget(2), ledger=book)
    >>> model = pv.PrivetClassifier(epsilon=1).fit_from(curator)
    >>> held_out = pv.Curator(test, nursery.schema, ledger=book)
    >>> model.score_from(held_out, epsilon=0.5).accuracy > 0.8
    True
    """
    share = parse_exact("test_size", test_size)
    if not 0 < share < 1:
        raise ParameterError(f"test_size must be between 0 and 1, such as 0.2, got {test_size!r}")
    opened = open_table(table)
    return HeldOut(opened, share, key, "train"), HeldOut(opened, share, key, "test")


class HeldOut:
    """One part of a table. Its rows are read at the first question: after its charge."""

    def __init__(self, whole: Table, test_size: Fraction, key: str, part: Part) -> None:
        self._whole, self._part = whole, part
        self._below = int(test_size * _RANGE)
        # a hash's key has 64 bytes at most
        self._key = hashlib.blake2b(key.encode(), digest_size=32).digest()

    @property
    def name(self) -> str:
        """The name of the whole, whose account is charged."""
        return self._whole.name

    def check_structure(self, schema: Schema) -> None:
        """Raise where columns are absent or cannot match. Looks at no row."""
        self._whole.check_structure(schema)

    def check_reachable(self) -> None:
        """Raise where the table cannot be reached now. Looks at no row."""
        self._whole.check_reachable()

    def problems(self, schema: Schema) -> list[tuple[str, What]]:
        """Return how the whole fails to fit, for the owner."""
        return self._whole.problems(schema)

    def source(self, schema: Schema) -> CountSource:
        """Return the exact counts of this part."""
        return _PartSource(self, schema)

    def read_blocks(self, size: int) -> Iterator[Any]:
        """Return the rows of this part, where the person is not known."""
        for block in self._whole.read_blocks(size):
            yield block[self.find_mine(block, None)]

    def writable(self) -> bool:
        """Return whether these credentials could change the table."""
        return self._whole.writable()

    def find_mine(self, block: Any, person: str | None) -> list[bool]:
        """Return which rows of a block are in this part."""
        columns = list(block.columns) if person is None else [person]
        test = self._part == "test"
        return [
            (self._hash(entries) < self._below) == test
            for entries in zip(*(block[name].tolist() for name in columns), strict=True)
        ]

    def _hash(self, entries: tuple[Any, ...]) -> int:
        text = "\x1f".join(map(_spell, entries))
        digest = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8, key=self._key)
        return int.from_bytes(digest.digest(), "big")


def _spell(entry: Any) -> str:
    """Return an entry as text that is the same whatever stands beside it in a block: an integer
    may come as a float where other rows have gaps.
    """
    value = plain_value_of(entry)
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return f"number {float(value)!r}"
        except OverflowError:  # no column of floats holds it
            return f"number {hash(value)}"
    return f"{type(value).__name__} {value}"


class _PartSource(MemorySource):
    """Exact counts of one part, read when first asked."""

    def __init__(self, part: HeldOut, schema: Schema) -> None:
        super().__init__(schema, None)
        self._held = part

    @cached_property
    def _matrix(self) -> Matrix:
        import pandas as pd

        blocks = [
            block[self._held.find_mine(block, self._schema.person)]
            for block in self._held._whole.read_blocks(READ_ROWS)
        ]
        rows = pd.concat(blocks, ignore_index=True)
        source = MemoryTable(rows).source(self._schema)
        assert isinstance(source, MemorySource)
        return source._matrix
