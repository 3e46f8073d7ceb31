"""Merge codes of a schema into fewer ones, and take structure back to the codes. No data in here.

Two things are coarsenings: the *atoms* of a space of trees, which are the codes that no split of it
tells apart (:attr:`~privet.domain.space.TreeSpace.atoms`), and a *resolution*, the bins that a
learner makes of a fine grid (:mod:`privet.learners.resolution`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from privet._types import Ints
from privet.domain.attributes import Numeric
from privet.domain.cells import Cells, Split
from privet.domain.schema import Schema


@dataclass(frozen=True, eq=False)
class Coarsening:
    """A public map from the codes of some attributes to fewer codes.

    Args:
        schema: the schema of the codes.
        coarse: the schema of the merged codes, with the same names, in the same order.
        merged: for each attribute that is made coarser, the merged code of each code.
    """

    schema: Schema
    coarse: Schema
    merged: Mapping[str, Ints]

    @cached_property
    def _take_firsts(self) -> dict[str, Callable[[tuple[int, ...]], tuple[int, ...]]]:
        """For each attribute, how to take what belongs to the first code of each merged one."""
        return {
            name: _take_items(np.unique(merged, return_index=True)[1].tolist())
            for name, merged in self.merged.items()
        }

    def merge_codes(self, codes: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the merged codes of rows: one line per attribute, in either."""
        if not self.merged:
            return codes
        out = np.array(codes)
        for name, merged in self.merged.items():
            line = self.schema.index(name)
            out[line] = merged[codes[line]]
        return out

    def merge_split(self, split: Split) -> Split:
        """Return a split of codes as one of merged codes; it must not tell merged codes apart."""
        if split.attribute not in self.merged:
            return split
        return Split(split.attribute, self._take_firsts[split.attribute](split.branch))

    def lift_split(self, split: Split) -> Split:
        """Return a split of merged codes as one of the codes."""
        if split.attribute not in self.merged:
            return split
        branch = np.array(split.branch)[self.merged[split.attribute]]
        return Split(split.attribute, tuple(branch.tolist()))

    def lift_cells(self, cells: Cells) -> Cells:
        """Return cells over merged codes as cells over the codes."""
        if not self.merged:
            return cells
        names, sizes = self.coarse.names, self.coarse.sizes
        offsets, branches, length = np.zeros(len(cells.attribute), dtype=np.int64), [], 0
        for node in np.flatnonzero(cells.attribute >= 0).tolist():
            a = int(cells.attribute[node])
            children = cells.branch[cells.offset[node] : cells.offset[node] + sizes[a]]
            if names[a] in self.merged:
                children = children[self.merged[names[a]]]
            offsets[node] = length
            branches.append(children)
            length += len(children)
        branch = np.concatenate(branches) if branches else np.zeros(0, dtype=np.int32)
        return Cells(self.schema, cells.attribute, offsets, branch, cells.cell, cells.n_cells)


def find_atoms(schema: Schema, splits_of: list[list[Split]]) -> Coarsening:
    """Return the coarsening that merges the codes which no split tells apart.

    ``splits_of`` lists the splits of each attribute, in the order of the schema. Atoms are numbered
    by their first codes, so neighbours stay neighbours.
    """
    merged = {}
    for name, size, splits in zip(schema.names, schema.sizes, splits_of, strict=True):
        if all(split.n_children < size for split in splits):
            told_apart = np.array([split.branch for split in splits], dtype=np.int32)
            atoms = _number_columns(told_apart.reshape(-1, size))
            if atoms[-1] < size - 1 or len(np.unique(atoms)) < size:
                merged[name] = atoms
    if not merged:
        return Coarsening(schema, schema, {})
    numbered = {
        name: _number_domain(int(merged[name].max()) + 1) if name in merged else attribute
        for name, attribute in schema.attributes.items()
    }
    return Coarsening(schema, Schema(numbered, schema.target, schema.classes), merged)


def _take_items(places: list[int]) -> Callable[[tuple[int, ...]], tuple[int, ...]]:
    """Return a function that takes the items at these places of a tuple."""
    if len(places) == 1:
        return lambda items: (items[places[0]],)
    return itemgetter(*places)


def _number_domain(size: int) -> Numeric:
    """Return a domain of so many codes, for schemas that nobody reads."""
    return Numeric(0, size, bins=size)


def _number_columns(table: npt.NDArray[np.int32]) -> Ints:
    """Return the number of each column of a table, equal ones alike, in order of appearance."""
    changes = (table[:, 1:] != table[:, :-1]).any(axis=0)
    run = np.concatenate([[0], np.cumsum(changes)]).astype(np.int64)
    _, starts = np.unique(run, return_index=True)
    _, first, number = np.unique(table[:, starts], axis=1, return_index=True, return_inverse=True)
    order = np.empty(len(first), dtype=np.int64)
    order[np.argsort(first)] = np.arange(len(first))
    return np.asarray(order[number.reshape(-1)][run], dtype=np.int64)
