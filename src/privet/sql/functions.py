"""Put functions that ask curators into a DuckDB connection."""

from __future__ import annotations

import hashlib
import json
import secrets
import threading
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from privet._validate import show, suggest
from privet.curator import AnyCurator
from privet.errors import ParameterError, PrivacyWarning
from privet.sql.conditions import lay_out
from privet.tables.base import Table
from privet.tables.duckdb.table import table_of_connection

if TYPE_CHECKING:
    import duckdb

#: What the functions return: a list of combinations with their numbers.
_RETURNED = "STRUCT(cell JSON, noisy_count BIGINT)[]"
# The identifier of the transaction makes all calls of one statement the same question.
_CALL = (
    "{function}(CAST(dataset AS VARCHAR), CAST(condition AS VARCHAR), CAST(epsilon AS VARCHAR), "
    "CAST({by} AS VARCHAR[]), CAST(key AS VARCHAR), CAST(txid_current() AS BIGINT))"
)
_COUNT = (
    "CREATE OR REPLACE TEMP MACRO privet_count(dataset, condition := '{}', epsilon := NULL, "
    "key := '') AS CALL[1].noisy_count"
)
_COUNTS = (
    "CREATE OR REPLACE TEMP MACRO privet_counts(dataset, condition := '{}', epsilon := NULL, "
    "\"by\" := [], key := '') AS TABLE FROM (SELECT unnest(CALL, recursive := true))"
)


def open_table(connection: duckdb.DuckDBPyConnection, name: str) -> Table:
    """Open a table or view of a DuckDB connection, for a :class:`~privet.Curator`.

    It is read over a connection of its own to the same database, so that it can be counted while
    ``connection`` runs a statement. So rows count from their commit on, and a temporary table or a
    registered data frame is not found.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        An open connection, also to a database in memory.
    name : str
        The name of the table, such as ``"people"`` or ``"main.people"``.

    Returns
    -------
    Table
        What a curator takes.

    Examples
    --------
    >>> import duckdb
    >>> import privet as pv
    >>> connection = duckdb.connect()
    >>> made = connection.execute("CREATE TABLE people AS SELECT 'red' AS color, 'yes' AS class")
    >>> pv.sql.open_table(connection, "people").name
    'main.people'
    """
    return table_of_connection(connection, name)


def register(connection: duckdb.DuckDBPyConnection, curators: Mapping[str, AnyCurator]) -> None:
    """Let SQL in a DuckDB connection ask curators.

    ``privet_count(dataset, condition, epsilon, key)`` is a noisy number, and
    ``privet_counts(dataset, condition, epsilon, by, key)`` a table of combinations of labels with
    their noisy numbers. A condition is JSON, as ``privet.ask`` has it in PostgreSQL, but that the
    classes that count must not depend on other attributes.

    All calls with the same arguments in one transaction are one question: it is charged once, and
    the answers are the same. So a statement that calls a function for each row is charged once. The
    next statement is another question, unless ``key`` names the one before. What is refused charges
    nothing. A rollback does not take a charge back.

    This protects nobody from the holder of the connection, who can read the rows; a
    :class:`~privet.PrivacyWarning` says so.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        Where the functions are put: into this connection, and no other one to the same database.
        Registering again replaces them.
    curators : mapping
        The curators, by the name of the data set in SQL.

    Raises
    ------
    ParameterError
        If there is no curator, or something else in its place.

    Examples
    --------
    >>> import warnings
    >>> import duckdb
    >>> import privet as pv
    >>> connection = duckdb.connect()
    >>> made = connection.execute(
    ...     "CREATE TABLE people AS SELECT ['red', 'blue'][1 + i % 2] AS color, 'yes' AS class "
    ...     "FROM range(1000) AS r (i)"
    ... )
    >>> schema = pv.Schema({"color": pv.Categorical(["red", "blue"])}, "class", ["no", "yes"])
    >>> table = pv.sql.open_table(connection, "people")
    >>> curator = pv.Curator(table, schema, pv.Budget(1))
    >>> with warnings.catch_warnings(action="ignore"):
    ...     pv.sql.register(connection, {"people": curator})
    >>> sql = "FROM privet_counts('people', by := ['color'], epsilon := 0.5)"
    >>> for cell, noisy_count in connection.execute(sql).fetchall():
    ...     print(cell, noisy_count)
    {"color": "red"} ...
    {"color": "blue"} ...
    >>> curator.left
    Fraction(1, 2)
    """
    from duckdb.func import SPECIAL

    named = _check_curators(curators)
    # Macros belong to a connection. The function that they call belongs to the whole database.
    function = f"privet_{secrets.token_hex(16)}"
    connection.create_function(
        function,
        _make_answerer(named, function),
        ["VARCHAR", "VARCHAR", "VARCHAR", "VARCHAR[]", "VARCHAR", "BIGINT"],
        _RETURNED,
        side_effects=True,  # or it would be run at planning, and by EXPLAIN
        null_handling=SPECIAL,
    )
    for macro, by in ((_COUNT, "[]"), (_COUNTS, '"by"')):
        connection.execute(macro.replace("CALL", _CALL.format(function=function, by=by)))
    warnings.warn(
        "privet_count and privet_counts are a convenience of this process, and no wall: whoever "
        "holds the connection can read the rows without asking. For analysts whom you do not "
        "trust, run a service (privet curator serve), or use PostgreSQL (privet sql install)",
        PrivacyWarning,
        stacklevel=2,
    )


