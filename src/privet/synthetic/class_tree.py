"""Fit the graphical model of a synthetic table: within each class, the attributes form a tree.

A row's class is drawn first, then each attribute given the class and one other attribute, its
parent. All that the model knows are expected counts of (parent, attribute, class); they are fitted
to noisy counts by entropic mirror descent on the potentials of the tree (McKenna, Sheldon and
Miklau 2019, algorithm 1), with the marginals computed exactly by passing messages up and down the
tree. Post-processing: nothing in here sees a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from privet._types import Floats, Ints
from privet.synthetic.groups import sum_by_group

#: Steps at most, the relative gain of a step below which it ends, and what is no gain but rounding.
STEPS, ENOUGH, NOTHING = 400, 1e-4, 1e-9


@dataclass(frozen=True, eq=False)
class Measured:
    """Noisy counts with their deviations.

    They are of (attribute, class), and of (parent, attribute, class) where the attribute has a
    parent.

    Deviations broadcast over the counts; counts of a group have the noise of all its values.
    ``parts`` says which part of the pair's table each value is counted in, of the parent and of the
    attribute. ``leaning`` is the logarithm of how values go together where counts do not tell.
    """

    alone: Floats
    deviation: Floats
    pair: Floats | None = None
    pair_deviation: float = 1.0
    parts: tuple[Ints, Ints] | None = None
    leaning: Floats | float = 0.0

    def sum_parts(self, table: Floats) -> Floats:
        """Sum counts of (parent, attribute, class) as the pair was counted."""
        if self.parts is None:
            return table
        first, second = self.parts
        return np.asarray(sum_by_group(sum_by_group(table, first).swapaxes(0, 1), second)).swapaxes(
            0, 1
        )

    def spread_parts(self, table: Floats) -> Floats:
        """Return a number of each (part, part, class) for all values of these parts."""
        return table if self.parts is None else table[np.ix_(*self.parts)]


@dataclass(frozen=True, eq=False)
class ClassTree:
    """Expected counts of a tree of attributes within each class.

    ``tables[a]`` has shape (values of the parent, values, classes), with a single row where there
    is no parent (-1).
    """

    parents: tuple[int, ...]
    tables: tuple[Floats, ...]

    @cached_property
    def order(self) -> list[int]:
        """The attributes, parents before their children."""
        return order_parents_first(self.parents)

    @property
    def classes(self) -> Floats:
        """The expected rows of each class."""
        return np.asarray(self.tables[0].sum(axis=(0, 1)))


def order_parents_first(parents: Sequence[int]) -> list[int]:
    """Order attributes so that parents come before their children."""
    order = [a for a, parent in enumerate(parents) if parent < 0]
    for a in order:
        order += [child for child, parent in enumerate(parents) if parent == a]
    return order


def fit_class_tree(
    parents: Sequence[int], measured: Sequence[Measured], total: float, steps: int = STEPS
) -> ClassTree:
    """Fit the tree of ``total`` rows nearest to the measured counts.

    Nearest is in squares weighted by the noise of the counts.

    It starts from the noisy counts themselves, so that few steps are needed. A step that does not
    gain enough is halved (Armijo's rule); until one was, steps are short, and a little gain does
    not mean that it is done.
    """
    order = order_parents_first(parents)
    potentials = _first_guess(parents, measured)
    tables = _expected_tables(potentials, parents, order, total)
    loss, slopes = _loss(tables, measured)
    # counts and noise that both grow are the same problem
    rate = _least_variance(measured) / max(total, 1.0)
    enough = NOTHING
    for _ in range(steps):
        while True:
            moved = [
                potential - rate * slope
                for potential, slope in zip(potentials, slopes, strict=True)
            ]
            reached = _expected_tables(moved, parents, order, total)
            after, after_slopes = _loss(reached, measured)
            promised = sum(
                float((slope * (old - new)).sum())
                for slope, old, new in zip(slopes, tables, reached, strict=True)
            )
            if loss - after >= promised / 2 - NOTHING * (1 + loss):
                break
            rate, enough = rate / 2, ENOUGH
        gain = loss - after
        potentials, tables, loss, slopes = moved, reached, after, after_slopes
        rate *= 1.3
        if gain <= enough * (1 + after):
            break
    return ClassTree(tuple(parents), tuple(tables))


def _least_variance(measured: Sequence[Measured]) -> float:
    least = min(float(measurement.deviation.min()) for measurement in measured)
    return (
        min(
            [
                least,
                *(
                    measurement.pair_deviation
                    for measurement in measured
                    if measurement.pair is not None
                ),
            ]
        )
        ** 2
    )


def _first_guess(parents: Sequence[int], measured: Sequence[Measured]) -> list[Floats]:
    """Logarithms of the shares that the noisy counts give, where noise does not hide them."""
    guess = []
    for parent, measurement in zip(parents, measured, strict=True):
        alone = np.maximum(measurement.alone, 0.3 * measurement.deviation)
        table = (alone / alone.sum(axis=0))[None]
        if parent >= 0:
            assert measurement.pair is not None
            above = np.maximum(measured[parent].alone, 0.3 * measured[parent].deviation)
            table = (above / above.sum(axis=0))[:, None, :] * table * np.exp(measurement.leaning)
            within = measurement.sum_parts(table)
            counts = np.maximum(measurement.pair, 0.0) + 2 * measurement.pair_deviation * (
                within / within.sum(axis=1, keepdims=True)
            )
            table = table * measurement.spread_parts(counts / within)
        guess.append(np.log(table / table.sum(axis=1, keepdims=True)))
    sizes = np.mean(
        [np.maximum(measurement.alone.sum(axis=0), 1.0) for measurement in measured], axis=0
    )
    guess[order_parents_first(parents)[0]] += np.log(sizes)
    return guess


def _expected_tables(
    potentials: Sequence[Floats], parents: Sequence[int], order: Sequence[int], total: float
) -> list[Floats]:
    """The expected counts under these potentials: messages up the tree, and shares down."""
    below: list[Floats] = [np.zeros(potential.shape[1:]) for potential in potentials]
    up: list[tuple[Floats, Floats]] = [(potential, potential) for potential in potentials]
    of_class = np.zeros(potentials[0].shape[2])
    for a in reversed(order):
        joint = potentials[a] + below[a]
        message = _log_sum(joint)
        up[a] = (joint, message)
        if parents[a] < 0:
            of_class = of_class + message[0]
        else:
            below[parents[a]] = below[parents[a]] + message
    shares = np.exp(of_class - of_class.max())
    tables: list[Floats] = list(potentials)
    alone: list[Floats] = list(potentials)
    for a in order:
        joint, message = up[a]
        above = (total * shares / shares.sum())[None] if parents[a] < 0 else alone[parents[a]]
        tables[a] = above[:, None, :] * np.exp(joint - message[:, None, :])
        alone[a] = tables[a].sum(axis=0)
    return tables


def _log_sum(joint: Floats) -> Floats:
    top = joint.max(axis=1, keepdims=True)
    return np.asarray((np.log(np.exp(joint - top).sum(axis=1, keepdims=True)) + top)[:, 0, :])


def _loss(tables: Sequence[Floats], measured: Sequence[Measured]) -> tuple[float, list[Floats]]:
    """Half the weighted squares, and their slope for each table."""
    loss, slopes = 0.0, []
    for table, measurement in zip(tables, measured, strict=True):
        off = table.sum(axis=0) - measurement.alone
        slope = off / measurement.deviation**2
        loss += float((off * slope).sum()) / 2
        if measurement.pair is None:
            slopes.append(slope[None])
            continue
        pair_off = measurement.sum_parts(table) - measurement.pair
        loss += float((pair_off**2).sum()) / measurement.pair_deviation**2 / 2
        slopes.append(slope + measurement.spread_parts(pair_off) / measurement.pair_deviation**2)
    return loss, slopes
