"""What a schema says to be impossible: read, written, refused where it makes no sense."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

import privet as pv
from privet.errors import SchemaError

ATTRIBUTES = {
    "internet": pv.Categorical(["no", "dsl", "fiber"]),
    "security": pv.Boolean(),
    "rooms": pv.Categorical([1, 2, 3]),
    "age": pv.Numeric(0, 90, bins=3),
}


def make(*rules, **facts) -> pv.Schema:
    return pv.Schema(ATTRIBUTES, "c", ["n", "y"], impossible=list(rules), **facts)


def test_rules_are_codes_of_their_values():
    schema = make(
        {"internet": "no", "security": True},
        {"rooms": [1, "2"], "internet": "fiber", "age": "[60, 90]"},
    )
    assert schema.impossible_codes == (
        {"internet": (0,), "security": (1,)},
        {"rooms": (0, 1), "internet": (2,), "age": (2,)},
    )


def test_a_file_holds_them_and_gives_them_back(tmp_path):
    schema = make({"internet": "no", "security": [True]}, {"rooms": 1, "age": "[0, 30)"})
    schema.write(tmp_path / "s.json")
    assert json.loads((tmp_path / "s.json").read_text())["impossible"] == [
        {"internet": "no", "security": [True]},
        {"rooms": 1, "age": "[0, 30)"},
    ]
    again = pv.Schema.read(tmp_path / "s.json")
    assert again == schema
    assert again.impossible_codes == schema.impossible_codes
    for copied in (copy.deepcopy(schema), pickle.loads(pickle.dumps(schema))):
        assert copied == schema
    assert schema.declare(n_rows=9).impossible == schema.impossible


WORDS = ["no", "dsl", "fiber"]
EXCLUDING = {
    "one rule": [{"internet": WORDS, "security": [True, False]}],
    "two rules": [{"internet": WORDS, "rooms": [1, 2]}, {"internet": WORDS, "rooms": 3}],
    "three attributes": [
        {"internet": "no", "rooms": [1, 2, 3]},
        {"internet": ["dsl", "fiber"], "security": True},
        {"security": False, "age": ["[0, 30)", "[30, 60)"]},
        {"security": False, "rooms": [1, 2, 3], "age": "[60, 90]"},
    ],
}


@pytest.mark.parametrize("case", EXCLUDING)
def test_rules_that_exclude_every_row_are_refused_before_anything_is_paid(case):
    with pytest.raises(SchemaError, match="exclude every row"):
        make(*EXCLUDING[case])
    if len(EXCLUDING[case]) > 1:
        for left_out in range(len(EXCLUDING[case])):
            make(*(rule for place, rule in enumerate(EXCLUDING[case]) if place != left_out))


def test_rules_that_would_take_long_to_judge_are_taken_as_they_are():
    """Twelve attributes of eleven values, all different: only trying every order would tell."""
    names = [f"a{i}" for i in range(12)]
    rules = [
        {one: code, other: code}
        for i, one in enumerate(names)
        for other in names[:i]
        for code in range(11)
    ]
    values = pv.Categorical(list(range(11)))
    schema = pv.Schema(dict.fromkeys(names, values), "c", ["n", "y"], impossible=rules)
    assert len(schema.impossible) == 726


def test_they_are_no_part_of_the_domain():
    plain, ruled = make(), make({"internet": "no", "security": True})
    assert plain != ruled
    assert plain.fingerprint == ruled.fingerprint  # trees of one fit the other
    assert "impossible" not in plain.to_json()


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        ("no internet", "must be a list"),
        ({"internet": "no", "security": True}, "must be a list"),
        (["no"], r"impossible\[0\]: a rule names two attributes or more"),
        ([{"internet": "no"}], "two attributes or more"),
        ([{"internet": "no", "securty": True}], "did you mean 'security'"),
        ([{"internet": "no", "c": "y"}], "no attribute 'c'"),
        ([{"internet": "none", "security": True}], "'internet' has no value 'none'; it has 'no'"),
        ([{"internet": [], "security": True}], "at least one value"),
        ([{"internet": ["no", None], "security": True}], "no value None"),
        ([{"internet": "no", "age": 17}], "'age' has no value 17"),
        ([{"internet": "no", "security": {"a": 1}}], "no value"),
    ],
)
def test_what_makes_no_sense_is_refused(rules, told):
    with pytest.raises(SchemaError, match=told):
        pv.Schema(ATTRIBUTES, "c", ["n", "y"], impossible=rules)
