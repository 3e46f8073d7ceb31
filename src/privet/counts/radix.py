"""Several small codes as few large numbers, so that a database groups by them fast and sends little."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

_MOST = 1 << 62  # what a signed 64-bit number holds without care


class MixedRadix:
    """Columns of codes (by name: how many codes there are) as numbers in a mixed radix, each of 64 bits."""

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
