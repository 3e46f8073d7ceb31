"""Manage the SQL functions of a ledger in PostgreSQL, and who may call them on what.

The SELECT that reads the rows of a data set as codes is made once, from the schema, with every name
quoted and every value bound. A question becomes arrays of numbers, along which each row walks
(``sql/walks.sql``). So all rows take the same steps, and no question has a say in the text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from privet.accounting.ledger.base import check_name
from privet.accounting.ledger.postgres import PostgresLedger
from privet.domain import Attribute, Schema
from privet.domain.labels import list_edges
from privet.errors import AccessError, ParameterError, PrivacyError
from privet.service.sql.installation import bring_up_to_date
from privet.tables.postgres.codes import PostgresDialect, encode_postgres_rows
from privet.tables.postgres.table import table_of_server

if TYPE_CHECKING:
    import psycopg
    from psycopg import sql


class SQLFunctions:
    """The functions ``privet.ask``, ``answer`` and the others in a ledger's database.

    Made at the first opening. They belong to the user of the ledger's URL, and read the tables of
    the data sets with that user's rights.
    """

    def __init__(self, ledger: PostgresLedger) -> None:
        self._ledger = ledger
        with ledger.transaction() as connection:
            bring_up_to_date(connection, ledger.name)

    def add_dataset(
        self, dataset: str, table: str, schema: Schema, *, public_counts: bool = False
    ) -> None:
        """Let a table of the same database be asked under this name.

        Where the name stood for another, that is replaced for those who may ask it.

        Looks at no row. The budget is that of the ledger's data set of the same name.

        Args:
            dataset: the name that analysts use.
            table: its name, such as ``"public.people"``.
            schema: what is public about the table.
            public_counts: you know that everybody who can log in reads exact counts of some rows
                in the server's catalog, as :meth:`list_told` lists them. Without it, such a table
                is refused.
        """
        check_name("dataset", dataset)
        if schema.from_data:
            raise PrivacyError(
                "this schema was read off the data, so that its lists give rows away; write one "
                "that is public"
            )
        address = self._ledger.url
        located = table_of_server(
            f"{address}{'&' if '?' in address else '?'}table={quote(table, safe='')}"
        )
        located.check_structure(schema)
        stored = Stored()
        _, encoded = encode_postgres_rows(located.relation, located.columns, schema, dialect=stored)
        from psycopg import sql

        factor = schema.rows_per_person * (2 if schema.neighbours == "replace" else 1)
        with self._changing() as connection:
            connection.execute("DELETE FROM privet.datasets WHERE dataset = $1", (dataset,))
            facts = {
                "dataset": dataset,
                "relation": located.relation,
                "texts": stored.texts,
                "numbers": stored.numbers,
                "codes": stored.codes,
                "factor": factor,
                "neighbours": schema.neighbours,
                "rows_per_person": schema.rows_per_person,
                "person": schema.person or "",
                "public_counts": public_counts,
                "encoded": encoded,
                "schema": json.dumps(schema.to_json(), ensure_ascii=False),
                "fingerprint": schema.fingerprint,
            }
            columns = sql.SQL(", ").join(map(sql.Identifier, facts))
            places = sql.SQL(", ").join(sql.SQL(f"${n + 1}") for n in range(len(facts)))
            connection.execute(
                sql.SQL("INSERT INTO privet.datasets ({}) VALUES ({})").format(columns, places),
                list(facts.values()),
            )
            connection.execute(
                "UPDATE privet.datasets AS d SET owner = pg_get_userbyid(c.relowner) "
                "FROM pg_class AS c WHERE c.oid = to_regclass(d.relation) AND d.dataset = $1",
                (dataset,),
            )
            for position, (name, attribute) in enumerate(asked_attributes(schema).items()):
                connection.execute(
                    "INSERT INTO privet.attributes (dataset, position, name, labels, edges) "
                    "VALUES ($1, $2, $3, $4, $5)",
                    (dataset, position, name, list(attribute.labels), list_edges(attribute)),
                )
            _refuse_told_counts(connection)
            _refuse_mighty_roles(connection)

    def list_told(self, dataset: str) -> list[str]:
        """Return whose exact number of rows everybody reads in the catalog who can log in, besides
        that of the whole table: partitions, heirs, partial indexes, materialized views.
        """
        with self._ledger.transaction() as connection:
            rows = connection.execute(
                "SELECT privet.told(to_regclass(d.relation)) FROM privet.datasets AS d "
                "WHERE d.dataset = $1",
                (dataset,),
            )
            return [row[0] for row in rows.fetchall()]

    def has_dataset(self, dataset: str) -> bool:
        """Return whether it can be asked in SQL."""
        with self._ledger.transaction() as connection:
            return (
                connection.execute(
                    "SELECT 1 FROM privet.datasets WHERE dataset = $1", (dataset,)
                ).fetchone()
                is not None
            )

    def remove_dataset(self, dataset: str) -> None:
        """Let nobody ask a data set any more.

        Nor can they ask what is added under its name later, until that is granted.

        Its account and its history stay in the ledger. Grants go also where it could not be asked
        in SQL (yet).
        """
        with self._changing() as connection:
            connection.execute("DELETE FROM privet.grants WHERE dataset = $1", (dataset,))
            connection.execute("DELETE FROM privet.datasets WHERE dataset = $1", (dataset,))

    def grant_role(self, role: str, analyst: str) -> None:
        """Let a role of the server call the functions, as this analyst."""
        check_name("analyst", analyst)
        from psycopg import sql

        with self._changing() as connection:
            if (
                connection.execute(
                    "SELECT FROM pg_roles WHERE rolname = $1 AND rolcanlogin", (role,)
                ).fetchone()
                is None
            ):
                raise AccessError(f"the server has no role {role!r} that can log in")
            connection.execute(
                (
                    "INSERT INTO privet.roles VALUES ($1, $2) ON CONFLICT (role) DO UPDATE SET "
                    "analyst = excluded.analyst"
                ),
                (role, analyst),
            )
            connection.execute(
                sql.SQL("GRANT USAGE ON SCHEMA privet TO {}").format(sql.Identifier(role))
            )
            for call in _list_calls(connection):
                connection.execute(
                    sql.SQL("GRANT EXECUTE ON FUNCTION {} TO {}").format(call, sql.Identifier(role))
                )
            _refuse_told_counts(connection)
            _refuse_mighty_roles(connection)

    def revoke_role(self, role: str) -> None:
        """Stop a role from calling the functions."""
        from psycopg import sql

        with self._changing() as connection:
            if not connection.execute("DELETE FROM privet.roles WHERE role = $1", (role,)).rowcount:
                raise AccessError(f"role {role!r} is no analyst")
            if (
                connection.execute("SELECT FROM pg_roles WHERE rolname = $1", (role,)).fetchone()
                is not None
            ):
                for call in _list_calls(connection):
                    connection.execute(
                        sql.SQL("REVOKE ALL ON FUNCTION {} FROM {}").format(
                            call, sql.Identifier(role)
                        )
                    )
                connection.execute(
                    sql.SQL("REVOKE ALL ON SCHEMA privet FROM {}").format(sql.Identifier(role))
                )

    def allow(self, dataset: str, analyst: str, expires: datetime | None = None) -> None:
        """Let an analyst ask a data set, until a time or for ever."""
        check_name("dataset", dataset)
        check_name("analyst", analyst)
        if expires is not None and expires.tzinfo is None:
            raise ParameterError("expires must be a time with a time zone")
        with self._changing() as connection:
            connection.execute(
                "INSERT INTO privet.grants VALUES ($1, $2, coalesce($3::timestamptz, 'infinity')) "
                "ON CONFLICT ON CONSTRAINT one_grant DO UPDATE SET expires = excluded.expires",
                (dataset, analyst, expires),
            )

    def forbid(self, dataset: str, analyst: str) -> None:
        """Take back that an analyst may ask a data set."""
        with self._changing() as connection:
            connection.execute(
                "DELETE FROM privet.grants WHERE dataset = $1 AND analyst = $2", (dataset, analyst)
            )

    @contextmanager
    def _changing(self) -> Iterator[psycopg.Connection[Any]]:
        with self._ledger.transaction() as connection:
            # A transaction that has read the old state must fail when it asks, not go on.
            connection.execute("UPDATE privet.ledger SET lines = lines")
            yield connection


def _list_calls(connection: psycopg.Connection[Any]) -> list[sql.SQL]:
    """Return what analysts may call, with its arguments: text of this package only."""
    from psycopg import sql

    rows = connection.execute("SELECT unnest(privet.calls())").fetchall()
    return [sql.SQL(f"privet.{row[0]}") for row in rows]


def _refuse_told_counts(connection: psycopg.Connection[Any]) -> None:
    told = connection.execute(
        "SELECT d.dataset, array_agg(t.told) FROM privet.datasets AS d, "
        "privet.told(to_regclass(d.relation)) AS t (told) WHERE NOT d.public_counts "
        "GROUP BY d.dataset ORDER BY d.dataset"
    ).fetchone()
    if told is not None:
        dataset, relations = told
        raise PrivacyError(
            f"everybody who can log in reads exact counts of rows of data set {dataset!r} in the "
            f"catalog of the server: those of {', '.join(relations)}. Let these analysts ask the "
            "service instead; or add a plain copy of the table in a database that has none of "
            "them; or, if such counts are public, say so (public_counts, --public-counts)"
        )


def _refuse_mighty_roles(connection: psycopg.Connection[Any]) -> None:
    mighty = connection.execute("SELECT role, might FROM privet.mighty()").fetchone()
    if mighty is not None:
        role, might = mighty
        raise PrivacyError(
            f"role {role!r} could read the ledger or the rows of a data set without asking: it, or "
            f"a role that it can become, {might}"
        )


# The SELECT that reads a data set as codes, with every name quoted and every value bound.


class Stored(PostgresDialect):
    """Values in lists of one type each, as ``privet.datasets`` holds them.

    How many values a statement binds is not known beforehand.
    """

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.numbers: list[float] = []
        self.codes: list[int] = []

    def bind(self, value: Any, sql_type: str) -> str:
        if sql_type in ("jsonb", "int8[]"):
            text = value if sql_type == "jsonb" else f"{{{','.join(map(str, value))}}}"
            self.texts.append(text)
            return f"($1)[{len(self.texts)}]::{sql_type}"
        place, stored = {"float8[]": (2, self.numbers), "int[]": (3, self.codes)}[sql_type]
        stored += value
        return f"(${place})[{len(stored) - len(value) + 1}:{len(stored)}]"


def asked_attributes(schema: Schema) -> dict[str, Attribute]:
    """Return what a condition can name: the attributes, and the target."""
    return {**schema.attributes, schema.target: schema.label}
