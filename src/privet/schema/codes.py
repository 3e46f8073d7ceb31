"""The codes of a column, block by block, by the quickest way that its storage allows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from privet.schema import blocks
from privet.schema.attributes import Attribute, Categorical
from privet.schema.column import Column
from privet.schema.entries import codes_of_plain
from privet.schema.steps import take


class ColumnCodes:
    """How one column becomes codes. Whatever way is taken, the code of an entry depends on that
    entry alone.
    """

    def __init__(self, attribute: Attribute, column: Column) -> None:
        self._attribute, self._column = attribute, column
        self._values: tuple[list[Any] | None, npt.NDArray[Any]] = None, np.empty(0)
        self._find = None
        if isinstance(attribute, Categorical) and len(column) >= blocks.MANY_ROWS:
            self._find = column.finder(list(attribute.code_of_text))
            codes = [
                *attribute.code_of_text.values(),
                attribute.unknown_code,
                attribute.missing_code,
            ]
            self._found = np.array(codes if self._find else [], dtype=attribute.dtype)

    def write(self, low: int, high: int, out: npt.NDArray[Any]) -> None:
        """The codes of these rows into ``out``."""
        if self._find is not None:
            take(self._found, self._find(low, high), out)
        elif (numbers := self._column.numbers(low, high)) is not None:
            values, nulls = numbers
            self._attribute.steps(values.dtype).write(values, out)
            if nulls is not None:
                out[nulls] = self._attribute.missing_code
        else:
            positions, entries = self._column.distinct(low, high)
            take(self._codes_of(entries), positions, out)

    def _codes_of(self, values: list[Any]) -> npt.NDArray[Any]:
        """The codes of plain values, and of null; of categories, which stay the same list, only
        once.
        """
        known, codes = self._values
        if known is not values:
            codes = codes_of_plain(self._attribute, values)
            self._values = values, codes
        return codes
