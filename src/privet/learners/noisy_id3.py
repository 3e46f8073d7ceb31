"""ID3 on noisy counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from privet.budget import Number
from privet.checks import IntegerIn, ParameterCheck
from privet.curator import AnyCurator
from privet.curator.spending import Spending
from privet.learners.base import Growth, PrivateClassifier
from privet.schema import Schema
from privet.trees.noisy_id3 import grow_noisy_id3


class NoisyID3Classifier(PrivateClassifier):
    """ID3 in which every access to the data is a noisy count (RDT-2009 section III, RDT-2012
    section 4).

    It is the papers' counter-example: accuracy is poor, because a tree over k attributes needs
    k(k+1)/2 rounds of counts. Sensitivity: a row is in one entry of each round's table. Neighbours:
    one row added or removed. Cost: at most pure ``epsilon``; every round gets epsilon / rounds, and
    levels that are not reached are not charged.

    Args:
        epsilon, schema, random_state: see :class:`~privet.learners.base.PrivateClassifier`.
        max_depth: how many levels, by default as many as there are attributes.
    """

    _name: ClassVar[str] = "noisy-id3"
    _parameters: ClassVar[Mapping[str, ParameterCheck]] = {"max_depth": IntegerIn(1, none=True)}

    def __init__(
        self,
        epsilon: Number = 1.0,
        schema: Schema | str | None = None,
        *,
        max_depth: int | None = None,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.max_depth = max_depth
        self.random_state = random_state

    def _grow(self, curator: AnyCurator, spending: Spending) -> Growth:
        tree, deviation, charges = grow_noisy_id3(curator, spending.left, max_depth=self.max_depth)
        spending.charges += charges
        settings = {"max_depth": int(tree.depths.max())}
        return Growth((tree,), "counts", settings, deviation)
