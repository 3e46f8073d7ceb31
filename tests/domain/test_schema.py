"""Schema: what may be declared, and what its fingerprint depends on."""

from __future__ import annotations

import pytest
from hypothesis import given

from privet.domain import Categorical, Numeric, Schema
from privet.errors import SchemaError
from tests.domain.strategies import schemas

A, B = Categorical(["x", "y"]), Numeric(0, 1)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"attributes": {}}, "attributes"),
        ({"attributes": ["a"]}, "attributes"),
        ({"attributes": {"a": "text"}}, "attribute 'a'"),
        ({"attributes": {"": A}}, "attributes: a name"),
        ({"attributes": {1: A}}, "attributes: a name"),
        ({"attributes": {"a\0": A}}, "attributes: a name"),
        ({"attributes": {"a" * 201: A}}, "attributes: a name"),
        ({"target": ""}, "target"),
        ({"target": None}, "target"),
        ({"target": "a"}, "target 'a'"),
        ({"classes": ["one"]}, "classes"),
        ({"classes": ["one", "one"]}, "classes"),
        ({"classes": "ab"}, "classes"),
        ({"classes": None}, "classes"),
        ({"n_rows": -1}, "n_rows"),
        ({"n_rows": 1.0}, "n_rows"),
        ({"n_rows": True}, "n_rows"),
        ({"rows_per_person": 0}, "rows_per_person"),
        ({"rows_per_person": None}, "rows_per_person"),
        ({"rows_per_person": "2"}, "rows_per_person"),
        ({"person": "a"}, "person 'a'"),
        ({"person": "class"}, "person 'class'"),
        ({"person": 5}, "person"),
        ({"neighbours": "add"}, "neighbours"),
    ],
)
def test_a_bad_parameter_is_named(arguments: dict, named: str) -> None:
    with pytest.raises(SchemaError, match=f"Schema: {named}"):
        Schema(**{"attributes": {"a": A}, "target": "class", "classes": [0, 1], **arguments})


def test_what_it_says() -> None:
    schema = Schema({"a": A, "b": B}, "class", [0, 1, 2])
    assert (schema.names, schema.sizes, schema.n_classes, list(schema)) == (
        ("a", "b"),
        (2, 16),
        3,
        ["a", "b"],
    )
    assert (schema.index("b"), schema.label.unknown_code) == (1, 3)
    with pytest.raises(SchemaError, match="no attribute 'c'; there are a, b"):
        schema.index("c")


def test_facts_are_declared_on_a_copy() -> None:
    schema = Schema({"a": A}, "class", [0, 1])
    declared = schema.declare(n_rows=5, person="id", rows_per_person=3, neighbours="replace")
    assert (declared.n_rows, declared.person, declared.rows_per_person, declared.neighbours) == (
        5,
        "id",
        3,
        "replace",
    )
    assert schema.n_rows is None
    with pytest.raises(SchemaError, match="unknown fact 'target'"):
        schema.declare(target="other")


@given(schemas())
def test_the_fingerprint_ignores_what_the_owner_declares(schema: Schema) -> None:
    other = schema.declare(n_rows=7, person=None, rows_per_person=4, neighbours="replace")
    assert other.fingerprint == schema.fingerprint
    assert hash(other) == hash(schema)


@pytest.mark.parametrize(
    "other",
    [
        Schema({"b": B, "a": A}, "class", [0, 1]),
        Schema({"a": Categorical(["y", "x"]), "b": B}, "class", [0, 1]),
        Schema({"a": Categorical(["x", "y"], on_unknown="drop"), "b": B}, "class", [0, 1]),
        Schema({"a": Categorical(["x", "y"], other="y"), "b": B}, "class", [0, 1]),
        Schema({"a": Categorical(["x", "y"], missing="y"), "b": B}, "class", [0, 1]),
        Schema({"a": A, "b": Numeric(0, 1, on_unknown="drop")}, "class", [0, 1]),
        Schema({"a": A, "b": Numeric(0, 1, bins=15)}, "class", [0, 1]),
        Schema({"a": A, "b": Numeric(0, 1, spacing="log")}, "class", [0, 1]),
        Schema({"a": A, "b": Numeric(0, 1, missing="?")}, "class", [0, 1]),
        Schema({"a": A, "c": B}, "class", [0, 1]),
        Schema({"a": A, "b": B}, "label", [0, 1]),
        Schema({"a": A, "b": B}, "class", [1, 0]),
        Schema({"a": A, "b": B}, "class", [0, 1, 2]),
    ],
)
def test_the_fingerprint_depends_on_the_domain(other: Schema) -> None:
    assert other.fingerprint != Schema({"a": A, "b": B}, "class", [0, 1]).fingerprint


def test_the_fingerprint_is_the_same_on_every_machine() -> None:
    schema = Schema(
        {"é": Categorical(["ü", 1], missing="?"), "b": Numeric(0, 0.3, bins=3)},
        "class",
        ["no", "yes"],
    )
    assert schema.fingerprint == "af8b723a86419c7ce0fc732f72e720a436b69b1a4fa4b00c456763f07283e5b8"


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (Schema({"a": A, "b": B}, "class", [0, 1]), Schema({"b": B, "a": A}, "class", [0, 1])),
        (Schema({"a": A}, "class", [0, 1]), Schema({"a": A}, "class", [0.0, 1.0])),
        (Schema({"a": A}, "class", [0, 1]), Schema({"a": A}, "class", [False, True])),
        (
            Schema({"b": Numeric(-0.0, 1)}, "class", [0, 1]),
            Schema({"b": Numeric(0.0, 1)}, "class", [0, 1]),
        ),
    ],
    ids=["order", "float", "bool", "minus zero"],
)
def test_schemas_are_equal_exactly_if_their_domains_are(one: Schema, two: Schema) -> None:
    assert (one == two) == (one.fingerprint == two.fingerprint) == (hash(one) == hash(two))
