"""Several small codes as few large numbers, so that a database groups by them fast and sends
little.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from privet.schema import Schema
from privet.typed import WeightedRows

_MOST = 1 << 62  # what a signed 64-bit number holds without care


class MixedRadix:
    """Columns of codes (by name: how many codes there are) as numbers in a mixed radix, each of 64
    bits.
    """

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self._sizes = dict(sizes)
        self._numbers: list[list[str]] = [[]]
        product = 1
        for name, size in self._sizes.items():
            product *= size
            if product > _MOST:
                self._numbers.append([])
                product = size
            self._numbers[-1].append(name)

    def expressions(self, zero: str = "0::int8") -> list[str]:
        """The numbers, in SQL; ``zero`` is how the database writes a zero of 64 bits."""
        out = []
        for names in self._numbers:
            number = zero
            for name in names:
                number = f"({number} * {self._sizes[name]} + {name})"
            out.append(number)
        return out

    def columns(self, numbers: Sequence[npt.NDArray[np.int64]]) -> dict[str, npt.NDArray[np.int64]]:
        """The columns back from the numbers."""
        out = {}
        for names, number in zip(self._numbers, numbers, strict=True):
            rest = number
            for name in reversed(names):
                rest, out[name] = np.divmod(rest, self._sizes[name])
        return out


class CodeRadix(MixedRadix):
    """The codes c0, c1, ... of some attributes, and the class y."""

    def __init__(self, schema: Schema, names: Sequence[str]) -> None:
        self._width = len(schema.sizes)
        super().__init__(
            {
                **{f"c{a}": size for a, size in enumerate(schema.sizes) if f"c{a}" in names},
                "y": schema.n_classes,
            }
        )

    def rows(
        self, numbers: Sequence[npt.NDArray[np.int64]], weights: npt.NDArray[np.int64]
    ) -> WeightedRows:
        """Groups of equal rows from their numbers; codes of other attributes are zero."""
        columns = self.columns(numbers)
        codes = np.zeros((self._width, len(weights)), dtype=np.uint16)
        for a in range(self._width):
            if f"c{a}" in columns:
                codes[a] = columns[f"c{a}"]
        return codes, columns["y"].astype(np.uint16), np.ascontiguousarray(weights)
