"""The ONNX graph says what the model says, on every code."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from privet.domain import Categorical, Schema
from privet.domain.cells import Cells, Split
from privet.domain.tree import Tree
from privet.errors import MissingDependency, ParameterError
from privet.report import onnx, to_onnx
from tests.report.models import (
    COMBINE,
    SCHEMA,
    open_model,
    random_codes,
    random_model,
    small_model,
    statement,
)
from tests.report.scored import drawn_tree, scored_model, term

pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")


def run(model, codes) -> tuple[np.ndarray, np.ndarray]:
    session = ort.InferenceSession(
        to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    label, probabilities = session.run(
        ["label", "probabilities"], {"codes": np.stack(codes, axis=1).astype(np.float32)}
    )
    return label, probabilities


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("seed", range(30))
def test_random_models_agree_on_random_codes(seed, whole):
    model = random_model(seed, whole=whole)
    codes = random_codes(seed, model.schema)
    label, probabilities = run(model, codes)
    expected = model.probabilities(codes)
    assert label.tolist() == expected.argmax(axis=1).tolist()
    assert np.abs(probabilities - expected).max() < 1e-5
    assert probabilities.dtype == np.float32


@pytest.mark.parametrize("combine", COMBINE)
def test_the_whole_domain_with_unknown_codes(combine):
    model = small_model(combine=combine)
    codes = [axis.reshape(-1) for axis in np.indices([size + 1 for size in SCHEMA.sizes])]
    label, probabilities = run(model, codes)
    expected = model.probabilities(codes)
    assert label.tolist() == expected.argmax(axis=1).tolist()
    assert np.abs(probabilities - expected).max() < 1e-5
    # the test would see a wrong node
    assert len(np.unique(expected, axis=0)) >= (2 if combine == "vote" else 8)


def test_where_noise_left_nothing_all_classes_are_as_likely():
    model = small_model(trees=(Tree(Cells.everything(SCHEMA), np.array([[-3.0, -1.0, 0.0]])),))
    label, probabilities = run(model, random_codes(0, SCHEMA, 3))
    assert label.tolist() == [0, 0, 0]
    assert probabilities == pytest.approx(1 / 3)


def test_counts_add_up_before_they_are_clipped():
    trees = [
        Tree(Cells.everything(SCHEMA), np.array([counts]))
        for counts in ([-30.0, 5, 0], [40.0, 5, 0])
    ]
    _, probabilities = run(small_model(trees=tuple(trees)), random_codes(0, SCHEMA, 1))
    assert probabilities[0].tolist() == [0.5, 0.5, 0.0]


def test_a_tie_in_single_precision_is_none_here():
    counts = np.array([[2.0**30, 2.0**30 + 1, 0.0]])
    label, _ = run(
        small_model(trees=(Tree(Cells.everything(SCHEMA), counts),)), random_codes(0, SCHEMA, 1)
    )
    assert label.tolist() == [1]


@pytest.mark.parametrize("seed", range(12))
def test_scores_agree_to_a_millionth_and_ties_stay_ties(seed):
    """Many trees with the same score per vote: were they added in another order, rounding might
    decide between equal classes.
    """
    rng = np.random.default_rng(seed)
    trees = [drawn_tree(rng, SCHEMA, depth=2, amount=0.7) for _ in range(12)]
    trees += (
        []
        if seed % 2
        else [
            term(SCHEMA, "age", rng.normal(size=(4, 3))),
            Tree(Cells.everything(SCHEMA), rng.normal(size=(1, 3))),
        ]
    )
    model = scored_model(trees=tuple(trees))
    codes = [axis.reshape(-1) for axis in np.indices([size + 1 for size in SCHEMA.sizes])]
    label, probabilities = run(model, codes)
    expected = model.probabilities(codes)
    assert np.abs(probabilities - expected).max() < 1e-6
    assert label.tolist() == expected.argmax(axis=1).tolist()


def test_the_largest_scores_do_not_overflow():
    trees = [
        Tree(Cells.everything(SCHEMA), np.array([scores]))
        for scores in ([1e4, 9999, -1e4], [1e4, 1e4, 0])
    ]
    _, probabilities = run(scored_model(trees=tuple(trees)), random_codes(0, SCHEMA, 1))
    assert probabilities[0] == pytest.approx([1 / (1 + np.exp(-1)), 1 / (1 + np.e), 0])


@pytest.mark.parametrize("odd", [-1, 1e9, np.nan, np.inf, -np.inf])
def test_a_code_outside_the_domain_is_an_unknown_one(odd):
    model = small_model()
    inside = random_codes(5, SCHEMA, 40)
    for position, size in enumerate(SCHEMA.sizes):
        unknown = [*inside]
        unknown[position] = np.full(40, size)
        strange = [column.astype(float) for column in inside]
        strange[position] = np.full(40, odd)
        assert np.abs(run(model, strange)[1] - model.probabilities(unknown)).max() < 1e-5


def test_wide_attributes_and_no_rows():
    schema = Schema({"word": Categorical([f"w{i}" for i in range(3000)])}, "class", ["a", "b"])
    cells = Cells.everything(schema).refine({0: Split.multiway(schema, "word")})
    counts = np.random.default_rng(0).integers(0, 9, (3000, 2))
    model = small_model(schema, trees=(Tree.from_leaves(cells, counts),), privacy=statement(schema))
    codes = [np.arange(3001)]
    assert run(model, codes)[0].tolist() == model.probabilities(codes).argmax(axis=1).tolist()
    assert run(model, [np.arange(0)])[1].shape == (0, 2)


def test_the_graph_says_what_it_is_and_what_it_promises():
    graph = to_onnx(small_model())
    told = {entry.key: entry.value for entry in graph.metadata_props}
    assert json.loads(told["classes"]) == ["no", "yes", "wait"]
    assert Schema.from_json(json.loads(told["schema"])) == SCHEMA
    assert told["fingerprint"] == SCHEMA.fingerprint
    assert graph.doc_string.startswith("0.833334-differentially private")
    assert to_onnx(open_model()).doc_string.startswith("NOT PRIVATE")
    assert graph.SerializeToString(deterministic=True) == to_onnx(small_model()).SerializeToString(
        deterministic=True
    )


def test_what_does_not_fit_is_refused_in_words(monkeypatch):
    monkeypatch.setattr(onnx, "MAX_LEVELS", 1)
    with pytest.raises(ParameterError, match="1 levels at most, this one has 2"):
        to_onnx(small_model())
    monkeypatch.undo()
    monkeypatch.setattr(onnx, "MAX_TABLE_BYTES", 100)
    with pytest.raises(ParameterError, match="100 bytes at most"):
        to_onnx(small_model())


def test_without_onnx_the_error_has_the_install_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(
        MissingDependency,
        match=r"ONNX export needs the package 'onnx': pip install 'privet\[onnx\]'",
    ):
        to_onnx(small_model())


def test_importing_the_exports_loads_none_of_the_heavy_packages():
    code = (
        "import sys, privet.report, privet.report.plots; sys.exit(' '.join({'onnx', 'rich', "
        "'matplotlib', 'pandas'} & set(sys.modules)) or 0)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
