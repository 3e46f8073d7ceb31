"""Trees state their kinds, models check them, files keep them."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import privet as pv
from privet import federation
from privet.curator.recorded import digest_of
from privet.domain import Categorical, Schema
from privet.domain.cells import Cells, Split
from privet.domain.tree import TREE_KINDS, Tree
from privet.errors import QuestionError
from privet.model import Model
from privet.model.document import from_document, to_document, to_document_of_0_1
from privet.model.file import parse, seal
from privet.report import read_model
from privet.report.labels import collapse_tree
from tests.golden.files import GOLDEN
from tests.report.models import SCHEMA, merged_model, small_model, small_tree
from tests.report.scored import labelled, scored_model, small_drawn

EVERYONE = Cells.everything(SCHEMA)
#: The digest that 0.1 gave to the tree of ``small_drawn``.
OF_0_1 = "39e387effb29df247475f58fde68849fe355c74a89516555bb76cf025d0f14f1"


def kinds(model: Model) -> list[str]:
    return [tree.kind for tree in model.trees]


# -- models check what is stated -------------------------------------------------------------------


def test_a_tree_has_a_known_kind():
    with pytest.raises(QuestionError, match=r"must be one of 'counts', .* got 'tree'"):
        replace(small_tree(), kind="tree")
    assert small_tree().kind == "counts"


def test_scores_must_say_what_they_are():
    trees = (small_drawn(), replace(small_drawn(), kind="counts"))
    privacy = small_model().privacy
    with pytest.raises(QuestionError, match="tree 2 holds counts, but the model adds up scores"):
        Model("x", SCHEMA, trees, "scores", privacy)


@pytest.mark.parametrize("combine", ["counts", "probabilities", "vote"])
def test_counts_are_of_one_kind(combine):
    with pytest.raises(QuestionError, match=r"tree 1 holds scores \(its kind is 'drawn'\)"):
        small_model(trees=(small_drawn(),), combine=combine)


def _two(root: list[float], left: list[float], right: list[float]) -> Tree:
    cells = EVERYONE.refine({0: Split.threshold(SCHEMA, "age", code=2)})
    return Tree(cells, np.array([root, left, right]))


def _form(root: list[float]) -> Tree:
    cells = EVERYONE.refine({0: Split.multiway(SCHEMA, "form")})
    return Tree(cells, np.vstack([root, np.ones((3, 3))]))


def _leaf(*scores: float) -> Tree:
    return Tree(EVERYONE, np.array([scores]))


NO, YES, ALL = [0.7, 0, 0], [0, 0.7, 0], [0.0, 0, 0]
KEPT = [
    ("drawn", _two(NO, YES, NO)),
    ("drawn", _leaf(0, 0.7, 0)),
    ("calibrated", _two([-1, -2, -3], [-3, -2, -4], [-1, -2, -3])),
    ("calibrated", _leaf(-1, -2, -2)),
    ("calibrated", _two(NO, YES, NO)),
    ("term", _form(ALL)),
    ("constant", _leaf(0, 0, 0)),
    ("constant", _leaf(0, 0.7, 0)),
    ("scores", _two(ALL, [1, 1, 1], [2, 3, 4])),
]
BROKEN = [
    ("drawn", _two(NO, YES, [1.4, 0, 0])),
    ("drawn", _two(NO, YES, [0.7, 0.1, 0])),
    ("drawn", _two(NO, YES, ALL)),
    ("drawn", _two([-0.7, 0, 0], [-0.7, 0, 0], [-0.7, 0, 0])),
    ("calibrated", _two([-1, -2, -3], [-1, -2, -4], [-3, -2, -4])),
    ("calibrated", _two([-1, -2, -3], [-1, -2, -3], [-2, -2, -3])),
    ("term", _form([0, 0.1, 0])),
    ("term", _two(ALL, YES, NO)),
    ("term", _leaf(0, 0, 0)),
    ("constant", _two(ALL, ALL, ALL)),
]


@pytest.mark.parametrize(("kind", "tree"), KEPT)
def test_what_keeps_the_promise_of_its_kind(kind, tree):
    assert kinds(scored_model(trees=(replace(tree, kind=kind),))) == [kind]


@pytest.mark.parametrize(("kind", "tree"), BROKEN)
def test_what_breaks_the_promise_of_its_kind(kind, tree):
    with pytest.raises(QuestionError, match=f"tree 1 is no '{kind}' tree: "):
        scored_model(trees=(replace(tree, kind=kind),))


def test_every_kind_is_tried():
    assert {kind for kind, _ in KEPT} == set(TREE_KINDS) - {"counts"}
    assert {kind for kind, _ in BROKEN} == set(TREE_KINDS) - {"counts", "scores"}


# -- files keep it ---------------------------------------------------------------------------------


@given(st.lists(st.sampled_from(KEPT), min_size=1, max_size=8))
def test_files_keep_kinds(listed):
    model = scored_model(trees=tuple(replace(tree, kind=kind) for kind, tree in listed))
    data = seal(to_document(model))
    assert kinds(parse(data)) == [kind for kind, _ in listed]
    assert seal(to_document(parse(data))) == data


@pytest.mark.parametrize("model", [small_model(), small_model(combine="vote"), merged_model()])
def test_files_of_counts_are_those_of_0_1(model):
    assert to_document(model) == to_document_of_0_1(model)
    assert "kinds" not in to_document(model)
    assert to_document(model)["version"] == 1


def test_0_1_refuses_files_of_scores_by_their_version():
    """0.1 reads version 1 and nothing else, and says that a newer Privet may read the file."""
    document = to_document(scored_model())
    assert document["version"] == 2
    assert document["kinds"] == ["drawn", "term", "constant"]


def test_the_kinds_of_0_1_are_guessed_as_0_1_did():
    guessed = [
        (_leaf(-1, -2, -2), "constant"),  # also where it is a calibrated tree
        (_leaf(0, 0.7, 0), "drawn"),
        (_two(NO, YES, NO), "drawn"),
        (_two([-1, -2, -3], [-3, -2, -4], [-1, -2, -3]), "calibrated"),
        (_form(ALL), "term"),
        (_form([0, 0.1, 0]), "scores"),
        (_two(ALL, YES, NO), "scores"),
        (_two([-0.7, 0, 0], NO, YES), "scores"),
    ]
    model = scored_model(trees=tuple(replace(tree, kind="scores") for tree, _ in guessed))
    assert kinds(from_document(to_document_of_0_1(model))) == [kind for _, kind in guessed]


SCORED = [
    path.stem
    for path in sorted((GOLDEN / "models").glob("*.json"))
    if json.loads(path.read_text("utf-8")).get("combine") == "scores"
]


@pytest.mark.parametrize("name", SCORED)
def test_models_of_0_1_have_the_kinds_that_their_learners_state_today(name):
    model = read_model(GOLDEN / "models" / f"{name}.json")
    settings = model.settings
    if model.learner == "additive":
        expected = ["constant", *["term"] * len(model.schema.names)]
    elif model.privacy.parts:
        expected = kinds(model)
        assert set(expected) <= {"drawn", "calibrated", "term"}
    else:
        drawn = ["drawn"] * settings.get("rounds", 1)
        if settings["calibration_share"]:
            drawn[0] = "calibrated"
        expected = drawn + ["term"] * len(model.schema.names) * bool(settings.get("additive_share"))
    assert kinds(model) == expected


# -- what is made of models states it, too ---------------------------------------------------------


def _fitted(schema: Schema, make=pv.AdditiveClassifier, **settings) -> Model:
    rng = np.random.default_rng(0)
    labels = {**schema.attributes, schema.target: schema.label}
    table = {name: rng.choice(attribute.labels, 300) for name, attribute in labels.items()}
    return make(1, schema, **settings).fit(table).model_


FIRST = Schema(
    {"a": Categorical(["x", "y"]), "b": Categorical(["u", "v", "w"])}, "t", ["no", "yes"]
)
SECOND = Schema({"c": Categorical(["x"])}, "t", ["no", "yes"])


def test_merged_and_joined_models_keep_kinds():
    drawn = _fitted(FIRST, pv.GibbsBoostClassifier, rounds=3, max_depth=1)
    additive, other = _fitted(FIRST), _fitted(SECOND)
    merged = federation.merge([drawn, additive], "disjoint")
    assert sorted(kinds(merged)) == sorted(kinds(drawn) + kinds(additive))
    joined = federation.join([drawn, other])
    assert kinds(joined) == ["drawn"] * 3 + ["constant", "term"]


def test_what_is_shown_short_keeps_its_kind():
    for kind, tree in KEPT:
        assert collapse_tree(replace(tree, kind=kind)).kind == kind


def test_an_interrupted_fit_is_recognised_whatever_kinds_are_called():
    """Digests are those of 0.1, whose trees had no kind."""
    tree = small_drawn()
    assert digest_of(tree) == OF_0_1
    assert digest_of(replace(tree, kind="scores")) == OF_0_1
    assert digest_of(labelled(tree.cells, [0] * tree.n_nodes)) != OF_0_1
