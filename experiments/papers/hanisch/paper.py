"""Hanisch's figures, one by one: what he says, what is run, and what is left open."""

from __future__ import annotations

from typing import Any

from experiments.papers.experiment import Cell, Experiment, Paper
from experiments.papers.hanisch import comparing, jobs, pictures, protocol
from experiments.papers.stories.diseases import measure_tables
from experiments.papers.stories.millionaires import count_millionaires

_ADULT = ("adult",)
_OPEN_TABLE = (
    (
        "Rows: all of UCI's two Adult files, 48 842; lower incomes are dropped at random, the same "
        "in every run, until they are 52.6%."
    ),
    (
        f"Education: {', '.join(protocol.EDUCATION_LEVEL)}. An unknown work class is a value, "
        f"{protocol.UNKNOWN_WORKCLASS}."
    ),
    "A quarter of the rows is for testing, the same quarter in every run.",
)
_UNPAID = (
    "Bins of nearly the same size and the balance of classes are read off the rows; on a private "
    "table that would have to be paid for, too."
)
_NOISE = (
    "As published: SQL Server hands the random number on as text of six digits, so noise is cut "
    "off at 13.1/epsilon and has gaps; "
    "rand() can be "
    "guessed; nobody keeps a ledger. Corrected: RandomTreesClassifier, with exact integer noise "
    "from the system's cryptographic source. "
    "It costs no "
    "accuracy that could be seen."
)


def _cell(job: Any, weight: float, version: int = 1, **given: Any) -> Cell:
    return Cell(job, given, _ADULT, version, weight)


def _epsilons(quick: bool) -> tuple[float, ...]:
    return protocol.QUICK_EPSILONS if quick else protocol.EPSILONS


def _depths(quick: bool) -> tuple[int, ...]:
    return protocol.QUICK_DEPTHS if quick else protocol.DEPTHS


def _ours(quick: bool, *epsilons: float) -> list[Cell]:
    runs = protocol.QUICK_GIBBS_RUNS if quick else protocol.GIBBS_RUNS
    return [_cell(jobs.gibbs, 0.2 * runs, epsilon=epsilon, runs=runs) for epsilon in epsilons]


def village(_: bool) -> list[Cell]:
    """The arithmetic of section II.B, which needs no data."""
    return [Cell(jobs.village, {}, weight=0.1)]


def patients(_: bool) -> list[Cell]:
    """Table I, which needs no data."""
    return [Cell(measure_tables, {}, weight=0.1)]


def millionaires(_: bool) -> list[Cell]:
    """Figure 2, which needs no data."""
    return [Cell(count_millionaires, {}, weight=0.1)]


def sample(_: bool) -> list[Cell]:
    """Figure 8."""
    return [_cell(jobs.sample_rows, 0.1)]


def ratio(_: bool) -> list[Cell]:
    """Figure 9."""
    return [_cell(jobs.noisy_ratio, 0.2, how=how, calls=protocol.CALLS) for how in jobs.HOWS]


def exact_tree(quick: bool) -> list[Cell]:
    """Figure 10."""
    return [*_exact_trees(quick), *_ours(quick, 1.0)]


def _exact_trees(quick: bool) -> list[Cell]:
    runs = protocol.QUICK_EXACT_RUNS if quick else protocol.EXACT_RUNS
    return [
        _cell(jobs.bounds, 0.1, 2),
        _cell(jobs.exact_tree, runs, depths=list(protocol.EXACT_DEPTHS), runs=runs),
    ]


def exact_forest(quick: bool) -> list[Cell]:
    """Figure 12."""
    runs, trees = (
        (protocol.QUICK_EXACT_RUNS, protocol.QUICK_TREES)
        if quick
        else (protocol.EXACT_RUNS, protocol.TREES)
    )
    weight = 0.07 * runs * len(trees)
    cells = [
        _cell(jobs.exact_forest, weight, depth=depth, trees=list(trees), runs=runs)
        for depth in protocol.EXACT_DEPTHS
    ]
    return [_cell(jobs.bounds, 0.1, 2), *cells, *_ours(quick, 1.0)]


