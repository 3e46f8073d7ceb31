"""Remember which rows were trained on in this process, so that a second fit says what both cost.

``fit(X, y)`` without a ledger makes an account that ends with it. But a notebook runs its cells all
day, and cross-validation trains on the same rows again and again: each model keeps the epsilon that
it states, and together they promise the sum. So this process keeps, for every row that it has seen,
what was spent on it.

A row is known again by a digest of its index label and what it holds, in the columns of the schema;
a whole table also by being the same object. Whether two tables hold the same rows is a fact about
rows, so it is told to the caller alone, who has them: by a warning and by ``privacy_`` of the
estimator. It is in no model, no file and no pickle, and digests are held in memory only.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

#: So many rows are remembered; of more, those that were seen first are forgotten.
MOST_ROWS = 10_000_000
#: Fewer known rows than this part are a coincidence, such as two tables of few values that are
#: numbered from 0.
SAME_PEOPLE = 0.5

_KEY = os.urandom(16)


@dataclass(frozen=True)
class Before:
    """What was spent on rows before: in how many fits, and at most on one row."""

    fits: int
    epsilon: float


@dataclass
class RowMemory:
    """What was spent on each row, by its digest, and on each table that is still there.

    Amounts are floats: they are said in a warning, and charged nowhere.
    """

    digests: npt.NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, dtype=np.uint64))
    spent: npt.NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    fits: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    tables: dict[int, tuple[weakref.ref[Any], Before]] = field(default_factory=dict)
    lock: Any = field(default_factory=threading.Lock)

    def add(self, columns: Sequence[str], table: Any, y: Any, epsilon: float) -> Before:
        """Remember a fit of some rows, and return what was spent on them before."""
        with self.lock:
            by_rows = self._add_rows(digest_rows(columns, table, y), epsilon)
            by_object = self._find_table(table)
            before = max(by_rows, by_object, key=lambda found: found.epsilon)
            self._keep_table(table, Before(before.fits + 1, before.epsilon + epsilon))
        return before

    def _add_rows(self, digests: npt.NDArray[np.uint64] | None, epsilon: float) -> Before:
        if digests is None or not len(digests):
            return Before(0, 0.0)
        new = np.unique(digests)
        place = np.searchsorted(self.digests, new)
        known = np.zeros(len(new), dtype=bool)
        inside = place < len(self.digests)
        known[inside] = self.digests[place[inside]] == new[inside]
        there = place[known]
        same = len(there) >= SAME_PEOPLE * len(new)
        before = Before(
            int(self.fits[there].max()) if same else 0,
            float(self.spent[there].max()) if same else 0.0,
        )
        self.spent[there] += epsilon
        self.fits[there] += 1
        fresh = new[~known]
        if len(self.digests) + len(fresh) > MOST_ROWS:
            self.digests, self.spent, self.fits = self.digests[:0], self.spent[:0], self.fits[:0]
        order = np.argsort(np.concatenate([self.digests, fresh]), kind="stable")
        self.digests = np.concatenate([self.digests, fresh])[order]
        self.spent = np.concatenate([self.spent, np.full(len(fresh), epsilon)])[order]
        self.fits = np.concatenate([self.fits, np.ones(len(fresh), dtype=np.int64)])[order]
        return before

    def _find_table(self, table: Any) -> Before:
        reference, before = self.tables.get(id(table), (None, Before(0, 0.0)))
        # another object may have got its place in memory
        return before if reference is not None and reference() is table else Before(0, 0.0)

    def _keep_table(self, table: Any, spent: Before) -> None:
        place = id(table)
        try:
            reference = weakref.ref(table, lambda _: self.tables.pop(place, None))
        except TypeError:  # a list, or a mapping
            return
        self.tables[place] = reference, spent


_MEMORY = RowMemory()


def remember_fit(columns: Sequence[str], table: Any, y: Any, epsilon: float) -> Before:
    """Remember that these rows were trained on in this process; return what was spent before."""
    return _MEMORY.add(columns, table, y, epsilon)


def forget_fits() -> None:
    """Forget all rows, as a new process would."""
    global _MEMORY  # noqa: PLW0603 - it is the process's
    _MEMORY = RowMemory()


def digest_rows(columns: Sequence[str], table: Any, y: Any) -> npt.NDArray[np.uint64] | None:
    """Return a digest of each row of a data frame of pandas or an array; None for others.

    The index label is part of it: slices of one frame keep theirs, so that the folds of a
    cross-validation are known again, and people who look alike are not taken for one another.
    """
    import pandas as pd

    if isinstance(table, np.ndarray) and table.ndim == 2:
        table = pd.DataFrame(table)
    elif isinstance(table, pd.DataFrame):
        table = table[[name for name in columns if name in table.columns]]
    else:
        return None
    try:
        if y is not None:
            labels = pd.Series(np.asarray(y).reshape(-1), index=table.index, name="y")
            table = pd.concat([table, labels], axis=1)
        digests = pd.util.hash_pandas_object(table, index=True, hash_key=_KEY.hex()[:16])
    except Exception:  # noqa: BLE001 - entries that cannot be hashed; the object is known all the same
        return None
    # numbers are hashed without the key: mix it in
    secret = np.uint64(int.from_bytes(_KEY[:8], "little") | 1)
    return np.asarray(digests.to_numpy(np.uint64) * secret)
