"""A server of dates and booleans: grow, predict, insert, delete, export."""

from __future__ import annotations

import csv
import itertools
from collections import Counter
from datetime import UTC, date, datetime, timedelta, timezone

import pandas as pd
import pytest

from privet.domain import Boolean, Categorical, Date, Schema
from privet.errors import ParameterError, SchemaError
from privet.outsource.anatomy import Anatomy, attribute_cells, cells_of
from privet.outsource.cipher import KeyRing
from privet.outsource.client import Collaborative, OutsourcedTable
from privet.outsource.client.rotation import export
from privet.outsource.client.updates import delete, insert
from privet.outsource.files import write_halves
from privet.outsource.server.state import ServerState
from privet.outsource.split import split
from tests.service.running import serving

SCHEMA = Schema(
    {
        "age": Date(0, 99, part="age", at="2024-12-31", bins=4, column="born"),
        "month": Date(part="month", column="born"),
        "smokes": Boolean(missing="not told"),
        "admitted": Date("2020-01-01", "2023-12-31", bins=4, missing="?"),
        "town": Categorical(["north", "south"]),
    },
    "ill",
    ["no", "yes"],
)
DAYS = [datetime(year, 7, 1, 9, 30, tzinfo=UTC) for year in (2020, 2021, 2022, 2023)]


def people(n: int, turn: int = 0) -> pd.DataFrame:
    """Timestamps, dates and booleans as a table has them; the ill are those who smoke."""
    births = [date(year, month, 3) for year in (1940, 1970, 2001) for month in range(1, 13)]
    cases = itertools.product(births, [True, False], ["north", "south"])
    rows = list(itertools.islice(itertools.cycle(cases), turn, turn + n))
    return pd.DataFrame(
        {
            "born": pd.Series([born for born, _, _ in rows], dtype=object),
            "smokes": [smokes for _, smokes, _ in rows],
            "admitted": [DAYS[i % 4] for i in range(n)],
            "town": [town for _, _, town in rows],
            "ill": ["yes" if smokes else "no" for _, smokes, _ in rows],
        }
    )


@pytest.mark.parametrize("sensitive", ["smokes", "admitted"])
def test_from_the_split_to_predictions_and_back(sensitive, tmp_path):
    ring, table, new = KeyRing.new(), people(288), people(40, turn=7)
    made = split(table, SCHEMA, sensitive, 2, ring)
    assert len(made.withheld) == 0
    write_halves(made.halves, tmp_path / "halves")
    state = ServerState.make(tmp_path / "home", tmp_path / "halves", None)
    token = state.accounts.add_analyst("ada")
    with (
        serving(state.path, group="outsource") as service,
        OutsourcedTable(f"http://127.0.0.1:{service.port}", token, ring) as client,
    ):
        learner = Collaborative(client, client.grow("multiway", 2))
        assert learner.predict(table) == table["ill"].tolist()
        insert(client, new, batch=1000)
        sealed = [text for _, text in client.pending()]
        assert len({len(text) for text in sealed}) == 1  # a length would tell a value
        assert delete(client, new.iloc[:10]) == 10
        assert delete(client, table.iloc[:5]) == 5
        export(client, tmp_path / "again.csv")
    with (tmp_path / "again.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    kept = pd.concat([table.iloc[5:], new.iloc[10:]])  # some of them wait for a group
    columns = zip(*attribute_cells(kept, SCHEMA), kept["ill"], strict=True)
    exported = Counter(tuple(line[name] for name in (*SCHEMA.names, "ill")) for line in lines)
    assert exported == Counter(columns)


def test_the_server_is_told_an_age_and_not_a_birthday():
    cells = dict(zip(SCHEMA.names, attribute_cells(people(1), SCHEMA), strict=True))
    assert cells == {
        "age": ["84"],
        "month": ["1"],
        "smokes": ["true"],
        "admitted": ["2020-07-01"],
        "town": ["north"],
    }


def test_a_sensitive_column_is_read_by_one_attribute():
    with pytest.raises(ParameterError, match="its column 'born', which 'month' is read from, too"):
        Anatomy("0" * 32, 2, "age", SCHEMA)
    Anatomy("0" * 32, 2, "admitted", SCHEMA)


def test_timestamps_are_told_in_utc():
    zone = timezone(timedelta(hours=-5))
    entries = [datetime(2020, 12, 31, 20, 15, tzinfo=zone), date(2021, 1, 1), pd.NaT]
    frame = pd.DataFrame({"x": pd.Series(entries, dtype=object)})
    assert cells_of(frame, ["x"]) == [
        ["2021-01-01T01:15:00.000000", "2021-01-01T00:00:00.000000", None]
    ]


def test_a_date_that_no_text_spells_is_refused():
    frame = pd.DataFrame({"x": pd.Series([date(999, 1, 1)], dtype=object)})
    with pytest.raises(SchemaError, match="column 'x' must hold dates of the years 1000 to 9999"):
        cells_of(frame, ["x"])
