"""Plans and contributions of 0.1 are read, merged, and added to."""

from __future__ import annotations

import json

import pandas as pd
import pytest

import privet as pv
from tests.golden.facts import facts_of, same_facts
from tests.golden.files import GOLDEN, expected
from tests.golden.reach import privet
from tests.golden.samples import plain

FOLDER = GOLDEN / "federation"
EXPECTED = expected("federation")
PARTIES = ("north", "south", "west")


def facts(path):
    return facts_of(path, pd.read_csv(FOLDER / "rows.csv"))


@pytest.mark.parametrize("name", EXPECTED["plans"])
def test_a_plan_is_read_and_counted_by(name, tmp_path):
    plan = pv.federation.read_plan(FOLDER / name)
    assert plan.fingerprint == EXPECTED["plans"][name]["fingerprint"]
    pv.federation.write_plan(plan, tmp_path / "again.json")
    assert pv.federation.read_plan(tmp_path / "again.json").fingerprint == plan.fingerprint
    plain(50).to_csv(tmp_path / "east.csv", index=False)
    words = ("east.csv", "--plan", FOLDER / name, "--epsilon", "1", "--party", "east")
    ran = privet("federation", "contribute", *words, "-o", "east.json", folder=tmp_path)
    assert ran.code == 0, ran
    kind = name.removeprefix("plan-").removesuffix(".json")
    files = [FOLDER / f"{party}-{kind}.json" for party in PARTIES]
    ran = privet("merge", "east.json", *files, "-o", "m.json", "--json", folder=tmp_path)
    assert ran.code == 0, ran
    assert json.loads(ran.out)["epsilon"] == 1 + 1 + 0.5 + 0.25


@pytest.mark.parametrize("name", EXPECTED["models"])
def test_contributions_and_merged_models_are_read(name):
    same_facts(facts(FOLDER / name), EXPECTED["models"][name])


@pytest.mark.parametrize("combine", ["probabilities", "vote"])
@pytest.mark.parametrize("people", ["disjoint", "may-overlap"])
def test_contributions_merge_to_the_same_model(combine, people, tmp_path):
    files = [FOLDER / f"{party}-{combine}.json" for party in PARTIES]
    ran = privet("merge", *files, "--people", people, "-o", "m.json", folder=tmp_path)
    assert ran.code == 0, ran
    kept = EXPECTED["models"][f"merged-{combine}-{people}.json"]
    same_facts(facts(tmp_path / "m.json"), kept)
    merged = pv.federation.merge([pv.load(path).model_ for path in files], people)
    pv.save(merged, tmp_path / "called.json")
    same_facts(facts(tmp_path / "called.json"), kept)


def test_a_model_of_0_1_is_updated_and_joined(tmp_path):
    models = GOLDEN / "models"
    plain(80, 7000).to_csv(tmp_path / "new.csv", index=False)
    words = ("new.csv", "-e", "1/4", "--people", "disjoint", "-o", "m.json")
    ran = privet("update", models / "updated.json", *words, folder=tmp_path)
    assert ran.code == 0, ran
    assert len(pv.load(tmp_path / "m.json").privacy_.leaves) == 3
    old = [pv.load(models / f"{name}.json").model_ for name in ("random-trees", "partial-disjoint")]
    assert str(pv.federation.join(old).privacy).startswith("2-differentially private")
