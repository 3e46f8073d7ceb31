"""Who is attacked: every learner of the command line, and what promises nothing. Each gives a
released model to look into.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt
from sklearn.tree import DecisionTreeClassifier

from experiments.bench.membership.game import Bits, Game
from privet._types import Floats
from privet.cli.options import NAMES, learner_named
from privet.model import Model

Codes = Sequence[npt.NDArray[np.int64]]
EPSILONS = (0.1, 1.0, 4.0)
PEER = "scikit-learn tree"
#: What promises nothing, so that the attack must succeed: a tree of scikit-learn, and learners of
#: ours without noise.
OPEN = (PEER, "random-trees", "greedy-tree")
PRIVATE = NAMES


class Seen(Protocol):
    """What a released model shows to anybody."""

    def shares(self, codes: Codes) -> Floats:
        """The probability of each class."""

    def leaves(self, codes: Codes) -> list[tuple[npt.NDArray[np.int64], Floats]]:
        """For each tree the leaf that each row reaches, and the numbers of all leaves, by class."""

    @property
    def counts(self) -> bool:
        """Whether these numbers are counts of rows, with or without noise."""


class OursSeen:
    """A model of Privet. Leaf vectors are looked at as they were released, not smoothed."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.counts = model.combine != "scores"

    def shares(self, codes: Codes) -> Floats:
        return self._model.probabilities(list(codes))

    def leaves(self, codes: Codes) -> list[tuple[npt.NDArray[np.int64], Floats]]:
        if self._model.evidence is None:
            return [(tree.reach(codes), tree.counts) for tree in self._model.trees]
        raw = self._model.evidence.tables
        return [
            (tree.cells.cell[tree.reach(codes)], table)
            for tree, table in zip(self._model.trees, raw, strict=True)
        ]


class PeerSeen:
    """A decision tree of scikit-learn, which has the exact numbers of its leaves."""

    counts = True

    def __init__(self, codes: Codes, classes: npt.NDArray[np.int64], n_classes: int) -> None:
        self._tree = DecisionTreeClassifier().fit(np.column_stack(codes), classes)
        self._n_classes = n_classes

    def shares(self, codes: Codes) -> Floats:
        return self._all_classes(self._tree.predict_proba(np.column_stack(codes)))

    def leaves(self, codes: Codes) -> list[tuple[npt.NDArray[np.int64], Floats]]:
        tree = self._tree.tree_
        sums = (
            tree.value[:, 0]
            / tree.value[:, 0].sum(axis=1, keepdims=True)
            * tree.n_node_samples[:, None]
        )
        return [(self._tree.apply(np.column_stack(codes)), self._all_classes(sums))]

    def _all_classes(self, known: Floats) -> Floats:
        out = np.zeros((len(known), self._n_classes))
        out[:, self._tree.classes_] = known
        return out


def train(name: str, epsilon: float, game: Game, bits: Bits) -> Seen:
    """A fresh model of the table in which these targets are."""
    present = game.present(bits)
    if name == PEER:
        return PeerSeen(
            [column[present] for column in game.codes], game.classes[present], game.schema.n_classes
        )
    learner = learner_named(name, str(epsilon), []).set_params(schema=game.schema)
    if epsilon == math.inf:
        learner.set_params(epsilon=math.inf)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that so small a table drowns in noise is the point here
        learner.fit(game.everybody[present].reset_index(drop=True))
    return OursSeen(learner.model_)
