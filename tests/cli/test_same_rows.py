"""One table has one account: a second name for the same rows is refused, unless the owner knows."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path
from urllib.parse import urlsplit

import duckdb
import pandas as pd
import pytest

import privet as pv
from privet.accounting.ledger import SQLiteLedger
from privet.service.state import ServiceState
from tests.cli.conftest import Run
from tests.postgres import Server, put_table

FRAME = pd.DataFrame({"a": ["0", "1"] * 20, "c": ["x", "y"] * 20})
SCHEMA = pv.Schema({"a": pv.Categorical(["0", "1"])}, "c", ["x", "y"])


@pytest.fixture(autouse=True)
def folder(privet: Run) -> None:
    FRAME.to_csv("people.csv", index=False)
    SCHEMA.write("s.json")
    with duckdb.connect("people.db") as connection:
        connection.execute("CREATE TABLE people AS SELECT * FROM read_csv('people.csv')")
        connection.execute("CREATE TABLE others AS SELECT * FROM people")
        connection.execute("CREATE VIEW seen AS WITH x AS (SELECT * FROM People) SELECT * FROM x")
        connection.execute("CREATE VIEW again AS SELECT * FROM seen WHERE a = '2'")
    assert privet("curator", "init").code == 0


def add(privet: Run, name: str, place: object, *more: str) -> str:
    """Register a table; what is wrong with it."""
    ran = privet("curator", "dataset", "add", name, place, "-s", "s.json", "-e", "1", *more)
    assert (ran.code == 0) == (ran.err == "" or "warning" in ran.err), ran
    return "" if ran.code == 0 else ran.err


# -- a home ----------------------------------------------------------------------------------------


def other_names() -> dict[str, str]:
    Path("sub").mkdir()
    Path("symlink.csv").symlink_to("people.csv")
    Path("linked").symlink_to(".")
    os.link("people.csv", "hard.csv")
    return {
        "symlink": "symlink.csv",
        "folder": "linked/people.csv",
        "dots": "sub/../people.csv",
        "absolute": str(Path("people.csv").resolve()),
        "hard link": "hard.csv",
    }


def test_a_file_under_a_second_name_is_refused(privet: Run) -> None:
    assert add(privet, "people", "people.csv") == ""
    for name, place in other_names().items():
        assert "those of data set 'people'" in add(privet, name, place)
    assert ServiceState.open("curator").ledger.datasets() == ["people"]
    shutil.copy("people.csv", "copy.csv")  # what nobody can tell
    assert add(privet, "copy", "copy.csv") == ""


def test_the_other_order_is_refused_too(privet: Run) -> None:
    os.link("people.csv", "hard.csv")
    assert add(privet, "hard", "hard.csv") == ""
    assert "'hard'" in add(privet, "people", "people.csv")


def test_a_table_that_was_removed_keeps_its_account(privet: Run) -> None:
    """Otherwise removing a table that is spent, and adding it anew, would give a new budget."""
    assert add(privet, "people", "people.csv") == ""
    assert privet("curator", "dataset", "remove", "people").code == 0
    assert "'people'" in add(privet, "second", "people.csv")
    assert add(privet, "people", "people.csv") == ""


def test_an_owner_who_knows_says_so_and_it_is_recorded(privet: Run) -> None:
    assert add(privet, "people", "people.csv") == ""
    assert add(privet, "second", "people.csv", "--same-rows") == ""
    ((dataset, other, since),) = ServiceState.open("curator").accounts.overlaps()
    assert (dataset, other, since[:2]) == ("second", "people", "20")
    assert "'second' has rows of 'people'" in privet("curator", "dataset", "list").out


def test_tables_of_one_duckdb_file_are_told_apart_and_views_are_not(privet: Run) -> None:
    place = "duckdb:///people.db?table="
    assert add(privet, "people", f"{place}people") == ""
    assert add(privet, "others", f"{place}others") == ""
    os.link("people.db", "hard.db")
    for number, other in enumerate(
        (
            f"{place}PEOPLE",
            f"{place}main.people",
            f"{place}seen",
            f"{place}again",
            "duckdb:///hard.db?table=people",
            f"duckdb:///{Path('people.db').resolve()}?table=people",
        )
    ):
        assert "those of data set 'people'" in add(privet, str(number), other), other


def test_a_home_of_0_1_knows_no_places(privet: Run) -> None:
    assert add(privet, "people", "people.csv") == ""
    with sqlite3.connect("curator/accounts.sqlite") as connection:
        connection.execute("DROP TABLE places")
        connection.execute("DROP TABLE overlaps")
    assert "'people'" in add(privet, "second", "people.csv")
    assert add(privet, "others", "duckdb:///people.db?table=others") == ""
    Path("people.csv").rename("away.csv")  # nobody can look any more
    assert "'people'" in add(privet, "away", "away.csv") or not Path("people.csv").exists()


def test_a_table_of_a_server_under_a_second_name_is_refused(privet: Run, postgres: Server) -> None:
    import psycopg

    url = postgres.database()
    place = put_table(url, FRAME)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE others AS SELECT * FROM people")
        connection.execute("CREATE VIEW seen AS SELECT * FROM people")
        connection.execute("CREATE MATERIALIZED VIEW kept AS SELECT * FROM seen WHERE a = '0'")
        connection.execute("CREATE TABLE heirs () INHERITS (people)")
    assert add(privet, "people", place) == ""
    assert add(privet, "others", place.replace("table=people", "table=others")) == ""
    database, options = urlsplit(url).path[1:], urlsplit(url).query
    for number, other in enumerate(
        (
            place.replace("postgresql:", "postgres:"),
            f"{place}&application_name=x&connect_timeout=9",
            f"postgresql://?{options}&dbname={database}&user=postgres&table=public.People",
            *(place.replace("table=people", f"table={view}") for view in ("seen", "kept", "heirs")),
        )
    ):
        assert "those of data set 'people'" in add(privet, str(number), other), other
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ALTER TABLE people RENAME TO persons")
    assert "'people'" in add(privet, "persons", place.replace("table=people", "table=persons"))


def test_an_account_has_the_neighbours_that_it_had(privet: Run) -> None:
    """A data set is removed, and added again under another schema: its charges would not add up."""
    assert add(privet, "people", "people.csv") == ""
    state = ServiceState.open("curator")
    pv.Curator("people.csv", SCHEMA, ledger=state.ledger, dataset="people").size("1/10")
    assert privet("curator", "dataset", "remove", "people").code == 0
    SCHEMA.declare(neighbours="replace").write("s.json")
    assert "is for one row added or removed" in add(privet, "people", "people.csv")
    for command in (("curator", "ledger"), ("ledger", "show", "curator/ledger.sqlite")):
        assert "one row added or removed" in privet(*command).out
        assert '"neighbours": "add-remove"' in privet(*command, "--json").out


# -- ledgers beside tables -------------------------------------------------------------------------


def count(privet: Run, place: object, *more: object) -> str:
    """What is wrong with asking about a table."""
    ran = privet("count", place, "-s", "s.json", "-e", "1", *more)
    return "" if ran.code == 0 else ran.err


def test_a_hard_link_is_no_second_budget(privet: Run) -> None:
    assert count(privet, "people.csv") == ""
    os.link("people.csv", "hard.csv")
    assert "2 names" in count(privet, "hard.csv")
    assert "2 names" in count(privet, "hard.csv", "--budget", "5")
    assert count(privet, "people.csv") == ""  # goes on
    book = "people.csv.ledger.sqlite"
    assert "2 names" in count(privet, "hard.csv", "--ledger", book)
    assert privet("ledger", "cap", "hard.csv.ledger.sqlite", "hard.csv", "2").code == 0
    assert count(privet, "hard.csv") == ""  # the owner has said so, in the ledger


def test_a_view_is_no_second_budget(privet: Run) -> None:
    place = "duckdb:///people.db?table="
    assert count(privet, f"{place}people") == ""
    assert "'main.people', which has an account" in count(privet, f"{place}again")
    assert count(privet, f"{place}others") == ""
    book = SQLiteLedger("people.db.ledger.sqlite")
    assert book.datasets() == ["main.others", "main.people"]
    assert privet("ledger", "cap", book.path, "main.again", "1").code == 0
    assert count(privet, f"{place}again") == ""


def test_a_ledger_says_for_whom_it_is_charged(privet: Run) -> None:
    assert count(privet, "people.csv") == ""
    shown = privet("ledger", "show", "people.csv.ledger.sqlite")
    assert "one row added or removed" in shown.out
    SCHEMA.declare(neighbours="replace").write("s.json")
    assert "do not add up" in count(privet, "people.csv")


def test_what_older_versions_mixed_is_marked(privet: Run) -> None:
    script = Path(__file__).parents[1] / "accounting" / "ledger" / "version_3.sql"
    with sqlite3.connect("old.sqlite") as connection:
        connection.executescript(
            f"{script.read_text()} PRAGMA application_id = 0x50726976; PRAGMA user_version = 3;"
        )
    shown = privet("ledger", "show", "old.sqlite").out
    (people,) = (line for line in shown.splitlines() if "MIXED" in line)
    assert people.split()[0] == "people"
    assert "not stated yet" in shown
