"""Tables I and II, figures 3, 4, 6 to 15, the spread of the maximum and the number of trees of
RDT-2009.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from experiments.papers.experiment import Cell, Comparison, Experiment, Paper, Row
from experiments.papers.rdt import cells, jobs, pruning
from experiments.papers.rdt.protocol import FULL_2009, QUICK_2009, Effort
from experiments.papers.rdt2009 import comparing, pictures

_FOLDS = "Stratified cross-validation with ten folds, Weka's default; the same folds in every run."
_HEIGHT = (
    "The height of the trees is not told (half of the attributes is called not always optimal): it "
    "is that of the paper of 2012, "
    "min(k/2, log_b n - 1)."
)
_OWN_TREE = (
    "The paper gives the sizes of its synthetic sets and the noise in their labels; the tree is "
    "our own."
)
_FILLED = (
    "The paper fills each missing vote with the majority vote of that bill, read off the rows: "
    "that is NOT PRIVATE. Corrected, '?' is a "
    "value of its own; so it is for our learner."
)
_TITLES = {"nursery": "Nursery", "mushroom": "Mushroom", "votes": "Votes"} | {
    f"synthetic{n}": f"synthetic set {n}" for n in (1, 2, 3)
}


def _effort(quick: bool) -> Effort:
    return QUICK_2009 if quick else FULL_2009


def _table_cells(quick: bool) -> list[Cell]:
    effort = _effort(quick)
    return [
        cell
        for data, (queries, _, _) in comparing.TABLE_1.items()
        for cell in (
            *cells.exact_id3(data),
            *cells.counted_id3(data, queries, effort),
            *cells.noisy_id3(data, effort, [1.0]),
            *cells.ours(data, effort, epsilons=[1.0]),
        )
    ]


def _characteristics(_: bool) -> list[Cell]:
    return [cell for data in comparing.TABLE_2 for cell in cells.characteristics(data)]


def _counter_example(_: bool) -> list[Cell]:
    return [Cell(pruning.counter_example, {}, weight=0.1)]


def _maximum_cells(quick: bool) -> list[Cell]:
    """More runs of all six sets, so that there are several best ones of ten."""
    effort = _effort(quick)
    more = effort if quick else replace(effort, ensembles=comparing.MANY_RUNS)
    return [cell for data in _TITLES for cell in cells.forests(data, more)]


def _tree_cells(quick: bool) -> list[Cell]:
    """Five, ten and twenty trees on the real sets."""
    few = replace(_effort(quick), epsilons=(math.inf, 1.0))
    effort = few if quick else replace(few, ensembles=comparing.RUNS_OF_A_COUNT)
    return [
        cell
        for data in comparing.UCI
        for count in comparing.COUNTS
        for cell in cells.forests(data, effort, count)
    ]


def _accuracy_cells(data: str, quick: bool) -> list[Cell]:
    effort = _effort(quick)
    # which is compared with them
    others = ("votes with ?", "nursery", "mushroom") if data == "votes" else ()
    more = [cell for one in others for cell in cells.forests(one, effort)]
    return [*cells.forests(data, effort), *more, *cells.ours(data, effort)]


def _half_cells(data: str, quick: bool) -> list[Cell]:
    effort = _effort(quick)
    finite = [one for one in effort.epsilons if not math.isinf(one)]
    return [
        *cells.updates(data, 2, finite, effort),
        *cells.ours(data, effort, epsilons=[one for one in finite if one in effort.our_epsilons]),
    ]


def _accuracy(number: str, data: str) -> Experiment:
    synthetic = data.startswith("synthetic")
    compare: Callable[[Sequence[Row]], list[Comparison]] = (
        comparing.compare_votes
        if data == "votes"
        else partial(comparing.compare_accuracy, data=data)
    )
    return Experiment(
        number,
        f"average and maximum accuracy on {_TITLES[data]}",
        "Less epsilon, less accuracy on average, gradually; "
        + (
            "for two of three synthetic sets more steeply."
            if synthetic
            else "from no noise to epsilon 1 the loss is not substantial."
        ),
        compare,
        partial(pictures.draw_accuracy, data=data),
        partial(_accuracy_cells, data),
        choices=(_FOLDS, _HEIGHT, *([_OWN_TREE] if synthetic else [])),
        remarks=(_FILLED,) if data == "votes" else (),
        needs=(data,) if data == "votes" else (),
    )


def _halves(number: str, data: str) -> Experiment:
    return Experiment(
        number,
        f"one update with the second half of the rows, on {_TITLES[data]}",
        (
            "An updated model loses little against one from all rows, and its accuracy falls "
            "gradually with epsilon."
        ),
        partial(comparing.compare_halves, data=data),
        partial(pictures.draw_halves, data=data),
        partial(_half_cells, data),
        choices=(_FOLDS, _HEIGHT, *([_OWN_TREE] if data.startswith("synthetic") else [])),
        remarks=(
            (
                "A model from all rows that follows one from the first half costs their sum. At "
                "the same price it has half the epsilon."
            ),
        ),
    )


PAPER = Paper(
    name="rdt2009",
    reference=(
        "Jagannathan, Pillaipakkamnatt and Wright 2009, A Practical Differentially Private Random "
        "Decision Tree Classifier (ICDM workshops)"
    ),
    setting=(
        "Ten runs of an ensemble of ten random trees (five for Votes), each with structures and "
        "noise of its own; leaf counts have Laplace "
        "noise of scale N/epsilon. Mushroom is without stalk-root. The average and the best of the "
        "runs are shown: the best is not what "
        "somebody who releases one model can count on."
    ),
    experiments=(
        Experiment(
            "table 1",
            "private ID3 at epsilon 1",
            (
                "ID3 on noisy counts leaves most rows unclassified, and is useless at a reasonable "
                "epsilon."
            ),
            comparing.compare_table_1,
            cells=_table_cells,
            choices=(
                _FOLDS,
                "When the recursion stops is not told. Literal: as the algorithm of 2012 is "
                "written, at an empty node (noisy size not positive) or one whose rows all have "
                "one class (all noisy class counts but one exactly 0). Positive: also where all "
                "noisy class counts but one are not positive. A row in a leaf called Failure "
                "counts as wrong.",
            ),
            remarks=(
                "Epsilon is divided by the number of queries that the tree turned out to need. "
                "That number depends on the rows, and is "
                "known afterwards only: NOT PRIVATE. Corrected, epsilon is divided by the rounds "
                "that a row can take part in at most.",
            ),
        ),
        Experiment(
            "table 2",
            "the data sets",
            "Attributes, rows and classes of the six data sets.",
            comparing.compare_table_2,
            cells=_characteristics,
            tabulate=pictures.characteristics_table,
        ),
        Experiment(
            "3",
            "two tables that differ by one row, and a random structure",
            "The structure is drawn before any row is seen; the tables differ by one row.",
            comparing.compare_neighbours,
            cells=_counter_example,
            tabulate=pictures.neighbours_table,
            choices=("The paper's own tables are in a picture; these are ours.",),
        ),
        Experiment(
            "4",
            "the same structure, pruned with each table",
            "The tree R1 that comes of pruning with D1 cannot come of D2, so pruning is not "
            "private at any epsilon.",
            comparing.compare_pruned,
            cells=_counter_example,
            tabulate=pictures.pruned_table,
            remarks=(
                "Even if the counts had noise: the shape of the pruned tree alone tells. Kept "
                "whole, with noise in all leaf counts, no outcome is more than e^epsilon as "
                "likely.",
            ),
        ),
        *(
            _accuracy(number, data)
            for number, data in zip(map(str, range(6, 12)), _TITLES, strict=True)
        ),
        Experiment(
            "maximum",
            "how far the best run is above the average",
            "The maximum seems to vary more on the synthetic sets than on the real ones.",
            comparing.compare_maximum,
            pictures.draw_maximum,
            _maximum_cells,
            choices=(
                f"{comparing.MANY_RUNS} runs of each set instead of ten: with ten there is one "
                "maximum, which cannot vary.",
                _OWN_TREE,
            ),
        ),
        Experiment(
            "trees",
            "how many trees",
            "Five trees are acceptable, ten or more are more accurate and vary less; on Votes more "
            "than five are poor.",
            comparing.compare_trees,
            pictures.draw_trees,
            _tree_cells,
            choices=(
                _FOLDS,
                _HEIGHT,
                f"{comparing.RUNS_OF_A_COUNT} runs of each number; it does not say which others "
                "than five and ten were tried.",
            ),
            remarks=(_FILLED,),
        ),
        Experiment(
            "12",
            "the tree behind synthetic set 2",
            "The handmade tree that makes the labels of synthetic set 2, of which 5% are flipped.",
            comparing.compare_handmade,
            cells=lambda _: [Cell(jobs.handmade, {}, ("synthetic2",), weight=0.1)],
            tabulate=pictures.handmade_table,
            choices=(_OWN_TREE,),
        ),
        *(
            _halves(number, data)
            for number, data in zip(
                ("13", "14", "15"), ("nursery", "mushroom", "synthetic1"), strict=True
            )
        ),
    ),
)
