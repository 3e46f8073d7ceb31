"""What a role that can log in reads in the catalog, without asking: tried as an analyst."""

from __future__ import annotations

import pytest

from privet import Budget, Schema
from privet.errors import PrivacyError
from tests.service.sql.conftest import SCHEMA, place_on

ROWS = "SELECT color, age, class FROM people"
#: Makes a table "t" in which everybody can count those of class yes, and who tells them.
TELLING = {
    "partitioned": (
        "CREATE TABLE t (color text, age integer, class text) PARTITION BY LIST (class);"
        "CREATE TABLE t_yes PARTITION OF t FOR VALUES IN ('yes');"
        f"CREATE TABLE t_no PARTITION OF t DEFAULT; INSERT INTO t {ROWS}",
        "t_yes",
        "the partition or heir public.t_yes",
    ),
    "inherited": (
        "CREATE TABLE t (color text, age integer, class text);"
        f"CREATE TABLE t_yes () INHERITS (t); INSERT INTO t_yes {ROWS} WHERE class = 'yes'",
        "t_yes",
        "the partition or heir public.t_yes",
    ),
    "a partial index": (
        f"CREATE TABLE t AS {ROWS}; CREATE INDEX t_yes ON t (age) WHERE class = 'yes'",
        "t_yes",
        "the partial index public.t_yes",
    ),
    "a materialized view": (
        f"CREATE TABLE t AS {ROWS}; CREATE MATERIALIZED VIEW t_yes AS SELECT * FROM t "
        "WHERE class = 'yes'",
        "t_yes",
        "the materialized view public.t_yes",
    ),
    "a view of a table with a partial index": (
        f"CREATE TABLE s AS {ROWS}; CREATE INDEX t_yes ON s (age) WHERE class = 'yes';"
        "CREATE VIEW t AS SELECT * FROM s",
        "t_yes",
        "the partial index public.t_yes",
    ),
}


@pytest.fixture
def own(postgres):
    place = place_on(postgres)
    yield place
    place.ledger.close()


def make(place, script):
    import psycopg

    with psycopg.connect(place.ledger.url, autocommit=True) as connection:
        connection.execute("SET search_path = public")
        connection.execute(script)
        connection.execute("ANALYZE")


@pytest.mark.parametrize("kind", TELLING)
def test_a_table_whose_parts_the_catalog_counts_is_refused(own, kind):
    script, counted, said = TELLING[kind]
    make(own, script)
    role = own.role("ada")
    with own.connect(role) as session:  # the attack: exact, for nothing
        told = session.execute("SELECT reltuples FROM pg_class WHERE relname = %s", (counted,))
        (exact,) = own.sql("SELECT count(*) FROM people WHERE class = 'yes'")[0]
        assert told.fetchone() == (exact,)
    with pytest.raises(PrivacyError, match=said):
        own.functions.add_dataset("t", "public.t", SCHEMA)
    assert not own.functions.has_dataset("t")
    own.functions.add_dataset("t", "public.t", SCHEMA, public_counts=True)
    assert said in own.functions.list_told("t")
    own.role("bob")  # the owner has said that they know


def test_a_view_that_looks_into_another_table_is_refused(own):
    """How often it did is counted by the server, for everybody and without a charge."""
    make(
        own,
        f"CREATE TABLE s AS {ROWS}; CREATE TABLE wards (ward integer); "
        "INSERT INTO wards VALUES (1);"
        "CREATE VIEW t AS SELECT color, age, class, CASE WHEN class = 'yes' THEN "
        "(SELECT ward FROM wards WHERE ward < s.age + 1000) END AS ward FROM s",
    )
    with pytest.raises(PrivacyError, match="lookups of the view public\\.t in several tables"):
        own.functions.add_dataset("t", "public.t", SCHEMA)
    assert not own.functions.has_dataset("t")
    own.functions.add_dataset("t", "public.t", SCHEMA, public_counts=True)


def test_a_view_of_one_table_is_not_refused(own):
    make(own, f"CREATE TABLE s AS {ROWS}; CREATE VIEW t AS SELECT * FROM s WHERE age > 0")
    own.functions.add_dataset("t", "public.t", SCHEMA)
    assert own.functions.has_dataset("t")


