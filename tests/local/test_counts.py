"""Counts from randomised records have no bias, their variances are right, and a wrong correction
would be noticed.
"""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pandas as pd
import pytest

from privet.domain.cells import Cell, Cells, Condition, Split
from privet.domain.questions import Partition, Question
from privet.errors import QuestionError
from privet.federation import draw_plan
from privet.local.collecting import collect_leaves, local_curator
from privet.local.counts import MOST_COUNT, Response, boxes_of_cells, boxes_of_nodes, round_counts
from privet.local.curator import LocalCurator
from privet.local.leaf_randomizer import LeafRandomizer
from privet.local.randomizer import Randomizer
from privet.tables.memory import MemorySource
from tests.local.small import SCHEMA, seeded, table

TIMES = 150
SIGMAS = 5.5  # one entry in 26 million; there are below a hundred, and the seed is fixed
ROWS = table()
EVERYTHING = Cells.everything(SCHEMA)
BY_A = EVERYTHING.refine({0: Split.multiway(SCHEMA, "a")})
LOW_C = EVERYTHING.refine({0: Split.threshold(SCHEMA, "c", code=2)})
TWO = BY_A.refine({0: Split.multiway(SCHEMA, "b"), 1: Split.threshold(SCHEMA, "c", code=2)})
UNION = Cells.of(
    SCHEMA, [Cell((Condition("a", (0, 2)), Condition("b", (1,)))), Cell((Condition("a", (1,)),))]
)

ONE_ATTRIBUTE = Question(
    (
        Partition(EVERYTHING),
        Partition(EVERYTHING, by="a"),
        Partition(LOW_C, by="c"),
        Partition(BY_A),
    )
)
TWO_ATTRIBUTES = Question(
    (
        *ONE_ATTRIBUTE.partitions,
        Partition(BY_A, by="b"),
        Partition(LOW_C, by="a"),
        Partition(TWO),
        Partition(UNION),
    )
)
DEEP = Question((*TWO_ATTRIBUTES.partitions, Partition(TWO, by="c"), Partition(UNION, by="c")))
WAYS = {
    "split": (Randomizer(SCHEMA, 6, "split", bits=seeded(1)), DEEP),
    "sample 1": (Randomizer(SCHEMA, 3, "sample", 1, bits=seeded(2)), ONE_ATTRIBUTE),
    "sample 2": (Randomizer(SCHEMA, 4, "sample", 2, bits=seeded(3)), TWO_ATTRIBUTES),
}


def flat(tables) -> np.ndarray:
    return np.concatenate([np.asarray(part, dtype=float).reshape(-1) for part in tables])


def repeated(randomizer: Randomizer | LeafRandomizer) -> pd.DataFrame:
    """Reports of the table, again and again."""
    return pd.concat([randomizer.many(ROWS) for _ in range(TIMES)], ignore_index=True)


def sources(curator: LocalCurator) -> list[LocalCurator]:
    """A curator of each randomisation of the table."""
    n = len(ROWS)
    return [
        LocalCurator(
            curator._source.some(np.arange(i * n, (i + 1) * n)),
            SCHEMA,
            curator.paid,
            reason="test",
        )
        for i in range(TIMES)
    ]


def asked(
    randomizer: Randomizer, reports: pd.DataFrame, question: Question
) -> tuple[np.ndarray, np.ndarray]:
    """Counts and variances of every randomisation."""
    answers = [one.count(question) for one in sources(local_curator(reports, randomizer))]
    return np.array([flat(answer.tables) for answer in answers]), np.array(
        [flat(answer.deviations) ** 2 for answer in answers]
    )


def far(counts: np.ndarray, truth: np.ndarray) -> float:
    """How many standard deviations the means are from the truth, at most."""
    spread = counts.std(axis=0, ddof=1) / np.sqrt(len(counts))
    return float((np.abs(counts.mean(axis=0) - truth) / np.maximum(spread, 1e-9)).max())


@pytest.fixture(scope="module", params=WAYS)
def way(request):
    randomizer, question = WAYS[request.param]
    reports = repeated(randomizer)
    truth = flat(MemorySource(SCHEMA, ROWS).count(question))
    return randomizer, question, reports, truth


