"""Say what was run, from the lines themselves: a quick run cannot claim the full protocol."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.papers.experiment import Row

#: What a line is one of several of.
SERIES = ("how", "learner", "method")
#: What a point of a figure is told apart by, and how it is named.
POINTS = {
    "experiment": "experiment",
    "data": "data",
    "table": "table",
    "order": "order of rows",
    "epsilon": "epsilon",
    "depth": "depth",
    "trees": "trees",
    "parts": "parts",
    "stopping": "stopping rule",
    "folds": "folds",
    "attributes": "attributes",
}
#: What repeats of a point are told apart by.
REPEATS = ("run", "fold", "draw", "call")
_MOST_LISTED = 12


def describe_runs(rows: Sequence[Row]) -> str:
    """Return which points were run, and how often each was repeated."""
    parts = []
    for column, name in POINTS.items():
        values = list(dict.fromkeys(row[column] for row in rows if row.get(column) is not None))
        if values:
            parts.append(f"{name} {_list_values(values)}")
    repeats: dict[str, set[int]] = {}
    points: dict[tuple[object, ...], set[tuple[object, ...]]] = {}
    for row in rows:
        repeat = tuple(row.get(name) for name in REPEATS)
        if any(one is not None for one in repeat):
            series = next((str(row[name]) for name in SERIES if name in row), "")
            points.setdefault((series, *(row.get(name) for name in POINTS)), set()).add(repeat)
    for point, found in points.items():
        repeats.setdefault(str(point[0]), set()).add(len(found))
    by_count: dict[str, list[str]] = {}
    for series, counts in repeats.items():
        least, most = min(counts), max(counts)
        told = f"{least}" if least == most else f"{least} to {most}"
        by_count.setdefault(told, []).append(series)
    if len(by_count) == 1:
        (told,) = by_count
        parts.append(f"repeats of each point: {told}")
    elif by_count:
        listed = "; ".join(f"{told} ({', '.join(series)})" for told, series in by_count.items())
        parts.append(f"repeats of each point: {listed}")
    return "; ".join(parts)


def _list_values(values: list[object]) -> str:
    said = [f"{value:g}" if isinstance(value, float) else str(value) for value in values]
    if len(said) <= _MOST_LISTED:
        return ", ".join(said)
    return f"{said[0]} to {said[-1]} ({len(said)} values)"
