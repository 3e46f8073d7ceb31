"""Install, upgrade and uninstall the SQL functions in a ledger's database.

The scripts stand in ``sql/``. Each step is one transaction, and holds the ledger's lock. What was
asked, granted and registered survives an upgrade; the ledger survives everything.
"""

from __future__ import annotations

import re
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from privet.accounting.ledger.postgres import PostgresLedger
from privet.errors import LedgerError

if TYPE_CHECKING:
    import psycopg

VERSION = 6  # Privet 0.1 has version 1
_SCRIPTS = (
    "tables.sql",
    "relations.sql",
    "rights.sql",
    "version5.sql",
    "version6.sql",
    "draws.sql",
    "walks.sql",
    "conditions.sql",
    "ask.sql",
    "choose.sql",
    "reserve.sql",
    "mine.sql",
    "budget.sql",
    "settings.sql",
)
#: The scripts after the first one make a version of any age new.
_OLDER = range(1, VERSION)


def find_version(connection: psycopg.Connection[Any]) -> int | None:
    """Return which version of the functions a ledger's database has; None where it has none."""
    there = connection.execute("SELECT to_regclass('privet.functions') IS NOT NULL").fetchone()
    if there == (False,):
        return None
    row = connection.execute("SELECT version FROM privet.functions").fetchone()
    return None if row is None else int(row[0])


def bring_up_to_date(connection: psycopg.Connection[Any], name: str) -> tuple[int | None, int]:
    """Install the functions, or upgrade them; return the version before, and the version now."""
    before = find_version(connection)
    if before is None:
        connection.execute("CREATE TABLE privet.functions (version integer NOT NULL)")
        connection.execute("INSERT INTO privet.functions VALUES ($1)", (VERSION,))
        _run(connection, _SCRIPTS)
    elif before in _OLDER:
        _run(connection, _SCRIPTS[1:])
        connection.execute("UPDATE privet.functions SET version = $1", (VERSION,))
    elif before != VERSION:
        raise LedgerError(
            f"the SQL functions of ledger {name} have version {before}, and this Privet has "
            f"version {VERSION}; use the newer Privet that installed them"
        )
    return before, VERSION


def install(ledger: PostgresLedger) -> str:
    """Install the functions, and return what was done."""
    with ledger.transaction() as connection:
        before = find_version(connection)
        if before in _OLDER:
            raise LedgerError(
                f"the SQL functions of ledger {ledger.name} have version {before} already; bring "
                "them to this one with 'privet sql upgrade'"
            )
        bring_up_to_date(connection, ledger.name)
    if before is None:
        return f"installed version {VERSION} of the SQL functions in {ledger.name}"
    return f"version {VERSION} of the SQL functions is in {ledger.name} already"


def upgrade(ledger: PostgresLedger) -> str:
    """Bring functions that are there to this version, and return what was done."""
    with ledger.transaction() as connection:
        if find_version(connection) is None:
            raise LedgerError(
                f"{ledger.name} has no SQL functions yet; install them with 'privet sql install'"
            )
        before, now = bring_up_to_date(connection, ledger.name)
        old = connection.execute(
            "SELECT dataset FROM privet.datasets WHERE schema = '' ORDER BY dataset"
        ).fetchall()
        mighty = connection.execute("SELECT DISTINCT role, might FROM privet.mighty()").fetchall()
    said = f"version {now} of the SQL functions is in {ledger.name} already"
    if before != now:
        said = f"upgraded the SQL functions in {ledger.name} from version {before} to {now}"
    if old:
        names = ", ".join(row[0] for row in old)
        said += f". Add these data sets again, so that programs can ask them: {names}"
    if mighty:
        rights = "; ".join(f"{role!r} {might}" for role, might in mighty)
        said += (
            ". These roles, or ones that they can become, could read rows without asking; take "
            f"that from them, or revoke them: {rights}"
        )
    return said


def uninstall(ledger: PostgresLedger) -> str:
    """Remove the functions, who may call them, and their tickets, and return what was done.

    The ledger stays: accounts, history and recorded answers.
    """
    from psycopg import sql

    with ledger.transaction() as connection:
        if find_version(connection) is None:
            raise LedgerError(f"{ledger.name} has no SQL functions")
        roles = connection.execute(
            "SELECT r.role FROM privet.roles AS r JOIN pg_roles AS p ON p.rolname = r.role"
        ).fetchall()
        for (role,) in roles:
            who = sql.Identifier(role)
            connection.execute(sql.SQL("REVOKE ALL ON SCHEMA privet FROM {}").format(who))
        connection.execute("DROP TYPE IF EXISTS privet.walks CASCADE")
        connection.execute(
            "DROP TABLE privet.asked, privet.attributes, privet.datasets, privet.grants, "
            "privet.roles, privet.functions CASCADE"
        )
        ours = connection.execute(
            "SELECT p.oid::regprocedure::text FROM pg_proc AS p WHERE p.pronamespace = "
            "'privet'::regnamespace AND p.proname = ANY ($1)",
            (_list_functions(),),
        ).fetchall()
        for (function,) in ours:
            # as the server itself writes it, quoted
            connection.execute(sql.SQL("DROP FUNCTION IF EXISTS {} CASCADE").format(_raw(function)))
    return (
        f"removed the SQL functions from {ledger.name}; the ledger stays, with all that was charged"
    )


def _raw(said: str) -> Any:
    from psycopg import sql

    return sql.SQL(said)


def _list_functions() -> list[str]:
    """Return the names of all functions that the scripts make."""
    texts = (_read(script).decode() for script in _SCRIPTS)
    return sorted({name for text in texts for name in re.findall(r"FUNCTION privet\.(\w+)", text)})


def _run(connection: psycopg.Connection[Any], scripts: tuple[str, ...]) -> None:
    for script in scripts:
        connection.execute(_read(script))


def _read(script: str) -> bytes:
    return files("privet.service.sql").joinpath("sql", script).read_bytes()
