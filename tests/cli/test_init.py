"""``privet init``: from a table that nobody described to a schema and a model."""

from __future__ import annotations

import io
import random
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from privet.domain import Boolean, Categorical, Date, Numeric, Schema

Run = Callable[..., Any]
CONTRACTS = ["monthly", "one year", "two year"]


def write_churn(path: str, rows: int, *, separator: str = ",", encoding: str = "utf-8") -> None:
    """A table of customers: an id, a blank in a number, and classes Yes and No."""
    chance = random.Random(rows)
    lines = ["customerID,gender,tenure,contract,charges,Churn"]
    for _ in range(rows):
        tenure, contract = chance.randint(0, 72), chance.choice(CONTRACTS)
        charges = " " if tenure == 0 else f"{tenure * chance.uniform(20, 110):.2f}"
        who = f"{chance.randint(1000, 9999)}-{''.join(chance.choices('ABCDEFGH', k=5))}"
        gender = chance.choice(["Female", "Male"])
        left = "Yes" if chance.random() < (0.8 if contract == "monthly" else 0.05) else "No"
        lines.append(f"{who},{gender},{tenure},{contract},{charges},{left}")
    text = "\n".join(lines) + "\n"
    Path(path).write_bytes(text.replace(",", separator).encode(encoding))


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def answer(*lines: str) -> None:
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))

    return answer


@pytest.mark.parametrize(
    ("separator", "encoding"), [(",", "utf-8"), (";", "utf-8-sig"), ("\t", "utf-8")]
)
def test_from_a_public_sample_to_a_model(privet: Run, separator: str, encoding: str) -> None:
    write_churn("churn.csv", 3000, separator=separator, encoding=encoding)
    write_churn("public.csv", 300)
    ran = privet("init", "churn.csv", "--sample", "public.csv", "--yes")
    assert ran.code == 0, ran.err
    assert ran.out == "churn.schema.json: 4 attributes, 2 classes\n"
    assert "left out: customerID" in ran.err
    schema = Schema.read("churn.schema.json")
    assert schema.attributes["contract"] == Categorical(CONTRACTS, other="other", missing="missing")
    assert schema.attributes["charges"].missing == "?"  # a blank, in the sample
    assert schema.classes == ("No", "Yes")
    assert "privet fit churn.csv --schema churn.schema.json" in ran.err
    asked = ["churn.csv", "-s", "churn.schema.json", "-e", 3, "--budget", 9]
    fitted = privet("fit", *asked, "-l", "greedy-tree", "-o", "m.json")
    assert fitted.code == 0, fitted.err
    assert "contract" in privet("show", "m.json").out


def test_from_options_alone(privet: Run) -> None:
    write_churn("churn.csv", 50)
    said = ["tenure=0..72", "gender=Female|Male", "charges=skip", "contract=2020-01-01..2021-12-31"]
    columns = [word for one in said for word in ("--column", one)]
    ran = privet("init", "churn.csv", "--yes", "--classes", "No|Yes", *columns, "-o", "s.json")
    assert ran.code == 0, ran.err
    schema = Schema.read("s.json")
    assert schema.attributes == {
        "gender": Categorical(["Female", "Male"], other="other", missing="missing"),
        "tenure": Numeric(0, 72, bins="auto", missing="missing"),
        "contract": Date("2020-01-01", "2021-12-31", missing="missing"),
    }
    assert "left out: charges: you left it out" in ran.err


