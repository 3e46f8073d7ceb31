"""Turn the owner's files into a DuckDB store, and check them there, before anything opens them.

Whoever outsources a table relies on what a server can learn from it. So a folder whose groups are
not diverse, whose order says something, or that holds more than it should, is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from privet._types import Ints
from privet.errors import OutsourceError
from privet.outsource.anatomy import Anatomy, codes_of, find_undiverse_groups
from privet.outsource.files import ANATOMY, IDENTIFIERS, VALUES, read_seal
from privet.outsource.store.tables import (
    BLOCK,
    FORMAT,
    MAX_ESEQ,
    NUMBERS,
    OWNERS,
    cell_names,
    create_statements,
    fits,
    is_storable,
)

if TYPE_CHECKING:
    import duckdb


def stage(connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Make a store of the owner's folder in an empty DuckDB database, as one transaction."""
    import duckdb

    anatomy = Anatomy.read(folder / ANATOMY)
    seal = read_seal(folder)
    names = cell_names(len(anatomy.columns))
    it, st = str(folder / IDENTIFIERS), str(folder / VALUES)
    try:
        connection.execute("BEGIN")
        _check_columns(
            connection,
            it,
            {
                **dict.fromkeys(names, "VARCHAR"),
                "pruning": "BOOLEAN",
                "gid": "BIGINT",
                "eseq": "BLOB",
            },
        )
        _check_columns(connection, st, {"seq": "BIGINT", "gid": "BIGINT", "value": "VARCHAR"})
        _check_order(connection, it, "eseq")
        _check_order(connection, st, "seq")
        _check_numbers_in_bounds(
            connection,
            it,
            (
                "pruning IS NULL OR gid IS NULL OR gid < 0 OR octet_length(eseq) NOT BETWEEN 1 AND "
                f"{MAX_ESEQ}"
            ),
        )
        _check_numbers_in_bounds(connection, st, "gid IS NULL OR gid < 0 OR seq < 0")
        for statement in create_statements(len(names)):
            connection.execute(statement)
        columns = ", ".join(names)
        connection.execute(
            f"INSERT INTO it SELECT file_row_number, {columns}, pruning, gid, eseq FROM "
            "read_parquet($1, file_row_number = true) ORDER BY file_row_number",
            [it],
        )
        connection.execute(
            "INSERT INTO st SELECT seq, gid, value FROM read_parquet($1) ORDER BY seq", [st]
        )
        _check_cells(connection, anatomy)
        _check_staged_groups(connection)
        _check_people(connection, anatomy)
        _check_values(connection, anatomy)
        _write_meta(connection, anatomy)
        connection.execute("INSERT INTO sealed VALUES ($1, 1, $2)", [OWNERS, seal])
        connection.execute("COMMIT")
    except duckdb.Error as error:
        raise OutsourceError(
            f"cannot read {folder} as an outsourced table ({type(error).__name__})"
        ) from None


def _check_columns(
    connection: duckdb.DuckDBPyConnection, path: str, expected: dict[str, str]
) -> None:
    import duckdb

    name = Path(path).name
    if not Path(path).is_file():
        raise OutsourceError(f"there is no file {path}")
    try:
        found = {
            line[0]: line[1]
            for line in connection.execute(
                "DESCRIBE SELECT * FROM read_parquet($1)", [path]
            ).fetchall()
        }
    except duckdb.Error:
        raise OutsourceError(f"{name} is no Parquet file that can be read") from None
    if list(found.items()) != list(expected.items()):
        listed = ", ".join(f"{column} {kind}" for column, kind in expected.items())
        raise OutsourceError(f"{name} must have exactly these columns: {listed}")


def _check_order(connection: duckdb.DuckDBPyConnection, path: str, column: str) -> None:
    """In the order of a random number, and each of them once: then the order of the rows says
    nothing.
    """
    wrong = connection.execute(
        f"SELECT n FROM (SELECT file_row_number AS n, {column} AS x, lag({column}) OVER (ORDER BY "
        "file_row_number) AS before FROM read_parquet($1, file_row_number = true)) WHERE x IS "
        "NULL OR x <= before ORDER BY n LIMIT 1",
        [path],
    ).fetchone()
    if wrong is not None:
        raise OutsourceError(
            f"{Path(path).name}: row {wrong[0]} is out of order: {column} must grow from row to "
            "row, so that none comes twice"
        )


