"""Greedy trees: each split is chosen privately among **all** attribute-value candidates (Friedman
and Schuster 2010; Novakovic).

The tree grows a level at a time, for all cells of the level at once: one private selection, and one
noisy count where the schedule has it. Stopping rules look at noisy counts only. An answer may
decline cells in which no split is above the noise: they stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from privet.cells import Cells, Split
from privet.curator import AnyCurator
from privet.model.shrink import shrink_tree
from privet.privacy import Charge
from privet.schema import Numeric, Schema
from privet.tree import Tree
from privet.trees.schedule import Shares
from privet.typed import Splits

Possible = tuple[frozenset[int], ...]  # per attribute, the codes that a row of the cell can have


@dataclass(frozen=True)
class Grown:
    """A structure, the noisy class counts of its leaves, the deviation of their noise (of every
    node, where that is known), charges.
    """

    cells: Cells
    leaf_counts: npt.NDArray[np.int64]
    deviation: float
    charges: tuple[Charge, ...]
    of_nodes: npt.NDArray[np.float64] | None = None

    def shrunk(self, strength: float) -> Tree:
        """The tree, its thin leaves drawn towards their ancestors."""
        return shrink_tree(
            self.cells,
            self.leaf_counts,
            self.deviation if self.of_nodes is None else self.of_nodes,
            strength,
        )


def grow_greedy(
    curator: AnyCurator,
    criterion: str,
    shares: Shares,
    *,
    splits: Splits = "binary",
    min_rows: float = 0,
) -> Grown:
    """Grow one tree of at most ``len(shares.splits)`` levels.

    Cost: the shares that were used; a level's selection and counts each cost their share once,
    because cells are disjoint.
    """
    schema = curator.schema
    cells = Cells.everything(schema)
    possible: list[Possible] = [tuple(frozenset(range(size)) for size in schema.sizes)]
    closed = [False]
    charges: list[Charge] = []
    for depth, share in enumerate(shares.splits):
        if shares.counts[depth]:
            noisy = curator.count(cells, shares.counts[depth])
            charges.append(Charge(f"class counts of level {depth}", noisy.row_cost))
            for cell, counts in enumerate(noisy.tables[0]):
                # Too few rows, or one class left; both judged on noisy counts.
                if counts.sum() <= min_rows or (counts > 0).sum() <= 1:
                    closed[cell] = True
        candidates = [
            [] if closed[c] else split_candidates(schema, possible[c], splits)
            for c in range(len(cells))
        ]
        open_cells = [c for c in range(len(cells)) if candidates[c]]
        if not open_cells:
            break
        # A closed cell has nothing to choose from; the question is asked about the open ones.
        asked = cells if len(open_cells) == len(cells) else _keep_cells(cells, open_cells)
        choice = curator.choose(asked, [candidates[c] for c in open_cells], criterion, share)
        charges.append(Charge(f"splits of level {depth}", choice.row_cost))
        chosen = {
            c: split
            for i, (c, split) in enumerate(zip(open_cells, choice.splits, strict=True))
            if i not in choice.declined
        }
        if not chosen:
            break
        cells, possible, closed = _refine_level(schema, cells, possible, chosen)
    leaves = curator.count(cells, shares.counts[-1])
    charges.append(Charge("class counts of the leaves", leaves.row_cost))
    of_nodes = leaves.node_deviations[0] if leaves.node_deviations else None
    return Grown(cells, leaves.tables[0], leaves.deviation, tuple(charges), of_nodes)


def split_candidates(schema: Schema, possible: Possible, splits: Splits) -> list[Split]:
    """All splits that separate the values still possible: one value against the rest, a threshold,
    or one child per value.
    """
    found: list[Split] = []
    for name, codes in zip(schema.names, possible, strict=True):
        attribute = schema.attributes[name]
        if len(codes) < 2:
            continue
        if isinstance(attribute, Numeric):
            low, high = min(codes), max(codes)
            found += [Split.threshold(schema, name, code) for code in range(low + 1, high + 1)]
        elif splits == "multiway" or attribute.size == 2:
            found.append(Split.multiway(schema, name))
        elif len(codes) == 2:
            found.append(Split.value(schema, name, max(codes)))
        else:
            found += [Split.value(schema, name, code) for code in sorted(codes)]
    return found


def _refine_level(
    schema: Schema, cells: Cells, possible: Sequence[Possible], chosen: dict[int, Split]
) -> tuple[Cells, list[Possible], list[bool]]:
    """The next level: children in the place of their parents, as :meth:`Cells.refine` numbers
    them.
    """
    next_possible: list[Possible] = []
    next_closed: list[bool] = []
    for cell, codes in enumerate(possible):
        if cell not in chosen:
            next_possible.append(codes)
            next_closed.append(True)
            continue
        split = chosen[cell]
        a = schema.index(split.attribute)
        for child in range(split.n_children):
            kept = frozenset(code for code in codes[a] if split.branch[code] == child)
            next_possible.append((*codes[:a], kept, *codes[a + 1 :]))
            next_closed.append(not kept)
    return cells.refine(chosen), next_possible, next_closed


def _keep_cells(cells: Cells, kept: Sequence[int]) -> Cells:
    """The same structure with some cells only."""
    number = np.full(len(cells) + 1, -1, dtype=np.int32)
    number[list(kept)] = np.arange(len(kept))
    return Cells(
        cells.schema, cells.attribute, cells.offset, cells.branch, number[cells.cell], len(kept)
    )
