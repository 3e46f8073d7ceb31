"""Encode numbers by looking them up among sorted steps.

On numbers every attribute is a step function: sorted points, and one code between each two of them.
Long tables are encoded block by block: intermediate results take little memory, and all cores take
part.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from privet._parallel import for_each_part

#: Rows at a time.
BLOCK = 1 << 16
#: From this many rows on, it is worth preparing a quicker way. The codes are the same either way.
MANY_ROWS = 1 << 14


def for_each_block(n_rows: int, work: Callable[[int, int], None]) -> None:
    """Call ``work`` with the first row of each block and the one after its last."""
    n_blocks = max(1, -(-n_rows // BLOCK))  # no rows are a block, too
    for_each_part(n_blocks, lambda part: work(part * BLOCK, min((part + 1) * BLOCK, n_rows)))


#: Integers are looked up in a table of at most this many entries.
MAX_STEP_TABLE = 1 << 18
_CELLS = 1 << 12
_COMPILED = (
    np.int8,
    np.int16,
    np.int32,
    np.int64,
    np.uint8,
    np.uint16,
    np.uint32,
    np.float32,
    np.float64,
)


@dataclass(frozen=True, eq=False)
class Steps:
    """The code of a number x is ``codes[k]`` for the k points that are at most x; that of NaN is
    ``missing``.
    """

    points: npt.NDArray[Any]
    codes: npt.NDArray[Any]
    missing: int

    @classmethod
    def of_values(
        cls, code_of: Mapping[Any, int], dtype: Any, codes: Any, unknown: int, missing: int
    ) -> Steps:
        """Return steps that give listed numbers of this type their codes, and others the unknown
        one.
        """
        points: list[Any] = []
        steps = [unknown]
        for value in sorted(code_of):
            if points and points[-1] == value:
                steps[-1] = code_of[value]
            else:
                points.append(value)
                steps.append(code_of[value])
            after = _next_number(value, dtype)
            if after is not None:
                points.append(after)
                steps.append(unknown)
        return cls(np.array(points, dtype=dtype), np.array(steps, dtype=codes), missing)

    def __call__(self, numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the code of each number."""
        codes = self.codes[
            np.searchsorted(
                self.points, numbers.astype(self.points.dtype, copy=False), side="right"
            )
        ]
        if numbers.dtype.kind == "f":
            codes[np.isnan(numbers)] = self.missing
        return codes

    def write(self, numbers: npt.NDArray[Any], out: npt.NDArray[Any]) -> None:
        """Write the code of each number into ``out``."""
        table = (
            self._table(numbers.dtype)
            if len(numbers) >= MANY_ROWS and numbers.dtype.kind != "f"
            else None
        )
        if table is not None:
            look_up_many(*table, numbers, out)
        elif len(numbers) >= MANY_ROWS and self.points.dtype.kind == "f":
            from privet.domain.encode import loops

            loops.search(
                _normalize_numbers(numbers),
                self.points,
                *self._cells,
                self.codes,
                self.missing,
                out,
            )
        else:
            out[:] = self(numbers)

    def _table(self, dtype: np.dtype[Any]) -> tuple[int, npt.NDArray[Any]] | None:
        """Return the first integer that matters, and the codes from it on; those before and
        after are as the first and the last.
        """
        if dtype not in self._tables:
            self._tables[dtype] = self._make_table(dtype)
        return self._tables[dtype]

    @cached_property
    def _tables(self) -> dict[np.dtype[Any], tuple[int, npt.NDArray[Any]] | None]:
        return {}

    def _make_table(self, dtype: np.dtype[Any]) -> tuple[int, npt.NDArray[Any]] | None:
        least, most = (
            (0, 1) if dtype.kind == "b" else (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
        )
        if most - least >= 1 << 16:  # of the small types, all numbers
            first, last = self.points[[0, -1]].tolist() if len(self.points) else (0, 0)
            if last - first >= MAX_STEP_TABLE or max(abs(first), abs(last)) >= 1 << 52:
                return None
            least, most = (
                min(max(end, least), most) for end in (math.ceil(first) - 1, math.ceil(last))
            )
        return least, self(np.arange(least, most + 1))

    @cached_property
    def _cells(self) -> tuple[float, float, npt.NDArray[np.int64]]:
        """Equal cells around the points, and how many points lie before each: where to begin to
        search.
        """
        from privet.domain.encode.loops import cell_of

        low, high = (
            (float(self.points[0]), float(self.points[-1])) if len(self.points) else (0.0, 0.0)
        )
        width = (high - low) / (_CELLS - 4)
        if not (width > 0 and 0 < 1 / width < math.inf):
            return low, 0.0, np.array([0, len(self.points)])
        # The first and the last cell have no points, so that nothing is searched beyond the bounds.
        # Points at even distances stay clear of the borders between cells: a listed number and the
        # next one are always in the same.
        low, scale = low - 2.37 * width, 1 / width
        cells = [cell_of(point, low, scale, _CELLS - 1.0) for point in self.points.tolist()]
        return low, scale, np.searchsorted(cells, np.arange(_CELLS + 1)).astype(np.int64)


def take(codes: npt.NDArray[Any], positions: npt.NDArray[Any], out: npt.NDArray[Any]) -> None:
    """Write the codes at these positions into ``out``, where -1 is the last of them."""
    if len(positions) < MANY_ROWS:
        out[:] = codes[positions]
    else:
        look_up_many(-1, np.concatenate([codes[-1:], codes[:-1]]), positions, out)


def look_up_many(
    first: int, codes: npt.NDArray[Any], numbers: npt.NDArray[Any], out: npt.NDArray[Any]
) -> None:
    """Write the codes of many integers into ``out``.

    The first integer of the table has ``codes[0]``; those beyond are as the first and the last.
    """
    from privet.domain.encode import loops

    if numbers.dtype == np.uint64:  # what does not fit is beyond
        numbers = np.minimum(numbers, np.uint64(np.iinfo(np.int64).max)).astype(np.int64)
    loops.look_up_codes(_normalize_numbers(numbers), first, codes, out)


def _normalize_numbers(numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the numbers in one of few forms, for each of which a loop is compiled."""
    if numbers.dtype not in _COMPILED:
        numbers = numbers.astype(np.uint8 if numbers.dtype.kind == "b" else np.float64)
    numbers = np.ascontiguousarray(numbers).view()
    numbers.flags.writeable = False
    return numbers


def _next_number(value: Any, dtype: Any) -> Any:
    """Return the next number of the type; None after the last."""
    if np.dtype(dtype).kind == "f":
        return math.nextafter(value, math.inf)
    return None if value == np.iinfo(dtype).max else value + 1