def _check_curators(curators: Mapping[str, AnyCurator]) -> dict[str, AnyCurator]:
    named = dict(curators) if isinstance(curators, Mapping) else {}
    if not named or not all(isinstance(name, str) and name for name in named):
        raise ParameterError(
            'register: curators must be curators by name, such as {"people": curator}, got '
            f"{show(curators)}"
        )
    for name, curator in named.items():
        if not isinstance(curator, AnyCurator):
            raise ParameterError(
                f"register: {name!r} must be a curator, got {type(curator).__name__}; make one "
                "with privet.Curator(privet.sql.open_table(connection, name), schema, budget)"
            )
    return named


def _make_answerer(curators: dict[str, AnyCurator], prefix: str) -> Callable[..., Any]:
    """Return the function that DuckDB calls, for each row and from any thread."""
    lock = threading.Lock()
    latest: dict[Any, list[dict[str, Any]]] = {}
    latest_transaction = [-1]

    def answer(
        dataset: str | None,
        condition: str | None,
        epsilon: str | None,
        by: list[str] | None,
        key: str | None,
        transaction: int,
    ) -> list[dict[str, Any]]:
        asked = (dataset, condition, epsilon, tuple(by or ()), key)
        with lock:  # a statement that calls for each row asks the ledger once
            if latest_transaction[0] != transaction:
                latest.clear()
                latest_transaction[0] = transaction
            if asked not in latest:
                latest[asked] = _ask(curators, prefix, transaction, *asked)
            return latest[asked]

    return answer


def _ask(
    curators: dict[str, AnyCurator],
    prefix: str,
    transaction: int,
    dataset: str | None,
    condition: str | None,
    epsilon: str | None,
    by: tuple[str, ...],
    key: str | None,
) -> list[dict[str, Any]]:
    if dataset not in curators:
        advice = suggest(str(dataset), list(curators))
        raise ParameterError(
            f"no data set {show(dataset)}; there are {', '.join(curators)}"
            + (f"; {advice}" if advice else "")
        )
    if epsilon is None:
        raise ParameterError("epsilon must be given, such as epsilon := 0.1")
    curator = curators[dataset]
    asked = lay_out(curator.schema, "{}" if condition is None else condition, by)
    said = json.dumps([transaction, dataset, condition, epsilon, by])
    own = hashlib.sha256(said.encode()).hexdigest()
    answer = curator.ask_once(key or f"{prefix}-{own}", asked.query, epsilon)
    rows = asked.read(answer.tables[0])
    return [
        {"cell": json.dumps(cell, ensure_ascii=False), "noisy_count": number}
        for cell, number in rows
    ]
