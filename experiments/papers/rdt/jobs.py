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
from experiments.papers.rdt.recursion import FAILURE, Accounting, Stopping, predicted, rounds
from experiments.papers.rdt.tables import SOURCES, Table, table
from privet._types import Ints
from privet.datasets import load
from privet.datasets.generated import TREE_2, NestedTree, classify_bits
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
FAILING = "ID3 with Failure leaves"
#: So little noise that there is none: a draw differs from zero with a probability below e^-1000.
_NO_NOISE = Fraction(1, 1000)


def forest(
    data: str,
    ensemble: int,
    epsilons: Sequence[float],
    draws: int,
    folds: int,
    trees: int | None = None,
) -> list[Row]:
    """One ensemble of random trees, by default of the papers' number of them, the same structures
    for every epsilon; the accuracy of every draw of noise.
    """
    rows = table(data)
    one = Ensemble.drawn(rows, trees or trees_of(data), _height(rows), SystemBits())
    head: Row = {"data": data} | ({"trees": trees} if trees else {})
    return [
        {
            **head,
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
    stopping: Stopping = "positive",
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
            (predicted(rows, train, test, scale, SystemBits(), stopping), rows.classes[test])
            for train, test in rows.folds(folds)
        ]
        found.append(
            _cross_validated(said)
            | {"data": data, "learner": name, "epsilon": epsilon, "run": run, "queries": each}
            | {"stopping": stopping}
        )
    return found


def exact_id3(data: str, folds: int) -> list[Row]:
    """ID3 without noise, fold by fold, and the most frequent class.

    Where no training row goes, one tree says what is most frequent above, and one says Failure, as
    the papers' algorithm does.
    """
    rows, bits = table(data), SystemBits()
    found = []
    for fold, (train, test) in enumerate(rows.folds(folds)):
        tree = grow_id3(rows.schema, [column[train] for column in rows.codes], rows.classes[train])
        reached = tree.reach([column[test] for column in rows.codes])
        for name, said in (
            ("ID3", tree.counts[reached].argmax(axis=1)),
            (FAILING, predicted(rows, train, test, _NO_NOISE, bits)),
        ):
            found.append(
                _cross_validated([(said, rows.classes[test])])
                | {"data": data, "learner": name, "epsilon": math.inf, "fold": fold}
            )
    return [*found, {"data": data, "learner": "most frequent class", "accuracy": rows.majority()}]


def characteristics(data: str) -> list[Row]:
    """Attributes, rows and classes of a data set, as it is in the catalogue and as it is used."""
    whole, used = load(SOURCES[data]), table(data)
    return [
        {
            "data": data,
            "attributes": len(whole.schema.names),
            "attributes used": len(used.schema.names),
            "rows": len(used),
            "classes": len(used.schema.classes),
        }
    ]


def handmade() -> list[Row]:
    """The tree behind synthetic set 2: its paths, and how well it fits the labels."""
    data = load("synthetic2")
    bits = data.X.to_numpy().astype(int).tolist()
    truth = data.y.to_numpy().astype(int)
    said = np.array([classify_bits(TREE_2, row) for row in bits])
    rows: list[Row] = [
        {"path": " and ".join(f"x{a}={v}" for a, v in path), "label": label}
        for path, label in _paths_of(TREE_2)
    ]
    used = len({a for path, _ in _paths_of(TREE_2) for a, _ in path})
    facts = {"flipped": float((said != truth).mean()), "attributes": used, "rows": len(truth)}
    return [*rows, *({"what": what, "value": float(value)} for what, value in facts.items())]


def _paths_of(tree: NestedTree) -> list[tuple[list[tuple[int, int]], int]]:
    """Each leaf's path of attributes and values, and its label."""
    if isinstance(tree, int):
        return [([], tree)]
    attribute, *children = tree
    return [
        ([(attribute, value), *path], label)
        for value, child in enumerate(children)
        for path, label in _paths_of(child)
    ]


def price_of_the_union(data: str, epsilon: float) -> list[Row]:
    """What two parties with different attributes of the same people give away of one of them.

    Counted, not argued: by how much the leaf counts of both ensembles change when one row is left
    out, in units of the noise that each count has.
    """
    rows, bits = table(data), SystemBits()
    names = rows.schema.names
    half = len(names) // 2
    parties = [rows.with_attributes(part) for part in (names[:half], names[half:])]
    everybody, but_one = np.arange(len(rows)), np.arange(1, len(rows))
    found: list[Row] = []
    for number, party in enumerate(parties):
        one = Ensemble.drawn(party, TREES_OF_A_PARTY, _height(party), bits)
        changed = sum(
            float(np.abs(before - after).sum())
            for before, after in zip(one.counts(everybody), one.counts(but_one), strict=True)
        )
        lost = changed * epsilon / TREES_OF_A_PARTY
        found.append({"data": data, "what": f"party {number + 1}", "share": lost / epsilon})
    whole = sum(row["share"] for row in found)
    return [*found, {"data": data, "what": "the union", "share": whole}]


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
