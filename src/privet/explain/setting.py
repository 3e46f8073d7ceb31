"""What the numbers depend on besides epsilon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from privet.budget import Number
from privet.errors import ParameterError
from privet.explain.inputs import check_count, check_positive, check_probability
from privet.explain.rows_needed import Trial
from privet.schema import Schema


@dataclass(frozen=True)
class Setting:
    """What the numbers depend on besides epsilon. All of it is public or assumed: no row is looked
    at.

    Args:
        rows: how many rows the table has; by default as the schema declares.
        priors: what somebody may have believed about a person before.
        false_alarms: the share of people outside that a test for membership accuses.
        tolerance: how many rows a count may be off for an attack that takes it at face value.
        confidence: how often a count should be within its margin.
        trial: the test for which rows are counted.
        cost: what a person must expect to lose, in any currency, who does not take part.
        people: how many take part; by default as many as there are rows, which is the most there
            can be.
    """

    rows: int | None = None
    priors: Sequence[Number] = (0.01, 0.1, 0.5)
    false_alarms: Number = 0.05
    tolerance: int = 0
    confidence: Number = 0.95
    trial: Trial = field(default_factory=Trial)
    cost: Number | None = None
    people: int | None = None

    def __post_init__(self) -> None:
        if not self.priors:
            raise ParameterError("priors must hold at least one prior")
        for prior in self.priors:
            check_probability("prior", prior)
        check_probability("false_alarms", self.false_alarms)
        check_count("tolerance", self.tolerance, 0)
        check_probability("confidence", self.confidence)
        if self.cost is not None:
            check_positive("cost", self.cost)
        if self.rows is not None:
            check_count("rows", self.rows)
        if self.people is not None:
            check_count("people", self.people)

    def rows_of(self, schema: Schema | None) -> int | None:
        """The number of rows, as said here or as declared. A table that is declared empty has
        nothing to explain.
        """
        if self.rows is not None or schema is None:
            return self.rows
        if schema.n_rows == 0:
            raise ParameterError("rows must be an integer of at least 1, and the schema declares 0")
        return schema.n_rows

    def people_of(self, schema: Schema | None) -> int | None:
        """How many people take part: as said here, or as many as there are rows, which is the most
        there can be.
        """
        rows = self.rows_of(schema)
        if self.people is not None and rows is not None and self.people > rows:
            raise ParameterError(
                f"people must be at most the number of rows, {rows:,}, got {self.people}"
            )
        return rows if self.people is None else self.people
