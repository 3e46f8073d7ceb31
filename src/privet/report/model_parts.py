"""Divide a model into decision trees, additive terms and constants, as its trees state."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from privet.domain.tree import Tree
from privet.model import Model
from privet.text import escape_invisible


@dataclass(frozen=True)
class Parts:
    """The trees of a model by their kind, each kind in the model's order."""

    #: Decision trees: all of a model's trees where it does not add up scores.
    trees: tuple[Tree, ...]
    #: A score for each value of one attribute: one split, one child per value, nothing at the root.
    terms: tuple[Tree, ...] = ()
    #: Scores that every row gets.
    constants: tuple[Tree, ...] = ()

    @classmethod
    def of(cls, model: Model) -> Parts:
        """Return the parts of a model."""
        return cls(
            tuple(tree for tree in model.trees if tree.kind not in ("term", "constant")),
            tuple(tree for tree in model.trees if tree.kind == "term"),
            tuple(tree for tree in model.trees if tree.kind == "constant"),
        )

    def titles(self) -> list[tuple[Tree, str]]:
        """Return all parts, each with a title fit to be shown.

        Trees come first, then terms, then constants.
        """
        trees = [
            (tree, f"tree {number} of {len(self.trees)}")
            for number, tree in enumerate(self.trees, 1)
        ]
        terms = [
            (tree, f"score by {escape_invisible(tree.schema.names[tree.cells.attribute[0]])}")
            for tree in self.terms
        ]
        return [*trees, *terms, *((tree, "score of every row") for tree in self.constants)]


def says_classes(tree: Tree) -> bool:
    """Return whether every node of a tree of scores names one class."""
    return tree.kind in ("drawn", "calibrated")


def vote(tree: Tree) -> float | None:
    """Return what a drawn tree adds to the class that it names; None for any other tree.

    A drawn tree adds nothing to other classes.
    """
    return float(tree.counts[0].max()) if tree.kind == "drawn" else None


def join_amounts(amounts: Iterable[float]) -> str:
    """Return what drawn trees add in words: one or two amounts, or between which they are."""
    told = [f"{amount:.6g}" for amount in sorted(set(amounts))]
    return f"{told[0]} to {told[-1]}" if len(told) > 2 else " or ".join(told)
