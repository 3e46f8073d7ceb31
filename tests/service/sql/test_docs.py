"""The examples of docs/how-to/ask-from-sql.md run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from privet.accounting.ledger import PostgresLedger, Receipt, verify
from tests.service.sql.conftest import place_on

psycopg = pytest.importorskip("psycopg", reason="needs pip install 'privet[postgres]'")

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "ask-from-sql.md"


def blocks(language):
    return re.findall(
        rf"^```{language}\n(.*?)^```",
        PAGE.read_text(encoding="utf-8"),
        flags=re.MULTILINE | re.DOTALL,
    )


def test_the_examples_run(postgres):
    place = place_on(postgres)
    place.sql("DROP ROLE IF EXISTS ada_login; CREATE ROLE ada_login LOGIN")
    for text in blocks("py"):
        exec(compile(text, "example", "exec"), {"url": place.ledger.url})
    said, variables = {}, {}
    with place.connect("ada_login") as session:
        for text in blocks("sql"):
            for statement in filter(None, map(str.strip, re.sub(r"--.*", "", text).split(";"))):
                for name, value in variables.items():  # as psql does it
                    statement = statement.replace(f":'{name}'", f"'{value}'")
                cursor = session.execute(statement)
                if cursor.description:
                    said[statement.split("(")[0]] = rows = cursor.fetchall()
                    variables |= {"ticket": rows[0][0]} if "privet.ask" in statement else {}
    assert abs(said["SELECT privet.answer"][0][0] - 3000) < 400
    assert [
        row[:2] for row in said["SELECT account, unit, remaining, exactly FROM privet.budget"]
    ] == [
        ("data set", "epsilon"),
        ("analyst", "epsilon"),
    ]
    ledger = PostgresLedger(place.ledger.url)
    assert len(ledger.entries("people", "ada")) == 2
    assert verify(ledger, receipts=[Receipt.read(said["SELECT privet.receipt"][0][0])]) == []
    ledger.close()
    place.ledger.close()


def test_the_page_lists_every_refusal():
    scripts = "".join(
        path.read_text()
        for path in (PAGE.parent.parent.parent / "src" / "privet").rglob("sql/*.sql")
    )
    codes = set(re.findall(r"PV00\d", scripts))
    assert len(codes) == 9
    assert codes == set(re.findall(r"PV00\d", PAGE.read_text(encoding="utf-8")))


def test_what_the_page_says_remains(postgres):
    """The catalog tells a role that can read nothing how many rows were read."""
    place = place_on(postgres)
    with place.connect(place.role()) as session:
        session.execute("SELECT pg_stat_force_next_flush()")
        (inserted,) = session.execute(
            "SELECT n_tup_ins FROM pg_stat_user_tables WHERE relname = 'people'"
        ).fetchone()
    assert inserted == 3000
    place.ledger.close()
