"""Asking from SQL: what is charged, what is answered, and what nobody gets without paying."""

from __future__ import annotations

import json
import threading
import time
import zlib
from datetime import UTC, datetime, timedelta
from fractions import Fraction as F
from urllib.parse import urlsplit

import pytest

from privet import Categorical, Schema
from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import Receipt, left, verify
from privet.errors import (
    AccessError,
    BudgetExceeded,
    ParameterError,
    PrivacyError,
    SchemaMismatch,
    TableError,
)
from privet.service.sql import SQLFunctions
from tests.service.sql.conftest import SCHEMA, answer, as_role, ask, new_dataset, place_on

psycopg = pytest.importorskip("psycopg", reason="needs pip install 'privet[postgres]'")
from psycopg.errors import (  # noqa: E402
    DatabaseError,
    InsufficientPrivilege,
    QueryCanceled,
    SerializationFailure,
)


def refused(code, message=""):
    """An error of ours with this SQLSTATE."""
    return pytest.raises(
        DatabaseError, check=lambda error: error.sqlstate == code and message in str(error)
    )


def kept(place, entry):
    """The answer in the ledger."""
    ((numbers,),) = place.sql("SELECT privet.unsealed(%s)", (place.ledger.answer(entry.number),))
    (number,) = numbers
    return number


# -- asking ----------------------------------------------------------------------------------------


def test_an_answer_is_charged_recorded_and_given_again(place, session, role, dataset, analyst):
    ticket = ask(session, dataset, {"color": ["red", "blue"], "class": ["yes"]}, 5)
    given = answer(session, ticket)
    assert abs(given - 1000) < 20  # beyond it with probability exp(-100)
    assert answer(session, ticket) == given
    with place.connect(role) as another:
        assert answer(another, ticket) == given
    (entry,) = place.ledger.entries(dataset)
    assert (entry.analyst, entry.what, entry.cost, entry.key) == (
        analyst,
        "SQL: noisy count, 2 conditions",
        Cost.pure(5),
        str(ticket),
    )
    assert kept(place, entry) == given
    assert entry.number not in place.ledger.unanswered()
    assert verify(place.ledger) == []


def test_its_receipt_proves_the_line(place, session, dataset):
    receipt = Receipt.read(
        session.execute("SELECT privet.receipt(%s)", (ask(session, dataset),)).fetchone()[0]
    )
    assert verify(place.ledger, receipts=[receipt]) == []
    forged = Receipt(receipt.ledger, receipt.number, receipt.hash, "0" * 64)
    assert verify(place.ledger, receipts=[forged]) == [
        f"the answer of line {receipt.number} was changed"
    ]


def test_the_empty_condition_counts_all_and_an_empty_list_nothing(session, dataset):
    assert abs(answer(session, ask(session, dataset, {}, 4)) - 3000) < 25
    assert abs(answer(session, ask(session, dataset, {"color": []}, 4))) < 25
    assert (
        abs(answer(session, ask(session, dataset, {"age": ["[0, 10)", "[90, 100]"]}, 2)) - 600) < 50
    )


@pytest.mark.parametrize(
    ("facts", "factor"),
    [
        ({}, 1),
        ({"rows_per_person": 3}, 3),
        ({"neighbours": "replace"}, 2),
        ({"rows_per_person": 3, "neighbours": "replace"}, 6),
    ],
)
def test_what_is_charged_is_the_cost_for_the_neighbours_of_the_schema(place, facts, factor):
    schema = SCHEMA.declare(**facts)
    dataset = new_dataset(place, schema=schema)
    place.functions.allow(dataset, "ada")
    with place.connect(place.role("ada")) as session:
        ask(session, dataset, {}, "0.3")
    assert place.ledger.spent(dataset) == Cost.pure("0.3").promised(schema)
    assert place.ledger.spent(dataset).epsilon == F(3, 10) * factor
    assert place.ledger.relation(dataset)[:2] == (schema.neighbours, schema.rows_per_person)


def test_an_account_has_one_relation_whoever_charges(place):
    """The service and SQL clients charge one account, under schema files that differ."""
    dataset = new_dataset(place, schema=SCHEMA.declare(neighbours="replace"))
    place.functions.allow(dataset, "ada")
    given = {"neighbours": "add-remove", "rows_per_person": 1}
    place.ledger.charge(dataset, "bob", Cost.pure(1), "counts", **given)
    with place.connect(place.role("ada")) as session:
        with refused("PV009", "for other neighbours"):
            ask(session, dataset, {}, "0.3")
        # a data set that the version before added states nothing but its factor
        place.sql("UPDATE privet.datasets SET neighbours = '' WHERE dataset = %s", (dataset,))
        with refused("PV009", "for other neighbours"):
            ask(session, dataset, {}, "0.3")
        place.sql("UPDATE privet.datasets SET factor = 1 WHERE dataset = %s", (dataset,))
        ask(session, dataset, {}, "0.3")
    assert place.ledger.spent(dataset).epsilon == F(13, 10)


def test_the_last_unit_can_be_spent_and_not_one_more(place, session, dataset, analyst):
    place.ledger.set_cap(dataset, Budget("0.7"), analyst)
    for _ in range(7):
        ask(session, dataset, {}, "0.1")
    with refused("PV001", f"the budget of analyst '{analyst}'"):
        ask(session, dataset, {}, "0.000001")
    assert place.ledger.spent(dataset).epsilon == F(7, 10)
    rows = session.execute("SELECT * FROM privet.budget(%s)", (dataset,)).fetchall()
    assert [(row[0], row[1], str(row[2]), row[3]) for row in rows] == [
        ("data set", "epsilon", "9.3", "93/10"),
        ("analyst", "epsilon", "0", "0"),
    ]


def test_colluding_roles_cannot_pass_the_cap_of_the_data_set(place):
    dataset = new_dataset(place, Budget(1))
    sessions = []
    for name in ("ada", "bob", "eve"):
        place.functions.allow(dataset, name)
        sessions.append(place.connect(place.role(name)))
    for session in sessions[:2]:
        ask(session, dataset, {}, "0.4")
    with refused("PV001", f"the budget of data set '{dataset}'") as caught:
        ask(sessions[2], dataset, {}, "0.4")
    assert json.loads(caught.value.diag.message_detail)["left"] == "1/5"
    assert place.ledger.spent(dataset).epsilon == F(4, 5)
    for session in sessions:
        session.close()


def test_a_budget_in_rho_counts_rho(place):
    dataset = new_dataset(place, Budget(rho="0.5"))
    place.functions.allow(dataset, "ada")
    with place.connect(place.role("ada")) as session:
        ask(session, dataset, {}, "0.8")
        with refused("PV001"):
            ask(session, dataset, {}, "0.7")
        assert session.execute(
            "SELECT unit, exactly FROM privet.budget(%s)", (dataset,)
        ).fetchall() == [("rho", "9/50")]


# -- no answer without its charge ------------------------------------------------------------------


def spent(place, dataset):
    return place.ledger.spent(dataset).epsilon


@pytest.mark.parametrize("call", ["answer", "receipt"])
def test_no_answer_in_the_transaction_that_asked(place, session, dataset, call):
    get = f"SELECT privet.{call}(%s)"
    with session.transaction():
        ticket = ask(session, dataset)
        for prepare in ("SAVEPOINT a", "SAVEPOINT b", "RELEASE SAVEPOINT b"):
            session.execute(prepare)
            with refused("PV007", "COMMIT first"), session.transaction():
                session.execute(get, (ticket,))
    assert session.execute(get, (ticket,)).fetchone() is not None
    with refused("PV007", "COMMIT first"):
        session.execute("SELECT privet.answer(privet.ask(%s, '{}', 0.1))", (dataset,))
    with session.transaction():
        session.execute("SAVEPOINT a")
        ticket = ask(session, dataset)
        session.execute("RELEASE SAVEPOINT a")
        with refused("PV007", "COMMIT first"), session.transaction():
            session.execute(get, (ticket,))
    assert spent(place, dataset) == 1


