"""A whole table examined, wherever it lies."""

from __future__ import annotations

import json
import random

import duckdb
import pandas as pd
import pytest

from privet.anonymity import Report, examine
from privet.errors import ParameterError, TableError
from tests.postgres import Server, put_table

#: Two classes: four women of 30 (flu, flu, flu, cold), two men whose age is null (gout, null).
PEOPLE = pd.DataFrame(
    {
        "age": ["30", "30", "30", "30", None, None],
        "sex": ["f", "f", "f", "f", "m", "m"],
        "illness": ["flu", "flu", "cold", "flu", "gout", None],
        "salary": [3, 4, 5, 6, 11, 8],
    }
)


@pytest.fixture(params=["csv", "parquet", "duckdb", "postgresql"])
def place(request, tmp_path, monkeypatch) -> str:
    """The same rows in each kind of place."""
    monkeypatch.chdir(tmp_path)
    people = PEOPLE
    if request.param == "csv":
        people.to_csv("people.csv", index=False)
        return "people.csv"
    if request.param == "postgresql":
        server: Server = request.getfixturevalue("postgres")
        return put_table(
            server.database(), people.astype({"age": object, "sex": object, "illness": object})
        )
    if request.param == "parquet":
        duckdb.sql("COPY (SELECT * FROM people) TO 'people.parquet'")
        return "people.parquet"
    with duckdb.connect("people.db") as connection:
        connection.execute("CREATE TABLE people AS SELECT * FROM people")
    return "duckdb:///people.db?table=people"


def classes(report: Report) -> dict:
    return {
        one.quasi: (one.by_measure["size"], one.most_frequent, one.most_frequent_rows)
        for one in report.worst
    }


def test_the_same_everywhere(place):
    report = examine(place, ["age", "sex"], "illness", c=4)
    assert classes(report) == {("30", "f"): (4, "flu", 3), (None, "m"): (2, "gout", 1)}, (
        "null is a value of its own"
    )
    said = report.to_json()
    assert (
        said["rows"],
        said["classes"],
        said["sensitive_values"],
        said["k"],
        said["unique_rows"],
    ) == (6, 2, 4, 2, 0)
    assert (said["distinct_l"], said["recursive_l"], said["frequency_l"]) == (
        2,
        2,
        pytest.approx(4 / 3),
    )
    assert said["entropy_l"] == pytest.approx(4 / 3**0.75)  # shares 3/4 and 1/4
    assert said["t"] == pytest.approx(2 / 3)  # a gout and a null, each 1/2 instead of 1/6
    assert (said["distance"], said["private"]) == ("equal", False)
    assert (
        said["below_asked_l"]["frequency_l"]
        == said["below_asked_l"]["entropy_l"]
        == {"classes": 1, "rows": 4}
    )
    assert (
        said["below_asked_l"]["distinct_l"]
        == said["below_asked_l"]["recursive_l"]
        == {"classes": 0, "rows": 0}
    )
    assert json.loads(json.dumps(said)) == said


def test_numbers_are_ordered_by_size_and_without_being_told_where_they_are_numbers(place):
    """3, 4, 5, 6 of {3, 4, 5, 6, 8, 11}: cumulative differences 1/12, 2/12, 3/12, 4/12, 2/12, over
    5.
    """
    report = examine(place, ["sex"], "salary", ordered=True)
    assert report.by_measure["t"] == pytest.approx([0.2, 0.4])
    assert {one.most_frequent for one in report.worst} == {"3", "8"}
    assert examine(place, ["sex"], "salary").ordered == (not place.endswith("csv"))
    unordered = examine(place, ["sex"], "salary", ordered=False)
    assert unordered.by_measure["t"] == pytest.approx([1 / 3, 2 / 3])


def test_text_that_is_no_number_has_no_order(place):
    with pytest.raises(
        ParameterError,
        match="ordered is for numbers, or text that spells numbers; column 'illness'",
    ):
        examine(place, ["sex"], "illness", ordered=True)


@pytest.mark.parametrize(
    ("quasi", "sensitive", "settings", "message"),
    [
        (
            [],
            "illness",
            {},
            (
                r"quasi must name at least one column, got none; the columns of .*people.* are "
                r"age, "
                r"sex, illness, salary"
            ),
        ),
        (
            ["age", "zip"],
            "illness",
            {},
            r"quasi must name a column of the table, got 'zip'; the columns of .* are age, sex",
        ),
        (["AGE"], "illness", {}, "quasi must name a column of the table, got 'AGE'"),
        (["age", "sex", "age"], "illness", {}, "quasi must name each column once, got 'age' twice"),
        (["age"], "disease", {}, "sensitive must name a column of the table, got 'disease'"),
        (
            ["age", "illness"],
            "illness",
            {},
            "sensitive must be a column that is not among the quasi-identifiers, got 'illness'",
        ),
        (["age"], "illness", {"asked_l": 0}, "l must be an integer of at least 1, got 0"),
        (["age"], "illness", {"c": 0}, "c must be a finite number above zero, got 0"),
        (["age"], "illness", {"worst": -1}, "worst must be an integer of at least 0, got -1"),
    ],
)
def test_what_cannot_be_asked(place, quasi, sensitive, settings, message):
    with pytest.raises(ParameterError, match=message):
        examine(place, quasi, sensitive, **settings)


