"""Schema files of 0.1 mean what they meant."""

from __future__ import annotations

import pytest

import privet as pv
from tests.golden.facts import exact_counts
from tests.golden.files import GOLDEN, expected
from tests.golden.reach import privet

SCHEMAS = GOLDEN / "schemas"
EXPECTED = {name: facts for name, facts in expected("schemas").items() if " " not in name}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_schema_file_is_read(name, tmp_path):
    kept = EXPECTED[name]
    schema = pv.Schema.read(SCHEMAS / f"{name}.json")
    assert schema.fingerprint == kept["fingerprint"]
    assert [int(size) for size in schema.sizes] == kept["sizes"]
    assert {key: list(one.labels) for key, one in schema.attributes.items()} == kept["labels"]
    for fact in ("target", "n_rows", "person", "rows_per_person", "neighbours", "from_data"):
        assert getattr(schema, fact) == kept[fact], fact
    assert (list(schema.names), list(schema.classes)) == (kept["names"], kept["classes"])
    schema.write(tmp_path / "again.json")
    assert pv.Schema.read(tmp_path / "again.json").to_json() == schema.to_json()


@pytest.mark.parametrize("name", EXPECTED)
def test_the_command_reads_a_schema_file(name, tmp_path):
    assert privet("schema", "check", SCHEMAS / f"{name}.json", folder=tmp_path).code == 0


def test_rows_are_encoded_as_they_were():
    """Catch-alls, missing entries, numbers out of bounds, dropped rows, all kinds of bins."""
    schema = pv.Schema.read(SCHEMAS / "rich.json")
    assert exact_counts(SCHEMAS / "rich.csv", schema) == expected("schemas")["counts of rich.csv"]
