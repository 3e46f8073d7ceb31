"""Loading: what is not as it should be is refused, and nothing is left that opens."""

from __future__ import annotations

import json

import pytest

from privet.errors import OutsourceError, ParameterError, PrivetError
from privet.outsource.store import make_store, open_store
from tests.outsource.store import tables


def test_a_store_holds_what_the_folder_holds(store, made):
    facts, trees = store.about()
    assert (facts.rows, facts.values, facts.version, facts.pending) == (
        len(made.identifiers),
        len(made.values),
        1,
        0,
    )
    assert facts.groups == len(set(made.values.gid.tolist()))
    assert trees == []
    assert store.anatomy == made.anatomy
    page = store.page(-1, 10_000, 10**6)
    assert page.next is None
    assert page.version == 1
    for i, row in enumerate(page.rows):
        assert row.number == i
        assert list(row.cells) == made.identifiers.row(i)
        assert (row.pruning, row.gid, row.eseq) == (
            made.identifiers.pruning[i],
            made.identifiers.gid[i],
            made.identifiers.eseq[i],
        )
        group = [
            (seq, value)
            for seq, gid, value in zip(
                made.values.seq.tolist(), made.values.gid.tolist(), made.values.value, strict=True
            )
            if gid == row.gid
        ]
        assert row.candidates == group


def test_it_is_the_same_after_being_closed(place, made, tmp_path):
    make_store(place, tables.folder(tmp_path / "folder", made))
    first = open_store(place)
    page = first.page(-1, 10_000, 10**6)
    first.close()
    again = open_store(place)
    assert again.page(-1, 10_000, 10**6) == page
    again.close()


