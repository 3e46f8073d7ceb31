"""Write and read the folder that an owner hands to a server.

It holds ``anatomy.json`` with its seal, the identifier table ``it.parquet`` and the sensitive table
``st.parquet``.
"""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
import numpy.typing as npt

from privet._atomic import atomic_file
from privet._types import Ints
from privet.errors import OutsourceError, ParameterError
from privet.outsource.anatomy import Anatomy, CellText

if TYPE_CHECKING:
    import duckdb


# The two halves of an outsourced table.


@dataclass(frozen=True, eq=False)
class Identifiers:
    """The identifier table: cells by column, and per row a mark, a group and a sealed number.

    Columns are in the order of ``Anatomy.columns``.
    """

    cells: list[list[CellText]]
    pruning: npt.NDArray[np.bool_]
    gid: Ints
    eseq: list[bytes]

    def __len__(self) -> int:
        return len(self.eseq)

    def row(self, position: int) -> list[CellText]:
        """Return the cells of one row."""
        return [column[position] for column in self.cells]

    def frame(self, anatomy: Anatomy) -> Any:
        """Return the cells as a data frame with the schema's names."""
        import pandas as pd

        return pd.DataFrame(
            {
                name: np.array(c, dtype=object)
                for name, c in zip(anatomy.columns, self.cells, strict=True)
            }
        )


@dataclass(frozen=True, eq=False)
class Values:
    """The sensitive table."""

    seq: Ints
    gid: Ints
    value: list[CellText]

    def __len__(self) -> int:
        return len(self.value)


@dataclass(frozen=True, eq=False)
class Halves:
    """Both tables, with what is public about them and the owner's seal on that."""

    anatomy: Anatomy
    identifiers: Identifiers
    values: Values
    seal: bytes


ANATOMY, SEAL, IDENTIFIERS, VALUES = "anatomy.json", "anatomy.seal", "it.parquet", "st.parquet"
MAX_SEAL = 256


def write_halves(halves: Halves, folder: str | PathLike[str]) -> None:
    """Write the folder, atomically; it and its files are their owner's only."""
    import duckdb
    import pandas as pd

    target = Path(folder)
    check_new_folder(target)
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    rows, values = halves.identifiers, halves.values
    columns: dict[str, Any] = {
        f"c{i}": np.array(cells, dtype=object) for i, cells in enumerate(rows.cells)
    }
    it = pd.DataFrame(
        {
            **columns,
            "pruning": rows.pruning,
            "gid": rows.gid,
            "eseq": np.array(rows.eseq, dtype=object),
        }
    )
    st = pd.DataFrame(
        {"seq": values.seq, "gid": values.gid, "value": np.array(values.value, dtype=object)}
    )
    # a column of nulls has no type of its own
    cells = ", ".join(f"c{i}::VARCHAR AS c{i}" for i in range(len(rows.cells)))
    try:
        partial.mkdir(mode=0o700)
        with duckdb.connect() as connection:
            connection.register("it", it)
            connection.register("st", st)
            # - numbered names
            _copy(
                connection,
                f"SELECT {cells}, pruning, gid, eseq::BLOB AS eseq FROM it ORDER BY eseq",  # noqa: S608
                partial / IDENTIFIERS,
            )
            _copy(
                connection,
                "SELECT seq, gid, value::VARCHAR AS value FROM st ORDER BY seq",
                partial / VALUES,
            )
        (partial / ANATOMY).write_text(
            json.dumps(halves.anatomy.to_json(), indent=2, ensure_ascii=False) + "\n",
            encoding="utf-8",
        )
        (partial / SEAL).write_bytes(halves.seal)
        for file in partial.iterdir():  # nobody else could look into the folder until now
            file.chmod(0o600)
        if target.exists():
            target.rmdir()  # empty: it was looked at
        partial.rename(target)
    except (OSError, duckdb.Error) as error:
        shutil.rmtree(partial, ignore_errors=True)
        raise OutsourceError(f"cannot write {target}: {error}") from None