def test_counts_have_no_bias_and_known_variances(way):
    randomizer, question, reports, truth = way
    counts, variances = asked(randomizer, reports, question)
    assert far(counts, truth) < SIGMAS
    measured = counts.var(axis=0, ddof=1)
    uncertain = measured > 1e-9
    # what no value can reach is certain
    assert ((variances.mean(axis=0) > 1e-9) == uncertain).all()
    ratios = variances.mean(axis=0)[uncertain] / measured[uncertain]
    assert 0.85 < ratios.mean() < 1.15  # 30% off would be seen
    assert (ratios > 0.6).all()
    assert (ratios < 1.6).all()


def test_a_wrong_epsilon_would_be_seen(way):
    randomizer, _, reports, _ = way
    truth = flat(MemorySource(SCHEMA, ROWS).count(ONE_ATTRIBUTE))
    for factor in (F(7, 10), F(13, 10)):
        wrong = Randomizer(
            SCHEMA, randomizer.epsilon * factor, randomizer.spread, randomizer.together
        )
        assert far(asked(wrong, reports, ONE_ATTRIBUTE)[0], truth) > SIGMAS


def test_forgetting_reports_by_chance_would_be_seen(way, monkeypatch):
    randomizer, _, reports, _ = way
    truth = flat(MemorySource(SCHEMA, ROWS).count(ONE_ATTRIBUTE))

    def forgetful(self: Response, n_values):
        return 1 / (self.kept - self.other) + 0 * n_values, 0 * n_values

    monkeypatch.setattr(Response, "weights", forgetful)
    assert far(asked(randomizer, reports, ONE_ATTRIBUTE)[0], truth) > SIGMAS


@pytest.mark.parametrize("name", ["sample 1", "sample 2"])
def test_forgetting_who_was_not_asked_would_be_seen(name):
    randomizer, question = WAYS[name][0], ONE_ATTRIBUTE
    reports = repeated(randomizer)
    answers = []
    for one in sources(local_curator(reports, randomizer)):
        one._source._n -= 24  # as if a fifth of those who took part had not
        answers.append(flat(one.count(question).tables))
    truth = flat(MemorySource(SCHEMA, ROWS).count(question))
    assert far(np.array(answers), truth) > SIGMAS


def test_leaf_counts_have_no_bias_and_the_stated_deviation():
    plan = draw_plan(SCHEMA, 2, height=2, bits=seeded(4))
    randomizer = LeafRandomizer(plan, 2, bits=seeded(5))
    # a person is in one of two trees
    exact = flat(MemorySource(SCHEMA, ROWS).count(Question.forest(plan.forest))) / 2
    reports, n = repeated(randomizer), len(ROWS)
    models = [collect_leaves(reports.iloc[i * n : (i + 1) * n], randomizer) for i in range(TIMES)]
    counts = np.array([flat(model.evidence.batches[0].tables) for model in models])
    assert far(counts, exact) < SIGMAS
    stated = np.mean([model.evidence.batches[0].deviation for model in models])
    noise = counts[:, exact == 0].std(axis=0, ddof=1)  # elsewhere, who drew which tree adds to it
    assert stated == pytest.approx(np.sqrt((noise**2).mean()), rel=0.15)
    wrong = LeafRandomizer(plan, F(13, 5))
    biased = [collect_leaves(reports.iloc[i * n : (i + 1) * n], wrong) for i in range(TIMES)]
    assert (
        far(np.array([flat(model.evidence.batches[0].tables) for model in biased]), exact) > SIGMAS
    )


@pytest.mark.parametrize("name", WAYS)
def test_without_noise_counts_are_exact(name):
    randomizer, question = WAYS[name]
    sure = Randomizer(SCHEMA, 100, randomizer.spread, randomizer.together)
    curator = local_curator(sure.many(ROWS), sure)
    answer = curator.count(question)
    if randomizer.spread == "split":
        np.testing.assert_allclose(
            flat(answer.tables), flat(MemorySource(SCHEMA, ROWS).count(question)), atol=1e-6
        )
    total = [part.sum() for part in answer.tables[:2]]
    np.testing.assert_allclose(total, len(ROWS), atol=1e-6)


