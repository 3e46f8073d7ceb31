"""Read columns of Polars."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl

from privet.domain.encode.columns import (
    Column,
    Distinct,
    Finder,
    MaskedNumbers,
    distinct_objects,
    object_array,
)
from privet.domain.encode.scalars import Moments, in_microseconds
from privet.errors import ParameterError

_NUMBERS = (
    pl.Int8,
    pl.Int16,
    pl.Int32,
    pl.Int64,
    pl.UInt8,
    pl.UInt16,
    pl.UInt32,
    pl.UInt64,
    pl.Float32,
    pl.Float64,
    pl.Boolean,
)
_NAT = np.iinfo(np.int64).min  # how NumPy stores that there is no moment


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
        # With a null in it, to_numpy would turn integers into fractions.
        if block.dtype.is_temporal() or (self._is_number and not block.null_count()):
            return pd.Series(block.to_numpy())
        return pd.Series(object_array(block.to_list()), dtype=object)

    def distinct(self, low: int, high: int) -> Distinct:
        block = self._column.slice(low, high - low)
        if isinstance(block.dtype, pl.Categorical | pl.Enum):
            numbers = block.to_physical()
            return _fill_nulls(
                numbers.cast(pl.Int64), -1
            ) if block.null_count() else numbers.to_numpy(), self._categories
        return (
            super().distinct(low, high)
            if self._is_number
            else distinct_objects(object_array(block.to_list()))
        )

    @cached_property
    def _categories(self) -> list[Any]:
        """The categories by their numbers; of those that columns of many tables share, only those
        that occur.
        """
        if isinstance(self._column.dtype, pl.Enum):
            return list(self._column.dtype.categories)
        values = self._column.unique().drop_nulls()
        numbers = values.to_physical().to_list()
        listed: list[Any] = [None] * (max(numbers, default=-1) + 1)
        for number, text in zip(numbers, values.cast(pl.String).to_list(), strict=True):
            listed[number] = text
        return listed

    def numbers(self, low: int, high: int) -> MaskedNumbers | None:
        if not self._is_number:
            return None
        block = self._column.slice(low, high - low)
        nulls = block.is_null().to_numpy() if block.null_count() else None
        return _fill_nulls(block, False if block.dtype == pl.Boolean else 0), nulls

    def moments(self, low: int, high: int) -> Moments | None:
        if not isinstance(self._column.dtype, pl.Date | pl.Datetime):
            return None
        block = self._column.slice(low, high - low)
        # the clock of UTC, whatever time zone the type names
        unit = "D" if isinstance(block.dtype, pl.Date) else block.dtype.time_unit
        numbers = np.asarray(block.to_physical().cast(pl.Int64).fill_null(_NAT).to_numpy())
        return in_microseconds(numbers.view(f"datetime64[{unit}]"))

    def finder(self, texts: Sequence[str]) -> Finder | None:
        if not isinstance(self._column.dtype, pl.String):
            return None
        listed = pl.Enum(texts)

        def find(low: int, high: int) -> npt.NDArray[Any]:
            block = self._column.slice(low, high - low)
            positions = _fill_nulls(
                block.cast(listed, strict=False).to_physical().cast(pl.Int32), len(texts)
            )
            return (
                np.where(block.is_null().to_numpy(), np.int32(-1), positions)
                if block.null_count()
                else positions
            )

        return find


def _fill_nulls(block: Any, null: Any) -> npt.NDArray[Any]:
    return np.asarray((block.fill_null(null) if block.null_count() else block).to_numpy())