def check_new_folder(folder: Path) -> None:
    """Raise unless a folder of this name can be made."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ParameterError(f"{folder} exists and is not an empty folder")
    if not folder.absolute().parent.is_dir():
        raise ParameterError(f"cannot make {folder}: the folder {folder.parent} does not exist")


def read_halves(folder: str | PathLike[str]) -> Halves:
    """Read the folder as it is, in the order that it has.

    Looking for what is wrong with it is the verifier's work.
    """
    import duckdb

    place = Path(folder)
    anatomy = Anatomy.read(place / ANATOMY)
    try:
        with duckdb.connect() as connection:
            it = connection.execute(
                "SELECT * FROM read_parquet(?)", [str(place / IDENTIFIERS)]
            ).fetchnumpy()
            st = connection.execute(
                "SELECT * FROM read_parquet(?)", [str(place / VALUES)]
            ).fetchnumpy()
    except duckdb.Error as error:
        raise OutsourceError(f"cannot read {place}: {error}") from None
    seal = read_seal(place)
    names = [f"c{i}" for i in range(len(anatomy.columns))]
    _check_columns(IDENTIFIERS, it, [*names, "pruning", "gid", "eseq"])
    _check_columns(VALUES, st, ["seq", "gid", "value"])
    identifiers = Identifiers(
        [_texts_of_column(it[name]) for name in names],
        np.asarray(it["pruning"], dtype=bool),
        _integers_of_column(it["gid"]),
        [bytes(x) for x in _unmask_column(it["eseq"])],
    )
    return Halves(
        anatomy,
        identifiers,
        Values(
            _integers_of_column(st["seq"]),
            _integers_of_column(st["gid"]),
            _texts_of_column(st["value"]),
        ),
        seal,
    )


def read_seal(folder: Path) -> bytes:
    """Read the owner's seal on the description."""
    try:
        seal = (folder / SEAL).read_bytes()
    except OSError as error:
        raise OutsourceError(f"cannot read {folder / SEAL}: {error.strerror}") from None
    if not 1 <= len(seal) <= MAX_SEAL:
        raise OutsourceError(f"{folder / SEAL} must have 1 to {MAX_SEAL} bytes")
    return seal


def _copy(connection: duckdb.DuckDBPyConnection, query: str, path: Path) -> None:
    # The path is a literal because COPY takes no parameter there.
    connection.execute(
        f"COPY ({query}) TO '{str(path).replace(chr(39), chr(39) * 2)}' (FORMAT parquet, "
        "COMPRESSION zstd)"
    )


def _check_columns(file: str, found: dict[str, Any], expected: list[str]) -> None:
    if list(found) != expected:
        raise OutsourceError(
            f"{file} must have exactly the columns {', '.join(expected)}; it has {', '.join(found)}"
        )


def _unmask_column(column: Any) -> list[Any]:
    """A column without masks: None for null."""
    hidden = np.ma.getmaskarray(column).tolist()
    return [
        None if null else entry
        for entry, null in zip(np.ma.getdata(column).tolist(), hidden, strict=True)
    ]


def _texts_of_column(column: Any) -> list[str | None]:
    return [
        None if entry is None or entry != entry else str(entry) for entry in _unmask_column(column)
    ]


def _integers_of_column(column: Any) -> Any:
    if np.ma.is_masked(column):
        raise OutsourceError("a number is missing")
    return np.asarray(column, dtype=np.int64)


# Atomic writes of files that only their owner may read.


@contextmanager
def private_file(path: Path) -> Iterator[TextIO]:
    """Open a text file of mode 0600 that gets its name only when everything is written."""
    try:
        with (
            atomic_file(path, private=True) as partial,
            partial.open("w", encoding="utf-8", newline="") as file,
        ):
            yield file
    except OSError as error:
        raise OutsourceError(f"cannot write {path}: {error.strerror}") from None
