"""Nothing that a command reads is written over, nor a table that has been asked about, nor a
ledger.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import privet as pv

CAR = pv.datasets.load("car")
FIT = ("fit", "t.csv", "-s", "s.json", "-e", 1, "-l", "random-trees", "--set", "n_trees=2")
#: Each command, and what it reads besides the table and its ledger.
COMMANDS = {
    "fit": (FIT, ["s.json"]),
    "fit with a ledger elsewhere": ((*FIT, "--ledger", "book"), ["book"]),
    "predict": (("predict", "m.json", "t.csv"), ["m.json"]),
    "update": (("update", "m.json", "t.csv", "-e", 1, "-s", "s.json"), ["s.json"]),
    "merge": (("merge", "m.json", "n.json"), ["m.json", "n.json"]),
    "join": (("join", "m.json", "n.json"), ["m.json", "n.json"]),
    "card": (("card", "m.json"), ["m.json"]),
    "explain": (("explain", "m.json", "t.csv"), ["m.json"]),
    "plot": (("plot", "m.json"), ["m.json"]),
    "export": (("export", "m.json"), ["m.json"]),
    "schema declare": (("schema", "declare", "s.json", "--rows", 5), []),
    "schema draft": (("schema", "draft", "t.csv"), []),
    "init": (("init", "t.csv", "--yes", "--force", "--classes", "a|b", "-c", "safety=x|y"), []),
    "anonymity": (("anonymity", "t.csv", "--quasi", "buying", "--sensitive", "class"), []),
    "federation plan": (("federation", "plan", "-s", "s.json"), ["s.json"]),
    "federation contribute": (
        ("federation", "contribute", "t.csv", "-p", "plan.json", "-e", 1),
        ["plan.json"],
    ),
    "publish synthetic": (("publish", "synthetic", "t.csv", "-s", "s.json", "-e", 1), ["s.json"]),
    "publish check": (
        ("publish", "check", "public.csv", "t.csv", "-s", "s.json", "-e", 1),
        ["s.json", "public.csv"],
    ),
    "publish randomizer": (("publish", "randomizer", "-s", "s.json", "-e", 1), ["s.json"]),
    "publish learn": (
        ("publish", "learn", "reports.csv", "-r", "r.json"),
        ["reports.csv", "r.json"],
    ),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A table that was asked about, and what commands read."""
    folder = tmp_path_factory.mktemp("made")
    CAR.table.to_csv(folder / "t.csv", index=False)
    CAR.table.to_csv(folder / "public.csv", index=False)
    CAR.schema.write(folder / "s.json")
    book = pv.SQLiteLedger(folder / "t.csv.ledger.sqlite")
    curator = pv.Curator(folder / "t.csv", CAR.schema, pv.Budget(10), ledger=book, dataset="t.csv")
    pv.save(pv.RandomTreesClassifier(1, n_trees=2).fit_from(curator), folder / "m.json")
    pv.save(pv.RandomTreesClassifier(1, n_trees=2).fit_from(curator), folder / "n.json")
    pv.SQLiteLedger(folder / "book").close()
    book.close()
    pv.federation.write_plan(pv.federation.draw_plan(CAR.schema, 2, height=1), folder / "plan.json")
    randomizer = pv.publish.Randomizer(CAR.schema, 1)
    randomizer.write(folder / "r.json")
    randomizer.many(CAR.table).to_csv(folder / "reports.csv", index=False)
    return folder


@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_read_stays_as_it_is(privet, made, tmp_path, name):
    words, read = COMMANDS[name]
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    os.link("t.csv", "link.csv")
    Path("symbolic").symlink_to("t.csv.ledger.sqlite")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    reads_table = "t.csv" in words
    for target in (
        "t.csv",
        "t.csv.ledger.sqlite",
        "symbolic",
        *(["link.csv"] if reads_table else []),
        *read,
    ):
        ran = privet(*words, "-o", target, "--force")
        assert ran.code == 2, (target, ran)
        assert "write elsewhere" in ran.err or "is written to a .parquet or .csv file" in ran.err
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_private_table_is_not_taken_for_synthetic_rows(privet, made, tmp_path):
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    CAR.table.to_csv("held-out.csv", index=False)
    for rows, held_out in (("held-out.csv", "held-out.csv"), ("t.csv", "held-out.csv")):
        ran = privet("publish", "check", rows, held_out, "-s", "s.json", "-e", 1)
        assert ran.code == 2
        assert "is a private table" in ran.err
    assert not Path("held-out.csv.ledger.sqlite").exists()
