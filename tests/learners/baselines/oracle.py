"""ID3 and C4.5 once more, row by row in plain Python: slow, and sharing nothing with what is
tested.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from privet.domain import Numeric, Schema

Row = tuple[int, ...]  # codes, and the class last
Groups = list[tuple[int, ...]]  # the codes of each child
CLOSE = 1e-9


def grow(
    schema: Schema,
    rows: list[Row],
    choose: Callable[[Schema, list[Row]], tuple[int, Groups] | None],
) -> Any:
    """A tree in the form of ``tables.nested``."""
    counts = class_counts(schema, rows)
    found = choose(schema, rows) if len({row[-1] for row in rows}) > 1 else None
    if found is None:
        return counts
    a, groups = found
    below = {codes: [row for row in rows if row[a] in codes] for codes in groups}
    children = {
        codes: grow(schema, part, choose) if part else counts for codes, part in below.items()
    }
    return counts, schema.names[a], children


def id3(min_rows: int) -> Callable[[Schema, list[Row]], tuple[int, Groups] | None]:
    def choose(schema: Schema, rows: list[Row]) -> tuple[int, Groups] | None:
        options = {
            a: [(code,) for code in range(size)]
            for a, size in enumerate(schema.sizes)
            if len({r[a] for r in rows}) > 1
        }
        if not options or len(rows) < min_rows:
            return None
        best = first_best(options, lambda a: gain(rows, a, options[a]))
        return best, options[best]

    return choose


def c45(min_rows: int, binary: bool) -> Callable[[Schema, list[Row]], tuple[int, Groups] | None]:
    def counts_as_split(rows: list[Row], a: int, groups: Groups) -> bool:
        large = [codes for codes in groups if sum(row[a] in codes for row in rows) >= min_rows]
        return len(large) > 1 and gain(rows, a, groups) > CLOSE

    def choose(schema: Schema, rows: list[Row]) -> tuple[int, Groups] | None:
        options: dict[int, Groups] = {}
        for a, size in enumerate(schema.sizes):
            listed = two_way(schema, rows, a) if binary else [[(code,) for code in range(size)]]
            listed = [groups for groups in listed if counts_as_split(rows, a, groups)]
            if listed:
                options[a] = listed[
                    first_best(range(len(listed)), lambda i: gain(rows, a, listed[i]))  # noqa: B023
                ]
        if not options:
            return None
        average = sum(gain(rows, a, groups) for a, groups in options.items()) / len(options)
        able = [a for a, groups in options.items() if gain(rows, a, groups) >= average - CLOSE]
        best = first_best(
            able, lambda a: gain(rows, a, options[a]) / entropy(sizes_of(rows, a, options[a]))
        )
        return best, options[best]

    return choose


def two_way(schema: Schema, rows: list[Row], a: int) -> list[Groups]:
    attribute = list(schema.attributes.values())[a]
    everything = tuple(range(attribute.size))
    if not isinstance(attribute, Numeric):
        return [
            [tuple(code for code in everything if code != one), (one,)]
            for one in everything
            if len(everything) > 1
        ]
    out: list[Groups] = []
    for cut in range(1, attribute.bins):
        low, high = tuple(range(cut)), tuple(range(cut, attribute.bins))
        if attribute.missing is not None:
            n_low, n_high = sizes_of(rows, a, [low, high])
            low, high = (
                (low, (*high, attribute.bins)) if n_high > n_low else ((*low, attribute.bins), high)
            )
        out.append([low, high])
    if attribute.missing is not None:
        out.append([everything[:-1], everything[-1:]])
    return out


def gain(rows: list[Row], a: int, groups: Groups) -> float:
    parts = [[row for row in rows if row[a] in codes] for codes in groups]
    labels = {row[-1] for row in rows}
    rest = sum(
        len(part) / len(rows) * entropy([sum(r[-1] == t for r in part) for t in labels])
        for part in parts
    )
    return entropy([sum(row[-1] == t for row in rows) for t in labels]) - rest


def sizes_of(rows: list[Row], a: int, groups: Groups) -> list[int]:
    return [sum(row[a] in codes for row in rows) for codes in groups]


def entropy(counts: list[int]) -> float:
    n = sum(counts)
    return -sum(c / n * math.log2(c / n) for c in counts if c)


def first_best(options: Iterable[int], score: Callable[[int], float]) -> int:
    listed = list(options)
    best = max(score(option) for option in listed)
    return next(option for option in listed if score(option) >= best - CLOSE)


def class_counts(schema: Schema, rows: list[Row]) -> tuple[float, ...]:
    return tuple(float(sum(row[-1] == t for row in rows)) for t in range(schema.n_classes))
