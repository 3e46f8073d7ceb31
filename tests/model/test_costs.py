"""Models decide by what mistakes cost, and files, graphs and services keep it."""

from __future__ import annotations

import numpy as np
import pytest

import privet as pv
from privet.curator.recorded import digest_of
from privet.errors import ParameterError, QuestionError
from privet.model.costs import balance_classes, decide, read_costs, read_weights, weigh_mistakes
from privet.model.document import from_document, to_document, to_document_of_predictions
from privet.model.file import read_model, write_model
from privet.model.structure import Damaged
from privet.queries.confusion import model_from, model_to
from privet.report import to_onnx
from tests.report.models import SCHEMA, random_codes, random_model, small_model, statement
from tests.report.scored import scored_model

#: To say "yes" where "no" is true is ten times as bad as any other mistake.
COSTS = {("no", "yes"): 10}
MATRIX = [[0, 10, 1], [1, 0, 1], [1, 1, 0]]


def test_a_mapping_of_pairs_and_a_matrix_say_the_same():
    np.testing.assert_array_equal(read_costs(SCHEMA, COSTS), MATRIX)
    np.testing.assert_array_equal(read_costs(SCHEMA, MATRIX), MATRIX)
    np.testing.assert_array_equal(read_costs(SCHEMA, {("yes", "yes"): 2})[1], [1, 2, 1])


@pytest.mark.parametrize(
    ("costs", "said"),
    [
        ({"no": 10}, r"pairs \(true class, predicted class\) as keys, got 'no'"),
        ({("no", "yess"): 10}, "did you mean 'yes'"),
        ({("no", "yes"): -1}, "must be a number from 0"),
        ({("no", "yes"): float("nan")}, "must be a number from 0"),
        ([[0, 1], [1, 0]], "a column for each of the 3 classes, got 2 x 2"),
        ([[0, 1, 1], [1, 0, 1], [1, float("inf"), 0]], "must be numbers from 0"),
        (np.zeros((3, 3)), "must not all be 0"),
        ("balanced", "a mapping of class pairs, or a matrix"),
        (5, "got one number"),
    ],
)
def test_other_costs_are_refused(costs, said):
    with pytest.raises((ParameterError, QuestionError), match=said):
        read_costs(SCHEMA, costs)


def test_the_decision_has_the_smallest_expected_cost():
    """By hand: with 30% for "no", to say "yes" costs 3.2 and to say "no" 0.7."""
    shares = np.array([[0.3, 0.5, 0.2], [0.02, 0.9, 0.08], [0.05, 0.35, 0.6]])
    assert decide(shares, None).tolist() == [1, 1, 2]
    assert decide(shares, read_costs(SCHEMA, COSTS)).tolist() == [0, 1, 2]


def test_weights_are_costs_of_a_true_class():
    rng = np.random.default_rng(0)
    shares = rng.dirichlet([1, 1, 1], size=500)
    weights = read_weights(SCHEMA, {"wait": 5, "no": 0.5})
    assert weights.tolist() == [0.5, 1, 5]
    said = decide(shares, weigh_mistakes(weights))
    np.testing.assert_array_equal(said, (shares * weights).argmax(axis=1))
    assert (said != shares.argmax(axis=1)).any()


def test_balanced_weights_make_classes_count_the_same():
    shares = np.array([0.9, 0.1])
    np.testing.assert_allclose(balance_classes(shares) * shares, [0.5, 0.5])


def test_probabilities_do_not_depend_on_costs():
    model = scored_model()
    codes = random_codes(1, SCHEMA)
    careful = model.with_costs(COSTS)
    shares = model.probabilities(codes)
    np.testing.assert_array_equal(careful.probabilities(codes), shares)
    assert (careful.decide(shares) != model.decide(shares)).any()
    assert careful.with_costs(None).costs is None


