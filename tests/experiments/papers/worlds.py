"""Made-up worlds: lines of every cell as they would be if the papers were right or wrong.

A world says what each run measured, from the parameters of the run. Claims are judged from these
lines from end to end, so that each can be seen to agree in one world and to differ in another.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from experiments.papers.experiment import Cell, Comparison, Experiment, Row
from experiments.papers.hanisch import jobs as hanisch
from experiments.papers.novakovic import jobs as novakovic
from experiments.papers.novakovic import protocol, remarks
from experiments.papers.rdt import jobs as rdt
from experiments.papers.rdt import pruning
from experiments.papers.rdt2009.comparing import TABLE_2
from experiments.papers.stories import diseases, linkage, love_canal, millionaires

#: What jobs find that are cheap, or what they would: values by name.
FACTS: dict[Any, list[Row]] = {
    hanisch.bounds: [
        {"what": "naive", "value": 0.526},
        {"what": "ceiling", "value": 0.83},
        {"what": "rows", "value": 24_656},
        {"what": "test rows", "value": 6164},
    ],
    hanisch.sample_rows: [
        {"row": 0, **dict.fromkeys("abcdefg", "<=37"), "income": "1"},
        {"what": "attributes", "value": 7.0},
        {"what": "rows of figure 8 that fit", "value": 5.0},
        {"what": "share of the larger half of ages", "value": 0.52},
    ],
    linkage.link_tables: [
        {"what": "alone in the census", "value": 0.868},
        {"what": "found by the roll", "value": 0.9},
        {"what": "found after generalising", "value": 0.0},
        {"what": "k after generalising", "value": 40.0},
    ],
}
REPEATS = 3


@dataclass
class World:
    """Accuracies by a sum of effects, and values as they are, or changed.

    Args:
        base: of all runs.
        effects: by the name of a parameter: per unit, or per tenfold for epsilon and trees.
        of_series: what each series, table and order has more.
        noise: between runs; by depth, each level more adds to it.
        change: what becomes of values that are no accuracies.
        unclassified: the share of rows that ID3 leaves so.
    """

    base: float = 0.7
    effects: Mapping[str, float] = field(default_factory=dict)
    of_series: Mapping[str, float] = field(default_factory=dict)
    of_epsilon: Mapping[str, float] = field(default_factory=dict)
    noise: float = 0.002
    noise_by_depth: float = 0.0
    noise_by_folds: float = 0.0
    noise_by_trees: float = 0.0
    noise_of: Mapping[str, float] = field(default_factory=dict)
    factor: float = 1.0
    unclassified: float = 0.9
    #: How much of the effect of many attributes there is without noise.
    without_noise: float = 1.0

    def accuracy(self, point: Mapping[str, Any], repeat: int) -> float:
        """What a run measures."""
        found = self.base
        names = {
            str(point.get(name))
            for name in ("how", "learner", "method", "data", "table", "order", "stopping")
        }
        for name, effect in self.effects.items():
            if name in point:
                value = float(point[name])
                scaled = name in ("epsilon", "trees")
                share = (
                    self.without_noise
                    if name == "attributes" and math.isinf(point["epsilon"])
                    else 1.0
                )
                found += effect * share * (min(math.log10(value), 1.5) if scaled else value)
        epsilon = point.get("epsilon")
        for name in names:
            found += self.of_series.get(name, 0.0)
            if epsilon is not None:
                found += self.of_epsilon.get(name, 0.0) * min(math.log10(epsilon), 1.5)
        spread = max(
            self.noise
            + self.noise_by_depth * point.get("depth", 0)
            + self.noise_by_folds * point.get("folds", 0)
            + self.noise_by_trees * point.get("trees", 0)
            + sum(self.noise_of.get(name, 0.0) for name in names),
            1e-6,
        )
        # evenly spread between -1 and 1, and no two repeats alike
        wobble = 2 * ((repeat + 1) * 0.6180339887 % 1) - 1
        return min(max(found + spread * wobble, 0.0), 1.0)

    def value(self, given: float) -> float:
        """What became of a value; 1 as a factor leaves it."""
        return given * self.factor + 0.1 * (self.factor - 1)


def random_worlds(count: int) -> Iterator[World]:
    """Worlds with effects of all signs."""
    draw = np.random.default_rng(31)
    series = [
        *hanisch.HOWS, hanisch.GIBBS, hanisch.EXACT_TREE, hanisch.EXACT_FOREST,
        *novakovic.METHODS, novakovic.INFO_GAIN, *protocol.ORDERS,
        rdt.RDT, rdt.ID3, rdt.ID3_PUBLISHED, rdt.UPDATED, rdt.ONCE, rdt.REBUILT, "ID3", rdt.FAILING,
        rdt.JOINED, rdt.JOINED_PUBLISHED, "most frequent class", "literal", "positive",
        *TABLE_2, *(name for name, _, _ in protocol.TABLES.values()),
    ]  # fmt: skip
    # That of exact learners is none by itself.
    noisy = [name for name in series if name not in (novakovic.BASELINE, *protocol.ORDERS)]
    for number in range(count):
        quiet = number % 2
        yield World(
            base=float(draw.uniform(0.1, 0.9)),
            effects={
                "epsilon": float(draw.uniform(-0.1, 0.2)),
                "depth": float(draw.choice([-0.03, -0.01, 0.01, 0.03])),
                "trees": float(draw.choice([-0.1, 0.1])),
                "parts": float(draw.choice([-0.08, -0.01, 0.01])),
                "attributes": float(draw.choice([-0.005, 0.005])),
            },
            of_series={name: float(draw.uniform(-0.2, 0.2)) for name in series},
            of_epsilon={name: float(draw.uniform(-0.1, 0.1)) for name in series},
            noise=0.002 if quiet else 0.06,
            noise_by_depth=0.0 if quiet else float(draw.choice([-0.008, 0.008])),
            noise_by_folds=0.0 if quiet else float(draw.choice([-0.0025, 0.003])),
            noise_of={name: float(draw.choice([0.0, 0.05])) for name in noisy}
            if draw.random() < 0.5
            else {},
            without_noise=float(draw.choice([0.0, 1.0, 2.0])),
            factor=float(draw.choice([0.0, 0.5, 1.0, 2.0])),
            unclassified=float(draw.uniform(0, 1)),
        )


def lines_of(cells: Sequence[Cell], world: World) -> list[Row]:
    """The lines of these cells in a world."""
    found = []
    repeats: dict[str, int] = {}
    for cell in {cell.key: cell for cell in cells}.values():
        number = repeats[cell.name] = repeats.get(cell.name, -1) + 1
        found += _lines(cell, world, number)
    return found


def compare_and_draw(
    experiment: Experiment, world: World, *, quick: bool = True
) -> tuple[list[Comparison], str]:
    """What is said about a world, and every word of the picture or table; both must be there."""
    rows = lines_of(experiment.cells(quick), world)
    compared = experiment.compare(rows)
    assert compared
    assert all(one.what and one.ours for one in compared)
    words = []
    if experiment.draw is not None:
        figure = experiment.draw(rows)
        assert figure.axes
        texts = figure.findobj(lambda artist: hasattr(artist, "get_text"))
        words += [text.get_text() for text in texts]
    if experiment.tabulate is not None:
        grid = experiment.tabulate(rows)
        assert grid.rows
        assert {len(line) for line in grid.rows} == {len(grid.headers)}
        words += [*grid.headers, *(cell for line in grid.rows for cell in line)]
    assert words
    return compared, "\n".join(words)


def _lines(cell: Cell, world: World, number: int) -> list[Row]:
    given, job = dict(cell.given), cell.job
    if job in FACTS or job in (
        hanisch.village, pruning.counter_example, rdt.handmade, diseases.measure_tables,
    ):  # fmt: skip
        rows = FACTS.get(job) or _found(job)
        more = {"run": given["seed"]} if "seed" in given else {}
        wobble = 1e-4 * (number % 3) if more else 0.0
        return [
            {
                **row,
                **more,
                **({"value": world.value(row["value"]) + wobble} if "value" in row else {}),
            }
            for row in rows
        ]
    if job is rdt.characteristics:
        sizes = TABLE_2[given["data"]]
        names = ("attributes", "rows", "classes")
        rows_ = {name: round(world.value(size)) for name, size in zip(names, sizes, strict=True)}
        return [{"data": given["data"], **rows_, "attributes used": sizes[0]}]
    if job is rdt.price_of_the_union:
        return [{"data": given["data"], "what": "the union", "share": world.value(1.0)}]
    if job is millionaires.count_millionaires:
        return _millionaires(world)
    if job is love_canal.find_love_canal:
        return [
            {"learner": learner, "run": given["run"]}
            | dict.fromkeys(("found", "accuracy"), world.base + more)
            for learner, more in ((love_canal.CDBSL, 0.0), (love_canal.CNL, world.factor - 1))
        ]
    found = []
    for point, repeat in _points(job, given):
        accuracy = world.accuracy(point, repeat)
        found.append(point | {"ratio" if job is hanisch.noisy_ratio else "accuracy": accuracy})
        if job is rdt.noisy_id3:
            rounds = {"nursery": 36, "votes": 136, "mushroom": 253}.get(given["data"], 36)
            queries = given.get("queries") or round(rounds * world.factor)
            wobble = 0.01 * (-1) ** repeat
            found[-1] |= {"queries": queries, "unclassified": world.unclassified + wobble}
        if job is hanisch.noisy_ratio and not repeat:
            found[0] |= {"largest noise": 9, "telling answers": max(world.factor - 1, 0.0)}
    return found + _further(job, given, world)


@cache
def _found(job: Any) -> list[Row]:
    return list(job())


def _millionaires(world: World) -> list[Row]:
    found: list[Row] = []
    p = 2.0 ** -max(world.factor, 0.25)  # epsilon ln 2, or another
    for name, count in (("with him", 26_412), ("without him", 26_411)):
        found += [
            {"table": name, "answer": a, "probability": (1 - p) / (1 + p) * p ** abs(a - count)}
            for a in range(26_404, 26_421)
        ]
        shift = 0 if world.factor == 1 else 2
        found += [{"table": name, "drawn": count + shift + d, "times": 500} for d in (-1, 0, 1)]
    return found


def _points(job: Any, given: dict[str, Any]) -> Iterator[tuple[Row, int]]:
    """The parameters of each line, and the number of the repeat."""
    if job is hanisch.noisy_ratio:
        for call in range(20):
            yield {"how": given["how"], "call": call}, call
        return
    if job is novakovic.most_frequent:
        yield {"table": protocol.TABLES[given["figure"]][0], "method": novakovic.FREQUENT}, 0
        return
    if job is remarks.vary_folds or job is remarks.add_coins:
        coins = "coins" in given
        at = {"attributes": 6 + given["coins"]} if coins else {"folds": given["folds"]}
        for epsilon in (math.inf, 1.0) if coins else (None,):
            more = {} if epsilon is None else {"epsilon": epsilon}
            yield {**at, **more, "run": given["run"]}, given["run"]
        return
    if job is novakovic.accuracies:
        head = {
            "table": protocol.TABLES[given["figure"]][0],
            "method": given["method"],
            "order": given["order"],
        }
        epsilons = [None] if given["method"] == novakovic.BASELINE else given["epsilons"]
        for epsilon in epsilons:
            for run in range(REPEATS):
                for fold in range(2):
                    more = {} if epsilon is None else {"epsilon": epsilon}
                    yield {**head, **more, "run": run, "fold": fold}, run
        return
    if job.__module__.endswith("hanisch.jobs"):
        how = {
            hanisch.exact_tree: hanisch.EXACT_TREE,
            hanisch.exact_forest: hanisch.EXACT_FOREST,
            hanisch.gibbs: hanisch.GIBBS,
        }
        head = {"how": given.get("how") or how[job]}
        head |= {name: given[name] for name in ("epsilon", "depth") if name in given}
        for depth in given.get("depths", [None]):
            for trees in given.get("trees", [None]):
                more = {"depth": depth} if depth is not None else {}
                more |= {"trees": trees} if trees is not None else {}
                for run in range(max(given["runs"], REPEATS)):
                    yield {**head, **more, "run": run}, run
        return
    names = {
        rdt.forest: [rdt.RDT],
        rdt.noisy_id3: [rdt.ID3_PUBLISHED if given.get("accounting") == "published" else rdt.ID3],
        rdt.exact_id3: [],
        rdt.learner: [given.get("name")],
        rdt.updates: [rdt.UPDATED, rdt.ONCE, rdt.REBUILT],
        rdt.our_updates: [rdt.UPDATED_OURS],
        rdt.vertical: [rdt.JOINED_PUBLISHED, rdt.JOINED],
    }[job]
    run = given.get("run", given.get("ensemble", given.get("fold", 0)))
    for name in names:
        for epsilon in given.get("epsilons", [given.get("epsilon")]):
            point = {"data": given["data"], "learner": name, "epsilon": epsilon, "run": run}
            if "trees" in given:
                point["trees"] = given["trees"]
            if "parts" in given:
                point["parts"] = given["parts"]
            if "stopping" in given:
                point["stopping"] = given["stopping"]
            yield point, run


def _further(job: Any, given: dict[str, Any], world: World) -> list[Row]:
    """Lines with more than an accuracy."""
    if job is not rdt.exact_id3:
        return []
    head = {"data": given["data"], "epsilon": math.inf}
    found = [
        head | {"learner": name, "fold": fold, "unclassified": 0.01}
        for name in ("ID3", rdt.FAILING)
        for fold in range(REPEATS)
    ]
    for row in found:
        row["accuracy"] = world.accuracy(row, row["fold"])
    usual = {"data": given["data"], "learner": "most frequent class"}
    return [*found, usual | {"accuracy": world.accuracy(usual, 0)}]
