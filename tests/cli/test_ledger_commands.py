"""``privet ledger show`` and ``privet ledger cap``."""

from __future__ import annotations

import contextlib
import io
import json
import sqlite3
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import SQLiteLedger
from privet.cli import main

Run = Callable[..., Any]


@pytest.fixture
def book() -> SQLiteLedger:
    """A ledger with a charge of two analysts, one of them without a pure guarantee."""
    ledger = SQLiteLedger("book.sqlite")
    ledger.set_cap("people", Budget(rho=2))
    ledger.charge("people", "ada", Cost.pure("1/3"), "class counts")
    ledger.charge("people", "bob", Cost.concentrated("1/2"), "number of rows")
    return ledger


def test_show_prints_one_line_of_json_per_charge(privet: Run, book: SQLiteLedger) -> None:
    lines = [
        json.loads(line)
        for line in privet("ledger", "show", "book.sqlite", "--json").out.splitlines()
    ]
    for line in lines:
        assert line.pop("time").endswith("+00:00")
    first = {
        "number": 2,
        "dataset": "people",
        "analyst": "ada",
        "what": "class counts",
        "epsilon": "1/3",
        "rho": "1/18",
    }
    second = {
        "number": 3,
        "dataset": "people",
        "analyst": "bob",
        "what": "number of rows",
        "epsilon": None,
        "rho": "1/2",
    }
    assert lines == [first, second]
    assert (
        json.loads(privet("ledger", "show", "book.sqlite", "--analyst", "bob", "--json").out)[
            "number"
        ]
        == 3
    )


def test_show_prints_charges_and_what_is_left(privet: Run, book: SQLiteLedger) -> None:
    lines = [line.split() for line in privet("ledger", "show", "book.sqlite").out.splitlines()]
    assert any(line[-4:] == ["class", "counts", "0.333333", "0.0555556"] for line in lines)
    assert any(line[-2:] == ["-", "0.5"] for line in lines)
    assert ["people", "rho", "2", "0.555556", "1.44444", "not", "stated", "yet"] in lines


def test_show_refuses_what_is_no_ledger_and_makes_none(privet: Run) -> None:
    Path("text.sqlite").write_text("not a database, but longer than the header of one" * 10)
    for name, said in (
        ("absent.sqlite", "no ledger file absent.sqlite"),
        ("text.sqlite", "text.sqlite"),
    ):
        ran = privet("ledger", "show", name)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert said in ran.err
    assert not Path("absent.sqlite").exists()


def test_cap_sets_and_changes_caps(privet: Run) -> None:
    assert (
        privet("ledger", "cap", "new.sqlite", "people", "1/3", "--new").out
        == "cap of data set 'people': epsilon 0.333333\n"
    )
    assert privet("ledger", "cap", "new.sqlite", "people", "2").code == 0
    said = privet("ledger", "cap", "new.sqlite", "people", "0.5", "--analyst", "ada").out
    assert said == "cap of analyst 'ada' on data set 'people': epsilon 0.5\n"
    book = SQLiteLedger("new.sqlite")
    assert (book.cap("people"), book.cap("people", "ada")) == (Budget(2), Budget("1/2"))


def test_cap_makes_a_ledger_only_when_asked(privet: Run, book: SQLiteLedger) -> None:
    """A name that is typed wrongly must not begin a ledger that has seen nothing."""
    before = sorted(Path().iterdir())
    ran = privet("ledger", "cap", "bok.sqlite", "people", "1")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "no ledger file bok.sqlite; check its name; --new makes one" in ran.err
    ran = privet("ledger", "cap", "book.sqlite", "people", "1", "--new")
    assert (ran.code, ran.out) == (2, "")
    assert "leave --new out" in ran.err
    assert sorted(Path().iterdir()) == before
    assert book.cap("people").amount == Fraction(2)


@pytest.mark.parametrize("epsilon", ["abc", "nan", "inf"])
def test_a_cap_that_is_no_amount_is_refused(privet: Run, book: SQLiteLedger, epsilon: str) -> None:
    ran = privet("ledger", "cap", "book.sqlite", "people", epsilon)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert book.cap("people").amount == Fraction(2)


def test_a_refused_cap_makes_no_ledger(privet: Run) -> None:
    assert privet("ledger", "cap", "new.sqlite", "people", "abc", "--new").code == 2
    assert not Path("new.sqlite").exists()


@pytest.mark.parametrize(
    ("name", "told"), [("a" * 300, "File name too long"), ("\udcff", "no ledger file \\udcff")]
)
def test_names_that_no_file_has_are_one_message(monkeypatch, name, told):
    monkeypatch.setattr("sys.argv", ["privet", "ledger", "show", name])
    monkeypatch.setattr(
        "sys.stderr",
        io.TextIOWrapper(
            io.BytesIO(), encoding="utf-8", errors="backslashreplace", write_through=True
        ),
    )
    with pytest.raises(SystemExit) as ended:
        main()
    sys.stderr.seek(0)
    said = sys.stderr.read()
    assert ended.value.code == 2
    assert said.startswith("privet: ")
    assert told in said
    assert said.count("\n") == 1


def test_what_is_set_aside_is_shown_and_can_be_freed(privet: Run, tmp_path: Path) -> None:
    path = tmp_path / "book.sqlite"
    book = SQLiteLedger(path)
    book.set_cap("people", Budget(2))
    book.reserve(
        "people",
        "owner",
        Budget("3/2"),
        "fit of privet",
        key="fit-1",
        request="r",
        schema="s",
        neighbours="add-remove",
        rows_per_person=1,
    )
    shown = privet("ledger", "show", str(path)).out
    assert "fit of privet" in shown
    assert "fit-1" in shown
    assert " 0.5" in shown  # what is left for others
    freed = privet("ledger", "cancel", str(path), "fit-1")
    assert (freed.code, freed.out) == (
        0,
        "cancelled 'fit of privet': epsilon 1.5 can be spent again\n",
    )
    assert "Set aside" not in privet("ledger", "show", str(path)).out
    again = privet("ledger", "cancel", str(path), "fit-2")
    assert (again.code, again.err) == (2, "privet: analyst 'owner' has no reservation 'fit-2'\n")


def test_verify_tells_a_whole_ledger_from_an_edited_one(privet: Run, book: SQLiteLedger) -> None:
    begun = privet("ledger", "verify", "book.sqlite", "--witness", "seen", "--new-witness")
    assert begun.out == "the ledger is whole: 3 lines\n"
    assert privet("ledger", "verify", "book.sqlite", "--witness", "seen").code == 0
    with contextlib.closing(sqlite3.connect("book.sqlite")) as file, file:
        for (name,) in file.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall():
            file.execute(f"DROP TRIGGER {name}")
        file.execute("UPDATE journal SET epsilon = '1/100' WHERE number = 2")
    edited = privet("ledger", "verify", "book.sqlite")
    assert edited.code == 1
    assert "line 2 is not what was written after line 1" in edited.err
    assert not edited.out
    assert "no ledger file" in privet("ledger", "verify", "missing.sqlite").err