def test_what_is_blank_is_left_out_with_the_ways_to_say_it(privet: Run) -> None:
    write_churn("churn.csv", 50)
    ran = privet("init", "churn.csv", "--yes", "--classes", "No|Yes", "-c", "tenure=0..72")
    assert ran.code == 0, ran.err
    assert list(Schema.read("churn.schema.json").attributes) == ["tenure"]
    for told in ("left out: gender", "--column 'gender=a|b|c'", "--sample"):
        assert told in ran.err
    assert "Female" not in Path("churn.schema.json").read_text()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], ["classes of 'Churn' are not known", "--classes 'no|yes'"]),
        (["--target", "churn"], ["no column 'churn'", "did you mean 'Churn'?"]),
        (
            ["-c", "age=0..9", "-c", "tenure=72"],
            ["'age' is not in the table", "'tenure'", "0..120"],
        ),
        ([], ["these columns hold: 'gender', 'tenure'", "'customerID'", "--include"]),
        (["--classes", "No|Yes"], ["'gender', 'tenure', 'contract'", "--epsilon"]),
        (["-c", "gender=Male/Female"], ["did you mean 'Male|Female'?"]),
        (["-c", "gender=Male"], ["one value tells nothing"]),
        (["-c", "tenure=2020-01-01..2021-12-31 as 31.12.2024"], ["'31.12.2024'", "ISO 8601"]),
        (["-c", "tenure=low..high"], ["'tenure'", "on both sides of '..'"]),
        (["-c", "tenure=0..20.000"], ["'tenure'", "'20.000'", "without separators, as 20000"]),
        (["-c", "tenure=-1,500,000..0"], ["without separators, as -1500000"]),
        (["-c", "tenure=9..3"], ["'tenure'", "low must be below high"]),
        (["-c", "tenure"], ["NAME=ANSWER"]),
        (["-c", "Churn=a|b"], ["'Churn' is the target", "--classes"]),
        (["--exclude", "tenur", "--person", "who"], ["'tenur'", "'who'", "'tenure'"]),
        (["--sample", "churn.csv"], ["is a private table"]),
        (["--output", "churn.csv", "--force"], ["the private table itself"]),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(
    privet: Run, words: list[str], told: list[str]
) -> None:
    write_churn("churn.csv", 50)
    ran = privet("init", "churn.csv", "--yes", *words)
    assert (ran.code, ran.out) == (2, "")
    for part in told:
        assert part in ran.err
    assert not Path("churn.schema.json").exists()


def test_a_schema_is_written_over_only_by_force(privet: Run) -> None:
    write_churn("churn.csv", 50)
    words = ["init", "churn.csv", "--yes", "--classes", "No|Yes", "-c", "tenure=0..72"]
    assert privet(*words).code == 0
    refused = privet(*words)
    assert (refused.code, "--force" in refused.err) == (2, True)
    assert privet(*words, "--force").code == 0


def test_an_interview_asks_for_what_is_missing(privet: Run, answering: Any) -> None:
    write_churn("churn.csv", 50)
    answering(
        *("4", "2"),  # no such way; I know the table
        "Churn",
        *("customerID", "0", "2"),  # whose row it is, and how many: not none
        "Male|Female",
        *("0..", "0..72"),  # which is refused, and asked again
        "",  # skip the contract
        "",
        "No|Yes",
        *("charges", "0..10000"),  # change one
        "yes",
    )
    ran = privet("init", "churn.csv")
    assert ran.code == 0, ran.err
    schema = Schema.read("churn.schema.json")
    assert (schema.person, schema.rows_per_person) == ("customerID", 2)
    assert list(schema.attributes) == ["gender", "tenure", "charges"]
    for told in ("'4' is none of", "on both sides of '..'", "is no number of rows", "0 to 10000"):
        assert told in ran.err


def test_a_sample_that_is_the_table_is_asked_for_again(privet: Run, answering: Any) -> None:
    write_churn("churn.csv", 50)
    write_churn("public.csv", 50)
    answering("1", "absent.csv", "churn.csv", "public.csv", "Churn", "none", "yes")
    ran = privet("init", "churn.csv")
    assert ran.code == 0, ran.err
    assert "there is no file absent.csv" in ran.err
    assert "churn.csv is taken as public here, and is a private table" in ran.err
    assert Schema.read("churn.schema.json").classes == ("No", "Yes")


def test_classes_that_are_known_are_not_paid_for(privet: Run, answering: Any) -> None:
    write_churn("churn.csv", 50)
    answering("3", "0.5", "Churn", "none", "No,Yes", "No|Yes", "n")
    ran = privet("init", "churn.csv", "--budget", 9)
    assert "'No,Yes' is no list of classes" in ran.err
    assert "epsilon 0.5 pays for: gender, tenure, contract, charges\n" in ran.err


