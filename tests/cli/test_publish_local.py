"""``privet publish randomizer``, ``randomize`` and ``learn``: files, streams, ledgers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import privet as pv
from privet.ledger import SQLiteLedger

TINY = pv.Schema(
    {"a": pv.Categorical(["x", "y, or z", ""], missing="?"), "n": pv.Numeric(0, 10, bins=5, missing="none")}, "class", ["no", "yes"]
)
LINES = ["a,n,class,name", "x,3,no,Ann", '"y, or z",,yes,Bob', '"",7.5,yes,"Cy ""the"" third"', ",x,no,", '"broken,1,no,']


@pytest.fixture(scope="module")
def car(tmp_path_factory) -> Path:
    """A folder with car.csv and car.schema.json."""
    folder = tmp_path_factory.mktemp("car")
    car = pv.datasets.load("car")
    car.table.to_csv(folder / "car.csv", index=False)
    car.schema.write(folder / "car.schema.json")
    return folder


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    TINY.write(tmp_path / "tiny.schema.json")
    (tmp_path / "tiny.csv").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("spread", [("--spread", "split"), ("--spread", "sample", "--together", 2), ()])
def test_from_a_table_to_a_model(privet, car, spread):
    given = (car / "car.csv", "--schema", car / "car.schema.json", "--epsilon", 4, *spread, "--ledger", "book.sqlite")
    ran = privet("publish", "randomize", *given, "-o", "reports.csv")
    assert (ran.code, ran.out) == (0, "")
    assert "1728 reports, each locally 4-differentially private" in ran.err
    assert "number of rows becomes public" in ran.err
    assert Path("reports.csv.randomizer.json").exists()
    for learner in ("additive", "greedy-tree"):
        ran = privet("publish", "learn", "reports.csv", "--learner", learner, "-o", "m.json", "--json")
        assert ran.code == 0, ran.err
        assert json.loads(ran.out) == {"model": "m.json", "learner": learner, "private": True, "epsilon": 4.0, "reports": 1728}
    assert pv.load("m.json").privacy_.local
    assert SQLiteLedger("book.sqlite").spent("car.csv").epsilon == 4  # learning costs nothing
    ran = privet("publish", "randomize", *given, "-o", "again.csv")
    assert ran.code == 0
    assert SQLiteLedger("book.sqlite").spent("car.csv").epsilon == 8  # twice adds up
    ran = privet("publish", "randomize", *given, "-o", "third.csv")
    assert ran.code == 2
    assert "budget" in ran.err
    assert not Path("third.csv").exists()
    assert not list(Path().glob("*.part"))


def test_leaves_of_a_plan(privet, car):
    schema = car / "car.schema.json"
    assert privet("federation", "plan", "--schema", schema, "--trees", 3, "--height", 1, "-o", "plan.json").code == 0
    given = ("--plan", "plan.json", "--epsilon", "1/2", "--ledger", "book.sqlite")
    assert privet("publish", "randomize", car / "car.csv", *given, "-o", "leaves.csv").code == 0
    ran = privet("publish", "learn", "leaves.csv", "-o", "m.json")
    assert ran.out == "m.json: random-trees from 1728 reports; locally 0.5-differentially private with one row replaced by another\n"
    ran = privet("publish", "learn", "leaves.csv", "-o", "m.json", "--learner", "additive")
    assert ran.code == 2
    assert "leave out --learner" in ran.err


def test_a_table_is_charged_for_all_rows_of_a_person_and_cut(privet):
    schema = TINY.declare(person="who", rows_per_person=2, neighbours="replace")
    schema.write("s.json")
    pd.DataFrame({"a": ["x"] * 5, "n": [1.0] * 5, "class": ["no"] * 5, "who": ["p", "p", "p", "q", None]}).to_parquet("t.parquet")
    ran = privet("publish", "randomize", "t.parquet", "--schema", "s.json", "--epsilon", 1, "-o", "reports.csv")
    assert ran.code == 0, ran.err
    assert len(Path("reports.csv").read_text().splitlines()) == 4  # the header, two of p, one of q
    assert SQLiteLedger("t.parquet.ledger.sqlite").spent("t.parquet").epsilon == 2  # two rows, and no factor for replacing them
    assert "becomes public" not in ran.err


def test_every_line_gives_a_report_whatever_it_holds(privet, tiny):
    sure = ("--epsilon", 100, "--spread", "split", "--budget", 100)  # so much that a report is the record
    ran = privet("publish", "randomize", "tiny.csv", "--schema", "tiny.schema.json", *sure, "-o", "r.csv")
    assert ran.code == 0, ran.err
    lines = Path("r.csv").read_text().splitlines()
    assert lines[:5] == ["a,n,class", "x,3,no", '"y, or z",none,yes', '"",7,yes', '"?",none,no']
    assert len(lines) == 6
    reports = pv.publish.local.collecting._codes_of_reports  # the collector reads what was written
    frame = pv.counts.open.read_public("r.csv")
    codes, classes, given = reports(frame, pv.publish.read_randomizer("r.csv.randomizer.json"))
    assert codes[:, :4].tolist() == [[0, 1, 2, 3], [1, 5, 3, 5]]
    assert classes[:4].tolist() == [0, 1, 1, 0]
    assert given.all()


def stream(*arguments: object) -> subprocess.Popen:
    command = [sys.executable, "-c", "from privet.cli import main; main()", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(Path(pv.__file__).parents[1])}
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8", env=environment
    )


def test_a_report_leaves_as_soon_as_its_record_has_come(privet, tiny):
    made = ("publish", "randomizer", "--schema", "tiny.schema.json", "--epsilon", 100, "--spread", "split", "-o", "r.json")
    assert privet(*made).code == 0
    before = set(tiny.iterdir())
    running = stream("publish", "randomize", "--randomizer", "r.json")
    try:
        running.stdin.write(LINES[0] + "\n")
        running.stdin.flush()
        assert running.stdout.readline() == "a,n,class\n"
        for line, report in zip(LINES[1:4], ["x,3,no\n", '"y, or z",none,yes\n', '"",7,yes\n'], strict=True):
            running.stdin.write(line + "\n")
            running.stdin.flush()
            assert running.stdout.readline() == report  # while the stream is still open
        out, err = running.communicate(LINES[5] + "\n\n", timeout=60)
    finally:
        running.kill()
    assert (running.returncode, err) == (0, "")
    assert len(out.splitlines()) == 1  # a broken line gives a report, an empty one is no record
    assert set(tiny.iterdir()) == before  # and no ledger


def test_a_stream_is_charged_where_a_ledger_is_named(privet, tiny, monkeypatch):
    import io

    class Standard:
        buffer = io.BytesIO("\n".join(LINES).encode())

    monkeypatch.setattr(sys, "stdin", Standard)
    ran = privet("publish", "randomize", "-", "--schema", "tiny.schema.json", "--epsilon", "1/3", "--ledger", "mine.sqlite")
    assert ran.code == 0, ran.err
    assert len(ran.out.splitlines()) == len(LINES)
    assert str(SQLiteLedger("mine.sqlite").spent("standard input").epsilon) == "1/3"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("randomize", "tiny.csv"), "give --randomizer FILE, or --epsilon"),
        (("randomize", "tiny.csv", "--schema", "tiny.schema.json"), "--epsilon"),
        (("randomize", "tiny.csv", "--schema", "tiny.schema.json", "--epsilon", "x"), "epsilon"),
        (("randomize", "tiny.csv", "--schema", "tiny.schema.json", "--epsilon", "1", "--spread", "both"), "spread"),
        (("randomize", "tiny.csv", "--schema", "tiny.schema.json", "--epsilon", "1", "--class-share", "1/2"), "--spread split"),
        (("randomize", "tiny.csv", "--randomizer", "none.json"), "none.json"),
        (("randomize", "tiny.csv", "--randomizer", "none.json", "--epsilon", "1"), "says everything"),
        (("randomize", "none.csv", "--schema", "tiny.schema.json", "--epsilon", "1"), "none.csv"),
        (("randomize", "tiny.csv", "--schema", "tiny.schema.json", "--epsilon", "1", "-o", "nowhere/r.csv"), "nowhere"),
        (("learn", "tiny.csv", "-o", "m.json"), "tiny.csv.randomizer.json"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_charged(privet, tiny, arguments, message):
    before = set(tiny.iterdir())
    ran = privet("publish", *arguments)
    assert ran.code == 2
    assert message in ran.err
    assert set(tiny.iterdir()) == before


def test_a_line_break_in_a_value_is_refused(privet, tiny):
    pv.Schema({"a": pv.Categorical(["x\ny"])}, "class", [0, 1]).write("bad.json")
    ran = privet("publish", "randomize", "-", "--schema", "bad.json", "--epsilon", 1)
    assert ran.code == 2
    assert "line break" in ran.err


def test_the_public_file_is_told_to_machines(privet, tiny):
    ran = privet("publish", "randomizer", "--schema", "tiny.schema.json", "--epsilon", 2, "-o", "r.json", "--json")
    assert json.loads(ran.out) == {"randomizer": "r.json", "epsilon": "2", "reports": ["a", "n", "class"]}
    assert pv.publish.Randomizer.read("r.json").spread == "sample"