@pytest.mark.parametrize("make", [scored_model, small_model])
def test_a_file_keeps_costs_and_one_without_is_as_before(make, tmp_path):
    model = make()
    careful = model.with_costs(COSTS)
    write_model(careful, tmp_path / "m.json")
    np.testing.assert_array_equal(read_model(tmp_path / "m.json").costs, MATRIX)
    document = to_document(careful)
    assert document.pop("costs") == MATRIX
    assert document.pop("version") == 3
    plain = to_document(model)
    assert plain.pop("version") == (2 if model.combine == "scores" else 1)
    assert document == plain


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"version": 2}, "costs must not stand in a file of version 2"),
        ({"costs": [[0, 1, 1]] * 2}, "a column for each of the 3 classes"),
        ({"costs": [[0, 1, 1], [1, 0], [1, 1, 0]]}, "costs must be a square"),
        ({"costs": [[0, 1, -1], [1, 0, 1], [1, 1, 0]]}, "costs must be numbers from 0"),
        ({"costs": [[0, 1, "1"], [1, 0, 1], [1, 1, 0]]}, "costs must be a list with a list"),
        ({"costs": [[0, 1, True], [1, 0, 1], [1, 1, 0]]}, "costs must be a list with a list"),
        ({"costs": 3}, "costs must be a list"),
    ],
)
def test_damaged_costs_are_refused(changes, said):
    document = to_document(scored_model().with_costs(COSTS)) | changes
    with pytest.raises(Damaged, match=said):
        from_document(document)


def test_version_3_must_have_a_reason():
    with pytest.raises(Damaged, match="version 3 is for models with costs or a population"):
        from_document(to_document(scored_model()) | {"version": 3})


def test_a_service_decides_as_the_model_does():
    """What is asked over HTTP keeps costs; without, it is what a service of 0.1 reads."""
    careful = scored_model().with_costs(COSTS)
    np.testing.assert_array_equal(model_from(model_to(careful)).costs, MATRIX)
    assert to_document_of_predictions(scored_model())["version"] == 1


def test_a_query_about_another_decision_is_another_query():
    model = scored_model()
    assert digest_of((model,)) != digest_of((model.with_costs(COSTS),))
    one, two = model.with_costs(COSTS), model.with_costs(MATRIX)
    assert digest_of((one,)) == digest_of((two,))


def test_the_confusion_matrix_counts_decisions():
    car = pv.datasets.load("car")
    curator = pv.Curator(car.table, car.schema, pv.Budget(100))
    model = pv.GreedyTreeClassifier(epsilon=20).fit_from(curator).model_
    always = model.with_costs(np.array([[9.0, 9, 9, 0]] * 4))  # "vgood" is never a mistake
    matrix = pv.ReleasedClassifier(always).score_from(curator, 40).confusion
    said = pv.ReleasedClassifier(always).predict(car.X)
    assert set(said) == {car.schema.classes[3]}
    assert matrix[:, 3].sum() == pytest.approx(1728, abs=5)
    assert np.abs(matrix[:, :3]).sum() < 20


def test_models_that_decide_differently_are_not_merged():
    one, two = (
        scored_model(privacy=statement(id=release), costs=costs)
        for release, costs in (("a" * 32, COSTS), ("b" * 32, None))
    )
    with pytest.raises(QuestionError, match="decide by different costs"):
        pv.federation.merge([one, two], people="disjoint")
    both = pv.federation.merge([one, two.with_costs(MATRIX)], people="disjoint")
    np.testing.assert_array_equal(both.costs, MATRIX)


@pytest.mark.parametrize("seed", range(5))
def test_an_onnx_graph_decides_as_the_model_does(seed):
    pytest.importorskip("onnx")
    ort = pytest.importorskip("onnxruntime")
    model = random_model(seed)
    n_classes = model.schema.n_classes
    costs = np.random.default_rng(seed).uniform(0, 9, (n_classes, n_classes))
    careful = model.with_costs(costs)
    codes = random_codes(seed, model.schema)
    session = ort.InferenceSession(
        to_onnx(careful).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    (label,) = session.run(["label"], {"codes": np.stack(codes, axis=1).astype(np.float32)})
    assert label.tolist() == careful.decide(model.probabilities(codes)).tolist()


def test_the_card_says_what_mistakes_cost():
    text = str(pv.card(scored_model().with_costs(COSTS)))
    assert "smallest expected cost" in text
    assert "if it says yes" in text
    assert "smallest expected cost" not in str(pv.card(scored_model()))
