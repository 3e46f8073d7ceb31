"""Model: what is released. Trees, how they combine, and the privacy statement; it predicts without the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError, QuestionError
from privet.privacy import PrivacyStatement
from privet.schema import Schema
from privet.tree import Floats, Tree

Combine = Literal["counts", "probabilities", "vote"]


@dataclass(frozen=True, eq=False)
class Model:
    """Trees over one schema.

    Args:
        learner: the name of the learner, such as ``"random-trees"``.
        schema: the public schema.
        trees: at least one.
        combine: ``"counts"`` adds the counts of the nodes that a row reaches, ``"probabilities"`` their class shares;
            ``"vote"`` gives each tree one vote.
        privacy: what the model gives away.
        settings: public parameters of the learner, for the card.
        noise: the standard deviation of each leaf count's noise; 0 for exact counts.
    """

    learner: str
    schema: Schema
    trees: tuple[Tree, ...]
    combine: Combine
    privacy: PrivacyStatement
    settings: Mapping[str, Any] = field(default_factory=dict)
    noise: float = 0.0

    def __post_init__(self) -> None:
        if not self.trees or any(tree.schema.fingerprint != self.schema.fingerprint for tree in self.trees):
            raise QuestionError("a model needs at least one tree, all of them about its schema")
        if self.combine not in ("counts", "probabilities", "vote"):
            raise ParameterError(f"combine must be 'probabilities', 'counts' or 'vote', got {self.combine!r}")

    def importances(self) -> Floats:
        """The drop in Gini impurity that each attribute brings, over all trees, from released counts only; adds up to 1."""
        total = np.zeros(len(self.schema.names))
        for tree in self.trees:
            sizes = np.maximum(tree.counts, 0.0).sum(axis=1)
            squares = (np.maximum(tree.counts, 0.0) ** 2).sum(axis=1)
            impurity = sizes - np.divide(squares, sizes, out=np.zeros_like(sizes), where=sizes > 0)
            parents = tree.cells.parents
            below = np.zeros_like(impurity)
            np.add.at(below, parents[1:], impurity[1:])
            inner = tree.cells.attribute >= 0
            np.add.at(total, tree.cells.attribute[inner], np.maximum(impurity - below, 0.0)[inner])
        return total / total.sum() if total.sum() > 0 else total

    def contributions(self, tree: Tree) -> Floats:
        """What each node of a tree adds to the sum over trees: counts, class shares, or one vote."""
        if self.combine == "counts":
            return tree.counts
        if self.combine == "vote":
            return np.asarray(np.eye(self.schema.n_classes)[tree.counts.argmax(axis=1)])
        positive = np.maximum(tree.counts, 0.0)
        return np.asarray(positive / np.maximum(positive.sum(axis=1, keepdims=True), 1e-12))

    def probabilities(self, codes: list[npt.NDArray[Any]]) -> Floats:
        """The probability of each class for each row of codes."""
        n_classes = self.schema.n_classes
        total = np.zeros((len(codes[0]), n_classes))
        for tree in self.trees:
            total += self.contributions(tree)[tree.reach(codes)]
        total = np.maximum(total, 0.0)
        sums = total.sum(axis=1, keepdims=True)
        # Where noise left nothing, every class is as likely as any other.
        return np.where(sums > 0, total / np.where(sums > 0, sums, 1.0), 1.0 / n_classes)