def _check_numbers_in_bounds(connection: duckdb.DuckDBPyConnection, path: str, wrong: str) -> None:
    found = connection.execute(
        f"SELECT min(file_row_number) FROM read_parquet($1, file_row_number = true) WHERE {wrong}",
        [path],
    ).fetchone()
    if found is not None and found[0] is not None:
        raise OutsourceError(
            f"{Path(path).name}: row {found[0]} has a number that is missing or out of bounds"
        )


def _check_cells(connection: duckdb.DuckDBPyConnection, anatomy: Anatomy) -> None:
    at = 0
    for block in _fetch_blocks(
        connection, f"SELECT {', '.join(cell_names(len(anatomy.columns)))} FROM it ORDER BY number"
    ):
        unfit = np.flatnonzero(~fits(anatomy, list(zip(*block, strict=True))))
        if len(unfit):
            raise OutsourceError(f"{IDENTIFIERS}: row {at + int(unfit[0])} does not fit the schema")
        at += len(block)


def _check_staged_groups(connection: duckdb.DuckDBPyConnection) -> None:
    wrong = connection.execute(
        "SELECT min(i.gid) FROM (SELECT gid, count(*) AS n FROM it GROUP BY gid) AS i "
        "LEFT JOIN (SELECT gid, count(*) AS n FROM st GROUP BY gid) AS s ON s.gid = i.gid WHERE "
        "s.n IS NULL OR i.n > s.n"
    ).fetchone()
    if wrong is not None and wrong[0] is not None:
        raise OutsourceError(
            f"group {wrong[0]} has more rows in {IDENTIFIERS} than values in {VALUES}"
        )


def _check_people(connection: duckdb.DuckDBPyConnection, anatomy: Anatomy) -> None:
    """Where the schema names the person, one row for each: two groups of one person would have
    their value in common.
    """
    if anatomy.schema.person is None:
        return
    name = cell_names(len(anatomy.columns))[-1]
    twice = connection.execute(
        f"SELECT min(number) FROM it WHERE {name} IN (SELECT {name} FROM it GROUP BY {name} HAVING "
        "count(*) > 1)"
    ).fetchone()
    if twice is not None and twice[0] is not None:
        raise OutsourceError(f"{IDENTIFIERS}: the person of row {twice[0]} has another row too")


def _check_values(connection: duckdb.DuckDBPyConnection, anatomy: Anatomy) -> None:
    gids: list[Ints] = [np.empty(0, dtype=np.int64)]
    codes: list[Ints] = [np.empty(0, dtype=np.int64)]
    at = 0
    for block in _fetch_blocks(connection, "SELECT gid, value FROM st ORDER BY seq"):
        gid, value = zip(*block, strict=True)
        code = codes_of(anatomy.sensitive_domain, value)
        storable = np.array([is_storable(cell) for cell in value], dtype=bool)
        unfit = np.flatnonzero((code >= anatomy.sensitive_domain.size) | ~storable)
        if len(unfit):
            raise OutsourceError(f"{VALUES}: row {at + int(unfit[0])} does not fit the schema")
        gids.append(np.array(gid, dtype=np.int64))
        codes.append(code)
        at += len(block)
    bad = find_undiverse_groups(np.concatenate(gids), np.concatenate(codes), anatomy.l)
    if len(bad):
        raise OutsourceError(
            f"{VALUES}: group {bad[0]} is not {anatomy.l}-diverse: some value has more than one "
            f"{anatomy.l}-th of it"
        )


def _write_meta(connection: duckdb.DuckDBPyConnection, anatomy: Anatomy) -> None:
    counted = connection.execute(
        "SELECT (SELECT count(*) FROM it), (SELECT count(*) FROM st), (SELECT count(DISTINCT gid) "
        "FROM st)"
    ).fetchone()
    assert counted is not None
    n_rows, n_values, n_groups = counted
    numbers = {
        "format": FORMAT,
        "version": 1,
        "next_number": n_rows,
        "next_pending": 1,
        "next_tree": 1,
        "n_rows": n_rows,
    }
    numbers |= {"n_values": n_values, "n_groups": n_groups}
    marks = ", ".join(f"${i}" for i in range(2, len(NUMBERS) + 2))
    connection.execute(
        f"INSERT INTO meta VALUES ($1, {marks})",
        [json.dumps(anatomy.to_json()), *(numbers[name] for name in NUMBERS)],
    )


def _fetch_blocks(
    connection: duckdb.DuckDBPyConnection, sql: str
) -> Iterator[list[tuple[object, ...]]]:
    cursor = connection.execute(sql)
    while block := cursor.fetchmany(BLOCK):
        yield block
