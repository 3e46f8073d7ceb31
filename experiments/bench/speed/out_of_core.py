"""A Parquet file of any size, block by block in bounded memory, and its schema: for ``privet fit``
on rows that are never loaded.

python -m experiments.bench.speed.out_of_core FILE.parquet --rows 1e8        (writes FILE.parquet and FILE.parquet.schema.json)

Half of the 14 attributes are short texts, the other half whole numbers (uint8) and numbers with a
fraction (float32).
"""  # noqa: E501

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

import privet as pv
from experiments.bench.speed.rows import GROUP

#: Rows that are in memory at a time.
BLOCK = 8 * GROUP
WORDS = {
    "region": ("north", "east", "south", "west"),
    "housing": ("owned", "rented", "shared", "other"),
    "education": ("none", "primary", "lower", "upper", "college", "bachelor", "master", "doctor"),
    "occupation": ("farming", "craft", "trade", "office", "teaching", "health", "military", "none"),
    "family": ("single", "married", "divorced", "widowed"),
    "transport": ("car", "bus", "train", "tram", "bicycle", "foot", "boat", "none"),
    "contract": ("none", "part", "full", "own"),
}
#: Largest values; those with a fraction are floats.
WHOLE = {"age": 100, "children": 12, "rooms": 9, "hours": 80}
FRACTION = {"income": 200.0, "rent": 40.0, "distance": 120.0}


def schema() -> pv.Schema:
    """What is public about the file."""
    numbers = {
        name: pv.Numeric(0, high + 1, bins=min(high + 1, 16)) for name, high in WHOLE.items()
    }
    fractions = {name: pv.Numeric(0, high, bins=16) for name, high in FRACTION.items()}
    return pv.Schema(
        {name: pv.Categorical(values) for name, values in WORDS.items()} | numbers | fractions,
        "moved",
        ["no", "yes"],
    )


def block(rows: int, rng: np.random.Generator) -> pa.Table:
    """So many rows. Region, education and age decide about the class, and a quarter of chance."""
    columns: dict[str, Any] = {}
    codes = {
        name: rng.integers(0, len(values), rows, dtype=np.int8) for name, values in WORDS.items()
    }
    for name, values in WORDS.items():
        columns[name] = pa.DictionaryArray.from_arrays(codes[name], list(values)).cast(pa.string())
    for name, high in WHOLE.items():
        columns[name] = rng.integers(0, high + 1, rows, dtype=np.uint8)
    for name, highest in FRACTION.items():
        columns[name] = rng.random(rows, dtype=np.float32) ** 2 * np.float32(highest)
    decided = ((codes["region"] > 1) ^ ((codes["education"] > 3) & (columns["age"] < 50))).astype(
        np.int8
    )
    moved = np.where(
        rng.random(rows, dtype=np.float32) < 0.25, rng.integers(0, 2, rows, dtype=np.int8), decided
    )
    columns["moved"] = pa.DictionaryArray.from_arrays(moved, ["no", "yes"]).cast(pa.string())
    return pa.table(columns)


def write(path: Path, rows: int, console: Console | None = None) -> Path:
    """Write the file, and its schema beside it, whose path is returned."""
    rng = np.random.default_rng(0)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,} rows"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with (
        pq.ParquetWriter(path, block(0, rng).schema) as writer,
        Progress(*columns, console=console) as progress,
    ):
        bar = progress.add_task(path.name, total=rows)
        for low in range(0, rows, BLOCK):
            part = block(min(BLOCK, rows - low), rng)
            writer.write_table(part, row_group_size=GROUP)
            progress.advance(bar, len(part))
    described = path.with_name(path.name + ".schema.json")
    schema().write(described)
    return described


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path, help="the Parquet file to write")
    parser.add_argument(
        "--rows", type=lambda text: int(float(text)), default=100_000_000, help="default: 1e8"
    )
    options = parser.parse_args()
    console = Console()
    described = write(options.file, options.rows, console)
    console.print(
        f"written: {options.file} ({options.file.stat().st_size / 1e9:.2f} GB) and {described}"
    )


if __name__ == "__main__":
    main()
