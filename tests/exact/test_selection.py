"""Private selection through the curator: the law of what is chosen, for all tiny tables and all of
their neighbours.
"""

from __future__ import annotations

from fractions import Fraction as F
from functools import cache
from itertools import product

import numpy as np
import pytest

from privet.accounting.cost import Budget
from privet.curator import Curator
from privet.domain import Categorical, Numeric, Schema
from privet.domain.cells import Cells, Split
from privet.domain.questions import Partition, Question
from privet.mechanisms.criteria import criterion_named
from privet.mechanisms.selection import exponential, permute_and_flip, select
from privet.queries import release_kinds
from tests.exact.bounds import check, exp_bounds
from tests.exact.enumeration import Law, law_of
from tests.exact.tables import added, all_rows, columns, replaced

MECHANISMS = ["permute-and-flip", "exponential"]
EPSILON = F(1)
SCHEMA = Schema(
    {"a": Categorical(["x", "y"]), "b": Categorical(["u", "v", "w"])}, "class", ["n", "p"], n_rows=3
)
SPLITS = [
    Split.multiway(SCHEMA, "a"),
    Split.multiway(SCHEMA, "b"),
    Split.value(SCHEMA, "b", code=1),
]
EVERYONE = Cells.everything(SCHEMA)


@cache
def selected(gaps: tuple[int, ...], epsilon: F, score_range: int, mechanism: str) -> Law:
    """The law of a selection, by running it; it sees differences of scores only."""
    return law_of(
        lambda bits: int(select(bits, [-gap for gap in gaps], epsilon, score_range, mechanism))
    )


class Asked:
    """What the curator hands to the selection: for each table, the arguments of every call."""

    def __init__(self, ask, schema, monkeypatch):
        self._ask, self._schema, self._seen, self._calls = ask, schema, {}, []
        monkeypatch.setattr(
            release_kinds, "select", lambda bits, *given: self._calls.append(given) or 0
        )

    def __call__(self, table):
        if table not in self._seen:
            self._calls.clear()
            self._ask(Curator(columns(self._schema, table), self._schema, Budget(100)))
            self._seen[table] = [
                (tuple(max(s) - one for one in s), *more) for s, *more in map(tuple, self._calls)
            ]
        return self._seen[table]

    def worst(self, pairs, epsilon):
        """The largest ratio over all pairs of neighbours; each pair of laws is compared once."""
        laws = {(one, other) for pair in pairs for one, other in zip(*map(self, pair), strict=True)}
        return max(check(selected(*one), selected(*other), epsilon) for one, other in laws)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("criterion", ["max", "gini", "info_gain"])
def test_splits_of_all_tiny_tables(criterion, mechanism, monkeypatch):
    """One row added to at most two others, or replaced beside one: e**epsilon, or e**(2 epsilon) as
    it is charged.
    """
    ask = Asked(
        lambda curator: curator.choose(EVERYONE, SPLITS, criterion, EPSILON, mechanism=mechanism),
        SCHEMA,
        monkeypatch,
    )
    rows = all_rows(SCHEMA)
    # what is paid for is used
    assert ask.worst(added(rows, 2), EPSILON) > exp_bounds(EPSILON / 3)[0]
    ask.worst(replaced(rows, 1), 2 * EPSILON)


def test_a_row_changes_the_choice_in_its_own_cell_only(monkeypatch):
    """So a level costs epsilon once."""
    cells = EVERYONE.refine({0: SPLITS[0]})
    ask = Asked(
        lambda curator: curator.choose(cells, SPLITS[1:], "max", EPSILON), SCHEMA, monkeypatch
    )
    for one, other in added(all_rows(SCHEMA), 2):
        assert sum(before != after for before, after in zip(ask(one), ask(other), strict=True)) <= 1


@pytest.mark.parametrize("criterion", ["max", "gini", "info_gain"])
def test_no_pair_of_candidates_parts_by_more_than_the_range(criterion):
    """All pairs of child-by-class tables with up to three rows in an entry that agree on the number
    of rows of each class.
    """
    quality = criterion_named(criterion, 12)
    numbers = np.indices((4, 4, 4, 4)).reshape(4, -1).T.reshape(-1, 2, 2)
    scores = quality.scores(numbers)
    seen: dict[tuple[int, int, int], list[int]] = {}
    for table, before in zip(numbers, scores, strict=True):
        for child in (0, 1):
            for label in (0, 1):
                more = table.copy()
                more[child, label] += 1
                totals = tuple(table.sum(axis=0).tolist())
                seen.setdefault((*totals, label), []).append(
                    int(quality.scores(more)) - int(before)
                )
    assert max(max(changes) - min(changes) for changes in seen.values()) <= quality.score_range


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_partitions_of_all_tiny_tables(mechanism, monkeypatch):
    cells = [EVERYONE.refine({0: split}) for split in SPLITS[:2]]
    question = Question((Partition(cells[0]), Partition(cells[1]), Partition(EVERYONE)))
    expected = [np.ones((2, 2), dtype=int), np.eye(3, 2, dtype=int), np.array([[2, 1]])]

    def choose(curator):
        curator.choose_partition(
            question, expected, EPSILON, handicaps=[1, 0, 0], mechanism=mechanism
        )

    ask = Asked(choose, SCHEMA, monkeypatch)
    rows = all_rows(SCHEMA)
    assert ask.worst(added(rows, 2), EPSILON) > exp_bounds(EPSILON / 3)[0]
    ask.worst(replaced(rows, 1), 2 * EPSILON)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("q", ["0", "1/3", "1/2", "1"])
