"""Draw a whole labelled tree by the exponential mechanism."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from privet._types import Json
from privet.accounting.cost import Number
from privet.domain import Schema
from privet.domain.cells import Cells
from privet.domain.space import TreeSpace
from privet.domain.tree import Tree
from privet.errors import ParameterError
from privet.queries.answers import Answer, Drawn
from privet.queries.base import Load, Query, expect, register
from privet.queries.checks import find_depth
from privet.queries.json_parts import (
    NUMBER,
    SPLITS,
    TREES,
    cells_from,
    space_from,
    space_to,
    trees_from,
    trees_to,
)
from privet.queries.release_kinds import Draws
from privet.queries.shapes import Field, Fields, Real
from privet.tables.base import CountSource

if TYPE_CHECKING:
    from privet.mechanisms.gibbs.draw import LabelledTree
    from privet.tables.counting.marginals import Contingency
    from privet.tables.counting.scoring import Scoring

_SPACE = Fields(
    {
        "depth": Field(NUMBER, True),
        "inner": Field(
            SPLITS, description="The splits above the last level; by default all.", nullable=True
        ),
        "last": Field(
            SPLITS, description="The splits at the last level; by default all.", nullable=True
        ),
        "split": Field(Real()),
        "keep": Field(Real()),
    },
    "A public set of trees with a prior.",
)


@register
@dataclass(frozen=True)
class DrawTree(Query[Drawn]):
    """A whole labelled tree, drawn by the exponential mechanism.

    Its probability is proportional to prior x exp(epsilon x weight of the rows it classifies
    correctly), over all trees of the space, sampled exactly (docs/concepts/gibbs.md). A row weighs
    1, or, where earlier released trees are given, min(1, (1 - p) T/(T - 1)) with the probability p
    that their summed scores give to its class. Sensitivity: a row adds between 0 and 1 to the score
    of every tree, so the range is 1. Neighbours: one row added or removed. Cost: pure epsilon, and
    epsilon**2/8 in zCDP (bounded range).
    """

    space: TreeSpace
    weighting: Sequence[Tree] = ()

    name = "draw-tree"
    fields = {  # noqa: RUF012
        "space": Field(_SPACE, True),
        "weighting": Field(TREES, description="Released trees that weigh the rows."),
    }
    examples = ({"epsilon": "0.5", "space": {"depth": 2}},)

    def plain(self, schema: Schema) -> Self:
        if not isinstance(self.space, TreeSpace):
            raise ParameterError(
                f"a space of trees must be a TreeSpace, got {type(self.space).__name__}"
            )
        self.space.check_size()
        return type(self)(self.space, copy_trees(schema, self.weighting))

    @cached_property
    def _scoring(self) -> Scoring:
        from privet.tables.counting.scoring import Scoring

        return Scoring(self.schema, self.weighting)

    @property
    def kind(self) -> Draws:
        return Draws(self.space)

    @property
    def load(self) -> Load:
        trees = [tree.cells for tree in self.weighting]
        nodes = sum(len(cells.attribute) for cells in trees)
        size = self.space.size
        walks = sum(int(cells.depths.max()) + 1 for cells in trees)
        return Load(
            nodes=nodes,
            depth=find_depth(trees),
            trees=len(trees),
            memory=size.bytes,
            row_steps=walks + size.tables,
            # a step of the plan is one of Python, and takes as long as some hundred others
            steps=size.work + size.counts + 200 * size.planning,
        )

    def describe(self) -> str:
        weighed = ", rows weighed by released trees" if self.weighting else ""
        return f"{self.space.describe()}{weighed}"

    def identify(self, epsilon: Number | None, rho: Number | None) -> tuple[Any, ...]:  # noqa: ARG002
        return self.space, epsilon, self.weighting

    def exact(self, source: CountSource) -> Contingency:
        from privet.mechanisms.gibbs.plan import plan_of
        from privet.tables.counting.marginals import Contingency
        from privet.tables.counting.row_sums import WeightedTables, sum_rows

        merged, atoms = self.space.merged, self.space.atoms
        sets = plan_of(merged).sets
        flat = sum_rows(source, WeightedTables(self._scoring, atoms, sets))
        return Contingency.of(flat, sets, merged.schema.sizes, self.schema.n_classes)

    def answer(self, released: LabelledTree, terms: Answer) -> Drawn:
        return Drawn(**terms.terms, cells=released.cells, labels=released.labels)

    def read_answer(self, data: Mapping[str, Any], terms: Answer) -> Drawn:
        expect(isinstance(data["cells"], Mapping), "its cells are no tree")
        cells: Cells = cells_from(self.schema, data["cells"])
        expect(set(map(type, data["labels"])) <= {int}, "its labels are no numbers of classes")
        expect(
            find_depth([cells]) <= self.space.depth, "its tree is deeper than those of the space"
        )
        labels = np.array(data["labels"], dtype=np.int64)
        known = np.isin(labels, np.arange(self.schema.n_classes)).all()
        fits = labels.shape == cells.attribute.shape and bool(known)
        expect(fits, "its labels do not fit its tree")
        return Drawn(**terms.terms, cells=cells, labels=labels)

    def to_json(self) -> Json:
        return {"space": space_to(self.space), "weighting": trees_to(self.weighting)}

    @classmethod
    def from_json(cls, schema: Schema, data: Json) -> Self:
        trees = trees_from(schema, data.get("weighting") or [])
        return cls(space_from(schema, data["space"]), trees)


def copy_trees(schema: Schema, trees: Sequence[Tree]) -> Sequence[Tree]:
    """Return copies of released trees that nobody else holds, proved anew under this schema."""
    if isinstance(trees, tuple | list) and not trees:
        return ()
    # Numba takes a while to load, and most queries do without.
    from privet.tables.counting.scoring import Scoring

    return Scoring(schema, trees).trees