def test_a_rollback_takes_charge_and_answer_back_together(place, session, role, dataset):
    session.execute("BEGIN")
    ticket = ask(session, dataset)
    with place.connect(role) as another, refused("PV007", "no such ticket"):
        answer(another, ticket)
    session.execute("ROLLBACK")
    assert spent(place, dataset) == 0
    with refused("PV007", "no such ticket"):
        answer(session, ticket)
    assert verify(place.ledger) == []


def test_a_savepoint_takes_charge_and_answer_back_together(place, session, dataset):
    with session.transaction():
        session.execute("SAVEPOINT before")
        lost = ask(session, dataset)
        session.execute("ROLLBACK TO SAVEPOINT before")
        kept = ask(session, dataset)
    assert spent(place, dataset) == F(1, 2)
    assert isinstance(answer(session, kept), int)
    with refused("PV007", "no such ticket"):
        answer(session, lost)
    assert verify(place.ledger) == []


def test_a_block_that_catches_its_error_gets_nothing(place, session, dataset):
    session.execute(
        f"DO $$ DECLARE seen bigint; BEGIN BEGIN seen := privet.answer(privet.ask('{dataset}', "
        f"'{{}}', 0.5)); RAISE EXCEPTION 'seen: %', seen; EXCEPTION WHEN SQLSTATE 'PV007' THEN "
        "NULL; END; END $$"
    )
    assert spent(place, dataset) == 0


def cancel_when_asleep(place, session):
    asleep = "SELECT count(*) FROM pg_stat_activity WHERE pid = %s AND wait_event = 'PgSleep'"
    while not place.sql(asleep, (session.info.backend_pid,))[0][0]:
        time.sleep(0.01)
    session.cancel()


@pytest.mark.parametrize("how", ["timeout", "cancel", "disconnect", "terminate"])
def test_what_is_interrupted_is_not_charged(place, role, dataset, how):
    with place.connect(role) as session:
        if how == "timeout":
            session.execute("SET statement_timeout = '3ms'")
            with pytest.raises(QueryCanceled):
                ask(session, dataset)
        elif how == "disconnect":
            session.autocommit = False
            ticket = ask(session, dataset)
            session.close()
        else:
            session.autocommit = False
            ticket = ask(session, dataset)
            if how == "cancel":
                canceller = threading.Thread(target=cancel_when_asleep, args=(place, session))
                canceller.start()
                with pytest.raises(QueryCanceled):
                    session.execute("SELECT pg_sleep(120)")
                canceller.join()
                session.rollback()
            else:
                place.sql("SELECT pg_terminate_backend(%s)", (session.info.backend_pid,))
                session.close()
    place.ledger.set_cap(dataset, Budget(10))  # waits until the transaction is over
    assert spent(place, dataset) == 0
    if how != "timeout":
        with place.connect(role) as session, refused("PV007", "no such ticket"):
            answer(session, ticket)


def test_a_crash_never_loses_the_charge_of_an_answer_that_was_seen(own_postgres):
    """Also with synchronous_commit off and a server that writes its log rarely; and an ask cannot
    be prepared.
    """
    place = place_on(own_postgres)
    try:
        dataset = new_dataset(place)
        place.functions.allow(dataset, "ada")
        role = place.role("ada")
        for setting in (
            "wal_writer_delay = '10s'",
            "max_prepared_transactions = 5",
            "autovacuum = off",
        ):
            place.sql(f"ALTER SYSTEM SET {setting}")
        place.ledger.close()
        own_postgres.crash()
        own_postgres.start()
        with place.connect(role) as session:
            session.execute("SET synchronous_commit = off")
            for _ in range(3):
                ticket = ask(session, dataset)
                given = answer(session, ticket)
            own_postgres.crash()
        own_postgres.start()
        assert spent(place, dataset) == F(3, 2)
        with place.connect(role) as session:
            assert answer(session, ticket) == given
            session.execute("BEGIN")
            ticket = ask(session, dataset)
            with pytest.raises(psycopg.errors.FeatureNotSupported, match="PREPARE"):
                session.execute("PREPARE TRANSACTION 'one'")  # would hold the ledger's lock
            with refused("PV007", "no such ticket"):
                answer(session, ticket)
        assert spent(place, dataset) == F(3, 2)
        assert verify(place.ledger) == []
    finally:
        place.ledger.close()


@pytest.mark.parametrize("isolation", ["REPEATABLE READ", "SERIALIZABLE"])
def test_an_old_snapshot_fails_instead_of_overspending(place, session, role, dataset, isolation):
    place.ledger.set_cap(dataset, Budget("0.5"))
    with session.transaction():
        session.execute(f"SET TRANSACTION ISOLATION LEVEL {isolation}")
        session.execute("SELECT * FROM privet.budget(%s)", (dataset,))  # takes the snapshot
        with place.connect(role) as another:
            ask(another, dataset)
        with pytest.raises(SerializationFailure), session.transaction():
            ask(session, dataset)
    assert spent(place, dataset) == F(1, 2)
    with session.transaction():  # a fresh one works
        session.execute(f"SET TRANSACTION ISOLATION LEVEL {isolation}")
        with refused("PV001"), session.transaction():
            ask(session, dataset)