def test_what_is_made_later_is_found_when_a_role_is_granted(own):
    make(own, f"CREATE TABLE t AS {ROWS}; CREATE INDEX whole ON t (age)")
    own.functions.add_dataset("t", "public.t", SCHEMA)
    assert own.functions.list_told("t") == []
    own.role("ada")
    make(own, "CREATE INDEX t_yes ON t (age) WHERE class = 'yes'")
    with pytest.raises(PrivacyError, match="the partial index"):
        own.role("bob")


#: Everything else that was tried, and gives nothing to a role without rights on the table.
CLOSED = [
    "SELECT count(*) FROM pg_statistic",
    "SELECT count(*) FROM pg_statistic_ext_data",
    "EXPLAIN SELECT FROM people WHERE class = 'yes'",
    "SELECT last_value FROM numbers",
    "SELECT pg_sequence_last_value('numbers')",
    "SELECT count(*) FROM people TABLESAMPLE SYSTEM (100)",
    "CREATE STATISTICS s ON age, class FROM people",
    "ANALYZE VERBOSE privet.journal",
    "SELECT privet.told('people'::regclass)",
]


def test_what_else_a_role_can_read(own):
    import psycopg

    make(own, "CREATE SEQUENCE numbers; CREATE STATISTICS joint ON age, class FROM people")
    own.functions.add_dataset("people", "public.people", SCHEMA)
    with own.connect(own.role("ada")) as session:
        for view in ("pg_stats", "pg_stats_ext"):
            assert session.execute(
                f"SELECT count(*) FROM {view} WHERE schemaname = 'public'"
            ).fetchone() == (0,)
        assert session.execute(
            "SELECT last_value FROM pg_sequences WHERE sequencename = 'numbers'"
        ).fetchone() == (None,)
        for statement in CLOSED:
            try:
                found = session.execute(statement)
                rows = found.fetchall() if found.description else []
            except psycopg.Error:
                continue
            assert all(value is None for row in rows for value in row), statement
        # what the page says remains: how many rows there are in all, and how large it is
        rows = session.execute("SELECT reltuples FROM pg_class WHERE relname = 'people'")
        assert rows.fetchone() == (3000,)
        assert session.execute("SELECT pg_relation_size('people') > 0").fetchone() == (True,)


#: What an analyst can set so that the planner would rather read an index than the table.
STEERING = [
    "SET enable_seqscan = off; SET enable_bitmapscan = off",
    "SET enable_seqscan = off; SET enable_indexonlyscan = off; SET enable_indexscan = off",
    "SET random_page_cost = 0; SET cpu_index_tuple_cost = 0; SET cpu_operator_cost = 0",
    "SET seq_page_cost = 1e300; SET cpu_tuple_cost = 1e300",
]


@pytest.mark.parametrize("steering", STEERING)
@pytest.mark.parametrize("person", ["", "who"])
def test_an_ask_reads_the_table_in_its_own_order(own, steering, person):
    """In the order of an index, the number of visited blocks would depend on what rows hold, and an
    ask that is rolled back shows it for nothing.
    """
    make(
        own,
        f"CREATE TABLE t AS SELECT row_number() OVER () AS who, * FROM ({ROWS}) AS rows;"
        "CREATE INDEX ON t (color, age, class); CREATE INDEX ON t (who, color, age, class)",
    )
    schema = SCHEMA
    if person:
        schema = Schema(
            SCHEMA.attributes, SCHEMA.target, SCHEMA.classes, person=person, rows_per_person=2
        )
    own.ledger.set_cap("t", Budget(1))
    own.functions.add_dataset("t", "public.t", schema)
    own.functions.allow("t", "ada")
    with own.connect(own.role("ada")) as session:
        session.execute(steering)
        session.execute("BEGIN")
        session.execute("SELECT privet.ask('t', '{}', 0.1)")
        scans = session.execute(
            "SELECT seq_scan, idx_scan FROM pg_stat_xact_user_tables WHERE relname = 't'"
        ).fetchone()
        session.execute("ROLLBACK")
    assert scans == (1, 0)
