"""What cells do. Each is a function of JSON values that gives lines of numbers; accuracies are
shares of test rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from experiments.papers.exact import grow_id3
from experiments.papers.experiment import NOT_PRIVATE, Row
from experiments.papers.rdt.forests import Ensemble, accuracies
from experiments.papers.rdt.protocol import SEED, TREES_OF_A_PARTY, trees_of
from experiments.papers.rdt.recursion import FAILURE, Accounting, predicted, rounds
from experiments.papers.rdt.tables import Table, table
from privet._types import Ints
from privet.learners import NoisyID3Classifier, PrivetClassifier, RandomTreesClassifier
from privet.learners.random_trees.drawing import height_for
from privet.mechanisms.randomness import SystemBits

RDT = "Private-RDT"
OURS = "Privet, our default learner"
ID3, ID3_PUBLISHED, ID3_OURS = (
    "private ID3",
    f"private ID3 ({NOT_PRIVATE})",
    "private ID3 that stops in time (ours)",
)
JOINED, JOINED_PUBLISHED = (
    "two parties, their sum is epsilon",
    f"two parties at epsilon each ({NOT_PRIVATE})",
)
UPDATED, ONCE, REBUILT = (
    "updated, at epsilon",
    "built once from all rows, at epsilon",
    "built anew, at epsilon/2",
)
UPDATED_OURS = "updated, our recipe"


def forest(
    data: str, ensemble: int, epsilons: Sequence[float], draws: int, folds: int
) -> list[Row]:
    """One ensemble of random trees, the same structures for every epsilon; the accuracy of every
    draw of noise.
    """
    rows = table(data)
    one = Ensemble.drawn(rows, trees_of(data), _height(rows), SystemBits())
    return [
        {
            "data": data,
            "learner": RDT,
            "epsilon": epsilon,
            "run": ensemble,
            "draw": draw,
            "accuracy": found,
        }
        for epsilon in epsilons
        for draw, found in enumerate(
            accuracies([one], epsilon, folds, draws, SystemBits()).tolist()
        )
    ]


def noisy_id3(
    data: str,
    accounting: Accounting,
    run: int,
    epsilons: Sequence[float],
    folds: int,
    queries: int | None = None,
) -> list[Row]:
    """ID3 by the papers' recursion. Every count has noise of scale queries / epsilon, by default
    for the rounds that are accounted for.
    """
    rows = table(data)
    each = queries or rounds(len(rows.schema.sizes), accounting)
    name = ID3_PUBLISHED if accounting == "published" else ID3
    found = []
    for epsilon in epsilons:
        scale = Fraction(each) / Fraction(str(epsilon))
        said = [
            (predicted(rows, train, test, scale, SystemBits()), rows.classes[test])
            for train, test in rows.folds(folds)
        ]
        found.append(
            _cross_validated(said)
            | {"data": data, "learner": name, "epsilon": epsilon, "run": run, "queries": each}
        )
    return found


def exact_id3(data: str, folds: int) -> list[Row]:
    """ID3 without noise, and the most frequent class."""
    rows = table(data)
    said = []
    for train, test in rows.folds(folds):
        tree = grow_id3(rows.schema, [column[train] for column in rows.codes], rows.classes[train])
        said.append(
            (
                tree.counts[tree.reach([column[test] for column in rows.codes])].argmax(axis=1),
                rows.classes[test],
            )
        )
    exact = _cross_validated(said) | {"data": data, "learner": "ID3", "epsilon": math.inf, "run": 0}
    return [exact, {"data": data, "learner": "most frequent class", "accuracy": rows.majority()}]


def learner(data: str, name: str, epsilon: float, fold: int) -> list[Row]:
    """One of our learners on one fold, through its own front door."""
    rows = table(data)
    train, test = rows.folds(fold + 1)[fold]
    kind = PrivetClassifier if name == OURS else NoisyID3Classifier
    model = kind(epsilon, schema=rows.schema.declare(n_rows=len(train))).fit(
        rows.X.iloc[train], rows.y.iloc[train]
    )
    return [
        {
            "data": data,
            "learner": name,
            "epsilon": epsilon,
            "run": fold,
            "accuracy": _accuracy(model, rows, test),
        }
    ]


def updates(
    data: str, ensemble: int, parts: int, epsilons: Sequence[float], draws: int, folds: int
) -> list[Row]:
    """Rows that come in parts of disjoint people: added up part by part, counted once, or counted
    anew at half the epsilon.

    A build from all rows after a first release costs the sum of both, so it has half of epsilon
    where an update has all.
    """
    rows, bits, n_trees = table(data), SystemBits(), trees_of(data)
    first, whole = _height(rows, parts), _height(rows)
    low = Ensemble.drawn(rows, n_trees, first, bits)
    # the same trees, so that chance is the same
    high = low if first == whole else Ensemble.drawn(rows, n_trees, whole, bits)
    ways = ((UPDATED, low, 1.0, parts), (ONCE, high, 1.0, 1), (REBUILT, high, 0.5, 1))
    return [
        {
            "data": data,
            "learner": way,
            "parts": parts,
            "epsilon": epsilon,
            "run": ensemble,
            "draw": draw,
            "accuracy": found,
        }
        for epsilon in epsilons
        for way, one, share, batches in ways
        for draw, found in enumerate(
            accuracies([one], share * epsilon, folds, draws, bits, batches=batches).tolist()
        )
    ]


def our_updates(data: str, parts: int, epsilon: float, fold: int) -> list[Row]:
    """Our random trees, updated part by part through ``partial_fit``: thin leaves borrow, batches
    weigh by their noise.
    """
    import warnings

    from privet.errors import NoiseWarning

    rows = table(data)
    train, test = rows.folds(fold + 1)[fold]
    divided = np.array_split(np.random.default_rng(SEED + fold).permutation(train), parts)
    schema = rows.schema.declare(n_rows=len(divided[0]))
    model = RandomTreesClassifier(epsilon, schema=schema, n_trees=trees_of(data), people="disjoint")
    with warnings.catch_warnings():
        # that noise outgrows the counts is what is measured
        warnings.simplefilter("ignore", NoiseWarning)
        for part in divided:
            model.partial_fit(rows.X.iloc[part], rows.y.iloc[part])
    found = {
        "parts": parts,
        "epsilon": epsilon,
        "run": fold,
        "accuracy": _accuracy(model, rows, test),
    }
    return [{"data": data, "learner": UPDATED_OURS, **found}]


def vertical(
    data: str, ensemble: int, epsilons: Sequence[float], draws: int, folds: int
) -> list[Row]:
    """Two parties with different attributes of the same people: at epsilon each, which costs a
    person the sum, and with that as the sum.
    """
    rows, bits = table(data), SystemBits()
    shuffled = np.random.default_rng([SEED, ensemble]).permutation(rows.schema.names).tolist()
    half = len(shuffled) // 2
    parties = [rows.with_attributes(names) for names in (shuffled[:half], shuffled[half:])]
    grown = [Ensemble.drawn(party, TREES_OF_A_PARTY, _height(party), bits) for party in parties]
    return [
        {
            "data": data,
            "learner": name,
            "epsilon": epsilon,
            "run": ensemble,
            "draw": draw,
            "accuracy": found,
        }
        for epsilon in epsilons
        for name, share in ((JOINED_PUBLISHED, 1.0), (JOINED, 0.5))
        for draw, found in enumerate(
            accuracies(grown, share * epsilon, folds, draws, bits).tolist()
        )
    ]


def _height(rows: Table, parts: int = 1) -> int:
    """By the rule of 2012, for the training rows of a fold, or of one part of them."""
    return height_for(rows.schema, len(rows) * 0.9 / parts)


def _cross_validated(said: Sequence[tuple[Ints, Ints]]) -> Row:
    answers, truth = (np.concatenate(each) for each in zip(*said, strict=True))
    return {
        "accuracy": float((answers == truth).mean()),
        "unclassified": float((answers == FAILURE).mean()),
    }


def _accuracy(
    model: PrivetClassifier | NoisyID3Classifier | RandomTreesClassifier, rows: Table, test: Ints
) -> float:
    return float((model.predict(rows.X.iloc[test]) == rows.y.iloc[test].to_numpy()).mean())
