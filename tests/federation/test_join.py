"""Tables with different attributes of the same people."""

from __future__ import annotations

import math
from fractions import Fraction as F

import numpy as np
import pandas as pd
import pytest

import privet as pv
from privet import federation
from privet.domain import Categorical, Schema
from privet.errors import AbsentWarning, ParameterError, QuestionError, SchemaMismatch
from tests.federation.parties import SCHEMA, rows
from tests.routes import route

LEFT = Schema({"form": SCHEMA.attributes["form"]}, "advice", ["no", "yes"])
RIGHT = Schema(
    {"age": SCHEMA.attributes["age"], "child": SCHEMA.attributes["child"]}, "advice", ["no", "yes"]
)


def fitted(schema, epsilon=1, n=400, kind=pv.RandomTreesClassifier, **more):
    more = more or ({"n_trees": 5, "height": 1} if kind is pv.RandomTreesClassifier else {})
    return kind(epsilon, schema, **more).fit(rows(n))


def predicts(model, table):
    return pv.ReleasedClassifier(model).predict(table)


@pytest.mark.parametrize(
    "kind", [pv.RandomTreesClassifier, pv.PrivetClassifier, pv.GreedyTreeClassifier]
)
def test_the_union_classifies_rows_with_all_attributes(kind, tmp_path):
    left, right = fitted(LEFT, 20, 2000, kind), fitted(RIGHT, 20, 2000, kind)
    whole = federation.join([left, right])
    assert whole.schema.names == ("form", "age", "child")
    table = rows(72)
    alone = [(one.predict(table) == table["advice"]).mean() for one in (left, right)]
    assert (predicts(whole, table) == table["advice"]).mean() >= max(alone) - 0.02
    pv.save(whole, tmp_path / "m.json")
    again = pv.load(tmp_path / "m.json")
    np.testing.assert_array_equal(
        again.predict_proba(table), pv.ReleasedClassifier(whole).predict_proba(table)
    )


def test_the_charge_is_the_sum():
    whole = federation.join([fitted(LEFT, F(1, 2)), fitted(RIGHT, F(1, 3))])
    assert whole.privacy.promised.epsilon == F(5, 6)
    assert (
        whole.privacy.describe()
        == "0.833334-differentially private with one row added or removed in all 2 tables"
    )
    more = federation.join([whole, fitted(RIGHT, 1)])
    assert more.privacy.promised.epsilon == F(11, 6)
    assert len(more.privacy.leaves) == 3


def test_a_missing_half_leaves_the_answer_to_the_other():
    left, right = fitted(LEFT, 20, 2000), fitted(RIGHT, 20, 2000)
    whole = federation.join([left, right])
    table = rows(72)
    for half, schema in ((left, LEFT), (right, RIGHT)):
        present = table[list(schema.names)]
        with pytest.warns(
            AbsentWarning, match="not in the table, and taken as unknown: (form|age, child)"
        ):
            said = predicts(whole, present)
        np.testing.assert_array_equal(said, half.predict(present))
    blank = table.assign(form=None)
    np.testing.assert_array_equal(
        predicts(whole, blank[["form", "age", "child"]]), right.predict(table)
    )


def test_a_row_of_which_nothing_is_known_gets_the_prior():
    whole = federation.join([fitted(LEFT, 20, 2000), fitted(RIGHT, 20, 2000)])
    nothing = pd.DataFrame({"form": [None], "age": [None], "child": [None]}, dtype=object)
    known = pv.ReleasedClassifier(whole).predict_proba(nothing)[0]
    assert known[0] == pytest.approx((rows(2000)["advice"] == "no").mean(), abs=0.1)


def test_many_rows_do_not_speak_where_nothing_is_known():
    """With summed counts, a party of millions whose attributes are absent must not outvote a leaf
    of few.
    """
    from dataclasses import replace

    left, right = (
        fitted(schema, 20, 400, n_trees=1, height=1, combine="counts", shrink=0).model_
        for schema in (LEFT, RIGHT)
    )
    huge = replace(
        left,
        trees=tuple(replace(tree, counts=tree.counts * 1e9) for tree in left.trees),
        evidence=None,
    )
    whole = federation.join([huge, right])
    with pytest.warns(AbsentWarning):
        said = predicts(whole, rows(72)[["age", "child"]])
    np.testing.assert_array_equal(said, predicts(right, rows(72)))


def test_some_attribute_must_be_there_and_others_must_fit():
    whole = pv.ReleasedClassifier(federation.join([fitted(LEFT), fitted(RIGHT)]))
    with pytest.raises(SchemaMismatch, match="is not in the table"):
        whole.predict(pd.DataFrame({"something": [1]}))
    with pytest.raises(SchemaMismatch, match="is not in the table"):
        fitted(LEFT).predict(pd.DataFrame({"age": [1]}))  # of one table, no column may be absent


