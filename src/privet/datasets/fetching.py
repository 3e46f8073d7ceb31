"""The raw table of a fetched set: from the user's folder, from the cache, or from the network;
always verified.
"""

from __future__ import annotations

import os

from privet.datasets.canonical import CellTexts, NumericColumns, canonical_cells
from privet.datasets.download import download
from privet.datasets.storage import cached_file, check_hash, own_file, read_cells, write_cache
from privet.datasets.uci import Archive
from privet.errors import DatasetError

BASE_URL = "https://archive.ics.uci.edu/static/public"


def raw_cells(name: str, columns: NumericColumns, archive: Archive, sha256: str) -> CellTexts:
    """The canonical cells of the raw table with this hash."""
    if path := own_file(name):
        cells = read_cells(path, columns)
        try:
            check_hash(cells, sha256)
        except DatasetError as error:
            raise DatasetError(
                f"{path} is not the data set {name!r}: {error}. Replace the file, or remove it to "
                "have the set fetched"
            ) from None
        return cells
    if path := cached_file(name):
        try:
            cells = read_cells(path, columns)
            check_hash(cells, sha256)
            return cells
        except DatasetError:
            pass  # a damaged cache is fetched again and replaced as a whole
    cells = _fetch_cells(name, columns, archive, sha256)
    write_cache(name, cells)
    return cells


def _fetch_cells(name: str, columns: NumericColumns, archive: Archive, sha256: str) -> CellTexts:
    import pandas as pd

    base = os.environ.get("PRIVET_DATA_URL") or BASE_URL
    url = f"{base.rstrip('/')}/{archive.path}"
    try:
        rows = archive.rows(download(url, name), len(columns))
        cells = canonical_cells(pd.DataFrame(rows, columns=list(columns), dtype=str), columns)
        check_hash(cells, sha256)
    except DatasetError as error:
        raise DatasetError(
            f"the data set {name!r} is not on this machine, and {url} did not give it: {error}. "
            f"Set PRIVET_DATA to a folder that holds {name}.csv, or PRIVET_DATA_URL to a mirror"
        ) from None
    return cells
