"""Compute effects of values, interactions of pairs and exact Shapley values of a sum over boxes.

People are mixed rows (:mod:`~.people`): a box is met by mixed row r with the probability that is
the product of b_j over its attributes j. Expectations over people are means over mixed rows.

**Shapley values.** Of one box with number 1, a coalition T of attributes that are known to be those
of a row, the others being a mixed row's, is worth the product of a_j over T (1 where the row is
inside, else 0) and of b_j over the rest. Of such a product game the Shapley value of i is

    (a_i - b_i)  x  integral from 0 to 1 of  product over j != i of ((1 - u) b_j + u a_j)  du,

since the weight t! (d - 1 - t)! / d! of a coalition of t others is the integral of
u^t (1 - u)^(d - 1 - t). The integrand is a polynomial of degree d - 1, so Gauss-Legendre quadrature
with d/2 nodes is exact. Values of a sum of games add up (Shapley 1953), and those of one row add up
to its score less the mean score.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from privet._types import Codes, Floats
from privet.model.explanations.boxes import Boxes, Group
from privet.model.explanations.people import People, look_inside

#: So many numbers are worked on at once.
_BLOCK = 1 << 22


def average_scores(boxes: Boxes, people: People) -> Floats:
    """Return what the model says on average (numbers)."""
    total = boxes.start.copy()
    for table, shares in zip(boxes.tables, people.shares, strict=True):
        total += shares @ table[:-1]
    for group in boxes.groups:
        total += people.meet(group).prod(axis=2).mean(axis=0) @ group.numbers
    return np.asarray(total)


def find_effects(boxes: Boxes, people: People) -> list[Floats]:
    """Return for each attribute and value (values, numbers) how what the model says changes, on
    average, when everybody has this value.
    """
    effects = [
        table[:-1] - shares @ table[:-1]
        for table, shares in zip(boxes.tables, people.shares, strict=True)
    ]
    for group in boxes.groups:
        met = people.meet(group)
        everywhere = met.prod(axis=2).mean(axis=0)
        for place in range(met.shape[2]):
            others = _multiply_others(met, (place,)).mean(axis=0)
            for attribute in np.unique(group.attributes[:, place]).tolist():
                here = group.attributes[:, place] == attribute
                inside = group.inside[here, place, : boxes.sizes[attribute]]
                change = others[here, None] * inside - everywhere[here, None]
                effects[attribute] += change.T @ group.numbers[here]
    return effects


def find_interactions(boxes: Boxes, people: People) -> dict[tuple[int, int], Floats]:
    """Return for each pair of attributes that some box asks about (values, values, numbers) what
    both together say beyond what each says alone.
    """
    found: dict[tuple[int, int], Floats] = {}
    for group in boxes.groups:
        met = people.meet(group)
        everywhere = met.prod(axis=2).mean(axis=0)
        for places in combinations(range(met.shape[2]), 2):
            both, first, second = (
                _multiply_others(met, left_out).mean(axis=0)
                for left_out in (places, places[:1], places[1:])
            )
            pairs = group.attributes[:, places]
            for one, other in np.unique(pairs, axis=0).tolist():
                here = (pairs == (one, other)).all(axis=1)
                in_one = group.inside[here, places[0], : boxes.sizes[one]].astype(np.float64)
                in_other = group.inside[here, places[1], : boxes.sizes[other]].astype(np.float64)
                table = np.empty((boxes.sizes[one], boxes.sizes[other], group.numbers.shape[1]))
                for number in range(table.shape[2]):
                    weight = group.numbers[here, number]
                    table[:, :, number] = (
                        in_one.T @ (in_other * (weight * both[here])[:, None])
                        - (in_one.T @ (weight * first[here]))[:, None]
                        - (in_other.T @ (weight * second[here]))[None]
                        + weight @ everywhere[here]
                    )
                key = (min(one, other), max(one, other))
                table = table if one < other else table.transpose(1, 0, 2)
                found[key] = found[key] + table if key in found else table
    return found


def divide_scores(boxes: Boxes, people: People, codes: tuple[Codes, ...]) -> Floats:
    """Return the Shapley value of each attribute for each row (rows, attributes, numbers)."""
    n_rows = len(codes[0])
    parts = np.zeros((n_rows, len(boxes.sizes), len(boxes.start)))
    for attribute, (table, shares) in enumerate(zip(boxes.tables, people.shares, strict=True)):
        known = np.minimum(codes[attribute], boxes.sizes[attribute])
        parts[:, attribute] = table[known] - shares @ table[:-1]
    for group in boxes.groups:
        met = people.meet(group)
        step = max(1, _BLOCK // max(met.size, 1))
        for low in range(0, n_rows, step):
            rows = slice(low, min(low + step, n_rows))
            known_codes = tuple(
                np.minimum(column[rows], size)
                for column, size in zip(codes, boxes.sizes, strict=True)
            )
            _divide_group(parts[rows], group, met, look_inside(group, known_codes))
    return parts


def _divide_group(parts: Floats, group: Group, met: Floats, inside: Floats) -> None:
    """Add what boxes of a group give to each attribute of some rows."""
    asked = met.shape[2]
    nodes, weights = np.polynomial.legendre.leggauss((asked + 1) // 2)
    a, b = inside[:, None], met[None]  # rows, mixed rows, boxes, asked
    shares = np.zeros((len(inside), *group.attributes.shape))
    for node, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        blend = (1 - node) * b + node * a
        for place in range(asked):
            value = (a[..., place] - b[..., place]) * _multiply_others(blend, (place,))
            shares[:, :, place] += weight * value.mean(axis=1)
    for place in range(asked):
        added = shares[:, :, place, None] * group.numbers
        for attribute in np.unique(group.attributes[:, place]).tolist():
            parts[:, attribute] += added[:, group.attributes[:, place] == attribute].sum(axis=1)


def _multiply_others(met: Floats, left_out: tuple[int, ...]) -> Floats:
    """Return the product over all places but some."""
    kept = [place for place in range(met.shape[-1]) if place not in left_out]
    return np.asarray(met[..., kept].prod(axis=-1))
