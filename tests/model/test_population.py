"""A model may know how the values of each attribute are spread, and weighs branches by it."""

from __future__ import annotations

import numpy as np
import pytest

from privet.errors import QuestionError
from privet.model.document import from_document, to_document, to_document_of_predictions
from privet.model.file import read_model, write_model
from privet.model.population import Population, project_to_shares
from privet.model.structure import Damaged
from tests.report.models import SCHEMA
from tests.report.scored import scored_model, term


def uniform(**changes) -> Population:
    shares = {
        name: np.full(size, 1 / size) for name, size in zip(SCHEMA.names, SCHEMA.sizes, strict=True)
    }
    return Population({**shares, **changes}, 0.01)


def in_population(population: Population | None):
    return scored_model(population=population)


# -- shares from noisy counts ----------------------------------------------------------------------


def test_counts_become_shares_that_are_closest_to_them():
    np.testing.assert_allclose(project_to_shares(np.array([60, 30, 10]), 100), [0.6, 0.3, 0.1])
    # 15 rows too many are taken off all alike, and who has less than none has none
    np.testing.assert_allclose(project_to_shares(np.array([65.0, 50, -30]), 100), [0.575, 0.425, 0])


@pytest.mark.parametrize("seed", range(20))
def test_no_other_shares_are_closer(seed):
    rng = np.random.default_rng(seed)
    counts = rng.normal(20, 60, size=5)
    best = project_to_shares(counts, 100)
    assert best.sum() == pytest.approx(1)
    assert (best >= 0).all()
    others = rng.dirichlet(np.ones(5), size=2000)
    near = 0.98 * best + 0.02 * others
    distance = ((near - counts / 100) ** 2).sum(axis=1)
    assert distance.min() >= ((best - counts / 100) ** 2).sum() - 1e-12


@pytest.mark.parametrize("counts", [[-5, -9], [0, 0], [10**15, -(10**15)]])
def test_any_noise_gives_shares(counts):
    shares = project_to_shares(np.array(counts), 1.0)
    assert np.isfinite(shares).all()
    assert shares.sum() == pytest.approx(1)


# -- importances -----------------------------------------------------------------------------------


def test_where_all_values_are_equally_likely_nothing_changes():
    np.testing.assert_allclose(
        in_population(uniform()).importances(), in_population(None).importances()
    )


def test_a_split_that_nobody_takes_explains_nothing():
    """By hand: of two terms with the same scores, one is about a value that everybody has."""
    scores = np.zeros((4, 3))
    scores[0, 0] = 1
    trees = (term(SCHEMA, "age", scores), term(SCHEMA, "colour", scores))
    same = scored_model(trees=trees)
    np.testing.assert_allclose(same.importances(), [0, 0.5, 0, 0.5])
    people = uniform(age=np.array([0.9, 0.1, 0, 0]), colour=np.array([0, 0, 0, 1.0]))
    np.testing.assert_allclose(
        scored_model(trees=trees, population=people).importances(), [0, 1, 0, 0]
    )
    # the variance of a share p is p (1 - p): .09 against .25
    people = uniform(age=np.array([0.9, 0.1, 0, 0]), colour=np.array([0.5, 0, 0, 0.5]))
    np.testing.assert_allclose(
        scored_model(trees=trees, population=people).importances(), [0, 9 / 34, 0, 25 / 34]
    )


def test_a_population_changes_no_prediction():
    codes = [np.zeros(1, dtype=int)] * 4
    with_, without = in_population(uniform()), in_population(None)
    np.testing.assert_array_equal(with_.probabilities(codes), without.probabilities(codes))
    assert to_document_of_predictions(with_) == to_document_of_predictions(without)
    assert len(with_.identity()) == len(without.identity())


# -- files -----------------------------------------------------------------------------------------


def test_a_file_keeps_the_population(tmp_path):
    model = in_population(uniform(age=np.array([0.7, 0.3, 0, 0])))
    write_model(model, tmp_path / "m.json")
    read = read_model(tmp_path / "m.json").population
    assert read.deviation == 0.01
    assert read.shares["age"].tolist() == [0.7, 0.3, 0, 0]
    assert to_document(model)["version"] == 3
    assert list(read.shares) == list(SCHEMA.names)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda shares: shares.pop("age"), "about its schema's attributes"),
        (lambda shares: shares.update(age=[1.0]), "about its schema's attributes"),
        (lambda shares: shares.update(age=[0.5, 0.6, 0, 0]), "add up to 1"),
        (lambda shares: shares.update(age=[1.5, -0.5, 0, 0]), "non-negative"),
        (lambda shares: shares.update(age=["1", 0, 0, 0]), "lists of numbers"),
        (lambda shares: shares.update(age=3), "lists of numbers"),
    ],
)
def test_a_damaged_population_is_refused(change, said):
    document = to_document(in_population(uniform()))
    change(document["population"]["shares"])
    with pytest.raises(Damaged, match=said):
        from_document(document)


def test_a_population_of_other_keys_is_refused():
    document = to_document(in_population(uniform()))
    document["population"]["n"] = 3
    with pytest.raises(Damaged, match="exactly deviation, shares"):
        from_document(document)
    document["population"] = {"deviation": -1, "shares": {}}
    with pytest.raises(Damaged, match="deviation"):
        from_document(document)
    with pytest.raises(QuestionError, match="deviation"):
        Population({}, -1.0)
