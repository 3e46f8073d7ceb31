"""Two worlds that a clock could tell apart, for every query and every learner.

The worlds have the same number of rows, which may show. One person is what shows best in one of
them: at the end of a chain of 64 tests, in states that nobody else is in, ahead of a tie, or in no
cell at all. Each subject does the same work in both worlds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from privet.accounting.cost import Budget
from privet.audit.clock import REPEATS, ClockResult, Work, judge, time_worlds
from privet.curator import Curator
from privet.domain import Categorical, Numeric, Schema
from privet.domain.cells import Cells, Split
from privet.domain.questions import Partition, Question
from privet.domain.space import TreeSpace, threshold_splits
from privet.domain.tree import Tree
from privet.errors import ParameterError
from privet.learners import (
    AdditiveClassifier,
    ForestClassifier,
    GibbsBoostClassifier,
    GibbsTreeClassifier,
    GreedyTreeClassifier,
    NoisyID3Classifier,
    PrivetClassifier,
    RandomTreesClassifier,
)
from privet.learners.base import PrivateClassifier
from privet.mechanisms.randomness import SystemBits
from privet.mechanisms.selection import Selection, select
from privet.model import Model
from privet.queries import (
    ChooseModel,
    ChoosePartition,
    ChooseSplits,
    Confusion,
    Count,
    CountBy,
    CountValues,
    DrawTree,
    FindQuantile,
    FindQuantiles,
    Gradients,
    Query,
    RowScore,
    Scores,
    Size,
    Sums,
)

ROWS, TESTS, COPIES = 2000, 64, 20
#: A query at this epsilon follows the scores: a person who breaks a tie decides.
FOLLOWS = 100
#: A model at this epsilon is about as likely in either world: its own size tells nothing.
BLURS = "1/10"
_CODES = [f"w{code}" for code in range(200)]
SCHEMA = Schema(
    {"w": Categorical(_CODES), "n": Numeric(0, 16, bins=16), "m": Numeric(0, 16, bins=16)},
    "class",
    ["n", "p"],
    n_rows=ROWS,
)


def make_worlds() -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    """Return a table of people who are all alike, and one where the last of them is not."""
    alike: dict[str, list[Any]] = {
        "w": [_CODES[0]] * ROWS,
        "n": [0.5] * ROWS,
        "m": [0.5] * ROWS,
        "class": ["n"] * ROWS,
    }
    unlike: dict[str, Any] = {"w": _CODES[-1], "n": 8.5, "m": 8.5, "class": "p"}
    return alike, {name: [*values[:-1], unlike[name]] for name, values in alike.items()}


def make_chain() -> Cells:
    """Return a tree of 64 tests in a row: one person goes to its end, all others leave at once."""
    w = len(_CODES)
    attribute, offset, branch = list[int](), list[int](), list[int]()
    for test in range(TESTS):
        here = 2 * test
        attribute += [0, -1]
        offset += [len(branch), 0]
        branch += [here + 1 if code == test else here + 2 for code in range(w)]
    nodes = np.array([*attribute, -1])
    leaves = nodes < 0
    cell = np.where(leaves, np.cumsum(leaves) - 1, -1)
    return Cells(SCHEMA, nodes, np.array([*offset, 0]), np.array(branch), cell, int(leaves.sum()))


def _make_trees(kind: str) -> tuple[Tree, ...]:
    chain = make_chain()
    numbers = np.tile(np.linspace(0.1, 1.0, len(chain.attribute))[:, None], SCHEMA.n_classes)
    numbers[:, 1] *= 2
    return tuple(Tree(make_chain(), numbers, kind) for _ in range(COPIES))  # type: ignore[arg-type]


def _make_model() -> Model:
    """Return a model with chains for trees, and the statement of one that was fitted."""
    curator = Curator(make_worlds()[0], SCHEMA, Budget(1))
    fitted = NoisyID3Classifier(1, SCHEMA, max_depth=1).fit_from(curator).model_
    return replace(fitted, trees=_make_trees("counts"), combine="counts")


def _make_chains() -> Question:
    return Question(tuple(Partition(make_chain()) for _ in range(COPIES)))


def _list_candidates() -> list[Split]:
    return [Split.value(SCHEMA, "w", code) for code in range(len(_CODES))]


def _make_partitions() -> ChoosePartition:
    question = Question(tuple(Partition(Cells.everything(SCHEMA), name) for name in SCHEMA.names))
    expected = [np.zeros(part.shape, dtype=np.int64) for part in question.partitions]
    return ChoosePartition(question, expected)


def _thresholds() -> list[Split]:
    return [*threshold_splits(SCHEMA, "n"), *threshold_splits(SCHEMA, "m")]


def _outside() -> Cells:
    """Return cells that one person is in none of."""
    chain = make_chain()
    cell = np.where(chain.cell == len(chain) - 1, -1, chain.cell)
    return Cells(SCHEMA, chain.attribute, chain.offset, chain.branch, cell, len(chain) - 1)


#: What is asked, by the name of the query and what one person does there.
QUERIES: Mapping[str, Callable[[], Query[Any]]] = {
    "size": Size,
    "count, end of a chain": lambda: Count(_make_chains()),
    "count-by": lambda: CountBy(["w"]),
    "count-values": lambda: CountValues("w"),
    "sums, end of a chain": lambda: Sums(make_chain(), RowScore(SCHEMA, np.array([1, 3]))),
    "confusion, end of a chain": lambda: Confusion(_make_model()),
    "scores, end of a chain": lambda: Scores(_make_model(), [[0.6]] * 2),
    "choose-model, end of a chain": lambda: ChooseModel([_make_model(), _make_model()]),
    "gradients, end of a chain": lambda: Gradients(make_chain(), _make_trees("scores")),
    "gradients, in no cell": lambda: Gradients(_outside(), _make_trees("scores")),
    "choose, ahead of a tie": lambda: ChooseSplits(
        Cells.everything(SCHEMA), _list_candidates(), "max"
    ),
    "choose, ahead of a tie (exponential)": lambda: ChooseSplits(
        Cells.everything(SCHEMA), _list_candidates(), "max", "exponential"
    ),
    "choose-partition, ahead of a tie": _make_partitions,
    "quantile, above all others": lambda: FindQuantile("n", "1/2"),
    "quantiles, above all others": lambda: FindQuantiles("n", 3),
    "draw-tree, in empty states": lambda: DrawTree(
        TreeSpace(SCHEMA, 5, _thresholds(), _thresholds())
    ),
    "draw-tree, end of a chain": lambda: DrawTree(
        TreeSpace(SCHEMA, 1, (), _thresholds()), _make_trees("scores")
    ),
}


Learner = Callable[[], PrivateClassifier]
#: Learners, as they come.
LEARNERS: Mapping[str, Learner] = {
    "privet": partial(PrivetClassifier, BLURS, SCHEMA),
    "gibbs-tree": partial(GibbsTreeClassifier, BLURS, SCHEMA),
    "gibbs-boost": partial(GibbsBoostClassifier, BLURS, SCHEMA),
    "greedy-tree": partial(GreedyTreeClassifier, BLURS, SCHEMA),
    "forest": partial(ForestClassifier, BLURS, SCHEMA),
    "random-trees": partial(RandomTreesClassifier, BLURS, SCHEMA),
    "noisy-id3": partial(NoisyID3Classifier, BLURS, SCHEMA),
    "additive": partial(AdditiveClassifier, BLURS, SCHEMA),
}
#: Selections by themselves, among so many candidates that the rest of a query does not hide them.
SELECTIONS: Mapping[str, Selection] = {
    "permute-and-flip, ahead of a tie": "permute-and-flip",
    "exponential, ahead of a tie": "exponential",
}
CANDIDATES = 2000
SUBJECTS = [*QUERIES, *SELECTIONS, *LEARNERS]


def prepare(subject: str) -> tuple[Work, Work]:
    """Return the work of a subject in both worlds."""
    if subject in SELECTIONS:
        bits, mechanism = SystemBits(), SELECTIONS[subject]
        tie = [ROWS] * CANDIDATES
        choosing = [
            partial(select, bits, scores, Fraction(FOLLOWS), 1, mechanism)
            for scores in (tie, [*tie[:-1], ROWS + 1])
        ]
        return choosing[0], choosing[1]
    curators = [Curator(world, SCHEMA, Budget(10**12)) for world in make_worlds()]
    if subject in QUERIES:
        query = QUERIES[subject]()
        asking = [partial(curator.ask, query, FOLLOWS) for curator in curators]
        return asking[0], asking[1]
    if subject in LEARNERS:
        make = LEARNERS[subject]
        fitting = [partial(lambda curator: make().fit_from(curator), one) for one in curators]
        return fitting[0], fitting[1]
    raise ParameterError(f"no subject {subject!r}; there are: {', '.join(SUBJECTS)}")


def audit_clock(
    subjects: Sequence[str] = (),
    repeats: int = REPEATS,
    done: Callable[[str], None] = lambda _: None,
) -> list[ClockResult]:
    """Return what a clock tells about each subject; by default about all of them."""
    chosen = list(subjects) or SUBJECTS
    results = []
    for subject in chosen:
        without, with_person = time_worlds(*prepare(subject), repeats)
        results.append(judge(subject, without, with_person, len(chosen)))
        done(subject)
    return results
