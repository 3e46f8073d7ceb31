"""ID3 on noisy counts by the papers' own recursion (2009 section III, 2012 section 4). For
experiments on public data only.

It follows the nodes that test rows reach, because no other node takes part in an answer to one.
What it costs is a matter of how epsilon is divided, see :func:`rounds`.
:class:`privet.NoisyID3Classifier` is the learner: it derives sizes and class counts from tables
that are paid for, and stops before counts drown in noise.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

import numpy as np
import numpy.typing as npt

from experiments.papers.rdt.protocol import NOT_THERE
from experiments.papers.rdt.tables import Table
from privet._types import Floats, Ints
from privet.mechanisms.laplace import discrete_laplace
from privet.mechanisms.randomness import Bits

#: ``published``: epsilon is divided by the rounds of attribute tables, and the sizes and class
#: counts come on top, unpaid: NOT PRIVATE at the epsilon that is stated. ``corrected``: all rounds
#: are paid.
Accounting = Literal["published", "corrected"]
#: When a node is a leaf of one class. ``positive``: at most one noisy class count is positive.
#: ``literal``: the papers' "all with the same value", which noisy counts say only where all but one
#: are exactly 0. Nearly no node ends so, and at the bottom of a deep tree nearly every size is
#: noise around 0, half of which reads as an empty node: Failure.
Stopping = Literal["positive", "literal"]
FAILURE = -1


def rounds(attributes: int, accounting: Accounting) -> int:
    """Questions that a row can take part in, on a path of full depth.

    Level i asks k - i attribute tables, and the size and the class counts of each node; the level
    below the last test asks these two only. The papers count the tables: k(k + 1)/2.
    """
    tables = attributes * (attributes + 1) // 2
    return tables if accounting == "published" else tables + 2 * (attributes + 1)


def predicted(
    table: Table,
    train: Ints,
    test: Ints,
    scale: Fraction,
    bits: Bits,
    stopping: Stopping = "positive",
) -> Ints:
    """The class that a tree from the training rows gives to each test row, or :data:`FAILURE`.
    Every count has noise of this scale.
    """
    sizes, n_classes = table.schema.sizes, table.schema.n_classes
    answer = np.full(len(test), FAILURE, dtype=np.int64)
    node, at = np.zeros(len(train), dtype=np.int64), np.zeros(len(test), dtype=np.int64)
    unused = np.ones((1, len(sizes)), dtype=bool)
    classes, own = table.classes[train], train
    under_way = np.arange(len(test))

    def noisy(counts: Ints) -> Floats:
        return (counts + discrete_laplace(bits, counts.size, scale).reshape(counts.shape)).astype(
            np.float64
        )

    while len(under_way):
        m = len(unused)
        size = noisy(np.bincount(node, minlength=m))
        counts = noisy(
            np.bincount(node * n_classes + classes, minlength=m * n_classes).reshape(m, n_classes)
        )
        there = counts > NOT_THERE if stopping == "positive" else counts != NOT_THERE
        failed = size <= NOT_THERE
        leaf = ~failed & ((there.sum(axis=1) <= 1) | ~unused.any(axis=1))
        here = leaf[at]
        answer[under_way[here]] = counts.argmax(axis=1)[at[here]]
        going = ~(failed | leaf)
        keep = going[at]
        under_way, at = under_way[keep], at[keep]
        keep = going[node]
        node, classes, own = node[keep], classes[keep], own[keep]
        if not len(under_way):
            break
        chosen = _least_entropy(table, own, classes, node, unused, noisy)
        # The children that test rows reach are the nodes of the next level.
        widest = max(sizes)
        child = at * widest + _values(table, test[under_way], chosen[at])
        reached, at = np.unique(child, return_inverse=True)
        parent = reached // widest
        unused = unused[parent]
        unused[np.arange(len(reached)), chosen[parent]] = False
        found = np.full(m * widest, -1, dtype=np.int64)
        found[reached] = np.arange(len(reached))
        node = found[node * widest + _values(table, own, chosen[node])]
        keep = node >= 0
        node, classes, own = node[keep], classes[keep], own[keep]
    return answer


def _values(table: Table, rows: Ints, attribute: Ints) -> Ints:
    """The code of each row in an attribute of its own."""
    return np.asarray(np.stack(table.codes)[attribute, rows])


def _least_entropy(
    table: Table,
    rows: Ints,
    classes: Ints,
    node: Ints,
    unused: npt.NDArray[np.bool_],
    noisy: object,
) -> Ints:
    """For each node the unused attribute of largest information gain, that is of least remaining
    entropy, on noisy tables.
    """
    m, n_classes = len(unused), table.schema.n_classes
    entropy = np.full((m, len(table.schema.sizes)), np.inf)
    for attribute, size in enumerate(table.schema.sizes):
        entry = (node * size + table.codes[attribute][rows]) * n_classes + classes
        asked = np.flatnonzero(unused[:, attribute])
        exact = np.bincount(entry, minlength=m * size * n_classes).reshape(m, size, n_classes)[
            asked
        ]
        counts = np.maximum(noisy(exact), 0.0)  # type: ignore[operator]
        of_value = counts.sum(axis=2, keepdims=True)
        shares = np.divide(counts, of_value, out=np.zeros_like(counts), where=of_value > 0)
        logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
        whole = of_value.sum(axis=(1, 2))
        entropy[asked, attribute] = -(counts * logs).sum(axis=(1, 2)) / np.where(
            whole > 0, whole, 1.0
        )
    return np.asarray(entropy.argmin(axis=1))
