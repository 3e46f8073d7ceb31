"""``privet schema check``, ``declare`` and ``draft``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from privet.domain import Categorical, Date, Numeric, Schema
from privet.domain.draft import WARNING

Run = Callable[..., Any]


def words(text: str) -> str:
    """The words of a framed message, in one line."""
    return " ".join(text.replace("│", " ").split())


def test_check_says_what_a_schema_holds_and_that_a_table_fits(privet: Run, nursery: Path) -> None:
    schema, table = nursery / "nursery.schema.json", nursery / "nursery.csv"
    fingerprint = Schema.read(schema).fingerprint[:16]
    alone, both = privet("schema", "check", schema), privet("schema", "check", schema, table)
    assert (alone.code, alone.out) == (
        0,
        f"{schema}: 8 attributes, 5 classes, fingerprint {fingerprint}\n",
    )
    assert (both.code, both.out) == (0, alone.out.rstrip() + f"; {table} fits it\n")


def test_check_lists_every_problem_without_a_value(privet: Run) -> None:
    Schema(
        {"c": Categorical(["a"]), "n": Numeric(0, 1), "gone": Numeric(0, 1)}, "class", ["no", "yes"]
    ).write("s.json")
    Path("t.csv").write_text("c,n,class\nSECRET-VALUE,987654321,no\na,0.5,yes\n")
    ran = privet("schema", "check", "s.json", "t.csv")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("privet: ") == 1
    for column, what in (
        ("c", "does not list"),
        ("n", "outside the declared bounds"),
        ("gone", "is not in the table"),
    ):
        assert any(f"column '{column}'" in line and what in line for line in ran.err.splitlines())
    assert not any(secret in ran.err for secret in ("SECRET-VALUE", "987654321", "Traceback"))


def test_check_names_columns_whose_text_nobody_can_read(privet: Run) -> None:
    Schema(
        {
            "day": Date("2023-01-01", "2024-12-31", missing="missing"),
            "fee": Numeric(0, 9, missing="missing"),
            "n": Numeric(0, 9, missing="missing"),
        },
        "class",
        ["no", "yes"],
    ).write("s.json")
    Path("t.csv").write_text("day;fee;n;class\n02.07.2024;1,50;1;no\n03.07.2024;2,50;;yes\n")
    ran = privet("schema", "check", "s.json", "t.csv")
    assert (ran.code, ran.out) == (2, "")
    assert "column 'day' holds text that is no ISO 8601 date" in ran.err
    assert "column 'fee' holds text that is no number" in ran.err
    assert "column 'n'" not in ran.err
    assert not any(secret in ran.err for secret in ("2024;", "02.07", "1,50", "2 of"))


def test_check_refuses_a_bad_schema(privet: Run) -> None:
    Path("bad.json").write_text("[]")
    for name in ("bad.json", "absent.json"):
        ran = privet("schema", "check", name)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert name in ran.err


@pytest.fixture
def sample() -> Path:
    """A public sample with categories, numbers and a missing entry."""
    path = Path("sample.csv")
    rows = [
        f"{'red' if i % 3 else 'blue'},{i * 1.37:.2f},{'' if i == 4 else i * 7 % 40 + i % 2},"
        f"{i % 2}"
        for i in range(40)
    ]
    path.write_text("\n".join(["colour,weight,age,label", *rows]) + "\n")
    return path


def test_draft_prints_a_schema_that_fits_and_warns_on_stderr(privet: Run, sample: Path) -> None:
    ran = privet("schema", "draft", sample)
    assert ran.code == 0
    schema = Schema.from_json(json.loads(ran.out))
    assert schema.attributes == {
        "colour": Categorical(["blue", "red"]),
        "weight": Numeric(0, 54),
        "age": Numeric(0, 40, missing="?"),
    }
    assert (schema.target, schema.classes) == ("label", (0, 1))
    assert WARNING in words(ran.err)


def test_a_draft_that_is_written_fits_its_sample(privet: Run, sample: Path) -> None:
    ran = privet("schema", "draft", sample, "--target", "colour", "--output", "s.json")
    assert (ran.code, ran.out) == (0, "")
    assert WARNING in words(ran.err)
    assert Schema.read("s.json").target == "colour"
    assert privet("schema", "check", "s.json", sample).code == 0


SPELLINGS = [
    "yes no",
    "True False",
    "TRUE FALSE",
    "01 02",
    "1 2",
    "1.0 2.0",
    "1.50 2.50",
    "t f",
    "1e1 2e1",
    "2020-01-01 2020-01-02",
]


@pytest.mark.parametrize("spelled", SPELLINGS)
def test_a_draft_lists_what_the_file_spells(privet: Run, spelled: str) -> None:
    entries = spelled.split()
    Path("t.csv").write_text(
        "\n".join(["x,class", *(f"{entry},{label}" for entry in entries for label in "ab")]) + "\n"
    )
    assert privet("schema", "draft", "t.csv", "--output", "s.json").code == 0
    checked = privet("schema", "check", "s.json", "t.csv")
    assert checked.code == 0, checked.err


def test_draft_refuses_without_writing(privet: Run, sample: Path) -> None:
    for arguments in ((sample, "--target", "nope"), ("absent.csv",)):
        ran = privet("schema", "draft", *arguments, "--output", "s.json")
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert not Path("s.json").exists()


def test_declare_writes_facts_and_keeps_the_domain(privet: Run, nursery: Path) -> None:
    schema = nursery / "nursery.schema.json"
    ran = privet(
        "schema", "declare", schema, "--neighbours", "replace", "--rows", 12960, "-o", "s.json"
    )
    assert (ran.code, ran.out) == (0, "s.json: neighbours replace, n_rows 12960\n")
    assert Schema.read("s.json") == Schema.read(schema).declare(neighbours="replace", n_rows=12960)
    ran = privet(
        "schema", "declare", "s.json", "--person", "who", "--rows-per-person", 3, "-o", "s.json"
    )
    assert ran.code == 0
    assert Schema.read("s.json") == Schema.read(schema).declare(
        neighbours="replace", n_rows=12960, person="who", rows_per_person=3
    )


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ((), "nothing is declared"),
        (("--neighbours", "both"), "neighbours"),
        (("--rows-per-person", 0), "rows_per_person"),
    ],
)
def test_declare_refuses_what_is_no_fact(
    privet: Run, nursery: Path, facts: tuple[object, ...], message: str
) -> None:
    ran = privet("schema", "declare", nursery / "nursery.schema.json", *facts, "-o", "s.json")
    assert ran.code == 2
    assert message in ran.err
    assert not Path("s.json").exists()