def test_quantiles_of_all_tiny_tables(q, mechanism, monkeypatch):
    """Three bins and a missing value; up to four rows."""
    schema = Schema({"n": Numeric(0, 3, bins=3, missing="none")}, "class", ["c", "d"])
    rows = [(value, "c") for value in (0.5, 1.5, 2.5, None)]
    ask = Asked(
        lambda curator: curator.quantile("n", q, EPSILON, mechanism=mechanism), schema, monkeypatch
    )
    assert ask.worst(added(rows, 3), EPSILON) > exp_bounds(EPSILON / 3)[0]
    ask.worst(replaced(rows, 2), 2 * EPSILON)


def cut_law(counts: list[int], levels: int, epsilon: F) -> dict[tuple[int, ...], tuple[F, F]]:
    """Bounds of the probability of each set of cuts: those of each cut, multiplied.

    Cuts are chosen as the curator does, each by a law that was found by running the mechanism.
    """
    law: dict[tuple[int, ...], tuple[F, F]] = {}

    def follow(chosen: list[int], low: F, high: F) -> None:
        """Take all ways from here on; ``chosen`` are the numbers of the cuts so far."""
        asked: list[tuple] = []
        script = iter(chosen)

        def choose(bits, *given):
            asked.append(given)
            return next(script, 0)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(release_kinds, "select", choose)
            kind = release_kinds.Divides(len(counts), levels)
            cuts = kind.release([counts], release_kinds.Price(epsilon), None)
        if len(asked) == len(chosen):
            one, other = law.get(tuple(cuts), (F(0), F(0)))
            law[tuple(cuts)] = one + low, other + high
            return
        scores, *more = asked[len(chosen)]
        each = selected(tuple(max(scores) - score for score in scores), *more)
        for index in range(len(scores)):
            follow([*chosen, index], low * each.low[index], high * each.high(index))

    follow([], F(1), F(1))
    return law


@pytest.mark.parametrize("levels", [1, 2])
def test_cuts_of_all_tiny_tables(levels):
    """Four bins; one row added to at most three others: e**epsilon for all levels together."""
    tables = [t for t in product(range(4), repeat=4) if sum(t) <= 3]
    laws = {table: cut_law(list(table), levels, EPSILON) for table in tables}
    limit, worst = exp_bounds(EPSILON)[1], F(0)
    for table in tables:
        for bin_ in range(4):
            more = tuple(count + (i == bin_) for i, count in enumerate(table))
            if more in laws:
                assert laws[table].keys() == laws[more].keys()
                for cuts, (low, high) in laws[table].items():
                    least, most = laws[more][cuts]
                    worst = max(worst, low / most, least / high)
    assert worst <= limit
    assert worst > exp_bounds(EPSILON / 3)[0]  # what is paid for is used


# -- the samplers themselves -----------------------------------------------------------------------


def test_permute_and_flip_by_hand():
    """Two candidates, one behind by x: it comes first half of the time, and is then taken with
    exp(-x).
    """
    law = law_of(lambda bits: permute_and_flip(bits, [3, 2], F(1), 2))
    low, high = (bound / 2 for bound in exp_bounds(F(-1, 2)))
    assert low <= law.high(1)
    assert law.low[1] <= high
    assert law.rest < F(1, 1 << 60)


def test_the_exponential_mechanism_by_hand():
    law = law_of(lambda bits: int(exponential(bits, [3, 2, 0], F(1), 1)))
    weights = [exp_bounds(F(gap)) for gap in (0, -1, -3)]
    for index, (low, high) in enumerate(weights):
        assert law.low[index] <= high / sum(one for one, _ in weights)
        assert law.high(index) >= low / sum(one for _, one in weights)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("factor", [F(11, 10), F(2)])
def test_a_selection_with_more_epsilon_would_be_noticed(mechanism, factor):
    """Two candidates that a row can part by the range: the ratio is nearly e**epsilon, so that a
    tenth more is too much.
    """
    one, other = (selected(gaps, factor * EPSILON, 1, mechanism) for gaps in ((0, 8), (0, 7)))
    with pytest.raises(AssertionError):
        check(one, other, EPSILON)
