"""Hold what is written about a column without looking at a row: its name, its type, its rules."""

from __future__ import annotations

from dataclasses import dataclass, replace

from privet.domain.attributes import Value
from privet.domain.encode.encoding import ValueKind


@dataclass(frozen=True)
class ColumnFacts:
    """What a catalog, or the header of a file, says about one column.

    Args:
        name: the column's.
        kind: what it holds; None where no attribute can be read from it.
        type: its type as the source calls it.
        spelled: whether numbers and dates are text, too, as in a CSV file.
        values: the values that it may have: labels of an enumeration, or a rule of the table.
        low, high: the bounds that a rule of the table declares.
        unique: whether no two rows may share a value.
    """

    name: str
    kind: ValueKind | None
    type: str
    spelled: bool = False
    values: tuple[Value, ...] = ()
    low: float | None = None
    high: float | None = None
    unique: bool = False

    def narrow(
        self, values: tuple[Value, ...] = (), low: float | None = None, high: float | None = None
    ) -> ColumnFacts:
        """Return the facts with what one more rule says."""
        lows = [bound for bound in (self.low, low) if bound is not None]
        highs = [bound for bound in (self.high, high) if bound is not None]
        return replace(
            self,
            values=values or self.values,
            low=max(lows, default=None),
            high=min(highs, default=None),
        )