def test_onnx_says_the_same_where_halves_are_missing():
    ort = pytest.importorskip("onnxruntime")
    from privet.domain.encode.rows import encode
    from privet.report.onnx import to_onnx

    whole = federation.join([fitted(LEFT, 20, 2000), fitted(RIGHT, 20, 2000)])
    codes = encode(whole.schema, rows(72)[["form"]], target=False, partial=True).codes
    session = ort.InferenceSession(to_onnx(whole).SerializeToString())
    label, shares = session.run(None, {"codes": np.column_stack(codes).astype(np.float32)})
    np.testing.assert_allclose(shares, whole.probabilities(codes), atol=1e-6)
    np.testing.assert_array_equal(label, whole.probabilities(codes).argmax(axis=1))


def test_shared_attributes_must_be_the_same():
    shared = Schema(
        {"form": SCHEMA.attributes["form"], "child": SCHEMA.attributes["child"]},
        "advice",
        ["no", "yes"],
    )
    assert federation.join([fitted(shared), fitted(RIGHT)]).schema.names == ("form", "child", "age")
    other = Schema({"child": Categorical(["yes", "no"])}, "advice", ["no", "yes"])
    with pytest.raises(QuestionError, match="attribute 'child' has different values"):
        federation.join([fitted(other), fitted(RIGHT)])


def test_what_cannot_be_joined():
    left = fitted(LEFT)
    with pytest.raises(ParameterError, match="at least two models, got 1"):
        federation.join([left])
    with pytest.raises(ParameterError, match="given twice"):
        federation.join([left, left])
    turned = pv.RandomTreesClassifier(
        1, Schema(RIGHT.attributes, "advice", ["yes", "no"]), n_trees=2, height=1
    ).fit(rows(50))
    with pytest.raises(QuestionError, match="predict different things"):
        federation.join([left, turned])
    with pytest.raises(QuestionError, match="combine their trees in different ways"):
        federation.join([left, fitted(RIGHT, kind=pv.GibbsTreeClassifier)])


class TestTheUnionDoesNotKeepEpsilon:
    """Jagannathan, Pillaipakkamnatt and Wright (2012, section 5.3) say that the union of two
    epsilon-private ensembles on disjoint attributes is epsilon-private. A counter-example: two
    parties, one person.

    Each party has one attribute and releases the class counts of its leaves. The person is in both
    tables, so both vectors change. The law of the noise is known, so the likelihood of what was
    released is computed, not estimated.
    """

    EPSILON = 1.0

    def released(self, schema, table):
        model = (
            pv.RandomTreesClassifier(self.EPSILON, schema, n_trees=1, height=1, shrink=0)
            .fit(table)
            .model_
        )
        return model.trees[0].cells, model.evidence.batches[0].tables[0]

    def log_likelihood(self, cells, counts, schema, table):
        """Up to a constant: discrete Laplace noise of scale 1/epsilon on each count."""
        from privet.domain.encode.rows import encode

        coded = encode(schema, table)
        exact = np.zeros_like(counts)
        np.add.at(exact, (route(cells, coded.codes), coded.classes), 1)
        return -self.EPSILON * float(np.abs(counts - exact).sum())

    def test_the_likelihood_ratio_of_both_exceeds_that_of_epsilon(self):
        with_person = pd.DataFrame(
            {"form": ["foster"], "age": [50.0], "child": ["yes"], "advice": ["yes"]}
        )
        without = with_person.iloc[:0]
        small = Schema({"child": RIGHT.attributes["child"]}, "advice", ["no", "yes"])
        above = 0
        for _ in range(200):
            losses = []
            for schema in (LEFT, small):
                cells, counts = self.released(schema, with_person)
                losses.append(
                    self.log_likelihood(cells, counts, schema, with_person)
                    - self.log_likelihood(cells, counts, schema, without)
                )
            # each alone is epsilon-private
            assert all(abs(loss) <= self.EPSILON + 1e-9 for loss in losses)
            assert abs(sum(losses)) <= 2 * self.EPSILON + 1e-9  # the sum, which our statement says
            above += sum(losses) > self.EPSILON + 1e-9
        # Both noises are not negative with probability (1/(1 + e^-1))^2 = .53; the ratio is e^(2
        # epsilon) then.
        assert 60 < above < 150

    def test_our_statement_says_the_sum(self):
        small = Schema({"child": RIGHT.attributes["child"]}, "advice", ["no", "yes"])
        models = [
            pv.RandomTreesClassifier(self.EPSILON, schema, n_trees=1, height=1).fit(rows(10))
            for schema in (LEFT, small)
        ]
        assert federation.join(models).privacy.epsilon == 2 * self.EPSILON
        assert math.exp(federation.join(models).privacy.epsilon) == pytest.approx(
            math.exp(self.EPSILON) ** 2
        )
