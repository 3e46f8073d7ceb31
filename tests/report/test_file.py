"""The model file: it reads back as it was, it is written as a whole, and it needs nothing but
itself.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from privet.domain.cells import Cells, Split
from privet.domain.tree import Tree
from privet.errors import ModelError, PrivetError
from privet.model import Model
from privet.report import read_model, write_model
from tests.report.models import (
    SCHEMA,
    gaussian_model,
    open_model,
    random_codes,
    random_model,
    small_model,
)
from tests.report.scored import scored_model


def same(one: Model, other: Model) -> None:
    for name in ("learner", "schema", "combine", "privacy", "noise"):
        assert getattr(one, name) == getattr(other, name), name
    assert one.schema.to_json() == other.schema.to_json()
    codes = random_codes(1, one.schema)
    for mine, theirs in zip(one.trees, other.trees, strict=True):
        assert mine.counts.tolist() == theirs.counts.tolist()
        assert mine.reach(codes).tolist() == theirs.reach(codes).tolist()
    assert one.probabilities(codes).tolist() == other.probabilities(codes).tolist()


@pytest.mark.parametrize(
    "model",
    [
        small_model(),
        open_model(),
        gaussian_model(),
        small_model(combine="vote"),
        small_model(combine="probabilities"),
        scored_model(),
    ],
)
def test_a_model_reads_back_as_it_was(model, tmp_path):
    write_model(model, tmp_path / "m.json")
    read = read_model(tmp_path / "m.json")
    same(model, read)
    assert dict(read.settings) == dict(model.settings)


@pytest.mark.parametrize("seed", range(25))
def test_random_models_read_back_to_the_last_bit(seed, tmp_path):
    model = random_model(seed, whole=seed % 2 == 0)
    write_model(model, tmp_path / "m.json")
    same(model, read_model(tmp_path / "m.json"))


def test_owner_side_facts_survive(tmp_path):
    schema = SCHEMA.declare(n_rows=1000, person="id", rows_per_person=3, neighbours="replace")
    write_model(small_model(schema), tmp_path / "m.json")
    read = read_model(tmp_path / "m.json")
    assert read.schema == schema
    assert read.privacy.promised.epsilon == Fraction(5, 6) * 6


def test_the_same_model_gives_the_same_bytes_also_after_reading(tmp_path):
    for name in ("a", "b"):
        write_model(small_model(), tmp_path / name)
    write_model(read_model(tmp_path / "a"), tmp_path / "c")
    assert (
        (tmp_path / "a").read_bytes()
        == (tmp_path / "b").read_bytes()
        == (tmp_path / "c").read_bytes()
    )


def test_the_file_is_what_the_format_says(tmp_path):
    write_model(small_model(), tmp_path / "m.json")
    text = (tmp_path / "m.json").read_text(encoding="utf-8")
    document = json.loads(text)
    assert list(document)[:2] == ["privet", "version"]
    assert (document["privet"], document["version"]) == ("model", 1)
    assert document["fingerprint"] == SCHEMA.fingerprint
    assert document["privacy"]["charges"][0] == {"what": "splits", "epsilon": "1/3", "rho": "1/72"}
    assert document["trees"][1] == {"attribute": [-1], "branch": [], "counts": [[10, 20, 3]]}
    checksum = document.pop("checksum")
    everything_else = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    assert hashlib.sha256(everything_else.encode()).hexdigest() == checksum
    # whole numbers without a point, floats in their shortest form
    assert '"counts":[[55.6,114,12]' in text


@pytest.mark.parametrize(
    "count", [0.1 + 0.2, 5e-324, 2.0**53, -1 / 3, 1e15 + 0.5, 123456789.123456789]
)
def test_every_float_reads_back_identically(count, tmp_path):
    tree = Tree(Cells.everything(SCHEMA), np.array([[count, -count, 0.0]]))
    write_model(small_model(trees=(tree,)), tmp_path / "m.json")
    assert read_model(tmp_path / "m.json").trees[0].counts.tolist() == [[count, -count, 0.0]]


def test_names_and_values_of_any_script_survive(tmp_path):
    write_model(small_model(learner="дерево 树 🌳"), tmp_path / "m.json")
    assert read_model(tmp_path / "m.json").learner == "дерево 树 🌳"


def test_settings_become_plain_json(tmp_path):
    odd = {
        "epsilon": float("inf"),
        "share": Fraction(1, 3),
        "depth": np.int64(4),
        "rates": (np.float64(0.5), None),
        "a": {"b": True},
    }
    write_model(small_model(settings=odd), tmp_path / "m.json")
    read = read_model(tmp_path / "m.json").settings
    assert read == {
        "epsilon": "inf",
        "share": "1/3",
        "depth": 4,
        "rates": [0.5, None],
        "a": {"b": True},
    }


def test_nodes_that_nothing_reaches_are_not_written(tmp_path):
    cells = Cells.everything(SCHEMA).refine({0: Split.value(SCHEMA, "form", code=1)})
    # Node 1 tests again what node 0 tested; 3 and 4 hang in the air, and 5 hangs on them.
    loose = Cells(
        SCHEMA,
        np.array([0, -1, -1, 0, -1, -1]),
        np.array([0, 0, 0, 3, 0, 0]),
        np.array([1, 2, 1, 4, 5, 4]),
        [-1] + [0] * 2 + [-1, 0, 0],
        1,
    )
    counts = np.arange(18.0).reshape(6, 3)
    write_model(small_model(trees=(Tree(loose, counts),)), tmp_path / "m.json")
    read = read_model(tmp_path / "m.json").trees[0]
    assert read.n_nodes == 3
    assert read.counts.tolist() == counts[:3].tolist()
    codes = random_codes(3, SCHEMA)
    assert (read.reach(codes) == Tree(cells, counts[:3]).reach(codes)).all()


# -- writing ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"settings": {"callback": print}}, "settings may hold"),
        ({"settings": {"a": {"b": {"c": {"d": {"e": 1}}}}}}, "nested too deeply"),
        ({"settings": {1: 2}}, "settings may hold"),
        ({"learner": ""}, "learner"),
        ({"learner": "\ud800"}, "Unicode"),
        ({"noise": float("nan")}, "JSON does not have"),
        ({"noise": -1.0}, "noise"),
        (
            {"trees": (Tree(Cells.everything(SCHEMA), np.array([[1e300, 0, 0]])),)},
            "counts must lie",
        ),
    ],
)
def test_what_could_not_be_read_back_is_not_written(changes, reason, tmp_path):
    target = tmp_path / "m.json"
    target.write_text("before")
    with pytest.raises(ModelError, match=reason):
        write_model(small_model(**changes), target)
    assert target.read_text() == "before"
    assert [entry.name for entry in tmp_path.iterdir()] == ["m.json"]


def test_a_model_that_is_none_is_not_made():
    for changes in ({"trees": random_model(3).trees}, {"trees": ()}, {"combine": "mean"}):
        with pytest.raises(PrivetError):
            small_model(**changes)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    target = tmp_path / "m.json"
    write_model(small_model(), target)
    before = target.read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ModelError, match="No space left") as caught:
        write_model(open_model(), target)
    assert caught.value.path == str(target)
    assert target.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["m.json"]


def test_a_released_file_is_as_readable_as_any_new_file(tmp_path):
    (tmp_path / "plain").write_text("")
    write_model(small_model(), tmp_path / "m.json")
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("plain", "m.json")}
    assert len(modes) == 1


@pytest.mark.parametrize("path", ["no/such/folder/m.json", "nul\x00.json", "."])
def test_paths_that_cannot_be_written_or_read(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError):
        write_model(small_model(), path)
    with pytest.raises(ModelError):
        read_model(path)


# -- a fresh process -------------------------------------------------------------------------------

FRESH = """
import sys
import numpy as np
from privet.report import read_model
model = read_model(sys.argv[1])
codes = [np.array(column) for column in ([0, 2], [0, 4], [3, 1], [0, 0])]
print(model.probabilities(codes).tolist())
sys.exit(" ".join(sorted({"pandas", "duckdb", "opendp", "matplotlib", "onnx", "rich", "numba"} & set(sys.modules))) or 0)
"""  # noqa: E501


def test_it_predicts_in_a_process_that_has_never_seen_the_data(tmp_path):
    model = small_model()
    write_model(model, tmp_path / "m.json")
    result = subprocess.run(
        [sys.executable, "-c", FRESH, str(tmp_path / "m.json")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    codes = [np.array(column) for column in ([0, 2], [0, 4], [3, 1], [0, 0])]
    assert json.loads(result.stdout) == model.probabilities(codes).tolist()


def test_the_error_is_a_privet_error_that_says_path_and_reason(tmp_path):
    with pytest.raises(
        PrivetError, match=r"model file .*gone\.json: it cannot be read: No such file"
    ) as caught:
        read_model(tmp_path / "gone.json")
    assert isinstance(caught.value, ModelError)
    assert caught.value.path == str(tmp_path / "gone.json")
