"""``privet publish synthetic`` and ``check``: files, charges, what is refused, and going on after
an interruption.
"""

from __future__ import annotations

import json
import signal
from fractions import Fraction as F
from pathlib import Path

import pandas as pd
import pytest

from privet.accounting.ledger import SQLiteLedger
from privet.domain import Categorical, Schema
from privet.tables.open import read_public
from tests.commands import Forked
from tests.synthetic.small import SCHEMA, table

KILLED = """
import os, signal
from privet.accounting.ledger import SQLiteLedger
record = SQLiteLedger.record
def dies(self, number, answer):
    kept = record(self, number, answer)
    if len(self.entries()) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return kept
SQLiteLedger.record = dies
from privet.cli import main
main()
"""


@pytest.fixture
def files(tmp_path) -> Path:
    table(4000).to_csv(tmp_path / "t.csv", index=False)
    table(500, seed=5).to_csv(tmp_path / "held-out.csv", index=False)
    SCHEMA.write(tmp_path / "s.json")
    return tmp_path


def names() -> list[str]:
    return sorted(path.name for path in Path.cwd().iterdir())


def entries(name: str = "t.csv"):
    ledger = SQLiteLedger(f"{name}.ledger.sqlite")
    found = ledger.entries(name)
    ledger.close()
    return found


def spent(name: str = "t.csv") -> F:
    return sum((entry.cost.epsilon for entry in entries(name)), F(0))


def command(output: object, *more: object) -> list[object]:
    return [
        "publish",
        "synthetic",
        "t.csv",
        "--schema",
        "s.json",
        "--epsilon",
        "2",
        "-o",
        output,
        *more,
    ]


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_a_table_and_its_card(files, privet, suffix):
    ran = privet(*command(f"out.{suffix}", "--rows", 300))
    assert ran.code == 0, ran.err
    assert f"out.{suffix}: 300 rows" in ran.out
    assert "2-differentially private with one row added or removed" in ran.out
    assert f"out.{suffix}.card.md" in ran.out
    found = read_public(f"out.{suffix}")
    assert list(found.columns) == ["a", "b", "age", "c"]
    assert len(found) == 300
    assert "2-differentially private" in Path(f"out.{suffix}.card.md").read_text(encoding="utf-8")
    assert spent() == 2
    expected = {"t.csv", "held-out.csv", "s.json", f"out.{suffix}", f"out.{suffix}.card.md"}
    assert {name for name in names() if "ledger" not in name} == expected


def test_the_card_of_a_table_is_a_page_as_those_of_models_are(files, privet):
    refused = privet(*command("out.csv", "--card", "card.md"))
    assert (refused.code, "--card: the page must end in .html" in refused.err) == (2, True)
    assert not Path("out.csv").exists()
    assert privet(*command("out.csv", "--rows", 20, "--card", "card.html")).code == 0
    page = Path("card.html").read_text(encoding="utf-8")
    assert '<p class="promise" role="note">Guarantee: this table is 2-differentially' in page
    assert "<h2>What epsilon means</h2>" in page
    assert spent() == 2


def test_a_synthetic_table_is_told_as_json(files, privet):
    ran = privet(*command("out.csv", "--json", "--rows", 20, "--budget", 3))
    assert ran.code == 0, ran.err
    told = json.loads(ran.out)
    assert {key: told[key] for key in ("table", "rows", "private", "epsilon", "left")} == {
        "table": "out.csv",
        "rows": 20,
        "private": True,
        "epsilon": 2.0,
        "left": "1",
    }
    assert ["a", "b"] in told["pairs"]


def test_help_of_publishing_names_epsilon(privet):
    for name in ("synthetic", "check"):
        ran = privet("publish", name, "--help")
        assert ran.code == 0
        assert "--epsilon" in ran.out


def test_a_name_that_looks_like_markup_is_printed_as_it_is(files, privet):
    ran = privet(*command("[bold]out.csv", "--rows", 5))
    assert ran.code == 0, ran.err
    assert "[bold]out.csv: 5 rows" in ran.out


def test_a_publication_is_one_line_of_the_ledger(files, privet):
    assert privet(*command("out.csv", "--rows", 10)).code == 0
    shown = privet("ledger", "show", "t.csv.ledger.sqlite").out
    assert "synthetic table: 4 questions" in shown
    assert "class counts" not in shown
    assert " 2 " in shown  # all of epsilon in one line
    each = privet("ledger", "show", "t.csv.ledger.sqlite", "--each").out
    assert each.count("class counts") >= 2
    told = privet("ledger", "show", "t.csv.ledger.sqlite", "--json").out.splitlines()
    assert len(told) == 4


