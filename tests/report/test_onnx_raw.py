"""An ONNX graph reads raw values and says the text of the class, as Python does."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import privet as pv
from privet.report import to_onnx
from privet.testing import unlock_test_seeds

pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")

SCHEMA = pv.Schema(
    {
        "age in years": pv.Numeric(0, 80, bins=7, missing="unknown"),
        "codes": pv.Categorical(["red", "it's", "grün"], other="else", missing="none"),
        "rate": pv.Numeric(-1, 1, bins=5, on_unknown="drop"),
        "smokes": pv.Boolean(),
        "rooms": pv.Categorical([1, 2, 3]),
    },
    "ill",
    ["it's", "nein", "x"],
)


def rows(n: int = 400) -> pd.DataFrame:
    random = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "age in years": random.choice([-5, 0, 11.4, 35, 79.99, 80, 200, np.nan], n),
            "codes": random.choice(["red", "it's", "grün", "blue", ""], n),
            "rate": random.choice([-1, 0.5, 0.1, -2, np.nan], n),
            "smokes": random.choice(["true", "false"], n),
            "rooms": random.choice(["1", "2", "3", "4"], n),
            "ill": random.choice(SCHEMA.classes, n),
        }
    )


LEARNERS: dict[str, Callable[[], pv.PrivetClassifier]] = {
    "greedy": lambda: pv.GreedyTreeClassifier(3, SCHEMA, max_depth=3, random_state=1),
    "forest": lambda: pv.ForestClassifier(3, SCHEMA, n_trees=3, random_state=1),
    "random": lambda: pv.RandomTreesClassifier(3, SCHEMA, n_trees=4, random_state=1),
    "additive": lambda: pv.AdditiveClassifier(3, SCHEMA, random_state=1),
    "id3": lambda: pv.NoisyID3Classifier(3, SCHEMA, random_state=1),
    "gibbs": lambda: pv.GibbsTreeClassifier(3, SCHEMA, random_state=1),
    "boosted": lambda: pv.GibbsBoostClassifier(3, SCHEMA, rounds=2, max_depth=1, random_state=1),
    "default": lambda: pv.PrivetClassifier(30, SCHEMA, random_state=1),
}


def trained(name: str) -> pv.Model:
    with unlock_test_seeds():
        return LEARNERS[name]().fit(rows(2000)).model_


def inputs_of(frame: pd.DataFrame) -> dict[str, np.ndarray]:
    return {
        name: frame[name].to_numpy(np.float64 if attribute.ordered else object)
        for name, attribute in SCHEMA.attributes.items()
    }


def wanted(model: pv.Model, frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    read = frame.replace({"codes": {"": None}})
    released = pv.ReleasedClassifier(model)
    return released.predict(read), released.predict_proba(read)


@pytest.mark.parametrize("name", LEARNERS)
def test_raw_values_give_what_python_gives(name, capfd):
    frame, model = rows(), trained(name)
    session = ort.InferenceSession(
        to_onnx(model, "raw").SerializeToString(), providers=["CPUExecutionProvider"]
    )
    assert {one.name: one.type for one in session.get_inputs()} == {
        "age in years": "tensor(double)",
        "codes": "tensor(string)",
        "rate": "tensor(double)",
        "smokes": "tensor(string)",
        "rooms": "tensor(string)",
    }
    label, stated = session.run(["label", "probabilities"], inputs_of(frame))
    labels, shares = wanted(model, frame)
    assert label.tolist() == labels.tolist()
    assert np.abs(stated - shares).max() < 1e-6
    said = capfd.readouterr()
    assert (said.out, said.err) == ("", "")  # not a word of warning


def test_costs_decide():
    model = trained("additive").with_costs({("it's", "nein"): 9})
    session = ort.InferenceSession(to_onnx(model, "raw").SerializeToString())
    (label,) = session.run(["label"], inputs_of(rows()))
    assert label.tolist() == wanted(model, rows())[0].tolist()


def test_a_graph_of_codes_reads_what_the_schema_encodes():
    model, frame = trained("greedy"), rows()
    session = ort.InferenceSession(pv.export(model, format="onnx", inputs="codes"))
    codes = SCHEMA.encode(frame).astype(np.float32)
    (label,) = session.run(["label"], {"codes": codes})
    released = pv.ReleasedClassifier(model)
    assert [SCHEMA.classes[k] for k in label] == released.predict(frame).tolist()


@pytest.mark.parametrize("learner", [pv.GreedyTreeClassifier, pv.AdditiveClassifier])
def test_text_is_looked_up_by_its_first_characters(learner, capfd):
    jobs = ["technici", "manag\n$.", "überall!", "it's", "missing"]
    schema = pv.Schema(
        {"job": pv.Categorical(jobs, other="else", missing="none", prefix=8)}, "ill", ["x", "y"]
    )
    entries = ["technician", "technici", "technic", "manag\n$.\nx", "manag\n$-", "überall!?"]
    entries += ["it's", "it's so", "else", "missing", "nowhere at all", ""]
    frame = pd.DataFrame({"job": np.tile(entries, 200)})
    frame["ill"] = np.where(frame["job"].isin(["technici", "technician", "überall!?"]), "x", "y")
    with unlock_test_seeds():
        model = learner(100, schema, random_state=1).fit(frame).model_
    session = ort.InferenceSession(
        to_onnx(model, "raw").SerializeToString(), providers=["CPUExecutionProvider"]
    )
    label, stated = session.run(None, {"job": frame["job"].to_numpy(object)})
    released = pv.ReleasedClassifier(model)
    read = frame.replace({"job": {"": None}})
    assert label.tolist() == released.predict(read).tolist()
    assert set(label) == {"x", "y"}
    assert np.abs(stated - released.predict_proba(read)).max() < 1e-6
    said = capfd.readouterr()
    assert (said.out, said.err) == ("", "")


@pytest.mark.slow
def test_a_javascript_runtime_agrees_for_every_learner(tmp_path):
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.skip("npm and node are not installed")
    home = Path(tempfile.gettempdir()) / "privet-onnxruntime-web"
    if not (home / "node_modules" / "onnxruntime-web").exists():
        home.mkdir(exist_ok=True)
        done = subprocess.run(
            [npm, "install", "--no-audit", "--no-fund", "onnxruntime-web@1"],
            cwd=home,
            capture_output=True,
            timeout=300,
        )
        if done.returncode != 0:
            pytest.skip("onnxruntime-web cannot be installed from npm here")
    frame, models = rows(50), {name: trained(name) for name in LEARNERS}
    for name, model in models.items():
        pv.export(model, tmp_path / f"{name}.onnx")
    columns = {
        name: {
            "type": "float64" if column.dtype == np.float64 else "string",
            "values": [None if entry != entry else entry for entry in column.tolist()],
        }
        for name, column in inputs_of(frame).items()
    }
    (tmp_path / "rows.json").write_text(json.dumps(columns))
    script = Path(__file__).parent / "onnx_from_javascript.mjs"
    files = [tmp_path / f"{name}.onnx" for name in models]
    done = subprocess.run(
        [node, script, tmp_path / "rows.json", *files],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "NODE_FOLDER": str(home)},
    )
    assert done.returncode == 0, done.stderr
    for (name, model), line in zip(models.items(), done.stdout.splitlines(), strict=True):
        said = json.loads(line)
        labels, shares = wanted(model, frame)
        assert said["label"] == labels.tolist(), name
        assert np.abs(np.array(said["p"]).reshape(shares.shape) - shares).max() < 1e-6, name
