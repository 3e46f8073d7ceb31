"""The attack finds what is there, and nothing where nothing is."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.errors import ParameterError
from privet.outsource.attack import acquaintances, population, score
from privet.outsource.attack.posterior import independent_trials, wilson
from tests.outsource.attack.splits import people

MODELS = ("naive-bayes", "logistic")


def scored(made, **options):
    return score(made.attacked(**options), made.truth)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("size", "n_values"), [(2, 4), (3, 5), pytest.param(4, 4, marks=pytest.mark.slow)]
)
def test_nothing_is_learnt_where_there_is_nothing(model, size, n_values):
    made = people(3000 // size, size=size, n_values=n_values, tells=0.0)
    result = scored(made, model=model, known=acquaintances(made.truth, 4))
    low, high = wilson(result.accuracy, result.trials, deviations=3.3)
    assert low <= result.random_guess <= high
    assert high - low < 0.14  # or the test could not fail


@pytest.mark.parametrize("model", MODELS)
def test_a_weak_dependence_is_found(model):
    """The power of the test above: a value shows in an attribute one time in four more than by
    chance.
    """
    result = scored(people(1500, tells=0.25), model=model)
    assert wilson(result.accuracy, result.trials, deviations=3.3)[0] > result.random_guess
    assert result.learns


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("size", "n_values"), [(2, 4), (3, 4), (8, 9), (11, 12)])
def test_a_perfect_dependence_is_found(model, size, n_values):
    made = people(400 // size + 40, size=size, n_values=n_values, tells=1.0, n_attributes=2)
    result = scored(made, model=model)
    assert result.accuracy > 0.98
    assert result.learns
    assert result.at_least_confident > 0.9
    assert result.bits == pytest.approx(np.log2(size), abs=0.25)
    assert result.exact == (size < 10)


def test_one_attribute_among_noise_is_enough():
    made = people(1000, tells=0.0, n_attributes=8)
    made.codes[3][:] = made.truth
    assert scored(made).accuracy > 0.95


def test_the_class_is_used():
    made = people(800, n_values=3, tells=0.0)
    told = replace(made, classes=(made.truth == 0).astype(int))
    assert scored(told).accuracy > scored(made).accuracy + 0.2


# -- which value is which --------------------------------------------------------------------------


def test_two_values_in_every_group_are_told_apart_but_not_named():
    made = people(400, n_values=2, tells=0.6)
    posterior = made.attacked()
    assert posterior.alike == ((0, 1),)
    result = score(posterior, made.truth)
    assert result.names_open
    assert result.renamed > 0.9
    assert result.learns
    assert (
        min(abs(result.accuracy - 1 + result.renamed), abs(result.accuracy - result.renamed)) < 1e-9
    )


@pytest.mark.parametrize("flip", [False, True])
def test_a_few_known_people_settle_the_names(flip):
    made = people(400, n_values=2, tells=0.6)
    if flip:
        made = replace(made, truth=1 - made.truth)  # both tables are the same as before
    result = scored(made, known=acquaintances(made.truth, 5))
    assert not result.names_open
    assert result.accuracy > 0.9
    assert result.known == 5
    assert result.n_groups == 400 - len(np.unique(made.row_gid[list(acquaintances(made.truth, 5))]))


def test_known_people_are_believed_and_their_neighbours_not_scored():
    made = people(50, n_values=4)
    known = acquaintances(made.truth, 3)
    posterior = made.attacked(known=known)
    for row, value in known.items():
        assert posterior.of(row)[value] == pytest.approx(1)
    result = score(posterior, made.truth)
    assert not {int(made.row_gid[row]) for row in known} & {
        int(made.row_gid[row]) for row in result.worst
    }
    assert result.n_rows == 2 * result.n_groups


# -- what it does not depend on --------------------------------------------------------------------


@given(
    st.integers(0, 2**32 - 1), st.sampled_from([(2, 2), (2, 4), (3, 4)]), st.sampled_from(MODELS)
)
@settings(max_examples=12, deadline=None)
def test_neither_the_order_of_rows_nor_the_numbers_of_groups_matter(seed, shape, model):
    rng = np.random.default_rng(seed)
    made = people(40, size=shape[0], n_values=shape[1], tells=0.5, seed=seed)
    order, renumber = rng.permutation(len(made.truth)), rng.permutation(400)
    other = made.reordered(order)
    entries = rng.permutation(len(other.st_gid))
    other = replace(
        other,
        row_gid=renumber[other.row_gid],
        st_gid=renumber[other.st_gid[entries]],
        st_values=other.st_values[entries],
    )
    one, two = made.attacked(model=model), other.attacked(model=model)
    tables = []
    for posterior, place in ((one, np.argsort(order)), (two, np.arange(len(order)))):
        table = np.zeros((len(order), made.n_values))
        table[place[posterior.groups.row], posterior.groups.value] = posterior.probability
        tables.append(table)
    np.testing.assert_allclose(*tables, atol=2e-3)
    np.testing.assert_allclose(tables[0].sum(axis=1), 1, atol=1e-9)


def test_naive_bayes_climbs_and_comes_to_rest():
    posterior = people(500, n_values=5, size=3, tells=0.3).attacked(model="naive-bayes")
    assert posterior.converged
    assert (np.diff(posterior.objective) >= -1e-7 * abs(posterior.objective[0])).all()
    assert posterior.objective[-1] > posterior.objective[0] + 1
    assert (
        not people(500, n_values=5, size=3, tells=0.3)
        .attacked(model="naive-bayes", max_rounds=2)
        .converged
    )


def test_deleted_rows_leave_entries_behind():
    made = people(300, size=3, n_values=4, tells=0.9)
    fewer = made.without_rows(np.arange(0, 900, 5))
    posterior = fewer.attacked()
    assert posterior.groups.n_rows == 720
    sums = np.zeros((10_000, 4))
    np.add.at(
        sums, (fewer.row_gid[posterior.groups.row], posterior.groups.value), posterior.probability
    )
    assert sums.max() <= 1 + 1e-9
    assert score(posterior, fewer.truth).accuracy > 0.9


def test_codes_outside_the_domain_are_one_more_value():
    made = people(300, tells=0.0)
    made.codes[0][made.truth == 1] = 4
    result = scored(made)
    assert result.accuracy > result.random_guess + 0.1


def test_best_and_single_rows():
    made = people(60, tells=0.8)
    posterior = made.attacked()
    for row in range(0, 120, 7):
        mine = posterior.of(row)
        assert sum(mine.values()) == pytest.approx(1)
        assert (
            mine[int(posterior.best[row])] == max(mine.values()) == posterior.best_probability[row]
        )
        assert int(made.truth[row]) in mine


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_values": 0}, "n_values must be an integer"),
        ({"codes": []}, "a column for each of 6 attributes"),
        ({"classes": np.zeros(3, dtype=int)}, "'class' must be as long as the others"),
        ({"classes": np.full(20, 3)}, "'class' must hold codes from 0 to 2"),
        ({"row_gid": np.zeros(3, dtype=int)}, "at least as many|as long as the columns"),
    ],
)
def test_tables_that_do_not_fit(change, message):
    with pytest.raises(ParameterError, match=message):
        replace(people(10), **change).attacked()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "oracle"}, "model must be"),
        ({"smoothing": 0.0}, "smoothing"),
        ({"known": {99: 0}}, "positions"),
        ({"known": {0: 9}}, "its group holds"),
    ],
)
def test_options_that_cannot_be(options, message):
    with pytest.raises(ParameterError, match=message):
        people(10).attacked(**options)


# -- the score -------------------------------------------------------------------------------------


def test_a_score_by_hand():
    made = people(3, n_values=4)
    posterior = made.attacked()
    sure = np.where(made.truth[posterior.groups.row] == posterior.groups.value, 0.95, 0.05)
    first = made.row_gid[posterior.groups.row] == made.row_gid[0]
    sure[first] = 1 - sure[first]  # one group confidently wrong
    result = score(replace(posterior, probability=sure), made.truth)
    assert result.accuracy == pytest.approx(4 / 6)
    assert (result.n_rows, result.n_groups, result.l, result.bound) == (6, 3, 2, 0.5)
    assert result.random_guess == result.frequent_guess == 0.5
    assert (
        result.above_bound
        == result.at_least_half
        == result.at_least_confident
        == pytest.approx(4 / 6)
    )
    assert (result.confident, result.confident_right) == (1.0, pytest.approx(4 / 6))
    assert result.bits == pytest.approx((4 * np.log2(1.9) + 2 * np.log2(0.1)) / 6)
    assert [(c.guesses, c.right) for c in result.calibration if c.guesses] == [
        (6, pytest.approx(4 / 6))
    ]
    assert sum(result.histogram) == 6
    assert set(result.worst[:4]) == set(np.flatnonzero(made.row_gid != made.row_gid[0]))


def test_guesses_that_need_no_attack():
    made = replace(
        people(1, size=3, n_values=3),
        st_values=np.array([0, 0, 1, 2]),
        st_gid=np.zeros(4, dtype=int),
        row_gid=np.zeros(3, dtype=int),
    )
    result = score(made.attacked(), np.array([0, 0, 1]), l=2)
    assert result.random_guess == pytest.approx((0.5 + 0.5 + 0.25) / 3)
    assert result.frequent_guess == pytest.approx(2 / 3)


def test_json_holds_everything_and_no_value():
    made = people(100, tells=0.5)
    posterior = made.attacked()
    result = score(
        posterior,
        made.truth,
        population=population(made.schema, made.codes, made.classes, posterior, made.truth),
    )
    said = json.loads(json.dumps(result.to_json()))
    assert said["privet"] == "attack"
    assert said["learns"] is True
    assert len(said["calibration"]) == 10
    assert len(said["worst"]) == 10
    assert said["population"]["folds"] == 10


def test_truth_must_fit():
    made = people(10)
    posterior = made.attacked()
    with pytest.raises(ParameterError, match="20 value codes"):
        score(posterior, made.truth[:5])
    with pytest.raises(ParameterError, match="its group holds"):
        score(posterior, (made.truth + 9) % 11)
    with pytest.raises(ParameterError, match="l must be"):
        score(posterior, made.truth, l=0)
    with pytest.raises(ParameterError, match="without a known person"):
        scored(made, known=dict(enumerate(made.truth.tolist())))


@pytest.mark.parametrize(
    ("right", "n", "expected"),
    [(81, 263, (0.2553, 0.3662)), (15, 148, (0.0624, 0.1605)), (0, 20, (0.0, 0.1611))],
)
def test_wilson_intervals_as_published(right, n, expected):
    """Newcombe (1998), table I, the score method without correction."""
    assert wilson(right / n, n, deviations=1.959964) == pytest.approx(expected, abs=5e-5)


def test_pairs_that_are_right_together_count_once():
    rng = np.random.default_rng(0)
    right, group = (
        np.repeat(rng.integers(2, size=2000), 2).astype(float),
        np.repeat(np.arange(2000), 2),
    )
    assert independent_trials(right, group) == pytest.approx(2000, rel=0.02)
    assert independent_trials(rng.integers(2, size=4000).astype(float), group) == pytest.approx(
        4000, rel=0.08
    )
    assert independent_trials(np.ones(4000), group) == 2000


# -- the population --------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
def test_the_population_tells_what_it_tells(model):
    for tells, low, high in ((0.0, 0.2, 0.3), (1.0, 0.98, 1.0)):
        made = people(800, tells=tells, n_attributes=2)
        posterior = made.attacked(model=model)
        found = population(made.schema, made.codes, made.classes, posterior, made.truth)
        assert low <= found.accuracy <= high  # of 4 values, without a group
        assert found.interval[0] <= found.accuracy <= found.interval[1]
        assert found.in_group == pytest.approx(0.5 if tells == 0 else 1.0, abs=0.06)


def test_the_population_says_nothing_of_the_person_itself():
    """An attribute that is different for everybody tells nothing about others."""
    made = people(60, n_attributes=1)
    schema = replace(
        made.schema,
        attributes={"a0": type(made.schema.attributes["a0"])([str(i) for i in range(120)])},
    )
    made = replace(made, schema=schema, codes=[np.arange(120)])
    found = population(
        schema, made.codes, made.classes, made.attacked(model="naive-bayes"), made.truth
    )
    assert found.accuracy < 0.45
    with pytest.raises(ParameterError, match="folds"):
        population(schema, made.codes, made.classes, made.attacked(), made.truth, folds=1)