def exact_forest_beside_trees(quick: bool) -> list[Cell]:
    """Figure 11, which the text compares with figure 10."""
    return [*exact_forest(quick), *_exact_trees(quick)[1:]]


def private_tree(quick: bool) -> list[Cell]:
    """Figures 13 and 14."""
    runs = protocol.QUICK_TREE_RUNS if quick else protocol.TREE_RUNS
    cells = [
        _cell(
            jobs.private_forest,
            (0.008 + 0.0024 * depth) * runs,
            how=how,
            epsilon=epsilon,
            depth=depth,
            trees=[1],
            runs=runs,
        )
        for how in jobs.HOWS
        for epsilon in _epsilons(quick)
        for depth in _depths(quick)
    ]
    return [*_exact_trees(quick), *cells, *_ours(quick, *_epsilons(quick))]


def private_forest(quick: bool) -> list[Cell]:
    """Figures 15 and 16."""
    runs, trees = (
        (protocol.QUICK_FOREST_RUNS, protocol.QUICK_TREES)
        if quick
        else (protocol.FOREST_RUNS, protocol.TREES)
    )
    cells = [
        _cell(
            jobs.private_forest,
            _effort(depth, trees) * runs,
            how=how,
            epsilon=epsilon,
            depth=depth,
            trees=list(trees),
            runs=runs,
        )
        for how in jobs.HOWS
        for epsilon in _epsilons(quick)
        for depth in _depths(quick)
    ]
    return [_cell(jobs.bounds, 0.1, 2), *cells, *_ours(quick, *_epsilons(quick))]


def many_trees(quick: bool) -> list[Cell]:
    """Figure 17. A cell for each number of trees: a hundred deep ones take seconds."""
    runs, counts = (
        (2, protocol.QUICK_MANY_TREES) if quick else (protocol.MANY_TREES_RUNS, protocol.MANY_TREES)
    )
    epsilon = protocol.MANY_TREES_EPSILON
    cells = [
        _cell(
            jobs.private_forest,
            _effort(depth, (count,)) * runs,
            how=how,
            epsilon=epsilon,
            depth=depth,
            trees=[count],
            runs=runs,
        )
        for how in jobs.HOWS
        for depth in _depths(quick)
        for count in counts
    ]
    return [*cells, *_ours(quick, epsilon)]


def _effort(depth: int, trees: tuple[int, ...]) -> float:
    """Seconds, about."""
    return float(sum(0.008 + count * 0.0003 * 2 ** min(depth, 6) for count in trees))


