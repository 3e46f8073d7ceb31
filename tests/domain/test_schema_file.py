"""The schema file: what is written can be read, and what cannot be read says why and where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from privet.domain import Categorical, Numeric, Schema
from privet.errors import SchemaError
from tests.domain.strategies import schemas

SCHEMA = Schema({"a": Categorical(["é", 1]), "b": Numeric(0, 1, bins=2)}, "class", ["no", "yes"])
TEXT = json.dumps(SCHEMA.to_json(), ensure_ascii=False)
NESTED = "[" * 100_000


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(schemas())
def test_a_schema_survives_its_file(tmp_path: Path, schema: Schema) -> None:
    schema.write(tmp_path / "schema.json")
    again = Schema.read(tmp_path / "schema.json")
    assert again == schema
    assert again.fingerprint == schema.fingerprint
    assert again.to_json() == schema.to_json()


def changed(*path: str, to: Any) -> str:
    """The file with one entry replaced."""
    data = json.loads(TEXT)
    place = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = to
    return json.dumps(data)


def without(*path: str) -> str:
    data = json.loads(TEXT)
    place = data
    for key in path[:-1]:
        place = place[key]
    del place[path[-1]]
    return json.dumps(data)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not JSON"),
        ("privet", "not JSON"),
        ("[]", "not a Privet schema"),
        ("null", "not a Privet schema"),
        ('"privet"', "not a Privet schema"),
        ("{}", "not a Privet schema"),
        (TEXT + "x", "not JSON"),
        ("\ufeff" + TEXT, "not JSON"),
        (NESTED, "nested too deeply|not JSON"),
        ('{"privet": "schema", "version": 1, "classes": ' + NESTED, "nested too deeply|not JSON"),
        (changed("privet", to="model"), "not a Privet schema"),
        (changed("version", to=2), "version must be 1, got 2"),
        (changed("version", to="1"), "version must be 1, got '1'"),
        (changed("version", to=True), "version must be 1"),
        (changed("version", to=None), "version must be 1"),
        (changed("rows", to=5), "unknown key 'rows'"),
        (changed("attributes", "a", "vals", to=[]), "attribute 'a': unknown key 'vals'"),
        (changed("attributes", "b", "values", to=[1]), "attribute 'b': unknown key 'values'"),
        (without("attributes"), "'attributes' is missing"),
        (without("target"), "'target' is missing"),
        (without("classes"), "'classes' is missing"),
        (without("attributes", "a", "type"), "attribute 'a': type"),
        (without("attributes", "a", "values"), "attribute 'a': .*needs 'values'"),
        (without("attributes", "b", "high"), "attribute 'b': .*high"),
        ('{"privet": "schema", "privet": "schema"}', "'privet' stands twice"),
        (TEXT.replace('"class"', '"class", "target": "other"'), "'target' stands twice"),
        (TEXT.replace('"bins"', '"low": 1, "bins"'), "'low' stands twice"),
        (TEXT.replace('"low": 0.0', '"low": NaN'), "low must be a finite number"),
        (TEXT.replace('"high": 1.0', '"high": Infinity'), "high must be a finite number"),
        (TEXT.replace('"high": 1.0', '"high": 1e999'), "high must be a finite number"),
        (TEXT.replace('["no", "yes"]', "[NaN, 1]"), "classes: .*finite"),
        (TEXT.replace('"version": 1', '"version": 1, "n_rows": -Infinity'), "n_rows"),
    ],
)
def test_a_malformed_file_is_refused_with_path_and_reason(
    text: str, said: str, tmp_path: Path
) -> None:
    file = tmp_path / "people.schema.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SchemaError, match=said) as caught:
        Schema.read(file)
    assert str(file) in str(caught.value)


@pytest.mark.parametrize("key", ["n_rows", "version", "classes"])
def test_a_number_of_thousands_of_digits_is_refused(key: str, tmp_path: Path) -> None:
    (tmp_path / "schema.json").write_text(changed(key, to="DIGITS").replace('"DIGITS"', "9" * 5000))
    with pytest.raises(SchemaError, match=r"schema file .*schema\.json"):
        Schema.read(tmp_path / "schema.json")


WRONG = [None, True, 5, -1, 0.5, "", "text", [], [[]], [None], {}, {"a": {}}]
MAY_BE: dict[tuple[str, ...], list[Any]] = {
    ("target",): ["text"],
    ("n_rows",): [None, 5],
    ("person",): [None, "text"],
    ("rows_per_person",): [5],
    ("attributes", "a", "other"): [None, True, 5, -1, 0.5, "", "text"],
    ("attributes", "a", "missing"): [None, True, 5, -1, 0.5, "", "text"],
    ("attributes", "a", "on_unknown"): [None],
    ("attributes", "b", "low"): [-1, 0.5],
    ("attributes", "b", "high"): [5, 0.5],
    ("attributes", "b", "bins"): [None, 5],
    ("attributes", "b", "spacing"): [None],
    ("attributes", "b", "edges"): [],
    ("attributes", "b", "missing"): [None, "", "text"],
    ("attributes", "b", "on_unknown"): [None],
    **{
        key: []
        for key in [("privet",), ("version",), ("attributes",), ("classes",), ("neighbours",)]
    },
    **{
        key: []
        for key in [("attributes", "a"), ("attributes", "a", "type"), ("attributes", "a", "values")]
    },
}


@pytest.mark.parametrize("place", MAY_BE, ids=".".join)
def test_a_wrong_type_is_refused_everywhere(place: tuple[str, ...]) -> None:
    accepted = []
    for value in WRONG:
        try:
            Schema.from_json(json.loads(changed(*place, to=value)))
        except SchemaError:
            continue
        accepted.append(value)
    assert repr(accepted) == repr(MAY_BE[place])


def test_a_file_truncated_anywhere_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "schema.json"
    for length in range(len(TEXT.encode())):
        file.write_bytes(TEXT.encode()[:length])
        with pytest.raises(SchemaError, match=f"schema file {file} is not"):
            Schema.read(file)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (TEXT.encode("latin-1"), "not UTF-8"),
        (TEXT.encode("utf-16"), "not UTF-8"),
        (b"\xff", "not UTF-8"),
    ],
)
def test_a_file_that_is_not_text_is_refused(content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "schema.json").write_bytes(content)
    with pytest.raises(SchemaError, match=f"schema.json is {said}"):
        Schema.read(tmp_path / "schema.json")


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.json", tmp_path):
        with pytest.raises(SchemaError, match=f"cannot read schema file {path}"):
            Schema.read(path)


OF_SCHEMAS = [
    "privet",
    "version",
    "attributes",
    "target",
    "classes",
    "n_rows",
    "person",
    "rows_per_person",
    "neighbours",
]
OF_ATTRIBUTES = [
    "type",
    "values",
    "other",
    "missing",
    "on_unknown",
    "low",
    "high",
    "bins",
    "spacing",
    "edges",
]
keys = st.sampled_from([*OF_SCHEMAS, *OF_ATTRIBUTES, "a", ""])
words = st.sampled_from(
    [
        "schema",
        "categorical",
        "numeric",
        "linear",
        "log",
        "clip",
        "drop",
        "other",
        "replace",
        "class",
        "\0",
    ]
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | words | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=5),
    max_leaves=15,
)


@settings(max_examples=300)
@given(
    st.dictionaries(keys, json_values, max_size=5),
    st.dictionaries(keys, json_values, max_size=5),
    json_values,
)
def test_whatever_a_file_holds_only_a_schema_error_comes_out(
    top: dict, inner: dict, anything: Any
) -> None:
    for data in (
        anything,
        {"privet": "schema", "version": 1, **top},
        {**SCHEMA.to_json(), **top},
        {
            **SCHEMA.to_json(),
            "attributes": {"a": {"type": "categorical", "values": ["v"], **inner}},
        },
        {
            **SCHEMA.to_json(),
            "attributes": {"a": {"type": "numeric", "low": 0, "high": 1, **inner}},
        },
    ):
        try:
            schema = Schema.from_json(data)
        except SchemaError:
            continue
        assert Schema.from_json(schema.to_json()) == schema


def test_writing_replaces_the_file_and_leaves_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "schema.json"
    file.write_text("old")
    SCHEMA.write(file)
    assert Schema.read(file) == SCHEMA
    assert list(tmp_path.iterdir()) == [file]


def test_a_failing_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "schema.json"
    file.write_text("old")

    def full(self: Path, data: bytes) -> None:
        with self.open("wb") as written:
            written.write(data[:9])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(SchemaError, match=f"cannot write schema file {file}: No space left"):
        SCHEMA.write(file)
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [
        ("schema.json", b"old")
    ]


def test_a_failing_write_leaves_no_part(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(SchemaError, match="cannot write"):
        SCHEMA.write(tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


@pytest.mark.parametrize("place", ["name", "value"])
def test_half_a_character_is_refused_or_written(place: str, tmp_path: Path) -> None:
    name, value = ("\ud800", "v") if place == "name" else ("a", "\ud800")
    try:
        schema = Schema({name: Categorical([value])}, "class", [0, 1])
    except SchemaError:
        return
    schema.write(tmp_path / "schema.json")
    assert Schema.read(tmp_path / "schema.json") == schema


@pytest.mark.parametrize("act", [Schema.read, SCHEMA.write])
def test_an_impossible_path_is_refused(act: Any) -> None:
    with pytest.raises(SchemaError, match="schema file"):
        act("a\0b")