def test_another_run_pays_again(files, privet):
    for _ in range(2):
        ran = privet(*command("out.csv", "--rows", 10, "--budget", 4, "--force"))
        assert ran.code == 0, ran.err
        assert "going on" not in ran.err
    assert spent() == 4
    ran = privet(*command("third.csv", "--rows", 10))
    assert ran.code != 0
    assert "budget" in ran.err
    assert spent() == 4
    assert "third.csv" not in names()


REFUSED = {
    "another kind of file": (command("out.json"), ".parquet or .csv"),
    "a folder that is not there": (command("nowhere/out.csv"), "cannot write"),
    "a folder in its place": (command("folder.csv"), "cannot write"),
    "no schema": (["publish", "synthetic", "t.csv", "--epsilon", "1", "-o", "out.csv"], "--schema"),
    "a schema that is not there": (
        ["publish", "synthetic", "t.csv", "--schema", "x.json", "-e", "1", "-o", "out.csv"],
        "x.json",
    ),
    "no rows": (command("out.csv", "--rows", 0), "rows"),
    "an epsilon that is none": (
        ["publish", "synthetic", "t.csv", "--schema", "s.json", "-e", "many", "-o", "out.csv"],
        "epsilon",
    ),
    "the private table itself": (command("t.csv"), "private table itself"),
    "the private table by another name": (command("./folder.csv/../t.csv"), "private table itself"),
    "the ledger": (command("book.csv", "--ledger", "book.csv"), "the ledger"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_is_refused_with_nothing_charged_and_no_file(files, privet, case):
    Path("folder.csv").mkdir()
    before, content = names(), Path("t.csv").read_bytes()
    given, told = REFUSED[case]
    ran = privet(*given)
    assert ran.code == 2 or ran.code == 1
    assert told in ran.err
    assert "Traceback" not in ran.err
    assert names() == before
    assert Path("t.csv").read_bytes() == content


def test_values_that_csv_cannot_hold_are_refused_before_a_charge(tmp_path, privet):
    schema = Schema({"a": Categorical(["one", "two\nlines"])}, "c", ["no", "yes"])
    schema.write("s.json")
    pd.DataFrame({"a": ["one", "two\nlines"], "c": ["no", "yes"]}).to_parquet("t.parquet")
    given = [
        "publish",
        "synthetic",
        "t.parquet",
        "--schema",
        "s.json",
        "--epsilon",
        "1",
        "--rows",
        "4",
        "-o",
    ]
    before = names()
    ran = privet(*given, "out.csv")
    assert ran.code == 2
    assert "line break" in ran.err
    assert names() == before
    assert privet(*given, "out.parquet").code == 0


class TestInterrupted:
    def kill(self) -> None:
        process = Forked(
            KILLED,
            command("out.csv", "--rows", 50),
            Path("killed.out"),
            Path("killed.err"),
            Path.cwd(),
        )
        assert process.wait(120) == -signal.SIGKILL, Path("killed.err").read_text()
        assert "out.csv" not in names()
        assert "out.csv.unfinished" in names()

    def test_goes_on_and_pays_once(self, files, privet):
        self.kill()
        paid = entries()
        assert len(paid) == 2
        ran = privet(*command("out.csv", "--rows", 50))
        assert ran.code == 0, ran.err
        assert "2 answer(s) are paid for" in ran.err
        assert entries()[:2] == paid
        assert spent() == 2
        assert len(read_public("out.csv")) == 50
        assert "out.csv.unfinished" not in names()

    def test_another_epsilon_is_refused_unless_begun_anew(self, files, privet):
        self.kill()
        other = [
            "publish",
            "synthetic",
            "t.csv",
            "--schema",
            "s.json",
            "--epsilon",
            "3",
            "-o",
            "out.csv",
            "--rows",
            "50",
        ]
        ran = privet(*other)
        assert ran.code == 2
        assert "--anew" in ran.err
        assert len(entries()) == 2
        ran = privet(*other, "--anew")
        assert ran.code == 0, ran.err
        assert "going on" not in ran.err
        # what was lost: the first counts, and one of two selections
        assert spent() == 3 + F(4, 5) + F(1, 5)

    def test_other_rows_of_the_same_counts_are_drawn_without_paying_again(self, files, privet):
        self.kill()
        assert privet(*command("out.csv", "--rows", 51)).code == 0
        assert len(read_public("out.csv")) == 51
        assert spent() == 2

    def test_a_table_that_could_not_be_written_is_not_paid_for_again(
        self, files, privet, monkeypatch
    ):
        def full(*_):
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr("privet.synthetic.files._copy", full)
            ran = privet(*command("out.csv", "--rows", 50))
        assert ran.code != 0
        assert "No space left on device" in ran.err
        assert "out.csv" not in names()
        assert spent() == 2
        ran = privet(*command("out.csv", "--rows", 50))
        assert ran.code == 0, ran.err
        assert spent() == 2
        assert len(read_public("out.csv")) == 50

    def test_a_table_that_was_written_twice_is_one_release(self, files, privet, monkeypatch):
        """Killed after the file was written: the same answers are the same release, and would
        otherwise count twice.
        """
        from privet.curator.resumed import Unfinished

        def identity() -> str:
            import duckdb

            with duckdb.connect() as connection:
                said = connection.execute(
                    "SELECT value FROM parquet_kv_metadata('out.parquet')"
                ).fetchone()
            return json.loads(said[0])["privacy"]["id"]

        with monkeypatch.context() as patch:
            patch.setattr(Unfinished, "finish", lambda self: None)
            assert privet(*command("out.parquet", "--rows", 5)).code == 0
        first = identity()
        assert privet(*command("out.parquet", "--rows", 5)).code == 0
        assert identity() == first
        assert spent() == 2


class TestCheck:
    @pytest.fixture
    def rows(self, files):
        table(300, seed=9).to_csv("rows.csv", index=False)
        return [
            "publish",
            "check",
            "rows.csv",
            "held-out.csv",
            "--schema",
            "s.json",
            "--epsilon",
            "1/2",
        ]

    def test_what_would_tell_nothing_is_not_paid_for(self, rows, privet):
        rows[rows.index("1/2")] = "1/100"
        ran = privet(*rows)
        assert ran.code == 2
        assert "noise alone would show a distance of" in ran.err
        assert "would tell you nothing, so nothing was spent; try epsilon" in ran.err
        assert not Path("held-out.csv.ledger.sqlite").exists()
        ran = privet(*rows, "--anyway", "--json")
        assert ran.code == 0, ran.err
        assert json.loads(ran.out)["epsilon"] == "1/100"
        assert spent("held-out.csv") == F(1, 100)

    def test_prints(self, rows, privet):
        ran = privet(*rows)
        assert ran.code == 0, ran.err
        assert "trained on the synthetic rows" in ran.out
        assert "age" in ran.out
        assert spent("held-out.csv") == F(1, 2)
        assert "95% interval (sampling and noise)" in ran.out
        shown = privet("ledger", "show", "held-out.csv.ledger.sqlite").out
        assert "check of a synthetic table: 2 questions" in " ".join(shown.split())
        assert "class counts" not in shown

    def test_json(self, rows, privet):
        ran = privet(*rows, "--json")
        told = json.loads(ran.out)
        assert told["epsilon"] == "1/2"
        assert told["left"] == "19/2"
        assert set(told["attributes"]) == {"a", "b", "age"}
        assert told["private"] is True

    def test_reports_and_pictures(self, rows, privet):
        fit = ["fit", "t.csv", "--schema", "s.json", "--epsilon", "1", "-l", "random-trees", "-o"]
        Path("one").mkdir()
        Path("two").mkdir()
        assert privet(*fit, "one/m.json").code == 0
        assert privet(*fit, "two/m.json").code == 0
        models = ["--against", "one/m.json", "--against", "two/m.json"]
        ran = privet(*rows, "-o", "report.html", "--plot", "p.svg", *models)
        assert ran.code == 0, ran.err
        page = Path("report.html").read_text(encoding="utf-8")
        assert page.startswith("<!DOCTYPE html>")
        assert "one/m.json" in page
        assert "two/m.json" in page  # two files of one name are two models
        assert "<svg" in Path("p.svg").read_text(encoding="utf-8")
        assert privet(*rows, "-o", "report.md").code == 0
        assert Path("report.md").read_text(encoding="utf-8").startswith("# ")
        assert not [name for name in names() if name.endswith(".part")]
        assert spent("held-out.csv") == 1

    @pytest.mark.parametrize(
        ("more", "told"),
        [
            (["-o", "report.txt"], ".md or .html"),
            (["-o", "nowhere/report.md"], "cannot write"),
            (["--plot", "p.gif"], ".svg, .png or .pdf"),
            (["--plot", "nowhere/p.svg"], "cannot write"),
            (["--against", "no-model.json"], "no-model.json"),
        ],
    )
    def test_is_refused_with_nothing_charged_and_no_file(self, rows, privet, more, told):
        before = names()
        ran = privet(*rows, *more)
        assert ran.code != 0
        assert told in ran.err
        assert names() == before

    def test_rows_of_another_schema_are_refused_with_nothing_charged(self, rows, privet):
        pd.DataFrame({"a": ["x"], "c": ["no"]}).to_csv("rows.csv", index=False)
        ran = privet(*rows)
        assert ran.code != 0
        assert "Traceback" not in ran.err
        assert entries("held-out.csv") == []

    def test_a_report_that_cannot_be_written_is_not_half_there(self, rows, privet, monkeypatch):
        def full(self, data):
            self.write_text(data[:100].decode())
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(Path, "write_bytes", full)
        ran = privet(*rows, "-o", "report.md")
        assert ran.code != 0
        assert "No space left on device" in ran.err
        assert not [name for name in names() if "report" in name]
