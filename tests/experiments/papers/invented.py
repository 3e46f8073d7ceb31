"""Lines as cells would give them, without computing anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from experiments.papers.experiment import Cell, Comparison, Experiment, Row
from experiments.papers.hanisch import jobs as hanisch
from experiments.papers.novakovic import jobs as novakovic
from experiments.papers.novakovic import protocol

#: From the parameters of a run (and its number) to what it measured.
Accuracy = Callable[[Mapping[str, Any], int], float]


def lines_of(cells: Sequence[Cell], accuracy: Accuracy) -> list[Row]:
    """The lines of these cells, with accuracies of one's own."""
    return [row for cell in cells for row in _lines(cell, accuracy)]


def compared_and_drawn(experiment: Experiment, rows: Sequence[Row]) -> tuple[list[Comparison], str]:
    """What is said about the lines, and every word of the picture; both must be there."""
    compared = experiment.compare(rows)
    assert compared
    assert all(one.what and one.ours for one in compared)
    assert experiment.draw is not None
    figure = experiment.draw(rows)
    words = [text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))]
    assert figure.axes
    return compared, "\n".join(words)


def _lines(cell: Cell, accuracy: Accuracy) -> list[Row]:
    given = dict(cell.given)
    if cell.job is hanisch.village:
        return hanisch.village(draws=10)
    if cell.job is hanisch.bounds:
        return [
            {"what": "naive", "value": 0.53},
            {"what": "ceiling", "value": 0.83},
            {"what": "rows", "value": 100},
        ]
    if cell.job is hanisch.noisy_ratio:
        return [
            {
                "how": given["how"],
                "call": call,
                "ratio": 0.5 + call / 1e4,
                "largest noise": 9,
                "telling answers": 0.1,
            }
            for call in range(9)
        ]
    if cell.job is novakovic.most_frequent:
        return [
            {
                "table": protocol.TABLES[given["figure"]][0],
                "method": novakovic.FREQUENT,
                "accuracy": 0.5,
            }
        ]
    if cell.job is novakovic.accuracies:
        head = {
            "table": protocol.TABLES[given["figure"]][0],
            "method": given["method"],
            "order": given["order"],
        }
        each = (
            [{}]
            if given["method"] == novakovic.BASELINE
            else [{"epsilon": epsilon} for epsilon in given["epsilons"]]
        )
        points = [
            head | one | {"run": run, "fold": fold}
            for one in each
            for run in range(given["runs"])
            for fold in range(2)
        ]
        return [point | {"accuracy": accuracy(point, point["run"])} for point in points]
    how = {
        hanisch.exact_tree: hanisch.EXACT_TREE,
        hanisch.exact_forest: hanisch.EXACT_FOREST,
        hanisch.gibbs: hanisch.GIBBS,
    }
    head = {"how": given.get("how") or how[cell.job]}
    head |= {name: given[name] for name in ("epsilon", "depth") if name in given}
    depths = [{"depth": depth} for depth in given.get("depths", [])] or [{}]
    trees = [{"trees": count} for count in given.get("trees", [])] or [{}]
    points = [
        head | one | other | {"run": run}
        for one in depths
        for other in trees
        for run in range(given["runs"])
    ]
    return [point | {"accuracy": accuracy(point, point["run"])} for point in points]
