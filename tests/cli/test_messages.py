"""What a newcomer is told who gets a table, a schema or a call wrong.

Each message names what is wrong, where it is, what is allowed, and what to do next; a fit that is
refused charges nothing, and leaves no model. What only rows can tell is told to the owner alone.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privet as pv
from privet.errors import SchemaMismatch

N = 600
CLASSES = ["No", "Yes"]
ROWS = pd.DataFrame(
    {
        "age": [18 + row % 70 for row in range(N)],
        "ward": ["ABC"[row % 3] for row in range(N)],
        "amount": [row * 7 % 5000 for row in range(N)],
        "day": [f"2024-{1 + row % 12:02}-{1 + row % 28:02}" for row in range(N)],
        "returned": [CLASSES[row % 70 > 40] for row in range(N)],
    }
)
X, Y = ROWS.drop(columns="returned"), ROWS["returned"]
SCHEMA = pv.Schema(
    {
        "age": pv.Numeric(0, 120, bins=12),
        "ward": pv.Categorical(["A", "B", "C"]),
        "amount": pv.Numeric(0, 5000, bins=5),
        "day": pv.Date("2024-01-01", "2024-12-31"),
    },
    "returned",
    CLASSES,
)
DATES = [f"{1 + row % 28:02}/{1 + row % 12:02}/2024" for row in range(N)]
COMMAS = [f"1,{row % 1000:03}" for row in range(N)]
Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def files(own_surroundings: None) -> None:
    SCHEMA.write("s.json")
    pv.datasets.load("car").schema.write("car.json")


def fit(privet: Run, rows: pd.DataFrame | None = None, **options: Any) -> Any:
    """Fit a table, written as CSV with these options, with a learner that counts."""
    if rows is not None:
        rows.to_csv("t.csv", index=False, **options)
    return privet(*WORDS)


ASKED = ["fit", "t.csv", "-s", "s.json"]
WORDS = [*ASKED, "-e", 1, "--budget", 3, "-l", "greedy-tree", "-o", "m.json"]


def refused(ran: Any, *said: str) -> None:
    """Assert that a command says all of this in one error, and has done nothing."""
    assert ran.code == 2, ran.err
    for words in said:
        assert words in ran.err
    assert "Traceback" not in ran.err
    assert not Path("m.json").exists()
    ledger = Path("t.csv.ledger.sqlite")
    assert not ledger.exists() or not pv.SQLiteLedger(ledger).entries()


def told(ran: Any, *said: str) -> None:
    """Assert that a fit goes on and says all of this on standard error, and nothing of it in what
    it writes.
    """
    assert ran.code == 0, ran.err
    for words in said:
        assert words in ran.err
    if "for you alone" in ran.err:
        assert "for you alone" not in ran.out
        exact = re.findall(r"(\d+) of 600 rows", ran.err)
        assert not any(f"{number} of" in Path("m.json").read_text() for number in exact)


# -- what names and types tell is refused --


def test_a_wrong_column_name(privet):
    ran = fit(privet, ROWS.rename(columns={"ward": "wards"}))
    refused(ran, "column 'ward' is not in the table", "did you mean 'wards'?")


def test_a_column_name_that_is_like_no_other(privet):
    ran = fit(privet, ROWS.rename(columns={"ward": "zzz"}))
    refused(ran, "column 'ward' is not in the table", "'age', 'zzz', 'amount'")


def test_a_misspelt_target(privet):
    ran = fit(privet, ROWS.rename(columns={"returned": "retruned"}))
    refused(ran, "column 'returned' is not in the table", "did you mean 'retruned'?")


@pytest.mark.parametrize("epsilon", ["one", "-1", "0", "nan"])
def test_an_epsilon_that_is_none(privet, epsilon):
    ROWS.to_csv("t.csv", index=False)
    ran = privet(*ASKED, f"--epsilon={epsilon}", "-o", "m.json")
    refused(ran, f"above zero, got {epsilon!r}", "such as 1, 0.1 or '1/3'")
    with pytest.raises(pv.PrivetError, match=r"PrivetClassifier: epsilon must be .* or '1/3'"):
        pv.PrivetClassifier(epsilon, SCHEMA).fit(X, Y)


def test_a_missing_schema(privet):
    ROWS.to_csv("t.csv", index=False)
    ran = privet("fit", "t.csv", "-e", 1, "-o", "m.json")
    refused(ran, "--schema is needed", "'privet init t.csv' makes one")
    ran = privet("fit", "t.csv", "-s", "absent.json", "-e", 1, "-o", "m.json")
    refused(ran, "cannot read schema file absent.json", "'privet init TABLE' makes one")
    with pytest.raises(pv.PrivetError, match=r"needs a schema.*pv\.Schema\(.*schema='path.json'"):
        pv.PrivetClassifier(1).fit(X, Y)


def test_the_schema_of_another_file(privet):
    ROWS.to_csv("t.csv", index=False)
    ran = privet("fit", "t.csv", "-s", "car.json", "-e", 1, "-o", "m.json")
    refused(ran, "'buying', 'maint'", "The table has: 'age', 'ward'", "the schema of another one?")
    with pytest.raises(SchemaMismatch, match="schema of another one"):
        pv.PrivetClassifier(1, "car.json").fit(X, Y)


def test_a_file_in_utf_16(privet):
    refused(
        fit(privet, ROWS, encoding="utf-16"), "t.csv as CSV", "(it is UTF-16)", "save it as UTF-8"
    )


def test_an_empty_file(privet):
    Path("t.csv").write_text("")
    refused(fit(privet), "t.csv", "it is empty, and needs a header line")


def test_an_existing_output(privet):
    ROWS.to_csv("t.csv", index=False)
    Path("m.json").write_text("mine")
    ran = privet(*WORDS)
    assert ran.code == 2
    assert "m.json" in ran.err
    assert "--force" in ran.err
    assert Path("m.json").read_text() == "mine"


def test_swapped_files(privet):
    ROWS.to_csv("t.csv", index=False)
    ran = privet("fit", "s.json", "-s", "t.csv", "-e", 1, "-o", "m.json")
    refused(ran, "schema file t.csv is not JSON", "were the schema and the table swapped?")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: pv.PrivetClassifier(SCHEMA, 1).fit(X, Y), r"swapped\? Write PrivetClassifier\(ep"),
        (lambda: pv.PrivetClassifier(1, SCHEMA).fit(Y, X), r"were they swapped\? Call fit\(X, y\)"),
        (lambda: pv.Curator(SCHEMA, ROWS, pv.Budget(1)), r"swapped\? Write Curator\(table, sch"),
    ],
)
def test_swapped_arguments(call, said):
    with pytest.raises(pv.PrivetError, match=said):
        call()


def test_no_labels():
    with pytest.raises(SchemaMismatch, match=r"'returned' is not in the table.*call fit\(X, y\)"):
        pv.PrivetClassifier(1, SCHEMA).fit(X)


def test_numbers_for_classes_of_text(tmp_path):
    numbers = (Y == "Yes").astype(int)
    with pytest.raises(SchemaMismatch, match=r"y holds integers.*'No', 'Yes'.*y\.map"):
        pv.PrivetClassifier(1, SCHEMA).fit(X, numbers)


def test_numbers_for_classes_of_text_in_a_typed_file(privet):
    X.assign(returned=(Y == "Yes").astype(int)).to_parquet("t.parquet")
    ran = privet("fit", "t.parquet", "-s", "s.json", "-e", 1, "-o", "m.json")
    refused(ran, "column 'returned' holds numbers or booleans", "list in the schema the classes")


def test_one_hot_input():
    encoded = pd.get_dummies(X, columns=["ward"])
    with pytest.raises(SchemaMismatch, match=r"'ward'.*one-hot encoded \('ward_A'.*without an enc"):
        pv.PrivetClassifier(1, SCHEMA).fit(encoded, Y)
    with pytest.raises(pv.PrivetError, match="7 columns; if it is one-hot encoded"):
        pv.PrivetClassifier(1, SCHEMA).fit(encoded.assign(more=0).to_numpy(), Y)


def test_prefixed_names():
    with pytest.raises(SchemaMismatch, match=r"'cat__age'.*verbose_feature_names_out=False"):
        pv.PrivetClassifier(1, SCHEMA).fit(X.add_prefix("cat__"), Y)


# -- what needs no word --


@pytest.mark.parametrize(
    "options", [{"encoding": "utf-8-sig"}, {"sep": ";"}, {"sep": "\t"}], ids=str
)
def test_a_mark_semicolons_and_tabs_are_read(privet, options):
    ran = fit(privet, ROWS, **options)
    told(ran)
    assert "for you alone" not in ran.err
    assert "rows fit" not in ran.err


# -- what only rows can tell is told to the owner alone --


def test_labels_that_are_no_class(privet):
    ran = fit(privet, ROWS.replace({"returned": {"Yes": "yes"}}))
    dropped = int((Y == "Yes").sum())
    told(ran, "no class of the schema ('No', 'Yes')", f"{dropped} of 600 rows, not counted")


def test_numbers_for_classes_of_text_in_a_file_of_text(privet):
    ran = fit(privet, X.assign(returned=(Y == "Yes").astype(int)))
    told(ran, "0 of 600 rows fit", "no class of the schema ('No', 'Yes')", "may be none at all")


def test_a_header_and_no_rows(privet):
    told(fit(privet, ROWS.iloc[:0]), "has a header, and no rows", "may be none at all")


def test_dates_that_are_none(privet):
    told(fit(privet, ROWS.assign(day=DATES)), "'day'", "ISO 8601 date such as 2024-12-31; rewrite")


def test_numbers_with_commas(privet):
    told(fit(privet, ROWS.assign(amount=COMMAS)), "'amount' holds text that is no number", "clean")


@pytest.mark.parametrize(
    ("column", "entries", "said"),
    [
        ("day", DATES, "'day' holds text that is no ISO 8601 date such as 2024-12-31; rewrite it"),
        ("amount", COMMAS, "'amount' holds text that is no number; if it spells amounts, say how"),
    ],
)
def test_text_that_would_count_as_missing_in_silence(privet, column, entries, said):
    """As in a schema of ``privet init``, where every column may have missing entries."""
    attributes = {
        "age": pv.Numeric(0, 120, missing="missing"),
        "amount": pv.Numeric(0, 5000, missing="missing"),
        "day": pv.Date("2024-01-01", "2024-12-31", missing="missing"),
    }
    pv.Schema(attributes, "returned", CLASSES).write("s.json")
    entries = ["", " ", "missing", *entries[3 : N // 2], *ROWS[column][N // 2 :]]
    told(fit(privet, ROWS.assign(**{column: entries})), said, "297 of 600 rows, counted as missing")


def test_values_in_another_unit(privet):
    ran = fit(privet, ROWS.assign(age=ROWS["age"] * 365))
    told(ran, "'age' holds values outside", "600 of 600 rows, counted in the outermost bin")
    ran = privet(*WORDS, "--force")
    told(ran, "depends on the rows, and a schema is public")


def test_a_constant_column(privet):
    ran = fit(privet, ROWS.assign(age=ROWS["age"] / 100))
    told(ran, "all entries of 'age' fall into one of its 12 values", "the unit may be another one")


def test_a_schema_leaves_out_ids_and_constants_with_a_reason(privet):
    rows = ROWS.assign(patient_id=range(1000, 1000 + N), ward="A", amount=ROWS["amount"] // 100)
    rows.to_csv("public.csv", index=False)
    ran = privet("schema", "draft", "public.csv", "--target", "returned", "-o", "d.json")
    assert ran.code == 0, ran.err
    assert set(pv.Schema.read("d.json").names) == {"age", "amount", "day"}
    words = " ".join(ran.err.split())
    assert "patient_id" in words
    assert "ward" in words


# -- and to nobody else --


@pytest.mark.parametrize("more", [["--no-check"], ["--analyst", "ada"]], ids=str)
def test_nobody_else_is_told(privet, more):
    ROWS.replace({"returned": {"Yes": "yes"}}).to_csv("t.csv", index=False)
    ran = privet(*WORDS, *more)
    assert ran.code == 0, ran.err
    assert "for you alone" not in ran.err
    assert "no class" not in ran.err


def test_a_look_is_of_an_owner_and_is_never_written():
    import pickle

    rows = ROWS.replace({"returned": {"Yes": "yes"}})
    owner = pv.Owner(rows, SCHEMA, pv.Budget(1))
    check = owner.check()
    assert check.fitting == int((Y == "No").sum())
    assert not check.fits
    assert str(check.fitting) not in repr(check)  # notebooks keep what they show
    with pytest.raises(pv.PrivetError, match="a look at private rows is not written"):
        pickle.dumps(check)
    assert not hasattr(owner.curator("ada"), "check")
    assert owner.ledger.entries() == []
    assert pv.Owner(ROWS, SCHEMA, pv.Budget(1)).check().fits


def test_in_python_a_fit_says_what_was_released_and_no_more():
    wrong = Y.replace("Yes", "yes").replace("No", "no")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pv.GreedyTreeClassifier(1, SCHEMA).fit(X, wrong)
    said = " ".join(str(warning.message) for warning in caught)
    assert "may be none at all" in said
    assert "pv.Owner(table, schema).check()" in said
    assert "600" not in said