def test_sql_and_the_service_share_one_account(place, dataset):
    """Charges from Python and asks from SQL at once: no overspending, and the chain is whole."""
    place.ledger.set_cap(dataset, Budget(1))
    place.functions.allow(dataset, "ada")
    roles = [place.role("ada") for _ in range(3)]
    accepted, over, here = [], [], threading.Barrier(4)

    def charge():
        here.wait(60)
        try:
            while True:
                place.ledger.charge(dataset, "bob", Cost.pure("1/100"), "x")
                accepted.append("bob")
        except BudgetExceeded:
            over.append("bob")

    def asks(role):
        with place.connect(role) as session:
            here.wait(60)
            try:
                while True:
                    answer(session, ask(session, dataset, {"color": ["red"]}, "0.01"))
                    accepted.append("ada")
            except DatabaseError as error:
                over.append(error.sqlstate)

    threads = [threading.Thread(target=charge)] + [
        threading.Thread(target=asks, args=(role,)) for role in roles
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert sorted(over) == ["PV001"] * 3 + ["bob"]
    assert len(accepted) == 100
    assert "ada" in accepted
    assert "bob" in accepted
    assert left(place.ledger, dataset, "ada") == 0
    assert verify(place.ledger) == []


# -- who may ask -----------------------------------------------------------------------------------


def test_tickets_of_others_look_like_unknown_ones(place, session, dataset):
    ticket = ask(session, dataset)
    place.functions.allow(dataset, "bob")
    errors = []
    with place.connect(place.role("bob")) as other:
        for each in (ticket, "00000000-0000-4000-8000-000000000000", None):
            for call in ("answer", "receipt"):
                with pytest.raises(DatabaseError) as caught:
                    other.execute(f"SELECT privet.{call}(%s)", (each,))
                errors.append((caught.value.sqlstate, caught.value.diag.message_primary))
    assert set(errors) == {
        ("PV007", "you have no such ticket, or its transaction has not committed")
    }


def test_data_sets_are_asked_by_grant_only(place, session, dataset, analyst):
    other = new_dataset(place)
    messages = []
    for name in (other, "no such data set", None):
        with pytest.raises(DatabaseError) as caught:
            ask(session, name)
        assert caught.value.sqlstate == "PV005"
        messages.append(caught.value.diag.message_primary.replace(str(name), "").replace("''", ""))
        with refused("PV005"):
            session.execute("SELECT * FROM privet.budget(%s)", (name,))
    assert len(set(messages)) == 1
    place.functions.allow(dataset, analyst, datetime.now(UTC) - timedelta(seconds=1))
    with refused("PV005", "not granted"):
        ask(session, dataset)
    place.functions.allow(dataset, analyst, datetime.now(UTC) + timedelta(hours=1))
    ask(session, dataset)
    place.functions.forbid(dataset, analyst)
    with refused("PV005", "not granted"):
        ask(session, dataset)
    place.functions.allow(dataset, analyst)
    place.functions.remove_dataset(dataset)
    assert not place.functions.has_dataset(dataset)
    with refused("PV005", "unknown"):
        ask(session, dataset)
    assert spent(place, dataset) == F(1, 2)
    with pytest.raises(ParameterError, match="time zone"):
        place.functions.allow(dataset, analyst, datetime(2030, 1, 1))


def test_a_transaction_held_open_does_not_outlive_a_grant(place, session, dataset, analyst):
    place.functions.allow(dataset, analyst, datetime.now(UTC) + timedelta(seconds=0.5))
    with refused("PV005", "not granted"), session.transaction():
        session.execute("SELECT * FROM privet.budget(%s)", (dataset,))
        time.sleep(0.6)
        ask(session, dataset)
    place.functions.allow(dataset, analyst)
    with session.transaction():
        session.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        session.execute("SELECT * FROM privet.budget(%s)", (dataset,))
        place.functions.forbid(dataset, analyst)
        with pytest.raises(SerializationFailure), session.transaction():
            ask(session, dataset)
    assert spent(place, dataset) == 0


def test_the_analyst_is_who_logged_in(place, session, role, dataset, analyst):
    """SET ROLE to a role of another analyst spends one's own budget; a superuser who sets a role is
    nobody.
    """
    place.functions.allow(dataset, "bob")
    bob = place.role("bob")
    place.sql(f"GRANT {bob} TO {role}")
    session.execute(f"SET ROLE {bob}")
    ask(session, dataset)
    assert place.ledger.spent(dataset, analyst).epsilon == F(1, 2)
    assert place.ledger.spent(dataset, "bob").epsilon == 0
    with place.connect() as superuser:
        superuser.execute(f"SET ROLE {bob}")
        with refused("PV005", "no analyst"):
            ask(superuser, dataset)


def test_a_role_that_was_revoked_can_call_nothing(place, session, role, dataset):
    ticket = ask(session, dataset)
    place.functions.revoke_role(role)
    for call in (lambda: ask(session, dataset), lambda: answer(session, ticket)):
        with pytest.raises(InsufficientPrivilege):
            call()
    with pytest.raises(AccessError, match="no analyst"):
        place.functions.revoke_role(role)


@pytest.mark.parametrize(
    "role", ["public", "PUBLIC", "no such role", "pg_monitor", 'x"; DROP SCHEMA privet CASCADE; --']
)
def test_only_roles_that_log_in_become_analysts(place, role):
    with pytest.raises(AccessError, match="no role"):
        place.functions.grant_role(role, "ada")


@pytest.mark.parametrize(
    "might",
    [
        "ALTER ROLE {role} SUPERUSER",
        "ALTER ROLE {role} REPLICATION",
        "ALTER ROLE {role} CREATEROLE",
        "GRANT SELECT ON people TO {role}",
        "GRANT SELECT (age) ON people TO {role}",
        "GRANT pg_read_all_data TO {role}",
        "GRANT pg_write_all_data TO {role}",
        "GRANT pg_read_server_files TO {role}",
        "GRANT {owner} TO {role}",
        "GRANT SELECT ON privet.answers TO {role}",
        "GRANT UPDATE (amount) ON privet.caps TO {role}",
        "GRANT CREATE ON SCHEMA privet TO {role}",
        "ALTER ROLE {role} BYPASSRLS",
        *(
            f"GRANT {right} ON people TO {{role}}"
            for right in ("INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER")
        ),
        "GRANT REFERENCES (age) ON people TO {role}",
    ],
)
def test_roles_that_could_read_the_rows_by_themselves_are_refused(place, dataset, might):
    role = place.role()
    (owner,) = place.sql("SELECT nspowner::regrole FROM pg_namespace WHERE nspname = 'privet'")[0]
    place.sql(might.format(role=role, owner=owner))
    with pytest.raises(PrivacyError, match=role):
        place.functions.grant_role(role, "ada")
    assert place.sql("SELECT 1 FROM privet.roles WHERE role = %s", (role,)) == []
    place.sql(
        f"ALTER ROLE {role} NOSUPERUSER NOREPLICATION NOCREATEROLE NOBYPASSRLS; DROP OWNED BY "
        f"{role}; DROP ROLE {role}"
    )


@pytest.mark.parametrize(
    "might",
    [
        "GRANT SELECT ON people TO {group}",
        "GRANT pg_read_all_data TO {group}",
        "ALTER ROLE {group} SUPERUSER",
    ],
)
def test_roles_that_could_become_one_that_reads_the_rows_are_refused(place, dataset, might):
    role, middle, group = (place.role() for _ in range(3))
    place.sql(
        f"ALTER ROLE {role} NOINHERIT; ALTER ROLE {middle} NOINHERIT; GRANT {middle} TO {role}; "
        f"GRANT {group} TO {middle}"
    )
    place.functions.grant_role(role, "ada")
    place.functions.revoke_role(role)
    place.sql(might.format(group=group))
    with pytest.raises(PrivacyError, match=f"{role}.* can become"):
        place.functions.grant_role(role, "ada")
    place.sql(
        f"ALTER ROLE {group} NOSUPERUSER; DROP OWNED BY {role}, {group}; DROP ROLE {role}, "
        f"{middle}, {group}"
    )


# What a role has rights on, and the relation that is asked.
RELATED = {
    "the table of a view": ("CREATE VIEW shown AS TABLE base", "base", "shown"),
    "the table of a view of a view": (
        "CREATE VIEW inner_ AS TABLE base; CREATE VIEW shown AS TABLE inner_",
        "base",
        "shown",
    ),
    "the table of a materialized view": (
        "CREATE MATERIALIZED VIEW shown AS TABLE base",
        "base",
        "shown",
    ),
    "a table in a subquery": (
        "CREATE VIEW shown AS SELECT * FROM people WHERE age IN (SELECT age FROM base)",
        "base",
        "shown",
    ),
    "another view": ("CREATE VIEW shown AS TABLE base", "shown", "base"),
    "another view of the table of a view": (
        "CREATE VIEW shown AS TABLE base; CREATE VIEW other AS TABLE base",
        "other",
        "shown",
    ),
    "a parent": ("CREATE TABLE heir () INHERITS (base)", "base", "heir"),
    "an heir": ("CREATE TABLE heir () INHERITS (base)", "heir", "base"),
    "a view of a parent": (
        "CREATE TABLE heir () INHERITS (base); CREATE VIEW shown AS TABLE base",
        "shown",
        "heir",
    ),
    "a partition": (
        (
            "CREATE TABLE parted (LIKE base) PARTITION BY LIST (color); CREATE TABLE part "
            "PARTITION OF parted DEFAULT"
        ),
        "part",
        "parted",
    ),
}


@pytest.mark.parametrize("grantee", ["role", "PUBLIC"])
@pytest.mark.parametrize(("made", "granted", "asked"), RELATED.values(), ids=RELATED.keys())
def test_rights_on_what_holds_the_same_rows_are_rights(place, made, granted, asked, grantee):
    role = place.role("ada")
    (owner,) = place.sql("SELECT nspowner::regrole FROM pg_namespace WHERE nspname = 'privet'")[0]
    place.sql(f"CREATE SCHEMA rel AUTHORIZATION {owner}")
    try:
        with place.connect(owner) as session:
            session.execute("SET search_path = rel, public; CREATE TABLE base (LIKE people)")
            session.execute(made)
        dataset = new_dataset(place, table=f"rel.{asked}", public_counts=True)
        place.functions.remove_dataset(dataset)
        place.sql(
            f"GRANT SELECT (color) ON rel.{granted} TO {role if grantee == 'role' else grantee}"
        )
        with pytest.raises(PrivacyError, match=f"has rights on columns of rel.{granted}"):
            place.functions.add_dataset(dataset, f"rel.{asked}", SCHEMA, public_counts=True)
    finally:
        place.sql("DROP SCHEMA rel CASCADE")
        place.functions.revoke_role(role)


COLORS = (
    "CREATE TABLE kinds (name text PRIMARY KEY); INSERT INTO kinds VALUES ('warm'); CREATE TABLE "
    "colors (name text PRIMARY KEY, kind text DEFAULT 'warm' REFERENCES kinds ON DELETE CASCADE); "
    "INSERT INTO colors SELECT DISTINCT color FROM base; ALTER TABLE base ADD FOREIGN KEY (color) "
    "REFERENCES colors ON DELETE CASCADE; CREATE VIEW listed AS TABLE colors"
)
# What is made, which right tells what rows there are, and what it is called.
ORACLES = {
    "deleting what rows refer to": (
        COLORS,
        "GRANT DELETE ON rel.colors TO {role}",
        "may write to rel.colors, which a foreign key ties",
    ),
    "deleting what that refers to": (
        COLORS,
        "GRANT DELETE ON rel.kinds TO {role}",
        "may write to rel.kinds, which a foreign key ties",
    ),
    "deleting through a view": (
        COLORS,
        "GRANT DELETE ON rel.listed TO {role}",
        "may write to rel.listed, which a foreign key ties",
    ),
    "renaming what rows refer to": (
        COLORS,
        "GRANT UPDATE (name) ON rel.colors TO {role}",
        "may write to columns of rel.colors, which a foreign key ties",
    ),
    "owning what rows refer to": (
        COLORS,
        "ALTER TABLE rel.kinds OWNER TO {role}",
        "owns rel.kinds, which a foreign key ties",
    ),
    "referring to rows": (
        "ALTER TABLE base ADD id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY; "
        "CREATE TABLE notes (about integer REFERENCES base)",
        "GRANT INSERT ON rel.notes TO {role}",
        "may write to rel.notes, which a foreign key ties",
    ),
    "a constraint on a type": (
        "CREATE DOMAIN years AS integer; ALTER TABLE base ALTER age TYPE years",
        "ALTER DOMAIN rel.years OWNER TO {role}",
        "owns the type rel.years",
    ),
    "owning the schema": (
        "SELECT",
        "GRANT CREATE ON DATABASE {database} TO {role}; ALTER SCHEMA rel OWNER TO {role}; "
        "GRANT ALL ON SCHEMA rel TO PUBLIC",
        "owns the schema rel, where rows are",
    ),
    "another body of a function": (
        "CREATE FUNCTION half(integer) RETURNS integer LANGUAGE sql AS 'SELECT $1 / 2'; "
        "CREATE VIEW shown AS SELECT color, half(age) AS age, class FROM base",
        "ALTER FUNCTION rel.half OWNER TO {role}",
        "owns the function rel.half",
    ),
    "another body of an operator": (
        "CREATE FUNCTION less(integer, integer) RETURNS integer LANGUAGE sql AS 'SELECT $1 - $2'; "
        "CREATE OPERATOR <-> (FUNCTION = less, LEFTARG = integer, RIGHTARG = integer); "
        "CREATE VIEW shown AS SELECT color, age OPERATOR(rel.<->) 1 AS age, class FROM base",
        "ALTER FUNCTION rel.less OWNER TO {role}",
        "owns the function rel.less",
    ),
    "the function of a trigger": (
        "CREATE FUNCTION seen() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; "
        "CREATE TRIGGER seen BEFORE INSERT ON base FOR EACH ROW EXECUTE FUNCTION seen()",
        "ALTER FUNCTION rel.seen OWNER TO {role}",
        "owns the function rel.seen",
    ),
}


@pytest.fixture
def rel(place):
    """A schema of the owner's, with a copy of the table, and who owns it."""
    (owner,) = place.sql("SELECT nspowner::regrole FROM pg_namespace WHERE nspname = 'privet'")[0]
    place.sql(f"CREATE SCHEMA rel AUTHORIZATION {owner}")
    with place.connect(owner) as session:
        session.execute("SET search_path = rel; CREATE TABLE base AS TABLE public.people")
        yield session
    place.sql("DROP SCHEMA rel CASCADE")


@pytest.mark.parametrize(("made", "right", "why"), ORACLES.values(), ids=ORACLES.keys())
def test_roles_that_could_find_out_which_rows_there_are_are_refused(place, rel, made, right, why):
    rel.execute(made)
    role = place.role()
    dataset = new_dataset(place, table="rel.shown" if "VIEW shown" in made else "rel.base")
    place.functions.grant_role(role, "ada")
    place.functions.revoke_role(role)
    right = right.format(role=role, database=urlsplit(place.url).path[1:])
    place.sql(f"GRANT ALL ON SCHEMA rel TO {role}; {right}")
    with pytest.raises(PrivacyError, match=why):
        place.functions.grant_role(role, "ada")
    place.functions.remove_dataset(dataset)
    place.functions.grant_role(role, "ada")  # there is nothing to find out any more
    place.functions.revoke_role(role)


def test_a_deletion_that_is_rolled_back_tells_how_many_rows_it_took_along(place, rel):
    """Why rights to write to tables that a foreign key ties to the rows are refused."""
    rel.execute(COLORS)
    role = place.role()
    place.sql(f"GRANT USAGE ON SCHEMA rel TO {role}; GRANT SELECT, DELETE ON rel.colors TO {role}")
    with place.connect(role) as session:
        session.execute("BEGIN")
        session.execute("DELETE FROM rel.colors WHERE name = 'red'")
        assert session.execute(
            "SELECT n_tup_del FROM pg_stat_xact_user_tables WHERE relname = 'base'"
        ).fetchall() == [(1000,)]
        session.execute("ROLLBACK")


def test_reading_what_rows_refer_to_is_no_right_on_them(place, rel):
    rel.execute(COLORS)
    rel.execute("CREATE TABLE others (color text REFERENCES colors)")
    role = place.role()
    place.sql(f"GRANT SELECT ON rel.colors, rel.kinds TO PUBLIC; GRANT ALL ON rel.others TO {role}")
    dataset = new_dataset(place, table="rel.base")
    place.functions.grant_role(role, "ada")
    place.functions.remove_dataset(dataset)
    place.functions.revoke_role(role)


def test_who_could_copy_the_database_with_its_ledger_is_refused(postgres):
    """Every copy would have the whole budget."""
    own = place_on(postgres)
    new_dataset(own)
    database = urlsplit(own.url).path[1:]
    try:
        ((owner,),) = own.sql("SELECT nspowner::regrole FROM pg_namespace WHERE nspname = 'privet'")
        role = own.role()
        own.sql(f"ALTER ROLE {role} CREATEDB")
        own.functions.grant_role(role, "ada")  # makes databases, but not of this one
        own.functions.revoke_role(role)
        own.sql(f"ALTER DATABASE {database} IS_TEMPLATE true")
        with pytest.raises(PrivacyError, match="can copy the database with its ledger"):
            own.functions.grant_role(role, "ada")
        own.sql(f"ALTER DATABASE {database} IS_TEMPLATE false; ALTER ROLE {role} NOCREATEDB")
        own.sql(f"ALTER DATABASE {database} OWNER TO {role}")
        own.sql(f"GRANT ALL ON DATABASE {database} TO {owner}")
        with pytest.raises(PrivacyError, match="owns the database"):
            own.functions.grant_role(role, "ada")
    finally:
        own.sql(f"ALTER DATABASE {database} IS_TEMPLATE false")
        own.ledger.close()


def test_nobody_else_can_put_a_view_where_the_table_was(place, rel):
    """A data set knows its table by name. While the owner puts a new one there, whoever may create
    something in the schema could have functions of theirs run with the owner's rights.
    """
    dataset = new_dataset(place, table="rel.base")
    place.functions.allow(dataset, "ada")
    role = place.role("ada")
    place.sql(f"GRANT ALL ON SCHEMA rel TO {role}")
    rel.execute("ALTER TABLE base RENAME TO away")
    with place.connect(role) as session:
        for trap in (
            "CREATE TABLE rel.loot (who text); GRANT ALL ON rel.loot TO PUBLIC",
            "CREATE FUNCTION rel.steal() RETURNS text LANGUAGE sql AS "
            "'INSERT INTO rel.loot VALUES (current_user) RETURNING who'",
            "CREATE VIEW rel.base AS SELECT rel.steal() AS color, 1 AS age, 'no'::text AS class",
            "GRANT SELECT ON rel.base TO PUBLIC",
        ):
            session.execute(trap)
        with pytest.raises(InsufficientPrivilege, match="cannot be read now; nothing is charged"):
            ask(session, dataset)
        assert session.execute("SELECT * FROM rel.loot").fetchall() == []
        session.execute("SELECT count(*) FROM rel.base")  # the trap is set
        assert session.execute("SELECT * FROM rel.loot").fetchall() == [(role,)] * 1
        session.execute("DROP VIEW rel.base")
        with pytest.raises(DatabaseError, match="cannot be read now; nothing is charged"):
            ask(session, dataset)
        rel.execute("CREATE TABLE base AS TABLE away")  # by its owner
        assert abs(answer(session, ask(session, dataset, epsilon=4)) - 3000) < 25
    assert spent(place, dataset) == 4
    place.functions.remove_dataset(dataset)


@pytest.mark.parametrize("relation", ["base", "shown"])
def test_the_right_to_read_the_columns_that_are_asked_is_enough(place, rel, relation):
    """For the ledger's owner, and for the owner of a view."""
    (owner,) = place.sql("SELECT nspowner::regrole FROM pg_namespace WHERE nspname = 'privet'")[0]
    viewer = place.role()
    columns = "(color, age, class)"
    place.sql(
        "ALTER TABLE rel.base OWNER TO CURRENT_USER; ALTER TABLE rel.base ADD name text; CREATE "
        f"VIEW rel.shown AS SELECT color, age, class FROM rel.base; GRANT ALL ON SCHEMA rel TO "
        f"{viewer}; ALTER VIEW rel.shown OWNER TO {viewer}; GRANT SELECT {columns} ON rel.base TO "
        f"{viewer}, {owner}; GRANT SELECT {columns} ON rel.shown TO {owner}"
    )
    dataset = new_dataset(place, table=f"rel.{relation}")
    place.functions.allow(dataset, "ada")
    with place.connect(place.role("ada")) as session:
        assert abs(answer(session, ask(session, dataset, epsilon=4)) - 3000) < 25
    place.functions.remove_dataset(dataset)


def test_rights_on_what_holds_other_rows_are_none_of_our_business(place):
    """Such as those that everybody has on the server's catalog, or on a sibling of the table that
    is asked.
    """
    role = place.role("ada")
    (owner,) = place.sql("SELECT nspowner::regrole FROM pg_namespace WHERE nspname = 'privet'")[0]
    place.sql(f"CREATE SCHEMA rel AUTHORIZATION {owner}")
    with place.connect(owner) as session:
        session.execute("SET search_path = rel, public; CREATE TABLE base (LIKE people)")
        session.execute(
            "CREATE VIEW shown AS SELECT * FROM people WHERE age < (SELECT count(*) FROM pg_class)"
        )
        session.execute(
            "CREATE TABLE heir () INHERITS (base); CREATE TABLE sibling () INHERITS (base)"
        )
        session.execute(f"GRANT SELECT ON sibling TO {role}; GRANT USAGE ON SCHEMA rel TO {role}")
    for table in ("rel.shown", "rel.heir"):
        place.functions.remove_dataset(new_dataset(place, table=table))
    place.sql("DROP SCHEMA rel CASCADE")


def test_a_table_that_an_analyst_can_read_is_refused(place):
    role = place.role("ada")
    place.sql(f"CREATE TABLE open_to_ada AS TABLE people; GRANT SELECT ON open_to_ada TO {role}")
    with pytest.raises(PrivacyError, match=role):
        new_dataset(place, table="open_to_ada")
    assert place.sql("SELECT 1 FROM privet.datasets WHERE relation LIKE '%open_to_ada%'") == []
    place.sql("DROP TABLE open_to_ada")


def test_tables_and_inner_functions_are_closed(place, session, dataset):
    tables = [
        row[0]
        for row in place.sql(
            "SELECT relname FROM pg_class WHERE relnamespace = 'privet'::regnamespace AND relkind "
            "= 'r'"
        )
    ]
    assert len(tables) == 13
    for table in (*(f"privet.{table}" for table in tables), "public.people"):
        for statement in (
            f"TABLE {table}",
            f"DELETE FROM {table}",
            f"INSERT INTO {table} DEFAULT VALUES",
            f"TRUNCATE {table}",
            f"LOCK TABLE {table}",
            f"COPY {table} TO STDOUT",
            f"SELECT count(*) FROM {table}",
        ):
            with pytest.raises(InsufficientPrivilege), session.transaction():
                session.execute(statement)
    calls = place.sql(
        "SELECT proname, pronargs, oid, proisstrict FROM pg_proc "
        "WHERE pronamespace = 'privet'::regnamespace AND prorettype <> 'trigger'::regtype"
    )
    assert len(calls) > 20
    opened = {
        name
        for name, _, oid, _ in calls
        if session.execute("SELECT has_function_privilege(%s::oid, 'EXECUTE')", (oid,)).fetchone()[
            0
        ]
    }
    ((listed,),) = place.sql("SELECT privet.calls()")
    assert opened == {call.partition("(")[0] for call in listed}
    assert len(opened) == 17
    for name, arguments, _, strict in calls:
        if name not in opened and not strict:  # a strict one of NULL is not even called
            with pytest.raises(InsufficientPrivilege):
                session.execute(f"SELECT privet.{name}({', '.join(['NULL'] * arguments)})")
    with pytest.raises(InsufficientPrivilege):
        session.execute("CREATE TABLE privet.mine ()")


# -- hostile surroundings --------------------------------------------------------------------------

SPRUNG = {
    "sha256(bytea)": "bytea",
    "encode(bytea, text)": "text",
    "gen_random_uuid()": "uuid",
    "jsonb_object_keys(jsonb)": "SETOF text",
    "jsonb_each(jsonb, OUT key text, OUT value jsonb)": "SETOF record",
    "width_bucket(text, text[])": "integer",
    "clock_timestamp()": "timestamptz",
    "pg_current_xact_id()": "xid8",
    "pg_current_xact_id_if_assigned()": "xid8",
    "pg_sleep(double precision)": "void",
    "add(numeric, numeric)": "numeric",
    "equal(text, text)": "boolean",
    "less(numeric, numeric)": "boolean",
    "step(bigint)": "bigint",
}
BODY = "LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'sprung'; END $$"
TRAPS = [
    *(
        f"CREATE FUNCTION trap.{call} RETURNS {returned} {BODY}"
        for call, returned in SPRUNG.items()
    ),
    *(
        f"CREATE OPERATOR trap.{name} (FUNCTION = trap.add, LEFTARG = numeric, RIGHTARG = numeric)"
        for name in ("+", "*")
    ),
    *(
        f"CREATE OPERATOR trap.{name} (FUNCTION = trap.less, LEFTARG = numeric, RIGHTARG = numeric)"
        for name in ("<", "<=")
    ),
    "CREATE OPERATOR trap.= (FUNCTION = trap.equal, LEFTARG = text, RIGHTARG = text)",
    "CREATE AGGREGATE trap.count(*) (SFUNC = trap.step, STYPE = bigint, INITCOND = '0')",
]
SHADOWS = (
    "ledger",
    "journal",
    "caps",
    "spent",
    "answers",
    "asked",
    "roles",
    "grants",
    "datasets",
    "attributes",
    "reservations",
    "accounts",
    "people",
    "pg_class",
)


def test_nothing_of_the_callers_schemas_is_used(place, session, role, dataset):
    # also for the owner
    place.sql(
        f"CREATE SCHEMA trap; GRANT ALL ON SCHEMA trap, public TO {role}; GRANT USAGE ON SCHEMA "
        "trap TO PUBLIC"
    )
    try:
        for trap in TRAPS:
            session.execute(trap)
        for table in SHADOWS:
            session.execute(
                f"CREATE TEMP TABLE {table} (dataset text, role text, analyst text, number bigint)"
            )
        session.execute(f"CREATE FUNCTION pg_temp.sha256(bytea) RETURNS bytea {BODY}")
        session.execute("SET search_path = trap, pg_temp, public, pg_catalog")
        for trap in (
            "sha256('')",
            "1.0 + 1.0",
            "'a'::text = 'b'::text",
            "count(*)",
            "gen_random_uuid()",
        ):
            with pytest.raises(DatabaseError, match="sprung"):  # the traps are set
                session.execute(f"SELECT {trap}")
        ticket = ask(session, dataset, {"color": ["red"]}, 4)
        assert abs(answer(session, ticket) - 1000) < 25
        session.execute("SELECT privet.receipt(%s)", (ticket,))
        assert session.execute("SELECT exactly FROM privet.budget(%s)", (dataset,)).fetchall() == [
            ("6",)
        ]
        with session.transaction(), refused("PV007"), session.transaction():
            answer(session, ask(session, dataset))
        assert verify(place.ledger) == []
    finally:
        place.sql(f"DROP SCHEMA trap CASCADE; REVOKE ALL ON SCHEMA public FROM {role}")


def test_no_setting_of_the_callers_matters(place, session, dataset):
    settings = {
        "TimeZone": "Asia/Kolkata",
        "DateStyle": "German",
        "IntervalStyle": "iso_8601",
        "extra_float_digits": "-15",
        "bytea_output": "escape",
        "standard_conforming_strings": "off",
        "row_security": "on",
        "transform_null_equals": "on",
        "array_nulls": "off",
        "client_encoding": "SQL_ASCII",
        "quote_all_identifiers": "on",
        "backslash_quote": "on",
        "enable_seqscan": "off",
        "debug_parallel_query": "on",
        "lc_numeric": "C",
        "lc_time": "C",
        "work_mem": "64kB",
        "plpgsql.variable_conflict": "use_column",
        "plpgsql.extra_errors": "all",
        "plpgsql.check_asserts": "off",
    }
    set_ = []
    for name, value in settings.items():
        try:
            session.execute(f"SET {name} = '{value}'")
            set_.append(name)
        except DatabaseError:
            pass  # not for everybody, or not of this version
    assert len(set_) > 12
    before = datetime.now(UTC) - timedelta(minutes=1)
    assert abs(answer(session, ask(session, dataset, {"age": ["[0, 10)"]}, 4)) - 300) < 25
    (entry,) = place.ledger.entries(dataset)
    assert before < datetime.fromisoformat(entry.time) < before + timedelta(minutes=2)
    assert verify(place.ledger) == []


def test_plans_and_notices_from_inside_stay_inside(session, dataset):
    """A plan holds the server's estimates, and those come from the rows."""
    heard = []
    session.add_notice_handler(lambda notice: heard.append(notice.message_primary))
    session.execute("SET client_min_messages = 'debug5'")
    for name in ("parse", "rewritten", "plan"):
        session.execute(f"SET debug_print_{name} = on")

    def plans():
        return sum(message.startswith("plan") for message in heard)

    heard.clear()
    session.execute("DO $$ BEGIN PERFORM count(*) FROM generate_series(1, 3); END $$")
    assert plans() > 0  # those of a function are heard
    heard.clear()
    ask(session, dataset)
    assert plans() == 1  # of the statement that calls it


def find_nodes(plan, name):
    """The parts of a printed plan that are nodes of this kind, with all that is in them."""
    depth, begun = 0, []
    for at, character in enumerate(plan):
        if character == "{":
            depth += 1
            if plan.startswith(f"{name} ", at + 1):
                begun.append((depth, at))
        elif character == "}":
            if begun and begun[-1][0] == depth:
                yield plan[begun.pop()[1] : at]
            depth -= 1


def test_no_row_is_spared_the_work_of_looking_its_number_up(place, dataset):
    """An ask that is rolled back is free. With 100 looks, a row that was in a cell took a
    millisecond for 30 walks, and one that was in none next to nothing: its time was an exact count.
    """
    heard = []
    with place.connect() as session:
        session.add_notice_handler(lambda notice: heard.append(notice.message_detail or ""))
        session.execute("SET client_min_messages = 'debug1'; SET debug_print_plan = on")
        session.execute(
            "SELECT privet.exact_numbers(%s, privet.partition(%s, %s, '{class}'))",
            (dataset, dataset, '{"age": {"from": 20}}'),
        )
    (plan,) = (said for said in heard if "{APPEND " in said)  # zeros, and then the rows
    assert "{SUBSCRIPTINGREF " in plan
    # one branch of a CASE is for some rows only
    assert not any("SUBSCRIPTINGREF" in part for part in find_nodes(plan, "CASEEXPR"))


def test_errors_tell_nothing_about_rows(place):
    """What fails because of a row is charged and answered like anything else; what fails without
    looking at rows is not charged.
    """
    place.sql(
        "CREATE TABLE odd (color text, age integer, class text); INSERT INTO odd SELECT 'red', 0, "
        "'no' FROM generate_series(1, 9)"
    )
    place.sql(
        "CREATE VIEW quotients AS SELECT color, 100 / age AS age, class FROM odd; GRANT SELECT ON "
        "quotients, odd TO PUBLIC"
    )
    (owner,) = place.sql("SELECT nspowner::regrole FROM pg_namespace WHERE nspname = 'privet'")[0]
    place.sql(
        f"REVOKE ALL ON quotients, odd FROM PUBLIC; GRANT SELECT ON quotients, odd TO {owner}"
    )
    dataset = new_dataset(place, table="quotients")
    place.functions.allow(dataset, "ada")
    with place.connect(place.role("ada")) as session:
        with pytest.raises(psycopg.errors.DivisionByZero):
            place.sql("SELECT sum(age) FROM quotients")
        ticket = ask(session, dataset)
        with refused("PV007", "could not be counted; the charge stands"):
            answer(session, ticket)
        assert spent(place, dataset) == F(1, 2)
        assert kept(place, place.ledger.entries(dataset)[0]) is None
        place.sql("DROP VIEW quotients")
        with pytest.raises(DatabaseError) as caught:
            ask(session, dataset)
        assert (
            caught.value.diag.message_primary
            == "the table of the data set cannot be read now; nothing is charged"
        )
        assert spent(place, dataset) == F(1, 2)
    place.functions.remove_dataset(dataset)


def test_row_security_of_the_table_cannot_choose_rows_by_the_callers_settings(place):
    """A policy that applies to the owner makes the count fail instead of counting what the caller's
    settings choose.
    """
    (owner,) = place.sql("SELECT nspowner::regrole FROM pg_namespace WHERE nspname = 'privet'")[0]
    place.sql(
        "CREATE TABLE guarded AS TABLE people; ALTER TABLE guarded ENABLE ROW LEVEL SECURITY; "
        "CREATE POLICY chosen ON guarded USING (age::text = current_setting('my.age', true)); "
        f"GRANT SELECT ON guarded TO {owner}"
    )
    dataset = new_dataset(place, table="guarded")
    place.functions.allow(dataset, "ada")
    with place.connect(place.role("ada")) as session:
        session.execute("SET my.age = '42'; SET row_security = on")
        with pytest.raises(DatabaseError, match="cannot be read now; nothing is charged"):
            ask(session, dataset)
    assert spent(place, dataset) == 0


def test_answers_are_written_alike_whatever_they_are(place, session, dataset):
    """EXPLAIN (ANALYZE, WAL) tells how many bytes of log a statement wrote, before any commit."""
    for condition in ({}, {"color": []}):
        for _ in range(3):
            ask(session, dataset, condition, "0.1")
    entries = place.ledger.entries(dataset)
    assert len({len(str(kept(place, entry))) for entry in entries}) > 1
    assert {len(place.ledger.answer(entry.number)) for entry in entries} == {24}


@pytest.mark.parametrize("number", [0, 1, -1, 3000, 2**63 - 1, 1 - 2**63, None])
def test_the_record_of_an_answer_looks_random(place, number):
    """Its SHA-256 is in a receipt and the log may be compressed: what is recorded twice must have
    nothing in common.
    """
    records = [
        row[0]
        for row in place.sql(
            "SELECT privet.sealed(ARRAY[%s]::bigint[]) FROM generate_series(1, 400)", (number,)
        )
    ]
    assert {len(record) for record in records} == {24}
    for record in records[:5]:
        assert place.sql("SELECT privet.unsealed(%s)", (record,)) == [([number],)]
    # whatever begins like JSON is an answer of the service to whoever archives answers
    assert min(record[0] for record in records) >= 128
    for part in (slice(16), slice(16, 24)):
        assert len({record[part] for record in records}) == 400
    ones = sum(int.from_bytes(record[16:], "big").bit_count() for record in records)
    assert abs(ones - 400 * 32) < 6 * (400 * 64 / 4) ** 0.5
    assert len(zlib.compress(b"".join(records))) > 400 * 23  # 7 bits are not random


# -- what the server shows -------------------------------------------------------------------------


@pytest.mark.parametrize("tracked", ["pl", "all"])
def test_a_server_that_counts_calls_is_refused(place, role, dataset, tracked):
    """pg_stat_xact_user_functions would tell how often the sampler tossed its coins."""
    place.sql(f"ALTER ROLE {role} SET track_functions = '{tracked}'")
    with place.connect(role) as session:
        with refused("PV006", "track_functions = none"):
            ask(session, dataset)
        session.execute("BEGIN")
        with pytest.raises(DatabaseError), session.transaction():
            ask(session, dataset)
        called = session.execute(
            "SELECT funcname FROM pg_stat_xact_user_functions WHERE schemaname = 'privet'"
        ).fetchall()
        assert ("noise",) in called
        assert not {("discrete_laplace",), ("exact_count",), ("random_bits",)} & set(called)
        session.execute("ROLLBACK")
    assert spent(place, dataset) == 0


def test_no_setting_of_the_callers_sends_a_sort_to_disk(place):
    """EXPLAIN (ANALYZE, BUFFERS) counts its blocks, and so the rows that the schema keeps."""
    (owner,) = place.sql("SELECT nspowner::regrole FROM pg_namespace WHERE nspname = 'privet'")[0]
    place.sql(
        "CREATE TABLE visits AS SELECT 'person ' || i AS who, 'red' AS color, 'no' AS class FROM "
        f"generate_series(1, 20000) AS i; GRANT SELECT ON visits TO {owner}"
    )
    schema = Schema(
        {"color": Categorical(["red"])},
        target="class",
        classes=["no", "yes"],
        person="who",
        rows_per_person=1,
    )
    dataset = new_dataset(place, table="visits", schema=schema)
    place.functions.allow(dataset, "ada")
    with place.connect(place.role("ada")) as session:
        older = session.info.server_version < 160000
        parallel = "force_parallel_mode" if older else "debug_parallel_query"
        session.execute(f"SET work_mem = '64kB'; SET hash_mem_multiplier = 1; SET {parallel} = on")
        sort = (
            "SELECT max(n) FROM (SELECT row_number() OVER (ORDER BY i::text) AS n FROM "
            "generate_series(1, 20000) AS i) AS s"
        )
        assert temporary_blocks(session, sort) > 0  # it is seen
        assert temporary_blocks(session, f"SELECT privet.ask('{dataset}', '{{}}', 0.5)") == 0


def temporary_blocks(session, statement):
    (plan,) = session.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}").fetchone()[0]
    return plan["Plan"]["Temp Written Blocks"]


