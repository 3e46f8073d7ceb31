"""Write a model as a sum of numbers over boxes of the domain.

A leaf of a tree is a box: the rows whose attributes each have one of some values. So a model whose
trees add up is

    f(x) = start + sum over attributes of table_j[x_j] + sum over boxes of number(box) [x in box],

where leaves that ask about a single attribute went into the tables. Everything that is said about a
whole model follows from this form, whatever its trees are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privet._types import Bools, Floats, Ints
from privet.domain.tree import Tree
from privet.errors import ParameterError
from privet.model.model import Model

#: Sets of values of larger models are not written out: they would take too much memory.
MAX_SET_ENTRIES = 1 << 28


@dataclass(frozen=True)
class Scale:
    """What the numbers of an explanation are.

    With two classes there is one number, for the second class: the logarithm of its odds, or its
    probability. With more there is one for each class: its score less the mean over the classes, or
    its probability.
    """

    #: The classes that a number speaks for, by position in the schema.
    classes: tuple[int, ...]
    #: Whether numbers are scores, on a log scale, and not probabilities.
    log: bool

    @classmethod
    def of(cls, model: Model) -> Scale:
        """Return the scale on which the trees of a model add up."""
        if model.combine == "counts" and len(model.trees) > 1:
            raise ParameterError(
                f"an explanation needs trees that add up, and this model adds up the counts of "
                f"{len(model.trees)} trees before it divides; train it with "
                "combine='probabilities', or explain a model of one tree"
            )
        n_classes = model.schema.n_classes
        classes = (1,) if n_classes == 2 else tuple(range(n_classes))
        return cls(classes, log=model.combine == "scores")

    def read(self, model: Model, tree: Tree) -> Floats:
        """Return the numbers of each node of a tree (nodes, numbers)."""
        if self.log:
            scores = tree.counts
            if len(self.classes) == 1:
                return np.asarray(scores[:, 1:] - scores[:, :1])
            return np.asarray(scores - scores.mean(axis=1, keepdims=True))
        table = model.contributions(tree)
        if model.combine == "counts":
            table = model.share_sums(table)
        return np.asarray(table[:, self.classes] / len(model.trees))

    def measure(self, numbers: Floats) -> Floats:
        """Return how large numbers (..., numbers) are: 0 says nothing.

        Points of score between the classes that they speak for most and least, or how much
        probability they move.
        """
        if len(self.classes) == 1:
            return np.asarray(np.abs(numbers[..., 0]))
        if self.log:
            return np.asarray(numbers.max(axis=-1) - numbers.min(axis=-1))
        return np.asarray(np.maximum(numbers, 0.0).sum(axis=-1))


@dataclass(frozen=True)
class Group:
    """Boxes that ask about the same number of attributes."""

    #: The attributes of each box (boxes, asked), by position in the schema.
    attributes: Ints
    #: Which codes are inside (boxes, asked, codes); the code after the last value is "unknown".
    inside: Bools
    #: What a row in the box gets (boxes, numbers).
    numbers: Floats


@dataclass(frozen=True)
class Boxes:
    """A model as a sum over boxes."""

    scale: Scale
    sizes: tuple[int, ...]
    start: Floats
    #: For each attribute, a number for each of its codes, "unknown" last.
    tables: tuple[Floats, ...]
    groups: tuple[Group, ...]

    @classmethod
    def of(cls, model: Model) -> Boxes:
        """Return the boxes of a model. Rows with unknown values stay at inner nodes, as ever."""
        scale, sizes = Scale.of(model), model.schema.sizes
        start = np.zeros(len(scale.classes))
        tables = tuple(np.zeros((size + 1, len(scale.classes))) for size in sizes)
        by_asked: dict[int, list[tuple[dict[int, Bools], Floats]]] = {}
        entries = 0
        for tree in model.trees:
            numbers = scale.read(model, tree)
            for node, path in _list_paths(tree):
                if not path:
                    start = start + numbers[node]
                elif len(path) == 1:
                    ((attribute, codes),) = path.items()
                    tables[attribute][codes] += numbers[node]
                elif numbers[node].any():
                    by_asked.setdefault(len(path), []).append((path, numbers[node]))
                    entries += len(path) * (max(sizes) + 1)
                    if entries > MAX_SET_ENTRIES:
                        raise ParameterError(
                            "this model has too many leaves to be explained as a whole; explain "
                            "one with fewer or shallower trees"
                        )
        groups = tuple(_group(found, asked, max(sizes)) for asked, found in by_asked.items())
        return cls(scale, sizes, start, tables, groups)


def _list_paths(tree: Tree) -> list[tuple[int, dict[int, Bools]]]:
    """Return the nodes at which rows end, each with the codes of each attribute that lead there.

    Inner nodes, too: there rows end whose value is unknown, as every code after the last is.
    """
    cells, sizes = tree.cells, tree.schema.sizes
    found, open_nodes = [], [(0, dict[int, Bools]())]
    while open_nodes:
        node, path = open_nodes.pop()
        attribute = int(cells.attribute[node])
        if attribute < 0:
            found.append((node, path))
            continue
        size, offset = sizes[attribute], int(cells.offset[node])
        branch = np.append(cells.branch[offset : offset + size], node)
        possible = path.get(attribute, np.ones(size + 1, dtype=bool))
        for child in np.unique(branch).tolist():
            codes = possible & (branch == child)
            if not codes.any():
                continue
            further = {**path, attribute: codes}
            if child == node:
                found.append((node, further))
            else:
                open_nodes.append((child, further))
    return found


def _group(found: list[tuple[dict[int, Bools], Floats]], asked: int, most: int) -> Group:
    attributes = np.zeros((len(found), asked), dtype=np.int64)
    inside = np.zeros((len(found), asked, most + 1), dtype=bool)
    for box, (path, _) in enumerate(found):
        for place, (attribute, codes) in enumerate(path.items()):
            attributes[box, place] = attribute
            inside[box, place, : len(codes)] = codes
    return Group(attributes, inside, np.array([numbers for _, numbers in found]))
