"""Additive terms from value-by-class counts: how much each value of an attribute speaks for each
class, shrunk by its known noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from privet.cells import Cells, Split
from privet.queries import Numbers
from privet.schema import Schema
from privet.tree import Tree
from privet.typed import Floats

#: How far a value may raise or lower the score of a class.
FARTHEST_LOG_ODDS = 4.0
#: Values of an attribute differ only as far as this many standard deviations of noise do not
#: explain it.
SURE = 1.0


def log_odds_trees(schema: Schema, answer: Numbers, damping: float) -> list[Tree]:
    """Trees of scores that add up: one for the classes as such, and one per attribute, in the order
    of the schema's names.

    The scores of a value are ``damping`` times the logarithm of its class shares over those of
    everybody. Undamped they would add up to naive Bayes, which counts evidence twice where
    attributes say the same.
    """
    shares = _class_shares(answer.tables)
    trees = [Tree(Cells.everything(schema), np.log(shares)[None], "constant")]
    for name, counts, deviations in zip(
        schema.names, answer.tables, answer.deviations, strict=True
    ):
        drawn = shrink_shares(counts[0].astype(np.float64), deviations[0], shares)
        scores = np.clip(damping * np.log(drawn / shares), -FARTHEST_LOG_ODDS, FARTHEST_LOG_ODDS)
        cells = Cells.everything(schema).refine({0: Split.multiway(schema, name)})
        trees.append(Tree(cells, np.vstack([np.zeros(schema.n_classes), scores]), "term"))
    return trees


def shrink_shares(counts: Floats, deviations: Floats, shares: Floats) -> Floats:
    """The class shares of each value, drawn towards everybody's as far as noise explains how they
    differ.

    The squared distance d^2 of a value's shares from everybody's has noise (and chance in who the
    people are) of a known mean s^2. What is above it, in a mean over all people, is how much values
    of this attribute really differ, t^2; a value keeps t^2 / (t^2 + s^2) of its distance (an
    empirical Bayes estimate; James and Stein 1961).
    """
    noise_of_size = np.sqrt((deviations**2).sum(axis=1))
    # no value is taken for smaller than its noise
    sizes = np.maximum(counts.sum(axis=1), np.maximum(noise_of_size, 1.0))
    away = counts / sizes[:, None] - (counts.sum(axis=1) / sizes)[:, None] * shares
    noise = (deviations**2).sum(axis=1) / sizes**2 + float((shares * (1 - shares)).sum()) / sizes
    by_chance = SURE * math.sqrt(2 * float(((sizes * noise) ** 2).sum()))
    real = max(float((sizes * ((away**2).sum(axis=1) - noise)).sum()) - by_chance, 0.0) / float(
        sizes.sum()
    )
    kept = shares + (real / (real + noise))[:, None] * away
    positive = np.maximum(kept, 1e-3 * shares)
    return np.asarray(positive / positive.sum(axis=1, keepdims=True))


def _class_shares(tables: Sequence[npt.NDArray[np.int64]]) -> Floats:
    """The class shares of everybody: every table counts them, each with noise of its own."""
    totals = np.mean([table.sum(axis=(0, 1), dtype=np.float64) for table in tables], axis=0)
    positive = np.maximum(totals, 0.0) + 1.0
    return np.asarray(positive / positive.sum())