def test_a_table_without_rows(tmp_path):
    (tmp_path / "none.csv").write_text("a,b\n")
    with pytest.raises(TableError, match=r"none\.csv has no rows"):
        examine(tmp_path / "none.csv", ["a"], "b")


def test_lines_that_are_no_record_are_not_passed_over(tmp_path):
    (tmp_path / "torn.csv").write_text("a,b\n1,2\n1,2\n3\n")
    with pytest.raises(TableError, match="lines that are no complete record"):
        examine(tmp_path / "torn.csv", ["a"], "b")


def test_a_data_frame_is_refused():
    with pytest.raises(ParameterError, match="got the 'table in memory'"):
        examine(PEOPLE, ["sex"], "illness")


def test_names_and_values_are_not_sql(tmp_path):
    frame = pd.DataFrame(
        {
            'a"; DROP TABLE x; --': ["'", "'", '"'],
            "select": ["$1", "$1", "?"],
            "s, t": ["x'); --", "y", "z"],
        }
    )
    frame.to_csv(tmp_path / "odd.csv", index=False)
    report = examine(tmp_path / "odd.csv", ['a"; DROP TABLE x; --', "select"], "s, t")
    assert {one.quasi: one.most_frequent for one in report.worst} == {
        ("'", "$1"): "x'); --",
        ('"', "?"): "z",
    }


def test_a_collation_does_not_put_people_together(tmp_path):
    with duckdb.connect(tmp_path / "c.db") as connection:
        connection.execute("CREATE TABLE t (q VARCHAR COLLATE NOCASE, s VARCHAR COLLATE NOCASE)")
        connection.execute("INSERT INTO t VALUES ('a', 'x'), ('A', 'x'), ('A', 'X')")
    report = examine(f"duckdb:///{tmp_path}/c.db?table=t", ["q"], "s")
    assert {
        one.quasi: (one.by_measure["size"], one.by_measure["distinct l"]) for one in report.worst
    } == {("A",): (2, 2), ("a",): (1, 1)}


def test_texts_that_spell_the_same_number_are_one_value_where_it_is_ordered(tmp_path):
    (tmp_path / "n.csv").write_text("q,s\na,1\na,1.0\nb,02\nb,10\nb,\n")
    assert len(examine(tmp_path / "n.csv", ["q"], "s").groups.codes) == 5
    report = examine(tmp_path / "n.csv", ["q"], "s", ordered=True)
    assert report.groups.totals.tolist() == [2, 1, 1, 1], (
        "1 twice, then 2, 10 and null, which stands last"
    )
    assert {one.most_frequent for one in report.worst} == {"1", "2"}


def test_the_order_of_rows_does_not_matter(tmp_path):
    chance = random.Random(7)
    lines = [
        f"{chance.randrange(5)},{chance.randrange(3)},{chance.randrange(6)}" for _ in range(300)
    ]
    said = []
    for name in ("one.csv", "other.csv"):
        (tmp_path / name).write_text("\n".join(["a,b,s", *lines]) + "\n")
        said.append({**examine(tmp_path / name, ["a", "b"], "s", worst=4).to_json(), "table": ""})
        chance.shuffle(lines)
    assert said[0] == said[1]


def test_the_worst_classes_by_each_measure(tmp_path):
    """Sizes 1, 2, 3 and 5. What is equally small is worse if it tells more; what tells as much, if
    it concerns more rows.
    """
    members = {"alone": "a", "pair": "bb", "mixed": "abc", "most": "aaaab", "couple": "ab"}
    lines = [f"{name},{value}" for name, values in members.items() for value in values]
    (tmp_path / "t.csv").write_text("\n".join(["q,s", *lines]) + "\n")
    report = examine(tmp_path / "t.csv", ["q"], "s", worst=2)
    ranks = {one.quasi[0]: one.rank for one in report.worst}
    by_l = {"distinct l": 1, "entropy l": 1, "recursive l": 2, "frequency l": 1}
    assert ranks == {
        # of 13 values 7 are a: t = 6/13
        "alone": {"size": 1, "distinct l": 2, "entropy l": 2, "frequency l": 2, "t": 2},
        "pair": {"size": 2, **by_l, "t": 1},  # and 5 are b: t = 8/13
        "most": {"recursive l": 1},  # 4 < 3 * 1 does not hold
    }
    assert next(iter(ranks)) == "alone", "the smallest stands first"
    assert report.unique_rows == 1
    assert examine(tmp_path / "t.csv", ["q"], "s", worst=0).worst == ()


@pytest.mark.parametrize("times", [1, 3, 8, 10])
def test_an_entropy_that_is_enough_but_for_rounding(times, tmp_path):
    """Shares 1/2 and four times 1/8 have an entropy of exactly two bits: l = 4. Of some numbers of
    rows, rounding makes it less.
    """
    values = ["a"] * 4 * times + list("bcde") * times
    (tmp_path / "t.csv").write_text("\n".join(["q,s", *(f"q,{value}" for value in values)]) + "\n")
    report = examine(tmp_path / "t.csv", ["q"], "s", asked_l=4)
    assert report.overall("entropy l") == pytest.approx(4)
    assert report.shortfall("entropy l").classes == 0
    assert report.shortfall("frequency l").rows == 8 * times