@pytest.mark.parametrize("classes", ["No,Yes", "No;Yes", ""])
def test_classes_without_a_bar_are_one(privet: Run, classes: str) -> None:
    write_churn("churn.csv", 50)
    ran = privet("init", "churn.csv", "--yes", "--classes", classes, "-c", "tenure=0..72")
    assert ran.code == 2
    assert f"--classes: {classes!r} is no list of classes" in ran.err
    assert "write | between them, as in no|yes" in ran.err
    assert not Path("churn.schema.json").exists()


def test_an_interview_that_ends_early_writes_nothing(privet: Run, answering: Any) -> None:
    write_churn("churn.csv", 50)
    answering("2", "Churn")
    ran = privet("init", "churn.csv")
    assert (ran.code, Path("churn.schema.json").exists()) == (1, False)
    assert "Traceback" not in ran.err


def test_a_database_tells_most_by_itself(privet: Run) -> None:
    with sqlite3.connect("shop.db") as connection:
        connection.execute(
            "CREATE TABLE visits (id INTEGER PRIMARY KEY, email TEXT, age INTEGER, plan TEXT CHECK "
            "(plan IN ('basic', 'pro')), seen DATE, member BOOLEAN, bought BOOLEAN)"
        )
    ran = privet("init", "sqlite:///shop.db?table=visits", "--yes")
    assert ran.code == 0, ran.err
    schema = Schema.read("visits.schema.json")
    assert schema.attributes == {
        "age": Numeric(0, 120, bins="auto", missing="missing"),
        "plan": Categorical(["basic", "pro"], other="other", missing="missing"),
        "seen": Date("1900-01-01", "2099-12-31", bins="auto", missing="missing"),
        "member": Boolean(missing="missing"),
    }
    assert schema.classes == (False, True)
    assert "left out: id: no two rows" in ran.err
    assert "left out: email: its name stands for e-mail addresses" in ran.err


def test_what_is_unknown_is_paid_for(privet: Run) -> None:
    write_churn("churn.csv", 4000)
    Path("words.txt").write_text("one year\ntwo year\n")
    paying = ["--epsilon", 30, "--budget", 50, "--dictionary", "words.txt", "--yes"]
    ran = privet("init", "churn.csv", *paying)
    assert ran.code == 0, ran.err
    assert "epsilon 30 pays for: gender, tenure, contract, charges, the classes of Churn" in ran.err
    schema = Schema.read("churn.schema.json")
    assert set(schema.classes) == {"Yes", "No"}
    assert {"Female", "Male"} <= set(schema.attributes["gender"].labels)
    assert set(CONTRACTS) <= set(schema.attributes["contract"].labels)
    assert isinstance(schema.attributes["tenure"], Numeric)
    assert "customerID" not in schema.attributes
    assert schema.paid is not None
    assert schema.paid["epsilon"] == "30"
    fitted = privet("fit", "churn.csv", "-s", "churn.schema.json", "-e", 2, "-o", "m.json")
    assert fitted.code == 0, fitted.err
    assert "Both together cost epsilon 32" in privet("card", "m.json").out


def test_a_payment_can_be_refused(privet: Run, answering: Any) -> None:
    write_churn("churn.csv", 50)
    answering("3", "0.5", "Churn", "none", "find", "n")
    ran = privet("init", "churn.csv", "--budget", 9)
    assert ran.code == 2
    assert "nothing was charged" in ran.err
    assert not Path("churn.schema.json").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--epsilon", "lots"], "epsilon"),
        (["--epsilon", "-1"], "epsilon"),
        (["--epsilon", "1", "--sample", "public.csv"], "not both"),
        (["--epsilon", "1", "--dictionary", "absent.txt"], "absent.txt"),
        (["--epsilon", "20", "--budget", "10"], "20"),
    ],
)
def test_a_payment_that_is_wrong_charges_nothing(privet: Run, words: list[str], told: str) -> None:
    write_churn("churn.csv", 50)
    write_churn("public.csv", 50)
    ran = privet("init", "churn.csv", "--yes", *words)
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err
    assert not Path("churn.schema.json").exists()
