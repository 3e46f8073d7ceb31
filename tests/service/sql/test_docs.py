"""The examples of docs/how-to/ask-from-sql.md run as they stand."""

from __future__ import annotations

import re
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest

from privet.accounting.ledger import Receipt, verify
from tests.service.sql.conftest import as_role, place_on

psycopg = pytest.importorskip("psycopg", reason="needs pip install 'privet[postgres]'")

DOCS = Path(__file__).parents[3] / "docs"
PAGE, BOUNDARY = DOCS / "how-to" / "ask-from-sql.md", DOCS / "concepts" / "sql-boundary.md"


def blocks(language):
    return re.findall(
        rf"^```{language}\n(.*?)^```",
        PAGE.read_text(encoding="utf-8"),
        flags=re.MULTILINE | re.DOTALL,
    )


@pytest.fixture
def opened(postgres):
    """A place that the owner's part of the page has made, and the URL of its analyst."""
    place = place_on(postgres)
    place.sql("DROP ROLE IF EXISTS ada_login; CREATE ROLE ada_login LOGIN")
    (owner,) = blocks("py owner")
    exec(compile(owner, "example", "exec"), {"url": place.ledger.url})
    yield place, as_role(place.url, "ada_login")
    place.sql("DROP OWNED BY ada_login; DROP ROLE ada_login")
    place.ledger.close()


def run_psql(url, script):
    psql = shutil.which("psql")
    if psql is None:
        pytest.skip("needs psql: apt-get install postgresql-client")
    options = ["-X", "-A", "-t", "-F", " ", "-v", "ON_ERROR_STOP=1", "-f", "-"]
    ran = subprocess.run(
        [psql, url, *options], input=script, capture_output=True, text=True, check=False, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


def test_the_walk_through_with_psql_alone(opened):
    place, url = opened
    told = run_psql(url, "".join(blocks("sql")))
    counts = [line.split() for line in told[:6]]
    names = [(color, label) for color in ("red", "green", "blue") for label in ("no", "yes")]
    assert [tuple(row[:2]) for row in counts] == names
    assert all(abs(int(row[2]) - 500) < 100 for row in counts)
    assert abs(int(told[6]) - 2 / 3 * 0.4 * 3000) < 400
    assert abs(int(told[7]) - 0.6 * 3000) < 400
    assert abs(int(told[8]) - 50 * 3000) < 19_000  # 20 times the scale
    assert told[9] in {f"[{low}, {low + 10})" for low in (30, 40, 50, 60)}
    assert told[10] == "color {red,green,blue}"
    assert told[13].startswith("data set epsilon 1.1")
    receipt = next(line for line in told if line.startswith("privet-receipt"))
    dashboard = told[-2:]
    assert [line.rpartition(" ")[0] for line in dashboard] == [
        '{"class": "no"}',
        '{"class": "yes"}',
    ]
    assert len(place.ledger.entries("people", "ada")) == 6
    assert place.ledger.spent("people").epsilon == Fraction(11, 10)
    assert verify(place.ledger, receipts=[Receipt.read(receipt)]) == []
    # a refresh costs nothing
    assert run_psql(url, blocks("sql")[-1])[-2:] == dashboard
    assert place.ledger.spent("people").epsilon == Fraction(11, 10)


def test_the_walk_through_with_connect(opened, capsys):
    place, url = opened
    (analyst,) = blocks("py analyst")
    exec(compile(analyst, "example", "exec"), {"url": url})
    assert "0.1-differentially private" in capsys.readouterr().out
    assert place.ledger.spent("people").epsilon == Fraction(1, 10)
    assert place.ledger.reservations("people")[0].state == "done"


def test_the_page_lists_every_refusal():
    scripts = "".join(
        path.read_text() for path in (DOCS.parent / "src" / "privet").rglob("sql/*.sql")
    )
    codes = set(re.findall(r"PV00\d", scripts))
    assert len(codes) == 9
    assert codes == set(re.findall(r"PV00\d", BOUNDARY.read_text(encoding="utf-8")))


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
