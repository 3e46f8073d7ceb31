"""Tables in files: CSV and Parquet, whatever they hold."""

from __future__ import annotations

import gzip
import hashlib
import re
from pathlib import Path

import duckdb
import numpy as np

from privet.accounting.cost import Budget
from privet.accounting.ledger import MemoryLedger
from privet.curator import Curator
from privet.domain import Categorical, Numeric, Schema
from privet.domain.cells import Cells, Split
from privet.domain.questions import Question
from privet.errors import TableError
from privet.tables.base import Table
from privet.tables.duckdb import codes
from privet.tables.duckdb import table as duckdb_tables
from privet.tables.open import open_table
from tests.fuzz.mutate import mutated_bytes, mutated_lines
from tests.fuzz.target import Target

SCHEMA = Schema(
    {
        "colour": Categorical(["red", "green", "blue"]),
        "age": Numeric(0, 80, bins=4, missing="not told"),
    },
    "ill",
    ["no", "yes"],
)
BY_COLOUR = Cells.everything(SCHEMA).refine({0: Split.multiway(SCHEMA, "colour")})
QUESTION = Question.of(
    BY_COLOUR.refine({cell: Split.multiway(SCHEMA, "age") for cell in range(len(BY_COLOUR))})
)


class SharedDatabase:
    """All files are read through one connection of one thread: to open one for each input would
    take nearly all of the time.
    """

    def __init__(self) -> None:
        self._connection = codes.connect(None, "fuzz")
        self._connection.execute("SET threads = 1")
        self._usual, duckdb_tables.connect = (
            duckdb_tables.connect,
            lambda *_: self._connection.cursor(),
        )

    def close(self) -> None:
        duckdb_tables.connect = self._usual
        self._connection.close()


class _Tables(Target):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._database = SharedDatabase()

    def close(self) -> None:
        self._database.close()


def asked(path: Path) -> Table:
    """Count a table through a curator: it is answered and charged, or refused; what cannot be read
    after the charge is a TableError.
    """
    ledger = MemoryLedger()
    table = open_table(str(path))
    table.check_structure(SCHEMA)
    curator = Curator(table, SCHEMA, Budget(1), ledger=ledger, dataset="people")
    assert not ledger.entries()
    try:
        answer = curator.count(QUESTION, epsilon=1)
    except TableError:
        raise
    except BaseException:
        assert not ledger.entries(), "charged, and then neither answered nor said to be unreadable"
        raise
    assert len(ledger.entries()) == 1
    assert answer.tables[0].shape == QUESTION.partitions[0].shape
    return table


class CsvTables(_Tables):
    """A line is one row at most, and what it holds never changes how another line is counted."""

    name = "csv"
    what = (
        "CSV tables, counted through a curator; for one in four: a line that is taken out changes "
        "one count by one at most"
    )
    smoke = 60
    mutate = staticmethod(mutated_lines)

    def corpus(self) -> list[bytes]:
        lines = [
            f"p{i},{('red', 'green', 'blue')[i % 3]},{i * 7 % 80},{('no', 'yes')[i % 2]}"
            for i in range(12)
        ]
        plain = "\n".join(["who,colour,age,ill", *lines]) + "\n"
        quoted = plain.replace("red", '"red"').replace("p3", '"p ""3"", and more"')
        return [
            plain.encode(),
            quoted.encode(),
            plain.replace(",", ";").encode(),
            gzip.compress(plain.encode(), mtime=0),
        ]

    def run(self, data: bytes) -> None:
        zipped = data[:2] == b"\x1f\x8b"
        path = self.folder / ("input.csv.gz" if zipped else "input.csv")
        path.write_bytes(data)
        table = asked(path)
        lines = re.split(b"\r\n|\r|\n", data)
        chance, *where = hashlib.sha256(data).digest()[:4]
        if zipped or len(lines) < 2 or chance % 4:
            return
        exact = table.source(SCHEMA).count(QUESTION)[0]
        at = 1 + int.from_bytes(where, "big") % (len(lines) - 1)
        path.write_bytes(b"\n".join(lines[:at] + lines[at + 1 :]))
        without = open_table(str(path)).source(SCHEMA).count(QUESTION)[0]
        assert np.abs(exact - without).sum() <= 1, (
            f"line {at} changes {np.abs(exact - without).sum()} counts"
        )


class ParquetTables(_Tables):
    """A damaged file is refused, and does not take the process with it."""

    name = "parquet"
    what = "Parquet tables, counted through a curator"
    smoke = 60
    mutate = staticmethod(mutated_bytes)

    def corpus(self) -> list[bytes]:
        made = []
        colours = "['red', 'green', 'blue'][i % 3 + 1] AS colour, ['no', 'yes'][i % 2 + 1] AS ill"
        for number, (age, options) in enumerate(
            [
                ("i::DOUBLE", "COMPRESSION uncompressed"),
                ("i::INTEGER", "COMPRESSION snappy"),
                ("i::VARCHAR", "COMPRESSION zstd"),
            ]
        ):
            path = self.folder / f"made{number}.parquet"
            with duckdb.connect() as connection:
                connection.execute(
                    f"COPY (SELECT {colours}, {age} AS age FROM range(40) t(i)) TO '{path}' "
                    f"(FORMAT parquet, {options})"
                )
            made.append(path.read_bytes())
        return made

    def run(self, data: bytes) -> None:
        path = self.folder / "input.parquet"
        path.write_bytes(data)
        asked(path)
