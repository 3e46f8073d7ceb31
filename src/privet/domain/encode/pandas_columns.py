"""Read columns of pandas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from privet.domain.encode.columns import ArrayColumn, Column, Distinct, MaskedNumbers
from privet.domain.encode.scalars import Moments, in_microseconds
from privet.domain.encode.values import plain_value_of

_MASKED = (
    *(
        pd.Int8Dtype,
        pd.Int16Dtype,
        pd.Int32Dtype,
        pd.Int64Dtype,
        pd.UInt8Dtype,
        pd.UInt16Dtype,
        pd.UInt32Dtype,
        pd.UInt64Dtype,
    ),
    *(pd.Float32Dtype, pd.Float64Dtype, pd.BooleanDtype),
)


def pandas_column(series: Any) -> Column:
    """Return a Series as the kind of column that it is stored as."""
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return ArrayColumn(series.to_numpy())
    if isinstance(dtype, pd.CategoricalDtype):
        return CategoricalColumn(series)
    if isinstance(dtype, pd.ArrowDtype) or (
        isinstance(dtype, pd.StringDtype) and dtype.storage == "pyarrow"
    ):
        from privet.domain.encode.arrow_columns import ArrowColumn

        return ArrowColumn(series.array.__arrow_array__(), dtype)
    if isinstance(dtype, pd.DatetimeTZDtype):
        return ZonedColumn(series)
    return MaskedColumn(series) if isinstance(dtype, _MASKED) else PandasColumn(series)


class PandasColumn(Column):
    """A column of any type."""

    def __init__(self, series: Any) -> None:
        self._series = series
        self._sparse = isinstance(series.dtype, pd.SparseDtype)
        self.dtype = series.dtype.subtype if self._sparse else series.dtype

    def __len__(self) -> int:
        return len(self._series)

    def series(self, low: int, high: int) -> Any:
        block = self._series.iloc[low:high]
        return block.sparse.to_dense() if self._sparse else block


class ZonedColumn(PandasColumn):
    """Timestamps with a time zone."""

    def moments(self, low: int, high: int) -> Moments:
        block = self._series.iloc[low:high].dt.tz_convert("UTC").dt.tz_localize(None)
        return in_microseconds(np.asarray(block.to_numpy()))


class MaskedColumn(PandasColumn):
    """Numbers or booleans beside a mask of those that are null."""

    def numbers(self, low: int, high: int) -> MaskedNumbers:
        block = self._series.array[low:high]
        nulls = block.isna()
        return block.to_numpy(
            dtype=self.dtype.numpy_dtype, na_value=0
        ), nulls if nulls.any() else None


class CategoricalColumn(PandasColumn):
    """Positions in a list of categories, some of which may not occur."""

    def __init__(self, series: Any) -> None:
        super().__init__(series)
        self._codes = series.array.codes
        self._categories = [plain_value_of(entry) for entry in series.array.categories]

    def distinct(self, low: int, high: int) -> Distinct:
        return self._codes[low:high], self._categories