DAMAGES = {
    "extra column": (
        "it.parquet",
        "SELECT *, 1 AS more FROM old ORDER BY eseq",
        "exactly these columns",
    ),
    "column of another type": (
        "it.parquet",
        "SELECT * REPLACE (gid::INTEGER AS gid) FROM old ORDER BY eseq",
        "exactly these columns",
    ),
    "too few columns": (
        "st.parquet",
        "SELECT seq, gid FROM old ORDER BY seq",
        "exactly these columns",
    ),
    "an eseq twice": (
        "it.parquet",
        "SELECT * FROM old UNION ALL SELECT * FROM old ORDER BY eseq",
        "row 1 is out of order",
    ),
    "rows in another order": ("it.parquet", "SELECT * FROM old ORDER BY c3", "out of order"),
    "a seq twice": (
        "st.parquet",
        "SELECT * FROM old UNION ALL SELECT * FROM old ORDER BY seq",
        "row 1 is out of order",
    ),
    "no eseq": (
        "it.parquet",
        "SELECT * REPLACE (NULL::BLOB AS eseq) FROM old",
        "row 0 is out of order",
    ),
    "a long eseq": (
        "it.parquet",
        "SELECT * REPLACE (repeat('a', 300)::BLOB AS eseq) FROM old LIMIT 1",
        "row 0 has a number",
    ),
    "a gid that is not there": (
        "it.parquet",
        "SELECT * REPLACE (gid + 9999 AS gid) FROM old ORDER BY eseq",
        "group 9999 has more",
    ),
    "no gid": (
        "it.parquet",
        "SELECT * REPLACE (NULL::BIGINT AS gid) FROM old ORDER BY eseq",
        "row 0 has a number",
    ),
    "no mark": (
        "it.parquet",
        "SELECT * REPLACE (NULL::BOOLEAN AS pruning) FROM old ORDER BY eseq",
        "row 0 has a number",
    ),
    "values left out": (
        "st.parquet",
        "SELECT * FROM old WHERE gid <> 3 ORDER BY seq",
        "group 3 has more rows",
    ),
    "a negative seq": (
        "st.parquet",
        "SELECT * REPLACE (seq - 5000000000000000000 AS seq) FROM old ORDER BY seq",
        "row 0 has a number",
    ),
    "one value for all": (
        "st.parquet",
        "SELECT * REPLACE ('flu' AS value) FROM old ORDER BY seq",
        "group 0 is not 2-diverse",
    ),
    "a value that is not listed": (
        "st.parquet",
        "SELECT * REPLACE ('plague' AS value) FROM old ORDER BY seq",
        "st.parquet: row 0 does not fit",
    ),
    "a cell that is not listed": (
        "it.parquet",
        (
            "SELECT * REPLACE (CASE WHEN c3 = 'p7' THEN 'mauve' ELSE c0 END AS c0) FROM old ORDER "
            "BY eseq"
        ),
        "it.parquet: row 7 does not fit",
    ),
    "a number out of bounds": (
        "it.parquet",
        "SELECT * REPLACE ('81' AS c1) FROM old ORDER BY eseq",
        "row 0 does not fit",
    ),
    "nobody": (
        "it.parquet",
        "SELECT * REPLACE (NULL::VARCHAR AS c3) FROM old ORDER BY eseq",
        "row 0 does not fit",
    ),
    "a person with a NUL": (
        "it.parquet",
        "SELECT * REPLACE ('a' || chr(0) AS c3) FROM old ORDER BY eseq",
        "row 0 does not fit",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_wrong_is_said_and_nothing_is_left(damage, tmp_path):
    file, sql, told = DAMAGES[damage]
    source = tables.folder(tmp_path / "folder")
    tables.rewrite(source / file, sql)
    place = tmp_path / "store.duckdb"
    with pytest.raises(OutsourceError, match=told):
        make_store(place, source)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder"]


@pytest.mark.parametrize("missing", ["anatomy.json", "it.parquet", "st.parquet"])
def test_a_file_that_is_not_there(missing, place, tmp_path):
    source = tables.folder(tmp_path / "folder")
    (source / missing).unlink()
    with pytest.raises(OutsourceError):
        make_store(place, source)
    with pytest.raises(OutsourceError):
        open_store(place)


@pytest.mark.parametrize("file", ["it.parquet", "st.parquet", "anatomy.json"])
def test_a_file_that_is_something_else(file, tmp_path):
    source = tables.folder(tmp_path / "folder")
    (source / file).write_bytes(b"\x00garbage\xff" * 100)
    with pytest.raises(OutsourceError):
        make_store(tmp_path / "store.duckdb", source)


def test_groups_of_another_l_are_refused(place, tmp_path):
    source = tables.folder(tmp_path / "folder", tables.halves(l=2))
    told = json.loads((source / "anatomy.json").read_text())
    (source / "anatomy.json").write_text(json.dumps({**told, "l": 3}))
    with pytest.raises(OutsourceError, match="is not 3-diverse"):
        make_store(place, source)
    with pytest.raises(OutsourceError):
        open_store(place)


def test_diversity_goes_by_codes_and_not_by_spelling(tmp_path):
    from dataclasses import replace

    from privet.domain import Numeric

    made = tables.halves()
    schema = replace(
        tables.SCHEMA, attributes={**tables.SCHEMA.attributes, "disease": Numeric(0, 10, bins=2)}
    )
    bins = {"flu": "1", "cold": "2", "gout": "7", "none": "8"}
    values = replace(made.values, value=[bins[v] for v in made.values.value])
    source = tables.folder(
        tmp_path / "folder",
        replace(made, anatomy=replace(made.anatomy, schema=schema), values=values),
    )
    with pytest.raises(OutsourceError, match="is not 2-diverse"):  # 1 and 2 are one bin
        make_store(tmp_path / "store.duckdb", source)


def test_a_place_that_is_taken(place, store, tmp_path):
    with pytest.raises(PrivetError, match=r"exists|not empty"):
        make_store(place, tables.folder(tmp_path / "another"))
    assert store.about()[0].rows > 0


def test_a_place_without_a_folder(tmp_path):
    with pytest.raises(ParameterError, match="does not exist"):
        make_store(tmp_path / "nowhere" / "store.duckdb", tables.folder(tmp_path / "folder"))