def test_nobody_sees_when_the_noise_is_drawn(place, session, role, dataset):
    """Another session of the role sees what the first one waits for."""
    seen = []
    with place.connect(role) as watching:
        done = threading.Event()

        def look():
            seen.extend(
                watching.execute(
                    "SELECT state, wait_event FROM pg_stat_activity WHERE pid = %s",
                    (session.info.backend_pid,),
                )
            )

        def watch():
            while not done.is_set():
                look()

        thread = threading.Thread(target=watch)
        thread.start()
        for asked in range(400):
            ask(session, dataset, {}, "0.001")
            if asked >= 20 and sum(state == "active" for state, _ in seen) >= 20:
                break
        done.set()
        thread.join()
        for _ in range(1000):  # the answer is here before the server waits for the next question
            look()
            if seen[-1] == ("idle", "ClientRead"):
                break
            time.sleep(0.01)
    assert seen[-1] == ("idle", "ClientRead"), "the watcher sees what the session waits for"
    assert "active" in {state for state, _ in seen}, "it looked while questions were answered"
    assert "PgSleep" not in {event for _, event in seen}


# -- questions -------------------------------------------------------------------------------------

BAD = [
    ("[]", "must be an object"),
    ("null", "must be an object"),
    ('"color"', "must be an object"),
    (None, "must be an object"),
    ('{"colour": ["red"]}', "no attribute 'colour'; there are color, age, class"),
    ('{"color": "red"}', "what is allowed of 'color' must be a list of labels"),
    ('{"color": {"red": 1}}', "must be a list"),
    ('{"color": ["pink"]}', "\"pink\" is no label of 'color'; there are red, green, blue"),
    ('{"color": ["red", null]}', "null is no label"),
    ('{"color": [["red"]]}', "is no label"),
    ('{"color": [1e131000]}', "is no label"),
    ('{"age": [5]}', "5 is no label of 'age'; there are [0, 10), [10, 20)"),
    ('{"class": ["maybe"]}', "no label of 'class'"),
    ('{"color\' OR true; --": ["red"]}', "no attribute"),
    ('{"color": ["red\') OR true; DROP SCHEMA privet CASCADE; --"]}', "is no label"),
    ('{"color": ["$1", "%s", "\\\\", "\\""]}', "is no label"),
    (json.dumps({"color": ["red"] * 200_000}), "shorter than a million bytes"),
    (json.dumps({f"a{i}": [] for i in range(50_000)}), "no attribute"),
    ('{"color": [' + "[" * 3000 + "]" * 3000 + "]}", "is no label"),
]


