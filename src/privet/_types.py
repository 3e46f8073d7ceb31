"""Type aliases that several modules share.

An alias that only one module needs stays there. So do the names that a parameter may take
(``Combine``, ``Schedule``, ``Neighbours``): they stand beside the code that knows what they mean.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

#: A JSON object.
Json = dict[str, Any]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
#: The codes of a column: integers of the smallest type that holds them.
Codes = npt.NDArray[Any]

#: Exact or noisy counts, a table per partition.
Tables = list[Ints]
#: Encoded rows: codes (a line per attribute), classes, and how many rows each stands for (empty:
#: one).
WeightedRows = tuple[Codes, Codes, Ints]

#: How a categorical attribute is split: one value against the rest, or a child per value.
Splits = Literal["binary", "multiway"]
