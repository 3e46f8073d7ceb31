"""Columns of Polars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl

from privet.errors import ParameterError
from privet.schema.column import Column, Distinct, Finder, Numbers, distinct_objects, object_array

_NUMBERS = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64, pl.Float32, pl.Float64, pl.Boolean)


class PolarsColumn(Column):
    """A Series of Polars."""

    def __init__(self, name: str, column: Any) -> None:
        if isinstance(column.dtype, pl.Struct | pl.Array):
            raise ParameterError(f"column {name!r} must have one dimension, got 2")
        self._column = column
        self._is_number = column.dtype in _NUMBERS
        as_array = self._is_number or column.dtype.is_temporal()
        self.dtype = column.slice(0, 0).to_numpy().dtype if as_array else np.dtype(object)

    def __len__(self) -> int:
        return len(self._column)

    def series(self, low: int, high: int) -> Any:
        block = self._column.slice(low, high - low)
        # With a null in it, to_numpy would turn whole numbers into fractions.
        if block.dtype.is_temporal() or (self._is_number and not block.null_count()):
            return pd.Series(block.to_numpy())
        return pd.Series(object_array(block.to_list()), dtype=object)

    def distinct(self, low: int, high: int) -> Distinct:
        if self._is_number:
            return super().distinct(low, high)
        return distinct_objects(object_array(self._column.slice(low, high - low).to_list()))

    def numbers(self, low: int, high: int) -> Numbers | None:
        if not self._is_number:
            return None
        block = self._column.slice(low, high - low)
        if not block.null_count():
            return block.to_numpy(), None
        return block.fill_null(False if block.dtype == pl.Boolean else 0).to_numpy(), block.is_null().to_numpy()

    def finder(self, texts: Sequence[str]) -> Finder | None:
        if not isinstance(self._column.dtype, pl.String | pl.Categorical | pl.Enum):
            return None
        listed = pl.Enum(texts)

        def find(low: int, high: int) -> npt.NDArray[Any]:
            block = self._column.slice(low, high - low)
            found = block.cast(listed, strict=False).to_physical().cast(pl.Int32).fill_null(len(texts)).to_numpy()
            return np.where(block.is_null().to_numpy(), -1, found) if block.null_count() else found

        return find