@pytest.mark.parametrize(("condition", "message"), BAD)
def test_a_condition_that_cannot_be_is_refused_and_not_charged(
    place, session, dataset, condition, message
):
    with refused("PV006", message) as caught:
        session.execute("SELECT privet.ask(%s, %s, 0.5)", (dataset, condition))
    assert len(caught.value.diag.message_primary) < 3000
    assert spent(place, dataset) == 0


@pytest.mark.parametrize(
    "epsilon",
    [
        "NaN",
        "Infinity",
        "-Infinity",
        "0",
        "-1",
        "0." + "1" * 60,
        "1" * 61,
        "1e-13",
        "0.0000000000009",
        "1e100000",
        "1e-16000",
        None,
    ],
)
def test_an_epsilon_that_cannot_be_is_refused_and_not_charged(place, session, dataset, epsilon):
    with refused("PV006", "epsilon must be"):
        session.execute("SELECT privet.ask(%s, '{}', %s::numeric)", (dataset, epsilon))
    assert spent(place, dataset) == 0


def test_shares_and_amounts_are_fractions_or_decimal_numbers(place, session, dataset):
    quantile = "SELECT privet.choose_quantile(%s, 'age', %s, %s)"
    for share, epsilon in (("1/2", "1/10"), ("0.5", "0.1"), ("1.0", "0.10")):
        session.execute(quantile, (dataset, share, epsilon))
    assert spent(place, dataset) == F(3, 10)
    for share, epsilon in (("0.5", "0.0"), ("0.5", ".1"), ("0.5", "1e-1"), ("1.5", "0.1")):
        with refused("PV006"):
            session.execute(quantile, (dataset, share, epsilon))


