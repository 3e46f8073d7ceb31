"""The worlds are neighbours, and nothing else differs."""

from __future__ import annotations

from collections import Counter

import pytest

from privet import Schema
from privet.audit.worlds import DOMAIN, FAMILIES, FOR_ESTIMATORS, PERSON, Pair, World, pairs_of
from privet.errors import ParameterError


def as_counts(world: World) -> Counter:
    return Counter(tuple(row.items()) for row in world.table.to_dict("records"))


@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_one_person_differs(neighbours, most):
    pairs = pairs_of(neighbours, families=FAMILIES, rows_per_person=most)
    assert [pair.name for pair in pairs] == list(FAMILIES)
    for pair in pairs:
        less, more = as_counts(pair.one), as_counts(pair.other)
        gone, come = less - more, more - less
        rows = 1 if most == 1 else most + 1
        assert come.total() == rows
        assert gone.total() == (0 if neighbours == "add-remove" else rows)
        if most > 1:
            assert {dict(row)[PERSON] for row in (gone + come)} == {"somebody"}
        assert pair.schema.n_rows == (None if neighbours == "add-remove" else len(pair.other.table))
        place = 0 if pair.name == "ahead of all others" else -1
        assert pair.probed.X.to_dict("records")[0] == {
            name: pair.other.rows[place][name] for name in DOMAIN.names
        }


def test_only_tables_of_one_class_get_a_crowd():
    for family in FOR_ESTIMATORS:
        bare, crowded = (pairs_of(families=[family], crowd=crowd)[0].one for crowd in (False, True))
        added = len(crowded.rows) - len(bare.rows)
        assert added == (6 if bare.y.nunique() < 2 else 0)
        assert crowded.y.nunique() == 2


def test_a_model_is_asked_along_each_attribute():
    (pair,) = pairs_of(families=["a lone row in a leaf"])
    lines = pair.probed.lines
    assert lines["a"].X.to_numpy().tolist() == [["x", 0.5], ["y", 0.5]]
    values = lines["b"].X["b"].tolist()
    assert values == sorted(values)
    assert (values[0], values[-1], len(values)) == (0, 4, 17)
    assert set(lines["b"].X["a"]) == {"x"}


def test_an_empty_table_has_its_columns():
    (pair,) = pairs_of(alone=True)
    assert len(pair.one.table) == 0
    assert list(pair.one.table.columns) == ["a", "b", "class"]
    assert pair.one.table.dtypes.equals(pair.other.table.dtypes)


def test_a_public_fact_may_not_differ():
    (pair,) = pairs_of(alone=True)
    told = Schema(dict(DOMAIN.attributes), "class", ["no", "yes"], n_rows=1)
    with pytest.raises(ParameterError, match="same schema"):
        Pair("odd", pair.one, World(told, pair.other.rows), pair.probes)


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ParameterError, match="neighbours must be"):
        pairs_of("substitute")
    with pytest.raises(ParameterError, match="rows_per_person"):
        pairs_of(rows_per_person=0)
    with pytest.raises(ParameterError, match="families must be of nobody else"):
        pairs_of(families=["everybody"])
