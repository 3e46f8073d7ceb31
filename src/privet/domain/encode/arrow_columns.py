"""Read columns of Arrow, and columns of pandas that are stored as such."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from privet.domain.encode.columns import Column, Distinct, Finder, MaskedNumbers
from privet.domain.encode.scalars import NO_VALUE, Moments, in_microseconds
from privet.domain.encode.values import plain_value_of


class ArrowColumn(Column):
    """An array, in one piece or in several."""

    def __init__(self, column: Any, dtype: Any = None) -> None:
        if pa.types.is_run_end_encoded(column.type):
            column = pa.chunked_array(
                [pc.run_end_decode(chunk) for chunk in getattr(column, "chunks", [column])],
                type=column.type.value_type,
            )
        self._column, self._type = column, column.type
        if _is_moment_type(self._type):
            self.dtype = np.dtype("datetime64[us]")
        elif dtype is None or pa.types.is_dictionary(self._type):
            self.dtype = _pandas_type(self._type)
        else:
            self.dtype = dtype
        self._dictionary: tuple[Any, list[Any]] = pa.array([]), []

    def __len__(self) -> int:
        return len(self._column)

    def _block(self, low: int, high: int) -> Any:
        """Return these rows in one piece; text is in the form that always has room."""
        block = self._column.slice(low, high - low)
        if isinstance(block, pa.ChunkedArray) and block.num_chunks == 1:
            block = block.chunk(0)
        if pa.types.is_dictionary(block.type) and (
            block.type.value_type == pa.string_view() or isinstance(block, pa.ChunkedArray)
        ):
            # pieces may have different dictionaries
            block = block.cast(_large_type_of(block.type.value_type))
        if block.type == pa.string_view() or isinstance(block, pa.ChunkedArray):
            block = block.cast(_large_type_of(block.type))
        return block.combine_chunks() if isinstance(block, pa.ChunkedArray) else block

    def series(self, low: int, high: int) -> Any:
        block = self._block(low, high)
        if pa.types.is_dictionary(block.type):
            # pandas refuses null and repeated values in a dictionary
            block = block.cast(_large_type_of(block.type.value_type))
        return block.to_pandas(integer_object_nulls=True)

    def numbers(self, low: int, high: int) -> MaskedNumbers | None:
        if not _is_number_type(self._type):
            return None
        block = self._block(low, high)
        if not block.null_count:
            return block.to_numpy(zero_copy_only=False), None
        return block.fill_null(False if pa.types.is_boolean(self._type) else 0).to_numpy(
            zero_copy_only=False
        ), _nulls(block)

    def moments(self, low: int, high: int) -> Moments | None:
        if not _is_moment_type(self._type):
            return None
        block = self._block(low, high)
        if pa.types.is_timestamp(self._type):
            # the clock of UTC, whatever time zone the type names
            block = block.cast(pa.timestamp(self._type.unit))
        return in_microseconds(np.asarray(block.to_numpy(zero_copy_only=False)))

    def finder(self, texts: Sequence[str]) -> Finder | None:
        if not _is_text_type(self._type):
            return None
        listed: dict[Any, Any] = {}

        def find(low: int, high: int) -> npt.NDArray[Any]:
            block = self._block(low, high)
            if block.type not in listed:
                listed[block.type] = pa.array(texts, type=block.type)
            positions = (
                pc.index_in(block, value_set=listed[block.type])
                .fill_null(len(texts))
                .to_numpy(zero_copy_only=False)
            )
            return (
                np.where(_nulls(block), np.int32(-1), positions) if block.null_count else positions
            )

        return find

    def distinct(self, low: int, high: int) -> Distinct:
        block = self._block(low, high)
        if _is_text_type(block.type):
            block = block.dictionary_encode()
        elif not (pa.types.is_dictionary(block.type) or _may_match(block.type)):
            return np.where(_nulls(block), -1, 0), [NO_VALUE]
        if not pa.types.is_dictionary(block.type) or not (
            _is_text_type(block.type.value_type) or _may_match(block.type.value_type)
        ):
            return super().distinct(low, high)
        positions = block.indices
        if block.null_count:
            positions = positions.cast(pa.int64()).fill_null(-1)
        return positions.to_numpy(zero_copy_only=False), self._values_of(block.dictionary)

    def _values_of(self, dictionary: Any) -> list[Any]:
        """Return the plain values of a dictionary; the same list as long as the dictionary is the
        same.
        """
        known, values = self._dictionary
        if known.type != dictionary.type or not known.equals(dictionary):
            values = _list_plain_values(dictionary)
            self._dictionary = dictionary, values
        return values


def _list_plain_values(values: Any) -> list[Any]:
    if not _is_text_type(values.type):
        return [plain_value_of(entry) for entry in values.to_pylist()]
    texts = values.cast(pa.large_binary()).to_pylist()
    return [None if text is None else _decode_text(text) for text in texts]


def _decode_text(data: bytes) -> Any:
    """Decode UTF-8; return :data:`NO_VALUE`, which matches nothing, for other bytes."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return NO_VALUE


def _pandas_type(kind: Any) -> Any:
    if pa.types.is_dictionary(kind):
        return pd.CategoricalDtype(pa.array([], type=kind.value_type).to_pandas())
    return pa.array([], type=kind).to_pandas().dtype


def _large_type_of(kind: Any) -> Any:
    """Return the type of text or bytes whose pieces always fit into one.

    Any other type is returned as it is.
    """
    if _is_text_type(kind):
        return pa.large_string()
    return pa.large_binary() if pa.types.is_binary(kind) else kind


def _nulls(block: Any) -> npt.NDArray[np.bool_]:
    return np.asarray(block.is_null().to_numpy(zero_copy_only=False), dtype=bool)


def _is_text_type(kind: Any) -> bool:
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _is_number_type(kind: Any) -> bool:
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    )


def _is_moment_type(kind: Any) -> bool:
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def _may_match(kind: Any) -> bool:
    """Return whether an entry may be a value; extension types say only by their entries."""
    return (
        _is_number_type(kind)
        or bool(pa.types.is_decimal(kind))
        or isinstance(kind, pa.BaseExtensionType)
    )
