"""``privet anonymity``: exact measures for the owner."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
PEOPLE = "age,sex,illness,salary\n30,f,flu,3\n30,f,flu,4\n30,f,cold,5\n,m,[red]gout,6\n"


@pytest.fixture(autouse=True)
def people(own_surroundings: None) -> None:
    Path("people.csv").write_text(PEOPLE)


def test_the_measures_and_the_worst_classes(privet: Run) -> None:
    ran = privet("anonymity", "people.csv", "--quasi", "age,sex", "--sensitive", "illness")
    assert (ran.code, ran.err) == (0, "")
    lines = [" ".join(line.split()) for line in ran.out.splitlines()]
    assert "4 rows in 2 classes, 3 sensitive values" in ran.out
    assert "k 1 rows (1 rows are alone in their class)" in lines
    assert "distinct l 1 different sensitive values 1 1" in lines
    assert "frequency l 1.000 rows per row with the most frequent value 2 4" in lines
    assert "t 0.750 equal distance to the whole table, 0 to 1" in lines
    assert "null m 1 1 1.000 1 1.000 0.750 [red]gout (100%) size, every l, t" in lines, (
        "values are shown as they are"
    )
    assert "30 f 3 2 1.890 2 1.500 0.250 flu (67%) size, every l, t" in lines


@pytest.mark.parametrize("form", [(), ("--json",), ("--help",)])
def test_every_form_says_that_it_is_not_private(privet: Run, form: tuple[str, ...]) -> None:
    said = privet("anonymity", "people.csv", "--quasi", "age", "--sensitive", "illness", *form).out
    assert "NOT" in said
    assert re.search(r"differentially\s+private", re.sub(r"[│\s]+", " ", said))


def test_the_measures_of_anonymity_as_json(privet: Run) -> None:
    said = json.loads(
        privet(
            "anonymity",
            "people.csv",
            "-q",
            "sex",
            "-s",
            "salary",
            "--ordered",
            "--c",
            "1/2",
            "--l",
            "3",
            "--json",
        ).out
    )
    assert said["private"] is False
    assert (
        said.items()
        >= {
            "k": 1,
            "rows": 4,
            "classes": 2,
            "unique_rows": 1,
            "distinct_l": 1,
            "frequency_l": 1.0,
            "c": "1/2",
        }.items()
    )
    assert (
        said.items()
        >= {"recursive_l": 0, "distance": "ordered", "asked_l": 3, "table": "people.csv"}.items()
    )
    assert said["t"] == pytest.approx(0.5)  # 6 of {3, 4, 5, 6}: (3 + 2 + 1) / 4 / 3
    assert said["below_asked_l"]["distinct_l"] == {"classes": 1, "rows": 1}
    assert [one["quasi"] for one in said["worst"]] == [{"sex": "m"}, {"sex": "f"}]
    assert said["worst"][1]["most_frequent_rows"] == 1
    assert not any("ledger" in path.name for path in Path().iterdir()), "nothing is charged"


def test_names_with_commas_and_spaces(privet: Run) -> None:
    Path("odd.csv").write_text('"a, b",c d,s\n1,2,x\n1,2,y\n')
    said = json.loads(
        privet("anonymity", "odd.csv", "--quasi", '"a, b", c d', "--sensitive", "s", "--json").out
    )
    assert (said["quasi"], said["k"], said["distinct_l"]) == (["a, b", "c d"], 2, 2)


def test_how_many_to_show(privet: Run) -> None:
    asked = ("anonymity", "people.csv", "--quasi", "age,sex", "--sensitive", "illness", "--worst")
    assert len(json.loads(privet(*asked, "1", "--json").out)["worst"]) == 1
    assert "worst classes" not in privet(*asked, "0").out


@pytest.mark.parametrize(
    ("name", "start"), [("classes.svg", b"<?xml"), ("classes.png", b"\x89PNG")]
)
def test_the_equivalence_classes_are_drawn(privet: Run, name: str, start: bytes) -> None:
    pytest.importorskip("matplotlib")
    asked = ("anonymity", "people.csv", "--quasi", "age,sex", "--sensitive", "illness", "-o", name)
    assert privet(*asked).out.endswith(f"drew {name}\n")
    assert Path(name).read_bytes().startswith(start)
    assert json.loads(privet(*asked, "--json", "--force").out)["plot"] == name


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("--quasi", "age,zip", "--sensitive", "illness"),
            "quasi must name a column of the table, got 'zip'; .* are age, sex, illness",
        ),
        (
            ("--quasi", "age", "--sensitive", "zip"),
            "sensitive must name a column of the table, got 'zip'",
        ),
        (
            ("--quasi", "age,illness", "--sensitive", "illness"),
            "sensitive must be a column that is not among .* got 'illness'",
        ),
        (
            ("--quasi", "", "--sensitive", "illness"),
            "quasi must name at least one column, got none",
        ),
        (
            ("--quasi", "age", "--sensitive", "illness", "--l", "0"),
            "l must be an integer of at least 1, got 0",
        ),
        (
            ("--quasi", "age", "--sensitive", "illness", "--c", "0"),
            "c must be a finite number above zero, got '0'",
        ),
        (
            ("--quasi", "age", "--sensitive", "illness", "--c=-2"),
            "c must be a finite number above zero, got '-2'",
        ),
        (
            ("--quasi", "age", "--sensitive", "illness", "--worst", "-1"),
            "worst must be an integer of at least 0, got -1",
        ),
        (("--quasi", "age", "--sensitive", "illness", "--ordered"), "ordered is for numbers"),
        (
            ("--quasi", "age", "--sensitive", "illness", "-o", "no/where.svg"),
            "cannot write no/where.svg",
        ),
        (
            ("--quasi", "age", "--sensitive", "illness", "-o", "x.jpg"),
            r"must end in \.svg, \.png or \.pdf, got 'x\.jpg'",
        ),
    ],
)
def test_what_cannot_be_asked(privet: Run, arguments: tuple[str, ...], said: str) -> None:
    ran = privet("anonymity", "people.csv", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == ran.err.count("privet: ") == 1
    assert re.search(said, ran.err)


def test_an_empty_table(privet: Run) -> None:
    Path("none.csv").write_text("a,b\n")
    ran = privet("anonymity", "none.csv", "--quasi", "a", "--sensitive", "b")
    assert (ran.code, "none.csv has no rows" in ran.err) == (2, True)
