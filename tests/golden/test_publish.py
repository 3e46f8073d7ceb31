"""Randomizers, reports and synthetic tables of 0.1."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import privet as pv
from tests.golden.facts import facts_of, same_facts
from tests.golden.files import GOLDEN, expected
from tests.golden.reach import privet
from tests.golden.samples import plain

RANDOMISED, SYNTHETIC = GOLDEN / "randomised", GOLDEN / "synthetic"
EXPECTED = expected("randomised")


@pytest.mark.parametrize("kind", EXPECTED)
def test_a_randomizer_is_read(kind, tmp_path):
    file = RANDOMISED / f"{kind}.randomizer.json"
    made = pv.publish.read_randomizer(file)
    assert (str(made.epsilon), list(made.columns)) == (
        EXPECTED[kind]["epsilon"],
        EXPECTED[kind]["columns"],
    )
    pv.publish.write_randomizer(made, tmp_path / "again.json")
    assert (tmp_path / "again.json").stat().st_size
    plain(9).to_csv(tmp_path / "t.csv", index=False)
    words = ("publish", "randomize", "t.csv", "--randomizer", file, "-o", "r.csv")
    ran = privet(*words, folder=tmp_path)
    assert ran.code == 0, ran
    assert list(pd.read_csv(tmp_path / "r.csv").columns) == EXPECTED[kind]["columns"]


@pytest.mark.parametrize("kind", [kind for kind in EXPECTED if "counts" in EXPECTED[kind]])
def test_reports_are_counted_as_they_were(kind):
    made = pv.publish.read_randomizer(RANDOMISED / f"{kind}.randomizer.json")
    reports = pd.read_csv(RANDOMISED / f"{kind}.reports.csv")
    schema = pv.Schema.read(RANDOMISED / "s.json")
    by = pv.Cells.everything(schema).refine({0: pv.Split.multiway(schema, "colour")})
    tables = pv.publish.local_curator(reports, made).count(by).tables
    for found, kept in zip(tables, EXPECTED[kind]["counts"], strict=True):
        np.testing.assert_allclose(found, kept)


@pytest.mark.parametrize("kind", EXPECTED)
def test_models_from_reports(kind, tmp_path):
    rows = pd.read_csv(RANDOMISED / "rows.csv")
    for name, kept in EXPECTED[kind].items():
        if not name.endswith(".model.json"):
            continue
        same_facts(facts_of(RANDOMISED / name, rows), kept)
        learner = name.removesuffix(".model.json").removeprefix(kind).removeprefix("-")
        chosen = ("--learner", learner) if learner else ()
        files = (RANDOMISED / f"{kind}.reports.csv", "-r", RANDOMISED / f"{kind}.randomizer.json")
        ran = privet("publish", "learn", *files, *chosen, "-o", name, folder=tmp_path)
        assert ran.code == 0, ran
        found = facts_of(tmp_path / name, rows)
        assert (found["statement"], found["learner"]) == (kept["statement"], kept["learner"])


@pytest.mark.parametrize("end", ["csv", "parquet"])
def test_a_synthetic_table_is_checked(end, tmp_path):
    kept = expected("synthetic")
    card = (SYNTHETIC / f"synthetic.{end}.card.md").read_text("utf-8")
    assert kept["statement"] in card
    plain(200, 5000).to_csv(tmp_path / "held.csv", index=False)
    given = (SYNTHETIC / f"synthetic.{end}", "held.csv", "--schema", SYNTHETIC / "s.json")
    ran = privet("publish", "check", *given, "--epsilon", "1", "--json", folder=tmp_path)
    assert ran.code == 0, ran


def test_a_synthetic_parquet_file_says_what_it_gives_away(tmp_path):
    """The same facts stand in the file of a table that is made now."""
    import duckdb

    plain(100).to_csv(tmp_path / "t.csv", index=False)
    given = ("t.csv", "--schema", SYNTHETIC / "s.json", "--epsilon", "4", "--rows", "60")
    words = ("publish", "synthetic", *given, "-o", "s.parquet")
    assert privet(*words, folder=tmp_path).code == 0
    names = []
    for path in (SYNTHETIC / "synthetic.parquet", tmp_path / "s.parquet"):
        query = "SELECT key::VARCHAR FROM parquet_kv_metadata(?) ORDER BY 1"
        names.append(duckdb.execute(query, [str(path)]).fetchall())
        assert duckdb.execute("SELECT count(*) FROM read_parquet(?)", [str(path)]).fetchall() == [
            (60,)
        ]
    assert set(names[0]) <= set(names[1])
    assert names[0]
