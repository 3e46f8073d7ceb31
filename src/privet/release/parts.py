"""What a model of scores is made of: drawn trees, additive terms, constants. It shows in their
values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privet.model import Model
from privet.text import visible
from privet.tree import Tree


@dataclass(frozen=True)
class Parts:
    """The trees of a model by what they are, each kind in the model's order."""

    #: Decision trees: all of a model's trees where it does not add up scores.
    trees: tuple[Tree, ...]
    #: A score for each value of one attribute: one split, one child per value, nothing at the root.
    terms: tuple[Tree, ...] = ()
    #: Scores that every row gets.
    constants: tuple[Tree, ...] = ()

    @classmethod
    def of(cls, model: Model) -> Parts:
        """The parts of a model."""
        if model.combine != "scores":
            return cls(model.trees)
        terms = tuple(tree for tree in model.trees if _is_term(tree))
        constants = tuple(tree for tree in model.trees if _is_constant(tree))
        return cls(
            tuple(tree for tree in model.trees if not (_is_term(tree) or _is_constant(tree))),
            terms,
            constants,
        )

    def titles(self) -> list[tuple[Tree, str]]:
        """All parts, each with a title that is fit to be shown: trees first, then terms, then
        constants.
        """
        trees = [
            (tree, f"tree {number} of {len(self.trees)}")
            for number, tree in enumerate(self.trees, 1)
        ]
        terms = [
            (tree, f"score by {visible(tree.schema.names[tree.cells.attribute[0]])}")
            for tree in self.terms
        ]
        return [*trees, *terms, *((tree, "score of every row") for tree in self.constants)]


def says_classes(tree: Tree) -> bool:
    """Whether every node says one class: its largest score, and nodes that say the same have the
    same scores. A constant says scores.
    """
    said = tree.counts.argmax(axis=1)
    alone = (tree.counts == tree.counts.max(axis=1, keepdims=True)).sum(axis=1) == 1
    alike = len(np.unique(tree.counts, axis=0)) == len(np.unique(said))
    return bool(alone.all() and alike and not _is_constant(tree))


def vote(tree: Tree) -> float | None:
    """What a drawn tree adds to the class that it says, and to no other; None for any other
    tree.
    """
    amount = float(tree.counts[0].max())
    one_hot = (np.count_nonzero(tree.counts, axis=1) == 1).all() and (
        tree.counts.max(axis=1) == amount
    ).all()
    return amount if one_hot and amount > 0 else None


def _is_term(tree: Tree) -> bool:
    one_split = (
        tree.cells.attribute[0] >= 0
        and tree.n_nodes == 1 + tree.schema.sizes[tree.cells.attribute[0]]
    )
    return bool(one_split and (tree.cells.attribute[1:] < 0).all() and not tree.counts[0].any())


def _is_constant(tree: Tree) -> bool:
    return tree.n_nodes == 1 and vote(tree) is None
