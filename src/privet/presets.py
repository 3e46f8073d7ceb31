"""Learners set up as four papers describe them, ready to be trained.

Use them to compare with a paper, or to see what its choices cost: the defaults of the learners are
better (docs/results/reproduce.md). Each returns an untrained classifier, whose parameters you can
still change with ``set_params``. Epsilon is for one row added or removed.

Examples
--------
>>> import privet as pv
>>> car = pv.datasets.load("car")
>>> curator = pv.Curator(car.table, car.schema, pv.Budget(2))
>>> model = pv.presets.rdt2012(epsilon=1).fit_from(curator)
>>> len(model.model_.trees)
10
"""

from __future__ import annotations

from typing import Literal

from privet.accounting.cost import Number
from privet.domain import Schema
from privet.learners import GreedyTreeClassifier, RandomTreesClassifier

__all__ = ["hanisch", "novakovic", "rdt2009", "rdt2012"]


def hanisch(
    epsilon: Number = 1.0, schema: Schema | str | None = None, *, n_trees: int = 1, depth: int = 7
) -> RandomTreesClassifier:
    """Return Hanisch's private random decision tree, or his forest of several.

    Every leaf says the class with the larger noisy count, every tree has one vote, and a value that
    a tree does not know is answered by the class that is more frequent in the whole tree. Each tree
    gets epsilon / n_trees.

    Parameters
    ----------
    epsilon, schema
        As for :class:`~privet.RandomTreesClassifier`.
    n_trees
        How many trees; 1 is his decision tree.
    depth
        How many tests every path has. His table has seven attributes, so 7 was his largest.

    Examples
    --------
    >>> import privet as pv
    >>> pv.presets.hanisch(n_trees=10, depth=3).combine
    'vote'
    """
    return RandomTreesClassifier(
        epsilon, schema, n_trees=n_trees, height=depth, combine="vote", shrink=0, unknown="prior"
    )


def rdt2009(
    epsilon: Number = 1.0,
    schema: Schema | str | None = None,
    *,
    n_trees: int = 10,
    height: int | Literal["auto"] = "auto",
) -> RandomTreesClassifier:
    """Return Private-RDT as Jagannathan, Pillaipakkamnatt and Wright describe it in 2009.

    Random structures that are not pruned, Laplace noise of scale n_trees / epsilon in every leaf
    count, and the class with the largest sum of counts.

    Parameters
    ----------
    epsilon, schema
        As for :class:`~privet.RandomTreesClassifier`.
    n_trees
        How many trees: 10 in the paper, 5 for its smallest table.
    height
        The depth of every leaf. The paper does not tell its own, and calls half of the attributes
        not always optimal; ``"auto"`` is the rule of 2012.

    Examples
    --------
    >>> import privet as pv
    >>> pv.presets.rdt2009(height=3).height
    3
    """
    return RandomTreesClassifier(
        epsilon, schema, n_trees=n_trees, height=height, combine="counts", shrink=0
    )


def rdt2012(
    epsilon: Number = 1.0, schema: Schema | str | None = None, *, n_trees: int = 10
) -> RandomTreesClassifier:
    """Return Private-RDT as the same authors describe it in 2012.

    As in 2009, with the height that they give: min(floor(k/2), floor(log_b n) - 1) for k attributes
    of b values on average, and n rows. They take n as public. Declare it (``n_rows`` in the
    schema), or a twentieth of epsilon pays for it.

    Parameters
    ----------
    epsilon, schema
        As for :class:`~privet.RandomTreesClassifier`.
    n_trees
        How many trees: 10 in the paper, 5 for its smallest table.

    Examples
    --------
    >>> import privet as pv
    >>> pv.presets.rdt2012(n_trees=5).height
    'auto'
    """
    return rdt2009(epsilon, schema, n_trees=n_trees)


def novakovic(
    epsilon: Number = 1.0,
    schema: Schema | str | None = None,
    *,
    criterion: Literal["max", "gini", "info_gain"] = "max",
    max_depth: int = 5,
    min_rows: float = 5,
) -> GreedyTreeClassifier:
    """Return the tree of Novakovic's algorithm 2, without the errors of its listing.

    Binary splits drawn by the exponential mechanism, among all attribute-value pairs at once; a
    categorical attribute is asked once on a path. Class counts at every level pay for the stopping
    rules: at most ``min_rows`` rows, or one class left. Epsilon is in 2 (max_depth + 1) - 1 equal
    parts. The thesis means one row replaced, for which the same tree costs twice epsilon.

    Parameters
    ----------
    epsilon, schema
        As for :class:`~privet.GreedyTreeClassifier`.
    criterion
        ``"max"`` or ``"gini"``; ``"info_gain"``, which the thesis gave up, needs ``n_rows``.
    max_depth, min_rows
        The defaults of the listing.

    Examples
    --------
    >>> import privet as pv
    >>> pv.presets.novakovic(criterion="gini").mechanism
    'exponential'
    """
    return GreedyTreeClassifier(
        epsilon,
        schema,
        criterion=criterion,
        max_depth=max_depth,
        schedule="thesis",
        min_rows=min_rows,
        shrink=0,
        mechanism="exponential",
        attribute_once=True,
    )
