"""``privet publish randomizer``, ``randomize`` and ``learn``: files, streams, ledgers."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import privet as pv
from privet.accounting.ledger import SQLiteLedger
from privet.local import collecting
from privet.tables.open import read_public

TINY = pv.Schema(
    {
        "a": pv.Categorical(["x", "y, or z", ""], missing="?"),
        "n": pv.Numeric(0, 10, bins=5, missing="none"),
    },
    "class",
    ["no", "yes"],
    neighbours="replace",
)
LINES = [
    "a,n,class,name",
    "x,3,no,Ann",
    '"y, or z",,yes,Bob',
    '"",7.5,yes,"Cy ""the"" third"',
    ",x,no,",
    '"broken,1,no,',
]


@pytest.fixture(scope="module")
def car(tmp_path_factory) -> Path:
    """A folder with car.csv and car.schema.json."""
    folder = tmp_path_factory.mktemp("car")
    car = pv.datasets.load("car")
    car.table.to_csv(folder / "car.csv", index=False)
    car.schema.declare(neighbours="replace").write(folder / "car.schema.json")
    return folder


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    TINY.write(tmp_path / "tiny.schema.json")
    (tmp_path / "tiny.csv").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "spread", [("--spread", "split"), ("--spread", "sample", "--together", 2), ()]
)
def test_from_a_table_to_a_model(privet, car, spread):
    given = (
        car / "car.csv",
        "--schema",
        car / "car.schema.json",
        "--epsilon",
        4,
        *spread,
        "--ledger",
        "book.sqlite",
    )
    ran = privet("publish", "randomize", *given, "-o", "reports.csv")
    assert (ran.code, ran.out) == (0, "")
    assert "1728 reports, each locally 4-differentially private" in ran.err
    assert Path("reports.csv.randomizer.json").exists()
    for learner in ("additive", "greedy-tree"):
        ran = privet(
            "publish",
            "learn",
            "reports.csv",
            "--learner",
            learner,
            "-o",
            "m.json",
            "--json",
            "--force",
        )
        assert ran.code == 0, ran.err
        assert json.loads(ran.out) == {
            "model": "m.json",
            "learner": learner,
            "private": True,
            "epsilon": 4.0,
            "reports": 1728,
        }
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
    assert (
        privet(
            "federation", "plan", "--schema", schema, "--trees", 3, "--height", 1, "-o", "plan.json"
        ).code
        == 0
    )
    given = (
        "--plan",
        "plan.json",
        "--schema",
        schema,
        "--epsilon",
        "1/2",
        "--ledger",
        "book.sqlite",
    )
    assert privet("publish", "randomize", car / "car.csv", *given, "-o", "leaves.csv").code == 0
    ran = privet("publish", "learn", "leaves.csv", "-o", "m.json")
    assert ran.out == (
        "m.json: random-trees from 1728 reports; locally 0.5-differentially private with one "
        "row replaced by another\n"
    )
    ran = privet("publish", "learn", "leaves.csv", "-o", "n.json", "--learner", "additive")
    assert ran.code == 2
    assert "leave out --learner" in ran.err


def test_a_table_is_charged_for_all_rows_of_a_person_and_cut(privet):
    schema = TINY.declare(person="who", rows_per_person=2, n_rows=5)
    schema.write("s.json")
    pd.DataFrame(
        {"a": ["x"] * 5, "n": [1.0] * 5, "class": ["no"] * 5, "who": ["p", "p", "p", "q", None]}
    ).to_parquet("t.parquet")
    ran = privet(
        "publish",
        "randomize",
        "t.parquet",
        "--schema",
        "s.json",
        "--epsilon",
        1,
        "-o",
        "reports.csv",
    )
    assert ran.code == 0, ran.err
    # the header, two of p, one of q, one of somebody
    assert len(Path("reports.csv").read_text().splitlines()) == 5
    (entry,) = SQLiteLedger("t.parquet.ledger.sqlite").entries()
    assert entry.cost == pv.Cost.pure(2)  # two rows, and no factor for replacing them
    assert entry.what == "randomised records of a table"


def test_broken_lines_do_not_compete_for_a_person_s_place(privet):
    TINY.declare(person="who").write("s.json")
    Path("t.csv").write_text(
        "who,a,n,class\n1,x,1,no\n2,x,1,no,more\n3,x,1,no,more\n,x,1,no\n1,x,2,no\n"
    )
    assert (
        privet(
            "publish", "randomize", "t.csv", "--schema", "s.json", "--epsilon", 1, "-o", "r.csv"
        ).code
        == 0
    )
    assert len(Path("r.csv").read_text().splitlines()) == 1 + 4  # all but the second row of 1


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"neighbours": "add-remove"}, "neighbours must be 'replace'"),
        ({"neighbours": "add-remove", "n_rows": 5}, "neighbours must be 'replace'"),
        ({"rows_per_person": 2}, "n_rows must be declared"),
    ],
)
def test_a_table_whose_number_of_rows_is_not_told_by_its_neighbours_is_refused(
    privet, tiny, facts, message
):
    """The number of reports is the number of rows: a ledger's sum would promise what does not
    hold.
    """
    TINY.declare(**facts).write("tiny.schema.json")
    before = set(tiny.iterdir())
    ran = privet(
        "publish",
        "randomize",
        "tiny.csv",
        "--schema",
        "tiny.schema.json",
        "--epsilon",
        1,
        "-o",
        "r.csv",
    )
    assert ran.code == 2
    assert message in ran.err
    assert "privet schema declare" in ran.err
    assert set(tiny.iterdir()) == before


def test_the_sum_of_reports_and_answers_is_for_a_row_replaced(privet, tiny):
    given = ("tiny.csv", "--schema", "tiny.schema.json", "--epsilon", 1)
    assert privet("publish", "randomize", *given, "-o", "r.csv").code == 0
    assert privet("count", *given).code == 0
    assert SQLiteLedger("tiny.csv.ledger.sqlite").spent("tiny.csv").epsilon == 1 + 2


def test_a_schema_from_the_data_promises_nothing(privet, tiny):
    from_data = {**TINY.to_json(), "from_data": True}
    Path("tiny.schema.json").write_text(json.dumps(from_data))
    ran = privet(
        "publish",
        "randomize",
        "tiny.csv",
        "--schema",
        "tiny.schema.json",
        "--epsilon",
        1,
        "-o",
        "r.csv",
    )
    assert ran.code == 0
    assert "NOT PRIVATE: the schema was read off the data" in ran.err
    assert "differentially private" not in ran.err
    (entry,) = SQLiteLedger("tiny.csv.ledger.sqlite").entries()
    assert (
        entry.what
        == "NOT PRIVATE (the schema was read off the data): randomised records of a table"
    )
    assert (
        "NOT PRIVATE"
        in privet(
            "publish", "randomize", "tiny.csv", "--schema", "tiny.schema.json", "--epsilon", 1
        ).err
    )


def test_in_a_table_nobody_s_quote_swallows_the_lines_of_others(privet, tiny):
    """As many reports as lines, whoever opens a quote, and whoever closes it."""
    given = (
        "--schema",
        "tiny.schema.json",
        "--epsilon",
        1,
        "--budget",
        100,
        "-o",
        "r.csv",
        "--force",
    )
    for first in ("x,3,no,", 'x,3,no,"'):
        Path("t.csv").write_text(
            "\n".join(["a,n,class,note", first, *["x,5,yes,"] * 20, 'x,7,no,5"', "x,3,no,"]) + "\n"
        )
        assert privet("publish", "randomize", "t.csv", *given).code == 0
        assert len(Path("r.csv").read_text().splitlines()) == 1 + 23


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_lines_of_a_table_end_where_they_do_for_counting(privet, tiny, end):
    lines = ["x,5,yes,", "x,5,no,", "x,1,no,"]
    Path("t.csv").write_bytes(("a,n,class,note\n" + end.join(lines) + "\n").encode())
    given = (
        "--schema",
        "tiny.schema.json",
        "--epsilon",
        100,
        "--spread",
        "split",
        "--budget",
        1000,
        "-o",
        "r.csv",
    )
    assert privet("publish", "randomize", "t.csv", *given).code == 0
    assert sorted(Path("r.csv").read_text().splitlines()[1:]) == ["x,1,no", "x,5,no", "x,5,yes"]
    everyone = pv.Question.of(pv.Cells.everything(TINY))
    assert pv.open_table("t.csv").source(TINY).count(everyone)[0].sum() == 3


def test_reports_of_a_table_are_in_no_order(privet, tiny):
    """Rows that were sorted, so many that they are read in several blocks: reports of the first
    rows may be anywhere.
    """
    frame = pd.DataFrame({"a": ["x"] * 20_000 + [""] * 20_000, "n": 1, "class": "no"})
    frame.to_csv("t.csv", index=False)
    sure = ("--schema", "tiny.schema.json", "--epsilon", 100, "--spread", "split", "--budget", 100)
    assert privet("publish", "randomize", "t.csv", *sure, "-o", "r.csv").code == 0
    first = np.array([line.startswith("x") for line in Path("r.csv").read_text().splitlines()[1:]])
    assert first.sum() == 20_000
    assert abs(first[:10_000].mean() - 0.5) < 0.03  # six standard deviations
    assert abs((first[1:] == first[:-1]).mean() - 0.5) < 0.02


@pytest.mark.parametrize(
    "output",
    [
        "tiny.csv",
        "./tiny.csv",
        "link.csv",
        "tiny.csv.ledger.sqlite",
        "other.sqlite",
        "tiny.schema.json",
        "tiny",
    ],
)
def test_nothing_that_is_read_is_written_over(privet, tiny, output):
    os.link("tiny.csv", "link.csv")
    os.link("tiny.csv", "tiny.randomizer.json")  # what would be written beside the reports
    for name in ("tiny.csv.ledger.sqlite", "other.sqlite"):
        Path(name).touch()
    before = {path: path.read_bytes() for path in tiny.iterdir()}
    given = ("tiny.csv", "--schema", "tiny.schema.json", "--epsilon", 1, "--ledger", "other.sqlite")
    ran = privet("publish", "randomize", *given, "-o", output)
    assert ran.code == 2
    assert "write elsewhere" in ran.err
    assert {path: path.read_bytes() for path in tiny.iterdir()} == before


def test_the_randomizer_is_not_written_over(privet, tiny):
    assert (
        privet(
            "publish", "randomizer", "--schema", "tiny.schema.json", "--epsilon", 1, "-o", "r.json"
        ).code
        == 0
    )
    before = Path("r.json").read_bytes()
    ran = privet("publish", "randomize", "tiny.csv", "--randomizer", "r.json", "-o", "r.json")
    assert ran.code == 2
    assert "a file that the command reads" in ran.err
    assert Path("r.json").read_bytes() == before


def test_every_line_gives_a_report_whatever_it_holds(privet, tiny):
    # so much that a report is the record
    sure = ("--epsilon", 100, "--spread", "split", "--budget", 100)
    ran = privet(
        "publish", "randomize", "tiny.csv", "--schema", "tiny.schema.json", *sure, "-o", "r.csv"
    )
    assert ran.code == 0, ran.err
    lines = Path("r.csv").read_text().splitlines()
    assert lines[0] == "a,n,class"
    assert len(lines) == 6
    assert {"x,3,no", '"y, or z",none,yes', '"",7,yes', '"?",none,no'} <= set(lines)
    reports = collecting._codes_of_reports  # the collector reads what was written
    frame = read_public("r.csv")
    codes, classes, given = reports(frame, pv.publish.read_randomizer("r.csv.randomizer.json"))
    assert {(0, 1, 0), (1, 5, 1), (2, 3, 1), (3, 5, 0)} <= set(
        zip(*codes.tolist(), classes.tolist(), strict=True)
    )
    assert given.all()


def stream(*arguments: object) -> subprocess.Popen:
    command = [sys.executable, "-c", "from privet.cli import main; main()", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(Path(pv.__file__).parents[1])}
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=environment,
    )


def test_a_report_leaves_as_soon_as_its_record_has_come(privet, tiny):
    made = (
        "publish",
        "randomizer",
        "--schema",
        "tiny.schema.json",
        "--epsilon",
        100,
        "--spread",
        "split",
        "-o",
        "r.json",
    )
    assert privet(*made).code == 0
    before = set(tiny.iterdir())
    running = stream("publish", "randomize", "--randomizer", "r.json")
    try:
        running.stdin.write(LINES[0] + "\n")
        running.stdin.flush()
        assert running.stdout.readline() == "a,n,class\n"
        for line, report in zip(
            LINES[1:4], ["x,3,no\n", '"y, or z",none,yes\n', '"",7,yes\n'], strict=True
        ):
            running.stdin.write(line + "\n")
            running.stdin.flush()
            assert running.stdout.readline() == report  # while the stream is still open
        out, err = running.communicate(LINES[5] + "\n\n", timeout=60)
    finally:
        running.kill()
    assert (running.returncode, err) == (0, "")
    assert len(out.splitlines()) == 1  # a broken line gives a report, an empty one is no record
    assert set(tiny.iterdir()) == before  # and no ledger


@pytest.fixture
def from_stream(privet, tiny, monkeypatch):
    """Run ``privet publish randomize`` with these lines on standard input."""

    def run(lines: list[str], *arguments: object):
        class Standard:
            buffer = io.BytesIO("\n".join(lines).encode())

        monkeypatch.setattr(sys, "stdin", Standard)
        return privet(
            "publish",
            "randomize",
            "-",
            "--schema",
            "tiny.schema.json",
            "--ledger",
            "mine.sqlite",
            *arguments,
        )

    return run


def spent() -> str:
    return str(SQLiteLedger("mine.sqlite").spent("standard input").epsilon)


def test_every_record_of_a_stream_is_charged_where_a_ledger_is_named(from_stream):
    ran = from_stream(LINES, "--epsilon", "1/3")
    assert ran.code == 0, ran.err
    assert len(ran.out.splitlines()) == len(LINES)
    assert spent() == "5/3"
    assert {entry.what for entry in SQLiteLedger("mine.sqlite").entries()} == {
        "one randomised record"
    }


@pytest.mark.parametrize("output", [(), ("-o", "r.csv")])
def test_a_stream_stops_where_the_budget_is_spent_and_keeps_what_was_paid_for(from_stream, output):
    ran = from_stream(LINES, "--epsilon", 1, "--budget", "5/2", *output)
    assert ran.code == 2
    assert "2 reports were written; the records after them gave none" in ran.err
    assert "budget" in ran.err
    assert len((Path("r.csv").read_text() if output else ran.out).splitlines()) == 1 + 2
    assert spent() == "2"
    ran = from_stream(LINES, "--epsilon", 1, "-o", "again.csv")
    assert ran.code == 2
    assert not Path("again.csv").exists()


def test_a_bad_header_or_budget_of_a_stream_charges_nothing(from_stream):
    ran = from_stream(["q,w", "1,2"], "--epsilon", 1)
    assert ran.code == 2
    assert not Path("mine.sqlite").exists()
    assert from_stream(LINES[:2], "--epsilon", 1).code == 0
    ran = from_stream(LINES, "--epsilon", 1, "--budget", 1)
    assert ran.code == 2
    assert "holds a budget of" in ran.err
    assert spent() == "1"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("randomize", "tiny.csv"), "give --randomizer FILE, or --epsilon"),
        (("randomize", "tiny.csv", "--schema", "tiny.schema.json"), "--epsilon"),
        (("randomize", "tiny.csv", "--schema", "tiny.schema.json", "--epsilon", "x"), "epsilon"),
        (
            (
                "randomize",
                "tiny.csv",
                "--schema",
                "tiny.schema.json",
                "--epsilon",
                "1",
                "--spread",
                "both",
            ),
            "spread",
        ),
        (
            (
                "randomize",
                "tiny.csv",
                "--schema",
                "tiny.schema.json",
                "--epsilon",
                "1",
                "--class-share",
                "1/2",
            ),
            "--spread split",
        ),
        (("randomize", "tiny.csv", "--randomizer", "none.json"), "none.json"),
        (
            ("randomize", "tiny.csv", "--randomizer", "none.json", "--epsilon", "1"),
            "says everything",
        ),
        (("randomize", "none.csv", "--schema", "tiny.schema.json", "--epsilon", "1"), "none.csv"),
        (
            (
                "randomize",
                "tiny.csv",
                "--schema",
                "tiny.schema.json",
                "--epsilon",
                "1",
                "-o",
                "nowhere/r.csv",
            ),
            "nowhere",
        ),
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
    ran = privet(
        "publish",
        "randomizer",
        "--schema",
        "tiny.schema.json",
        "--epsilon",
        2,
        "-o",
        "r.json",
        "--json",
    )
    assert json.loads(ran.out) == {
        "randomizer": "r.json",
        "epsilon": "2",
        "reports": ["a", "n", "class"],
    }
    assert pv.publish.Randomizer.read("r.json").spread == "sample"