def test_counts_of_children_add_up_to_those_of_their_parents_where_values_were_split():
    randomizer = WAYS["split"][0]
    curator = local_curator(randomizer.many(ROWS), randomizer)
    answer = curator.count(
        Question((Partition(EVERYTHING), Partition(BY_A), Partition(BY_A, by="b"), Partition(TWO)))
    )
    whole, by_a, by_a_and_b, two = answer.tables
    np.testing.assert_allclose(by_a.sum(axis=0), whole[0])
    np.testing.assert_allclose(by_a_and_b.sum(axis=1), by_a)
    np.testing.assert_allclose(two[:2].sum(axis=0), by_a[0])
    nodes = answer.node_deviations[3]
    assert nodes.shape == (len(TWO.attribute),)
    assert nodes[0] == pytest.approx(np.sqrt((answer.deviations[0] ** 2).mean()))
    leaves = nodes[TWO.attribute < 0]
    assert nodes[0] < 0.8 * np.sqrt((leaves**2).sum())  # errors of leaves are not independent


def test_more_attributes_than_were_reported_together_are_refused_with_the_reason():
    randomizer = WAYS["sample 1"][0]
    curator = local_curator(randomizer.many(ROWS), randomizer)
    with pytest.raises(
        QuestionError, match=r"at most 1 attribute\(s\) and the class together.*2 \('a', 'b'\)"
    ):
        curator.count(Question.level(BY_A, ["b"]))
    assert curator.count(Question.level(BY_A, ["a"])).tables[0].shape == (3, 3, 3)


def test_boxes_of_cells_and_nodes():
    twice = BY_A.refine({0: Split.value(SCHEMA, "a", code=0)})  # asks again what is known
    boxes = boxes_of_cells(twice)
    assert [len(cell) for cell in boxes] == [0, 1, 1, 1]  # nobody is in the first
    assert boxes[1][0][0].tolist() == [True, False, False]
    assert boxes_of_nodes(EVERYTHING) == [{}]
    assert [sorted(box) for box in boxes_of_nodes(TWO)] == [
        [],
        [0],
        [0],
        [0],
        [0, 1],
        [0, 1],
        [0, 2],
        [0, 2],
    ]


def test_nobody_who_tells_is_no_error():
    randomizer = WAYS["sample 2"][0]
    curator = local_curator(randomizer.many(ROWS.iloc[:1]), randomizer)
    answer = curator.count(TWO_ATTRIBUTES)
    assert all(np.isfinite(part).all() for part in (*answer.tables, *answer.deviations))


def test_a_set_of_values_of_several_boxes_is_counted_as_the_boxes_cut_to_it():
    """One report tells about all boxes of a cell, so their variances do not add up: the cell that
    is cut to the set says what is right.
    """
    randomizer = Randomizer(SCHEMA, 3, "split", bits=seeded(21))
    source = local_curator(randomizer.many(ROWS), randomizer)._source
    x, y = (np.arange(3) == code for code in (0, 1))
    low, middle = np.array([1, 1, 0, 0, 0], dtype=bool), np.array([0, 0, 1, 1, 0], dtype=bool)
    cell = [{0: x, 2: low}, {0: y, 2: middle}, {0: ~(x | y), 1: np.array([True, False]), 2: low}]
    masks = np.array(
        [[1, 1, 1, 1, 1], [1, 0, 1, 0, 0], [0, 1, 0, 0, 1], [0, 0, 0, 0, 1], [0, 0, 0, 0, 0]],
        dtype=bool,
    )
    counts, variances = source.view(cell).by(2).sets(masks)
    for line, mask in enumerate(masks):
        cut = [{**box, 2: box[2] & mask} for box in cell]
        expected = source.view([box for box in cut if box[2].any()]).totals()
        np.testing.assert_allclose(counts[line], expected.counts, atol=1e-9)
        np.testing.assert_allclose(variances[line], expected.variances, atol=1e-9)
    assert (variances[:3] > 1).all()


def test_what_a_report_weighs_is_cut_and_not_wrapped_around():
    huge = np.array([1e19, -1e19, 2.5, -1.6, 1e300])
    assert round_counts(huge).tolist() == [MOST_COUNT, -MOST_COUNT, 2, -2, MOST_COUNT]
