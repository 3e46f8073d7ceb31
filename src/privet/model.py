"""Model: what is released. Trees, how they combine, and the privacy statement; it predicts without the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

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

    def probabilities(self, codes: list[npt.NDArray[Any]]) -> Floats:
        """The probability of each class for each row of codes."""
        n_classes = self.schema.n_classes
        total = np.zeros((len(codes[0]), n_classes))
        for tree in self.trees:
            counts = tree.counts[tree.reach(codes)]
            if self.combine == "vote":
                counts = np.eye(n_classes)[counts.argmax(axis=1)]
            elif self.combine == "probabilities":
                counts = np.maximum(counts, 0.0)
                counts = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-12)
            total += counts
        total = np.maximum(total, 0.0)
        sums = total.sum(axis=1, keepdims=True)
        # Where noise left nothing, every class is as likely as any other.
        return np.where(sums > 0, total / np.where(sums > 0, sums, 1.0), 1.0 / n_classes)
