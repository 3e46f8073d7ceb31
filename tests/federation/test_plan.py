"""The plan: structures that are drawn once, and a file that nobody can change unnoticed."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from privet import federation
from privet.domain import Schema
from privet.errors import ModelError, ParameterError
from privet.federation.plan import plan_from_bytes, plan_to_bytes
from privet.mechanisms.randomness import SeededBits, unlock_test_seeds
from privet.model.file import seal
from tests.federation.parties import SCHEMA, Counting, plan


def test_a_plan_survives_its_file(tmp_path):
    drawn = plan(combine="counts", shrink=0)
    federation.write_plan(drawn, tmp_path / "plan.json")
    again = federation.read_plan(tmp_path / "plan.json")
    assert again.fingerprint == drawn.fingerprint
    assert again.schema == drawn.schema
    declared = federation.draw_plan(
        SCHEMA.declare(n_rows=9, person="who", rows_per_person=3), 1, height=1
    ).schema
    assert declared == SCHEMA  # what a table declares about its people is no part of a plan
    assert (again.combine, again.shrink, dict(again.settings)) == (
        "counts",
        0,
        dict(drawn.settings),
    )
    assert plan_to_bytes(again) == plan_to_bytes(drawn)


def test_plans_are_drawn_from_the_cryptographic_source():
    bits = Counting()
    plan(bits=bits)
    assert bits.asked > 0
    assert plan().fingerprint != plan().fingerprint


def test_the_fingerprint_is_that_of_structure_and_domain():
    with unlock_test_seeds():
        one, same = (plan(bits=SeededBits(7)) for _ in range(2))
        narrow = Schema(SCHEMA.attributes, "other", SCHEMA.classes)
        foreign = federation.draw_plan(narrow, 3, height=2, bits=SeededBits(7))
        declared = federation.draw_plan(
            SCHEMA.declare(n_rows=5, rows_per_person=2), 3, height=2, bits=SeededBits(7)
        )
    assert one.fingerprint == same.fingerprint == declared.fingerprint
    assert foreign.fingerprint != one.fingerprint


def test_rows_set_the_height():
    # at most half of the attributes
    assert federation.draw_plan(SCHEMA, 2, rows=1_000_000).settings["height"] == 1
    wide = Schema({f"a{i}": SCHEMA.attributes["child"] for i in range(20)}, "c", ["n", "p"])
    assert federation.draw_plan(wide, 2, rows=1000).settings["height"] == 8  # floor(log2 1000) - 1
    assert federation.draw_plan(wide, 2, rows=100).settings["height"] == 5


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"rows": None}, "either rows"),
        ({"rows": 5, "height": 2}, "either rows"),
        ({"rows": 0}, "rows must be an integer of at least 1, got 0"),
        ({"height": 0}, "height must be an integer from 1 to 1000, got 0"),
        ({"rows": 5, "n_trees": 0}, "n_trees must be an integer"),
        ({"rows": 5, "n_trees": 10_001}, "n_trees must be an integer from 1 to 10000, got 10001"),
        (
            {"rows": 5, "combine": "scores"},
            "combine must be 'probabilities', 'counts' or 'vote', got 'scores'",
        ),
        ({"rows": 5, "shrink": -1}, "shrink must be a number"),
        ({"rows": 5, "shrink": True}, "shrink must be a number"),
        ({"height": 1001}, "height must be an integer from 1 to 1000, got 1001"),
    ],
)
def test_bad_parameters(wrong, reason):
    with pytest.raises(ParameterError, match=reason):
        federation.draw_plan(SCHEMA, **wrong)


def test_what_could_not_be_read_is_not_written(tmp_path):
    with pytest.raises(ModelError, match="this plan cannot be written: settings must be"):
        federation.write_plan(replace(plan(), settings={"a": [1]}), tmp_path / "plan.json")
    assert list(tmp_path.iterdir()) == []


def test_a_deep_chain_is_refused_quickly(tmp_path):
    """Half a million levels of one node each would keep a reader busy for minutes."""
    deep = document()
    n = 20_000
    deep["trees"] = [
        {
            "attribute": [2, -1] * n + [-1],
            "branch": [x for k in range(n) for x in (2 * k + 1, 2 * k + 2)],
        }
    ]
    (tmp_path / "plan.json").write_bytes(seal(deep))
    with pytest.raises(ModelError, match="a structure may have 1000 levels at most"):
        federation.read_plan(tmp_path / "plan.json")


def document() -> dict:
    whole = json.loads(plan_to_bytes(plan()))
    del whole["checksum"]
    return whole


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda d: d.update(structure="0" * 64), "fingerprint is not that"),
        (lambda d: d.update(trees=[]), "trees must be a list"),
        (lambda d: d.update(trees=d["trees"][:1]), "fingerprint is not that"),
        (lambda d: d["trees"][0].update(counts=[]), "exactly attribute, branch"),
        (lambda d: d["trees"][0]["attribute"].append(-1), "tree 0"),
        (lambda d: d.update(combine="scores"), "combine must be"),
        (lambda d: d.update(shrink=-1), "shrink must be"),
        (lambda d: d.update(settings=[1]), "settings must be"),
        (lambda d: d.update(more=1), "exactly"),
        (lambda d: d.update(privet="model"), "no Privet plan"),
        (lambda d: d.update(version=2), "its version is 2"),
        (lambda d: d["schema"].update(target=""), "schema is wrong"),
    ],
)
def test_a_sealed_file_may_still_be_wrong(tmp_path, change, reason):
    wrong = document()
    change(wrong)
    (tmp_path / "plan.json").write_bytes(seal(wrong))
    with pytest.raises(ModelError, match=f"^plan file .*{reason}"):
        federation.read_plan(tmp_path / "plan.json")


def test_every_changed_byte_is_noticed(tmp_path):
    data = plan_to_bytes(plan())
    for place in range(0, len(data), 97):
        with pytest.raises(ModelError, match="plan file received"):
            plan_from_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ModelError, match="cannot be read: No such file"):
        federation.read_plan(tmp_path / "plan.json")
    with pytest.raises(ModelError, match="cannot be written"):
        federation.write_plan(plan(), tmp_path / "no" / "plan.json")