@pytest.mark.parametrize(
    "epsilon", ["0.000000000001", "1.50000", "0.1234567890123456789012345678901234567890", "9"]
)
def test_an_epsilon_is_charged_as_it_is_written(place, session, dataset, epsilon):
    answer(session, ask(session, dataset, {}, epsilon))
    assert place.ledger.spent(dataset) == Cost.pure(epsilon)


@pytest.mark.parametrize(
    "name",
    [
        "people'; DROP SCHEMA privet CASCADE; --",
        "$1",
        "%s %I",
        "a" * 100_000,
        "\N{DECIDUOUS TREE}",
        "",
    ],
)
def test_a_data_set_of_any_name_is_just_a_name(place, session, name):
    with refused("PV005", "is unknown, or not granted"):
        ask(session, name)


def test_odd_names_and_values_are_quoted_and_bound(place):
    odd = "a\"b'; DROP TABLE people; --%s $1"
    values = [
        "'); DROP TABLE people; --",
        '"',
        "\\",
        "$1",
        "%s",
        "NULL",
        "\N{DECIDUOUS TREE}",
        " red",
        "red",
    ]
    quoted = '"' + odd.replace('"', '""') + '"'
    with place.connect() as connection:
        connection.execute(
            f"CREATE TABLE {quoted} ({quoted} text, class boolean)".replace("%", "%")
        )
        for i, value in enumerate(values):
            connection.cursor().executemany(
                f"INSERT INTO {quoted.replace('%', '%%')} VALUES (%s, %s)",
                [(value, True)] * (i + 1),
            )
        (owner,) = connection.execute(
            "SELECT nspowner::regrole FROM pg_namespace WHERE nspname = 'privet'"
        ).fetchone()
        connection.execute(f"GRANT SELECT ON {quoted} TO {owner}")
    schema = Schema({odd: Categorical(values)}, target="class", classes=[False, True])
    dataset = new_dataset(place, table=odd, schema=schema)
    for i, value in enumerate(values):
        condition = json.dumps({odd: [value], "class": [True]})
        assert place.sql(
            "SELECT privet.exact_numbers(%s, privet.partition(%s, %s, '{}'))",
            (dataset, dataset, condition),
        ) == [([i + 1],)]


