"""Where the CSV files of the fetched sets are: the folder that ``PRIVET_DATA`` names, and the
cache.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from privet.datasets.canonical import CellTexts, NumericColumns, canonical_cells, hash_cells
from privet.errors import DatasetError
from privet.whole_file import atomic_file

if TYPE_CHECKING:
    import pandas as pd


def own_file(name: str) -> Path | None:
    """The file of this set in the folder that ``PRIVET_DATA`` names, if it is there."""
    folder = os.environ.get("PRIVET_DATA")
    if not folder:
        return None
    if not Path(folder).is_dir():
        raise DatasetError(
            f"PRIVET_DATA must name a folder with files such as {name}.csv, but {folder} is no "
            "folder"
        )
    return _if_file(Path(folder) / f"{name}.csv")


def cached_file(name: str) -> Path | None:
    """The file of this set in the cache, if it is there."""
    return _if_file(cache_path(name))


def cache_path(name: str) -> Path:
    """Where the cache keeps this set: below ``PRIVET_CACHE``, else the user's cache folder."""
    if own := os.environ.get("PRIVET_CACHE"):
        base = Path(own)
    elif shared := os.environ.get("XDG_CACHE_HOME"):
        base = Path(shared) / "privet"
    else:
        base = Path.home() / ".cache" / "privet"
    return base / "datasets" / f"{name}.csv"


def read_cells(path: Path, columns: NumericColumns) -> CellTexts:
    """The canonical cells of a CSV file with a header."""
    import pandas as pd

    try:
        # as text: '?', 'NA' and 'None' are values here, and numbers are read by the canonical table
        frame = pd.read_csv(
            path, dtype=str, keep_default_na=False, na_filter=False, encoding="utf-8"
        )
        return canonical_cells(frame, columns)
    except (OSError, ValueError, DatasetError) as error:
        raise DatasetError(f"cannot read {path}: {error}") from None


def write_cache(name: str, cells: CellTexts) -> None:
    """Put a verified table into the cache: the whole file appears under its name, or nothing."""
    import pandas as pd

    path = cache_path(name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(path) as partial:
            _to_csv(pd.DataFrame(cells), partial)
    except OSError as error:
        raise DatasetError(
            f"cannot write to the cache {path.parent}: {error.strerror}; set PRIVET_CACHE to "
            "another folder"
        ) from None


def check_hash(cells: CellTexts, expected: str) -> None:
    """Refuse a table that is not the expected one."""
    if (found := hash_cells(cells)) != expected:
        rows = len(next(iter(cells.values())))
        raise DatasetError(
            f"the canonical hash of these {rows:,} rows is {found[:16]}..., expected is "
            f"{expected[:16]}..."
        )


def _to_csv(frame: pd.DataFrame, path: Path) -> None:
    frame.to_csv(path, index=False, encoding="utf-8", lineterminator="\n")


def _if_file(path: Path) -> Path | None:
    return path if path.is_file() else None
