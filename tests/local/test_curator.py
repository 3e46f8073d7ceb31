"""A curator of randomised records answers what any curator does, for nothing, and says what it
cannot.
"""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest

from privet.accounting.cost import Cost
from privet.domain.cells import Cells, Split
from privet.domain.questions import Question
from privet.domain.space import TreeSpace
from privet.errors import ParameterError, QuestionError, TableError
from privet.learners import GibbsTreeClassifier, PrivetClassifier
from privet.local.collecting import local_curator
from privet.local.counts import Estimate
from privet.local.gains import chi_square_quantile, gini_gains
from privet.local.randomizer import Randomizer
from privet.queries import RowScore
from tests.local.small import SCHEMA, seeded, table

ROWS = table(600)
EVERYTHING = Cells.everything(SCHEMA)
CANDIDATES = [
    Split.multiway(SCHEMA, "a"),
    Split.multiway(SCHEMA, "b"),
    *(Split.threshold(SCHEMA, "c", code=code) for code in (1, 2, 3)),
]


def curator_of(epsilon: float, spread: str = "split", together: int = 1, seed: int = 7):
    randomizer = Randomizer(SCHEMA, epsilon, spread, together, bits=seeded(seed))
    return local_curator(randomizer.many(ROWS), randomizer)


def test_it_charges_nothing_and_says_what_was_paid():
    randomizer = Randomizer(SCHEMA, "1/3")
    curator = local_curator(randomizer.many(ROWS), randomizer)
    assert curator.paid == Cost.pure(F(1, 3))
    assert curator.private
    assert (curator.schema.n_rows, curator.schema.neighbours) == (600, "replace")
    answer = curator.count(EVERYTHING, epsilon=0.001)
    assert (answer.cost.epsilon, answer.row_cost.epsilon, answer.entry) == (0, 0, None)
    assert answer.noise == "randomized-response"
    assert curator.size().tables[0].tolist() == [600]
    assert curator.preview([Cost.pure(100)]).fits
    assert not curator_of(1).private  # a test seed
    assert "test seed" in curator_of(1).reason
    from_data = Randomizer(
        type(SCHEMA)(dict(SCHEMA.attributes), "class", SCHEMA.classes, from_data=True), 1
    )
    assert "read off the data" in local_curator(from_data.many(ROWS), from_data).reason


def test_the_same_records_are_the_same_account():
    randomizer = Randomizer(SCHEMA, 1, bits=seeded(1))
    reports = randomizer.many(ROWS)
    assert (
        local_curator(reports, randomizer).account
        == local_curator(reports.copy(), randomizer).account
    )
    assert (
        local_curator(reports, randomizer).account
        != local_curator(randomizer.many(ROWS), randomizer).account
    )


@pytest.mark.parametrize(("spread", "together"), [("split", 1), ("sample", 1), ("sample", 2)])
def test_a_split_that_matters_is_chosen_and_noise_is_not(spread, together):
    clear = curator_of(20, spread, together).choose(EVERYTHING, CANDIDATES, "gini")
    assert clear.splits[0].attribute == "a"
    assert not clear.declined
    for criterion in ("max", "info_gain"):
        assert (
            curator_of(20, spread, together)
            .choose(EVERYTHING, CANDIDATES, criterion)
            .splits[0]
            .attribute
            == "a"
        )
    declined = [
        len(
            curator_of(0.05, spread, together, seed).choose(EVERYTHING, CANDIDATES, "gini").declined
        )
        for seed in range(20)
    ]
    assert sum(declined) >= 15  # noise alone is split one time in ten


def test_what_records_cannot_tell_about_is_passed_over():
    curator = curator_of(20, "sample", 1)
    cells = EVERYTHING.refine({0: Split.value(SCHEMA, "a", code=0)})
    choice = curator.choose(
        cells, [[Split.multiway(SCHEMA, "b")], [Split.multiway(SCHEMA, "b")]], "gini"
    )
    assert choice.declined == {0, 1}
    with pytest.raises(QuestionError, match="at most 1 attribute"):
        curator.count(Question.level(cells, ["b"]))