PAPER = Paper(
    name="hanisch",
    reference="Hanisch, Differential Privacy for Decision Trees (seminar paper, TU Braunschweig)",
    setting=(
        "A count procedure with Laplace noise in a database; random decision trees and forests "
        "that ask it for the class counts of "
        "their leaves; "
        "Adult with seven grouped attributes and classes of nearly the same size. Accuracy is that "
        "on test rows. All pictures show it "
        "from 0.45 to 0.9, as his do."
    ),
    experiments=(
        Experiment(
            "table 1",
            "two patients of one age and area",
            "Two people with two diseases are 2-anonymous and 2-diverse, so nobody knows who has "
            "which; who knows that one of them travelled guesses better, and where both have one "
            "disease k-anonymity hides nothing.",
            comparing.compare_patients,
            cells=patients,
            tabulate=pictures.patients_table,
        ),
        Experiment(
            "2",
            "noisy counts of millionaires",
            "At epsilon ln 2 answers lie around the true 26 412, and no answer is more than twice "
            "as likely with one millionaire more.",
            comparing.compare_millionaires,
            pictures.millionaires_picture,
            millionaires,
        ),
        Experiment(
            "3",
            "the billionaire of Booneville",
            "One billionaire among 100 residents: at epsilon 0.5 the noise that hides the income "
            "has a deviation of 48 million, and the "
            "mean income is "
            "within a million of the truth with 3%.",
            comparing.compare_village,
            pictures.village_picture,
            village,
            remarks=(
                "docs/how-to/median-not-mean.md asks for the median instead, as he proposes.",
            ),
        ),
        Experiment(
            "8",
            "a sample of the prepared table",
            "Seven grouped attributes and the income; his five rows show some of their values.",
            comparing.compare_sample,
            cells=sample,
            tabulate=pictures.sample_table,
            choices=_OPEN_TABLE,
        ),
        Experiment(
            "9",
            "the noisy ratio of the classes",
            "At epsilon 0.001 answers of the count procedure are spread like a Laplace "
            "distribution, and the naive classifier's share "
            "lies around 52.6%.",
            comparing.compare_ratio,
            pictures.ratio_picture,
            ratio,
            choices=(*_OPEN_TABLE, f"{protocol.CALLS} calls; he does not say how many."),
            remarks=(_NOISE, _UNPAID),
        ),
        Experiment(
            "10",
            "a non-private tree by depth",
            (
                "A tree without noise beats the naive classifier at depths above 3; the best is "
                "about 75%, and deep trees overfit."
            ),
            comparing.compare_exact_tree,
            pictures.exact_tree_picture,
            exact_tree,
            choices=(
                f"scikit-learn's tree sees {protocol.CODING}.",
                "Depths up to 20.",
                *_OPEN_TABLE,
            ),
        ),
        Experiment(
            "11",
            "non-private forests by depth and number of trees",
            (
                "Forests without noise reach 80.17% on average, 86.6% in one run (7 trees of depth "
                "1), and never less than 63.99%; their best and their worst are above those of a "
                "single tree."
            ),
            comparing.compare_exact_forest,
            pictures.exact_forest_map,
            exact_forest_beside_trees,
            choices=("Depths up to 20; he does not tell how far he went.", *_OPEN_TABLE),
        ),
        Experiment(
            "12",
            "the influence of depth and of the number of trees, without noise",
            "More trees are more accurate; depth has one maximum, beyond which accuracy decreases.",
            comparing.compare_exact_influence,
            pictures.exact_forest_curves,
            exact_forest,
        ),
        Experiment(
            "13",
            "a private random tree by depth and epsilon",
            "A larger epsilon is more accurate, and so is a larger depth; the highest mean is "
            "83.48%, above any non-private tree; at "
            "0.001 trees are mostly no "
            "better than naive.",
            comparing.compare_mean,
            pictures.mean_picture,
            private_tree,
            choices=(
                "How many simulations he ran is not told; the line above says how many there are.",
                *_OPEN_TABLE,
            ),
            remarks=(_NOISE, _UNPAID),
        ),
        Experiment(
            "14",
            "the variance of a private random tree",
            "The variance of accuracy over simulations falls with depth for every epsilon; at "
            "depth 7 all attributes are used, and only "
            "noise is left.",
            comparing.compare_variance,
            pictures.variance_picture,
            private_tree,
            remarks=(_NOISE,),
        ),
        Experiment(
            "15",
            "private random forests by depth, number of trees and epsilon",
            "For epsilon from 1 on deep forests are best; the smaller epsilon is, the shallower "
            "the best are; at 0.001 some are below the naive classifier. Over all, more trees "
            "neither help nor hurt.",
            comparing.compare_forest,
            pictures.forest_maps,
            private_forest,
            choices=_OPEN_TABLE,
            remarks=(_NOISE,),
        ),
        Experiment(
            "16",
            "the influence of depth and of the number of trees, with noise",
            (
                "With a large epsilon forests behave as without noise; with a small one neither "
                "depth nor more trees help."
            ),
            comparing.compare_forest_influence,
            pictures.forest_curves,
            private_forest,
            remarks=(_NOISE,),
        ),
        Experiment(
            "17",
            "many trees at epsilon 0.01",
            "With epsilon 0.01 more trees are less accurate; only at depth 7 accuracy seems to "
            "grow, which he puts down to too few "
            "simulations: one of 100 trees "
            "took him hours.",
            comparing.compare_many_trees,
            pictures.many_trees_picture,
            many_trees,
            choices=_OPEN_TABLE,
            remarks=(_NOISE, "100 trees of depth 7 take about two seconds here."),
        ),
    ),
)
