"""Group and label the values of an attribute as people read them.

Many bins of a number are more than anybody reads, so neighbours about which the model says much the
same stand together. Numbers are written with few digits: ``1 000 to 2 500``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from privet._types import Bools, Floats
from privet.domain import Attribute
from privet.text import escape_invisible, join_some, shorten, shorten_apart

#: So many bins of an ordered attribute are shown, and so many other values; the rest are folded.
MAX_BINS, MAX_VALUES = 12, 12
#: Of values that stand together, so many are named.
MAX_TOGETHER = 3
#: Integers up to here are written whole.
MAX_WHOLE = 1000
#: A value is shown with so many characters.
MAX_LABEL = 32


def group_values(attribute: Attribute, effects: Floats, shares: Floats) -> list[tuple[int, ...]]:
    """Return the codes that are shown together, in order.

    Bins of an ordered attribute stand with their neighbours until there are :data:`MAX_BINS`; those
    between which the effects (values, numbers) change least go first, weighed by how many people
    they have (Ward 1963). Other values stand by themselves.
    """
    if not attribute.ordered:
        return [(code,) for code in range(attribute.size)]
    runs: list[tuple[int, ...]] = [(code,) for code in range(attribute.bins)]
    means = effects[: attribute.bins].copy()
    weights = np.maximum(shares[: attribute.bins], 0.1 / attribute.size)
    while len(runs) > MAX_BINS:
        change = ((means[1:] - means[:-1]) ** 2).sum(axis=1)
        cost = change * weights[1:] * weights[:-1] / (weights[1:] + weights[:-1])
        first = int(np.argmin(cost))
        pair = slice(first, first + 2)
        means[first] = weights[pair] @ means[pair] / weights[pair].sum()
        weights[first] = weights[pair].sum()
        runs[first : first + 2] = [runs[first] + runs[first + 1]]
        means, weights = np.delete(means, first + 1, axis=0), np.delete(weights, first + 1)
    return [*runs, *((code,) for code in range(attribute.bins, attribute.size))]


def join_alike(
    attribute: Attribute, numbers: Floats, groups: Sequence[tuple[int, ...]], same: float
) -> list[tuple[int, ...]]:
    """Join groups of values whose lines of numbers are the same, up to so much.

    A tree asks little of an attribute, so that a map would show the same line again and again. Bins
    of a number are joined with their neighbours only.
    """
    joined: list[tuple[int, ...]] = []
    for group in groups:
        apart = attribute.ordered and group[0] >= attribute.bins  # what is missing is no neighbour
        near = joined[-1:] if attribute.ordered else joined
        for place, other in enumerate(near, len(joined) - len(near)):
            gap = np.abs(numbers[list(group)][:, None] - numbers[list(other)][None])
            if not apart and float(gap.max()) <= same:
                joined[place] = other + group
                break
        else:
            joined.append(group)
    return joined


def choose_shown(weight: Floats, sure: Bools | None, most: int) -> tuple[list[int], list[int]]:
    """Return the rows of values to show, and those to fold, each in order.

    First come those that can be told from noise, then those that move most people's score. A single
    row more takes no more room than saying so, and bins of a number and "missing" stay together.
    """
    count = len(weight)
    if count <= most + 1:
        return list(range(count)), []
    told = np.ones(count, dtype=bool) if sure is None else sure.any(axis=1)
    order = np.lexsort((-weight, ~told)).tolist()
    return sorted(order[:most]), sorted(order[most:])


def name_class(label: str) -> str:
    """Return the label of a class for a sentence: in quotes where it has no letter and no digit."""
    return label if any(char.isalnum() for char in label) else f"'{label}'"


def label_values(attribute: Attribute, groups: Sequence[tuple[int, ...]]) -> list[str]:
    """Return the text of each group of codes."""
    if attribute.holds_numbers:
        return _label_numbers(attribute, groups)
    texts = [escape_invisible(_label_listed(attribute, group)) for group in groups]
    return shorten_apart(texts, MAX_LABEL)


def _label_listed(attribute: Attribute, codes: tuple[int, ...]) -> str:
    if not attribute.ordered:
        return join_some([attribute.labels[code] for code in codes], ", ", MAX_TOGETHER)
    if len(codes) == 1:
        return attribute.labels[codes[0]]
    text = attribute.describe_branch(codes)
    return text.removeprefix("in ").removeprefix("from ")


def _label_numbers(attribute: Attribute, groups: Sequence[tuple[int, ...]]) -> list[str]:
    runs = [group for group in groups if group[0] < attribute.bins]
    starts = [attribute.cuts[run[0]] for run in runs[1:]]
    integers = attribute.list_bin_integers()
    if integers is not None and max(map(abs, starts), default=0) > MAX_WHOLE:
        integers = None  # rounded, both ends of a span are those of its neighbours
    if integers is not None:
        firsts, lasts = integers
        starts = [float(firsts[run[0]]) for run in runs[1:]]
        ends = [float(lasts[run[-1]]) for run in runs[:-1]]
        exact = write_numbers([*starts, *ends])
        starting, ending = exact[: len(starts)], exact[len(starts) :]
    else:
        starting = write_numbers(starts)
        ending = starting
    if not starts:
        labels = ["any number"]
    else:
        below = f"up to {ending[0]}" if integers is not None else f"below {starting[0]}"
        middle = [
            low if low == high else f"{low} to {high}"
            for low, high in zip(starting[:-1], ending[1:], strict=True)
        ]
        labels = [below, *middle, f"{starting[-1]} and more"]
    missing = [group for group in groups if group[0] >= attribute.bins]
    return labels + [
        shorten(escape_invisible(attribute.labels[group[0]]), MAX_LABEL) for group in missing
    ]


def write_numbers(numbers: Sequence[float]) -> list[str]:
    """Write numbers with the fewest significant digits, at least 3, that tell them apart.

    Thousands are set apart, and small integers written whole.
    """
    different = len(set(numbers))
    for digits in range(3, 16):
        texts = [_write_number(number, digits) for number in numbers]
        if len(set(texts)) == different:
            break
    return texts if numbers else []


def _write_number(number: float, digits: int) -> str:
    if number.is_integer() and abs(number) <= MAX_WHOLE:
        digits = 15
    rounded = float(f"{number:.{digits}g}")
    if abs(rounded) >= 1e15 or 0 < abs(rounded) < 1e-4:
        return f"{rounded:g}"
    places = 0 if rounded.is_integer() else len(repr(rounded).partition(".")[2])
    return f"{rounded:,.{places}f}".replace(",", " ")
