"""One column of any kind of table, read in blocks as it is stored. Nothing is coerced because of
another entry.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.schema.entries import plain_value_of

#: Plain numbers or truth values, and which of them are null (None: none is). A NaN is null too.
MaskedNumbers = tuple[npt.NDArray[Any], npt.NDArray[np.bool_] | None]
#: Positions into a list of plain values; -1 is null.
Distinct = tuple[npt.NDArray[Any], list[Any]]
#: The positions of a block's texts in a list that was given: -1 for null, one past the end for
#: other texts.
Finder = Callable[[int, int], npt.NDArray[Any]]


class Column(ABC):
    """A column of a table. ``dtype`` is known from its type alone, whatever the entries are."""

    dtype: Any

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def series(self, low: int, high: int) -> Any:
        """These rows as a pandas Series in which every entry is what it was."""

    def numbers(self, low: int, high: int) -> MaskedNumbers | None:  # noqa: ARG002
        """These rows where the column is stored as plain numbers; None where it is not."""
        return None

    def finder(self, texts: Sequence[str]) -> Finder | None:  # noqa: ARG002
        """How to find texts where the column is stored as text of a library that can; None where it
        is not.
        """
        return None

    def distinct(self, low: int, high: int) -> Distinct:
        """The distinct plain values of these rows. Entries that compare equal but differ (1, True)
        stay apart.
        """
        import pandas as pd

        series = self.series(low, high)
        if pd.api.types.is_object_dtype(series.dtype):
            return distinct_objects(series.to_numpy())
        positions, uniques = pd.factorize(series)
        return positions, [plain_value_of(entry) for entry in uniques.tolist()]


class ArrayColumn(Column):
    """An array, or a list, whose entries stay the very objects they are."""

    def __init__(self, entries: Any) -> None:
        self._entries: Any = (
            entries if isinstance(entries, np.ndarray | list | tuple) else list(entries)
        )
        self.dtype = entries.dtype if isinstance(entries, np.ndarray) else np.dtype(object)
        self._plain = self.dtype.kind in "biuf" and self.dtype.itemsize <= 8

    def __len__(self) -> int:
        return len(self._entries)

    def numbers(self, low: int, high: int) -> MaskedNumbers | None:
        if not self._plain:
            return None
        block = self._entries[low:high]
        if not self.dtype.isnative:
            block = block.astype(self.dtype.newbyteorder("="))
        return np.ma.getdata(block), np.ma.getmaskarray(block) if isinstance(
            block, np.ma.MaskedArray
        ) else None

    def series(self, low: int, high: int) -> Any:
        import pandas as pd

        block = self._block(low, high)
        return pd.Series(block, dtype=object if block.dtype == object else None, copy=False)

    def distinct(self, low: int, high: int) -> Distinct:
        block = self._block(low, high)
        return distinct_objects(block) if block.dtype == object else super().distinct(low, high)

    def _block(self, low: int, high: int) -> npt.NDArray[Any]:
        block = self._entries[low:high]
        if not isinstance(block, np.ndarray):
            return object_array(block)
        if isinstance(block, np.ma.MaskedArray):
            # pandas would make fractions of whole numbers
            return np.asarray(np.ma.filled(block.astype(object), None))
        # half a character is no text of pandas
        return block.astype(object) if block.dtype.kind == "U" else block


def distinct_objects(entries: npt.NDArray[Any]) -> Distinct:
    """The distinct plain values of any objects, each looked at by itself."""
    import pandas as pd

    if pd.api.types.infer_dtype(entries, skipna=False) == "string":
        positions, uniques = pd.factorize(entries)
        return positions, [plain_value_of(entry) for entry in uniques.tolist()]
    known: dict[tuple[type, Any], int] = {}
    values = [plain_value_of(entry) for entry in entries]
    listed = [
        -1 if value is None else known.setdefault((type(value), value), len(known))
        for value in values
    ]
    return np.array(listed, dtype=np.intp), [value for _, value in known]


def object_array(entries: Sequence[Any]) -> npt.NDArray[Any]:
    """A list as an array of its very entries."""
    return np.fromiter(entries, dtype=object, count=len(entries))