# -- data sets -------------------------------------------------------------------------------------


def test_a_table_that_does_not_fit_is_refused(place):
    with pytest.raises(TableError, match="no table 'nowhere'"):
        new_dataset(place, table="nowhere")
    with pytest.raises(TableError, match="no table"):
        new_dataset(place, table="people; DROP TABLE people")
    with pytest.raises(SchemaMismatch, match="'size'"):
        new_dataset(
            place,
            schema=Schema({"size": Categorical(["s", "m"])}, target="class", classes=["no", "yes"]),
        )


def test_a_data_set_can_be_replaced(place, session, dataset):
    narrow = Schema({"color": Categorical(["red"])}, target="class", classes=["no", "yes"])
    place.functions.add_dataset(dataset, "public.people", narrow)
    assert place.functions.has_dataset(dataset)
    assert abs(answer(session, ask(session, dataset, {}, 4)) - 1000) < 25
    with refused("PV006", "no attribute 'age'; there are color, class"):
        ask(session, dataset, {"age": []})


@pytest.mark.parametrize("call", ["ask(%s, '{}', 1)", "choose_quantile(%s, 'age', '1/2', '1')"])
def test_a_question_is_not_asked_of_another_schema_than_it_was_checked_for(
    place, session, dataset, call
):
    """An analyst can wait in line behind the owner, who adds the data set again."""
    outcomes = []

    def asks():
        with refused("PV006", "ask again"):
            session.execute(f"SELECT privet.{call}", (dataset,))
        outcomes.append("refused")

    waits = "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = %s"
    with place.connect() as owner:
        owner.execute("BEGIN; UPDATE privet.ledger SET lines = lines")
        owner.execute(
            "UPDATE privet.datasets SET fingerprint = 'another' WHERE dataset = %s", (dataset,)
        )
        thread = threading.Thread(target=asks)
        thread.start()
        while thread.is_alive() and place.sql(waits, (session.info.backend_pid,)) != [(True,)]:
            time.sleep(0.01)
        owner.execute("COMMIT")
        thread.join()
    assert outcomes == ["refused"]
    assert spent(place, dataset) == 0


@pytest.mark.parametrize("served", [True, False])
def test_a_data_set_that_is_added_again_is_granted_to_nobody(
    place, session, dataset, analyst, served
):
    """Also where its grants outlived it, or were made while only the service had it."""
    if not served:
        place.functions.remove_dataset(dataset)
        place.functions.allow(dataset, analyst)
    for _ in range(2):  # again and again
        place.functions.remove_dataset(dataset)
    place.functions.add_dataset(dataset, "people", SCHEMA)
    with refused("PV005", "not granted"):
        ask(session, dataset)


def test_another_version_of_the_functions_is_refused(place):
    from privet.errors import LedgerError

    place.sql("UPDATE privet.functions SET version = 99")
    try:
        with pytest.raises(LedgerError, match="version 99"):
            SQLFunctions(place.ledger)
    finally:
        place.sql("UPDATE privet.functions SET version = 4")


def test_the_functions_can_be_opened_again(place):
    SQLFunctions(place.ledger)
    assert as_role(place.url, "x").startswith("postgresql://x:@")
