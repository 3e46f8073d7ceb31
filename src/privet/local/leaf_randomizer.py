"""Randomise leaves: a person reports, for one public random tree, their leaf and class."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from privet._types import Ints
from privet.accounting.cost import Cost, Number
from privet.domain import Schema
from privet.domain.routing import find_cells
from privet.errors import ParameterError
from privet.learners.random_trees.drawing import Plan
from privet.local.randomizer import (
    check_epsilon,
    codes_of_record,
    codes_of_table,
    column_of,
    replace_unknown,
    shuffle_reports,
)
from privet.mechanisms.randomness import Bits, SystemBits, uniform_below
from privet.mechanisms.response import randomized_response

#: A report: the number of the tree and of the leaf, the first being 1, and the class.
COLUMNS = ("tree", "leaf", "class")


class LeafRandomizer:
    """Turn a record into a (tree, leaf, class) that tells about its owner by at most e**epsilon.

    Each person draws one tree of a public plan, uniformly and whatever their record holds, and
    reports leaf and class together by one k-ary response with all of epsilon. Sensitivity: none is
    needed. Neighbours: the content of one record is replaced by any other (*local* privacy). Cost:
    pure ``epsilon`` per record. Values that the schema does not know are treated as in
    :class:`~privet.publish.Randomizer`.

    Parameters
    ----------
    plan
        The structures, drawn before any data was seen (:func:`privet.federation.draw_plan`).
    epsilon
        What a record costs.
    schema
        The plan's domain with what is known about people and rows; by default the plan's
        own.
    bits
        The source of randomness; tests pass a seeded one.
    """

    def __init__(
        self, plan: Plan, epsilon: Number, *, schema: Schema | None = None, bits: Bits | None = None
    ) -> None:
        if not isinstance(plan, Plan):
            raise ParameterError(f"plan must be a Plan, got {type(plan).__name__}")
        self.plan, self.schema, self.bits = (
            plan,
            plan.schema if schema is None else schema,
            bits or SystemBits(),
        )
        if self.schema.fingerprint != plan.schema.fingerprint:
            raise ParameterError(
                "schema must have the domain that the plan was drawn for: attributes, values, "
                "target or classes differ"
            )
        self.epsilon: Fraction = check_epsilon(epsilon)

    @property
    def cost(self) -> Cost:
        """What a record costs, for one row replaced by another."""
        return Cost.pure(self.epsilon)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a report."""
        return COLUMNS

    def points(self, tree: int) -> int:
        """Return how many pairs of a leaf and a class a tree has."""
        return len(self.plan.forest[tree]) * self.schema.n_classes

    def one(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Make the report of one record: a mapping from names to values, with the class."""
        codes, label = codes_of_record(self.schema, record)
        said = self._randomized(
            np.array(codes, dtype=np.int64)[:, None], np.array([label], dtype=np.int64)
        )
        return {name: column[0] for name, column in self._values(*said).items()}

    def many(self, table: object, y: object = None) -> Any:
        """Make the reports of a table, in a random order.

        Where the schema names a person, they are of at most ``rows_per_person`` rows of each.
        """
        return shuffle_reports(
            self.bits, self._values(*self._randomized(*codes_of_table(self.schema, table, y)))
        )

    def _randomized(self, codes: Ints, classes: Ints) -> tuple[Ints, Ints, Ints]:
        bits, forest, n_classes = self.bits, self.plan.forest, self.schema.n_classes
        codes = np.array(
            [
                replace_unknown(bits, line, size)
                for line, size in zip(codes, self.schema.sizes, strict=True)
            ]
        )
        classes = replace_unknown(bits, classes, n_classes)
        tree = uniform_below(bits, np.full(len(classes), len(forest), dtype=np.uint64)).astype(
            np.int64
        )
        said = np.empty_like(classes)
        for number, cells in enumerate(forest):
            mine = np.flatnonzero(tree == number)
            cell = find_cells(cells, list(codes[:, mine])).astype(np.int64)
            truth = cell * n_classes + classes[mine]
            said[mine] = randomized_response(bits, truth, self.points(number), self.epsilon)[0]
        return tree, said // n_classes, said % n_classes

    def _values(self, tree: Ints, leaf: Ints, classes: Ints) -> dict[str, Any]:
        return {
            "tree": tree + 1,
            "leaf": leaf + 1,
            "class": column_of(list(self.schema.classes), classes),
        }
