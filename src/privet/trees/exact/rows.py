"""Rows: encoded training rows, checked once so that counting can index without looking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from privet.errors import ParameterError
from privet.schema import Schema
from privet.typed import Codes


@dataclass(frozen=True, eq=False)
class EncodedRows:
    """Encoded rows: one column of codes per attribute, in schema order, and the class of each
    row.
    """

    schema: Schema
    codes: Sequence[Codes]
    classes: Codes

    @classmethod
    def checked(
        cls, schema: Schema, codes: Sequence[Codes], classes: Codes, *, unknown: bool = False
    ) -> EncodedRows:
        """The rows, or a :class:`ParameterError`. ``unknown`` allows the code one past the end of a
        domain.
        """
        if len(codes) != len(schema.sizes):
            raise ParameterError(
                f"codes must have one column per attribute, {len(schema.sizes)}; got {len(codes)}"
            )
        n_rows = len(classes)
        for name, column, size in zip(schema.names, codes, schema.sizes, strict=True):
            _check_column(f"codes of {name!r}", column, n_rows, size - 1 + unknown)
        _check_column("classes", classes, n_rows, schema.n_classes - 1)
        # Signed, because NumPy adds int64 and uint64 to a float.
        return cls(schema, [column.astype(np.int32) for column in codes], classes.astype(np.int64))

    def __len__(self) -> int:
        return len(self.classes)


def _check_column(what: str, column: Codes, n_rows: int, highest: int) -> None:
    if column.shape != (n_rows,) or column.dtype.kind not in "iu":
        raise ParameterError(f"{what} must be one integer per row")
    if n_rows and (column.min() < 0 or column.max() > highest):
        raise ParameterError(f"{what} must be 0 to {highest}; leave out rows with other codes")
