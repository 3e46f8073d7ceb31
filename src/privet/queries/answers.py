"""Carry the answers to queries: noisy numbers, chosen splits, a drawn tree, and what they cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from privet._types import Floats, Json
from privet.accounting.cost import Cost, parse_fraction
from privet.accounting.ledger import Entry
from privet.accounting.ledger.journal import cost_from, cost_to, entry_from, entry_to
from privet.domain.attributes import Attribute
from privet.domain.cells import Cells, Split
from privet.domain.tree import Tree
from privet.queries.json_parts import cells_to, split_to

NoiseKind = Literal["discrete-laplace", "discrete-gaussian", "randomized-response", "none"]


@dataclass(frozen=True)
class Answer:
    """What every answer carries.

    ``cost`` is for the declared neighbours, as the ledger has it, and ``row_cost`` for one row
    added or removed; ``entry`` is the ledger's entry (None: not charged).
    """

    cost: Cost
    row_cost: Cost
    private: bool
    entry: Entry | None

    @property
    def terms(self) -> Json:
        """The fields that every answer has, for a more specific one."""
        return {name: getattr(self, name) for name in ("cost", "row_cost", "private", "entry")}

    def to_json(self) -> Json:
        """Return the answer as it is sent and recorded."""
        return {
            "cost": cost_to(self.cost),
            "row_cost": cost_to(self.row_cost),
            "private": self.private,
            "entry": None if self.entry is None else entry_to(self.entry),
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Answer:
        """Return what every answer carries, read again."""
        entry = None if data["entry"] is None else entry_from(data["entry"])
        return Answer(
            cost_from(data["cost"]), cost_from(data["row_cost"]), data["private"] is True, entry
        )


@dataclass(frozen=True, eq=False)
class Numbers(Answer):
    """Noisy tables, one per partition. ``spread`` is the Laplace scale or the Gaussian variance.

    Most mechanisms give every number the same noise. Where it differs from number to number (as in
    estimates from randomised records, which need not be integers), ``own_deviations`` holds the
    standard deviation of each number. ``node_deviations`` then holds, for each partition that is
    not split further, the standard deviation of the class counts of every node of its structure (a
    root mean square over the classes): errors of the leaves of one tree may be correlated, so it
    does not follow from theirs.
    """

    tables: tuple[npt.NDArray[np.int64], ...]
    noise: NoiseKind
    spread: Fraction
    own_deviations: tuple[Floats, ...] | None = field(default=None, kw_only=True)
    node_deviations: tuple[Floats | None, ...] = field(default=(), kw_only=True)

    @property
    def deviations(self) -> tuple[Floats, ...]:
        """The standard deviation of each number's noise, in tables of the same shapes."""
        if self.own_deviations is not None:
            return self.own_deviations
        return tuple(np.full(table.shape, self.deviation) for table in self.tables)

    @property
    def deviation(self) -> float:
        """The standard deviation of each number's noise; where it differs from number to number,
        the root mean square.
        """
        if self.own_deviations is not None:
            squares = np.concatenate([table.reshape(-1) ** 2 for table in self.own_deviations])
            return math.sqrt(float(squares.mean())) if len(squares) else 0.0
        if self.noise == "discrete-laplace":
            # The variance is 2 p / (1 - p)**2 with p = exp(-1/scale).
            p = math.exp(-1 / float(self.spread))
            return math.sqrt(2 * p) / -math.expm1(-1 / float(self.spread))
        return math.sqrt(float(self.spread))

    def to_json(self) -> Json:
        tables = [
            {"shape": list(table.shape), "numbers": table.reshape(-1).tolist()}
            for table in self.tables
        ]
        noise: Json = {"noise": self.noise, "spread": str(self.spread), "deviation": self.deviation}
        if self.own_deviations is not None:
            noise["deviations"] = [table.reshape(-1).tolist() for table in self.own_deviations]
        return {**super().to_json(), "tables": tables, **noise}


@dataclass(frozen=True, eq=False)
class Share(Answer):
    """Tables with one share of the noise that ``parties`` honest parties make together, to leave
    inside secure aggregation only.

    ``cost`` is for the sum of at least so many shares; a share alone promises nothing, so
    ``private`` is False and the numbers are not printed. ``spread`` is the Laplace scale of the
    sum's noise.
    """

    tables: tuple[npt.NDArray[np.int64], ...] = field(repr=False)
    parties: int
    spread: Fraction


@dataclass(frozen=True, eq=False)
class ChosenSplits(Answer):
    """The chosen split of each cell. ``declined`` holds the cells, by number, that are better left
    whole: no split of theirs is above the noise.
    """

    splits: tuple[Split, ...]
    declined: frozenset[int] = field(default=frozenset(), kw_only=True)

    def to_json(self) -> Json:
        declined = {"declined": sorted(self.declined)} if self.declined else {}
        splits = [split_to(split) for split in self.splits]
        return {**super().to_json(), "splits": splits, **declined}


@dataclass(frozen=True, eq=False)
class ChosenIndex(Answer):
    """The number of what was chosen; the first has 0."""

    index: int

    def to_json(self) -> Json:
        return {**super().to_json(), "index": self.index}


@dataclass(frozen=True, eq=False)
class Quantile(ChosenIndex):
    """The bin that was chosen for the ``q``-quantile of an attribute, from ``low`` to ``high`` in
    the units of the schema: days from 1970-01-01 for a date. ``label`` is the bin in words.
    """

    attribute: str
    q: Fraction
    low: float
    high: float
    label: str

    @classmethod
    def of(
        cls, answer: Answer, index: int, attribute: str, q: Fraction, domain: Attribute
    ) -> Quantile:
        """Return the answer for a chosen bin of an ordered attribute, with its edges."""
        low, high = domain.cuts[index : index + 2]
        return cls(
            **answer.terms,
            index=index,
            attribute=attribute,
            q=q,
            low=low,
            high=high,
            label=domain.labels[index],
        )

    @property
    def middle(self) -> float:
        """The middle of the bin: one number to go on with."""
        return self.low / 2 + self.high / 2

    def to_json(self) -> Json:
        edges = {"low": self.low, "high": self.high}
        return {**super().to_json(), "attribute": self.attribute, "q": str(self.q), **edges}


@dataclass(frozen=True, eq=False)
class Drawn(Answer):
    """A drawn tree: its structure, and the class (by number) of each node."""

    cells: Cells
    labels: npt.NDArray[np.int64]

    def tree(self, strength: float = 1.0) -> Tree:
        """Return a tree of scores: each node has this much for its class, and nothing for the
        others.
        """
        scores = strength * np.eye(self.cells.schema.n_classes)[self.labels]
        return Tree(self.cells, scores, "drawn")

    def to_json(self) -> Json:
        tree = {"cells": cells_to(self.cells), "labels": self.labels.tolist()}
        return {**super().to_json(), **tree}


@dataclass(frozen=True)
class Preview:
    """What a plan would cost, what is left, and whether it fits. Nothing was charged."""

    cost: Cost
    left: Fraction
    fits: bool

    def to_json(self) -> Json:
        """Return the preview as it is sent."""
        return {"cost": cost_to(self.cost), "left": str(self.left), "fits": self.fits}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Preview:
        """Return the preview that was sent."""
        return cls(cost_from(data["cost"]), parse_fraction(data["left"]), bool(data["fits"]))