def test_gains_and_their_noise():
    """By hand: two children of 10 and 30 people, shares of the parent 1/2."""
    counts = np.array([[8.0, 2.0], [12.0, 18.0]])
    gains, noise = gini_gains(
        Estimate(counts, np.full((2, 2), 3.0)), np.array([20.0, 20.0]), np.array([0])
    )
    assert gains[0] == pytest.approx(2 * 3**2 / 10 + 2 * 3**2 / 30)
    assert noise[0] == pytest.approx(2 * (3 + 2.5) / 10 + 2 * (3 + 7.5) / 30)
    # a table of chi square
    np.testing.assert_allclose(
        chi_square_quantile(np.array([1.0, 4.0]), 0.05) * [1, 4], [3.841, 9.488], rtol=0.03
    )


def test_sums_quantiles_partitions_and_confusion():
    curator = curator_of(60)
    score = RowScore(SCHEMA, np.array([1, 2, 3]))
    exact = ROWS["class"].map({"no": 1, "yes": 2, "maybe": 3}).sum()
    answer = curator.sums(EVERYTHING, score)
    assert answer.tables[0][0] == pytest.approx(exact, abs=1)
    known = ROWS["c"].dropna()
    middle = curator.median("c")
    assert middle.low <= known.median() <= middle.high
    expected = [
        np.zeros((1, 3), dtype=int),
        curator.count(EVERYTHING).tables[0].round().astype(int),
    ]
    assert curator.choose_partition(Question.forest([EVERYTHING] * 2), expected).index == 0
    assert (
        curator.choose_partition(
            Question.forest([EVERYTHING] * 2), expected, handicaps=[10**6, 0]
        ).index
        == 1
    )
    from privet.learners import GreedyTreeClassifier

    models = [GreedyTreeClassifier(max_depth=depth).fit_from(curator).model_ for depth in (0, 2)]
    matrix = curator.confusion(models[1]).tables[0]
    predicted = GreedyTreeClassifier(max_depth=2).fit_from(curator).predict(ROWS)
    assert np.trace(matrix) == pytest.approx((predicted == ROWS["class"]).sum(), abs=2)
    assert curator.choose_model(models)[0] == 1


def test_people_are_divided():
    curator = curator_of(2, "sample", 2)
    parts = curator.split_people(3, 1)
    assert sum(part.schema.n_rows for part in parts) == 600
    assert all(part.paid == curator.paid for part in parts)
    assert len({part.account for part in parts}) == 3


@pytest.mark.parametrize("learner", [PrivetClassifier(), GibbsTreeClassifier()], ids=str)
def test_learners_that_need_rows_say_which_do_not(learner):
    with pytest.raises(
        ParameterError, match=r"randomised records; AdditiveClassifier, GreedyTreeClassifier"
    ):
        learner.fit_from(curator_of(1))
    with pytest.raises(ParameterError, match="drawn"):
        curator_of(1).draw_tree(TreeSpace(SCHEMA, 1, CANDIDATES, CANDIDATES), 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda reports: reports.assign(a="never seen"),
            "report 1 has a value of 'a' that is not in the schema; 600 of 600",
        ),
        (
            lambda reports: reports.assign(a=[None] + ["x"] * 599),
            "report 1 must tell about exactly 3",
        ),
        (
            lambda reports: reports.assign(**{"class": ["no"] * 599 + ["?"]}),
            "report 600 has a 'class' that is no class",
        ),
        (lambda reports: reports.drop(columns="b"), "'b' is not in the table"),
    ],
)
def test_a_bad_report_is_shown(change, message):
    randomizer = Randomizer(SCHEMA, 1, "split")
    with pytest.raises((TableError, Exception), match=message):
        local_curator(change(randomizer.many(ROWS)), randomizer)


def test_reports_of_another_randomizer_are_refused():
    split, sample = Randomizer(SCHEMA, 1, "split"), Randomizer(SCHEMA, 1)
    with pytest.raises(TableError, match="must tell about exactly 1"):
        local_curator(split.many(ROWS), sample)
    with pytest.raises(ParameterError, match="randomizer must be a Randomizer"):
        local_curator(split.many(ROWS), "r.json")
