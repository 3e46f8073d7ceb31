"""The records of a table, block by block, none left out whatever it holds."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from privet.counts.open import CSV_ENDINGS, read_blocks
from privet.publish.local.csv_stream import records_of
from privet.schema import Schema

#: Lines at a time.
BLOCK = 1 << 14


def blocks_of(place: str, schema: Schema) -> Iterator[Any]:
    """The rows of a table as data frames; in one where the schema names a person, whose rows may
    lie anywhere.

    Lines of a CSV file that are no records are rows about which nothing is known. Counting leaves
    them out; here nobody may be left out for what their line holds.
    """
    import pandas as pd

    lines = "://" not in place and place.lower().endswith(CSV_ENDINGS)
    blocks = _read_csv_blocks(Path(place), schema) if lines else read_blocks(place)
    if schema.person is None:
        yield from blocks
    else:
        yield pd.concat(list(blocks), ignore_index=True)


def _read_csv_blocks(path: Path, schema: Schema) -> Iterator[Any]:
    import pandas as pd

    # Bytes as they are, in lines that end as they do where they are counted: with a line feed, a
    # carriage return, or both.
    with (
        gzip.open(path, "rt", encoding="latin-1")
        if path.suffix == ".gz"
        else path.open(encoding="latin-1") as file
    ):
        lines = (line.encode("latin-1") for line in file)
        records = records_of(lines, schema, str(path), over_lines=False)
        first = list(islice(records, BLOCK))
        columns = (
            list(first[0])
            if first
            else [*schema.names, schema.target, *([schema.person] if schema.person else [])]
        )
        block = first
        while True:
            yield pd.DataFrame(block, columns=columns, dtype=object)
            block = list(islice(records, BLOCK))
            if not block:
                return
