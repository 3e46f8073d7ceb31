"""The table that all contestants read: codes of uint8, half of the attributes with 4 values and
half with 8, and two classes.

Made once in a folder, as NumPy arrays, Parquet files and DuckDB files; contestants read what they
need before the clock starts.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd

ATTRIBUTES = 14
Codes = npt.NDArray[np.uint8]
#: Rows of a row group: DuckDB reads groups in parallel, and this is the size that it writes itself.
GROUP = 122_880
_BLOCK = 1 << 18


def sizes(attributes: int) -> list[int]:
    """How many values each attribute has."""
    return [8 if number % 2 else 4 for number in range(attributes)]


def fill(codes: Codes, seed: int = 0) -> None:
    """Rows into a matrix, one line per attribute and the classes last: three attributes and a
    quarter of chance decide.
    """
    rng = np.random.default_rng(seed)
    for low in range(0, codes.shape[1], _BLOCK):
        part = codes[:, low : low + _BLOCK]
        n = part.shape[1]
        for line, size in zip(part[:-1], sizes(len(part) - 1), strict=True):
            line[:] = rng.integers(0, size, n, dtype=np.uint8)
        decided = (part[0] > 1) ^ ((part[1] > 3) & (part[2] > 0))
        part[-1] = np.where(
            rng.random(n, dtype=np.float32) < 0.25, rng.integers(0, 2, n, dtype=np.uint8), decided
        )


class Store:
    """The folder with the table. A table of fewer rows or attributes is the beginning of a larger
    one.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def make(self, rows: int, attributes: int) -> None:
        """Draw a table; all questions for at most as many rows and attributes are answered from
        it.
        """
        codes = np.lib.format.open_memmap(
            self._codes(attributes), mode="w+", dtype=np.uint8, shape=(attributes + 1, rows)
        )
        fill(codes)
        codes.flush()

    def codes(self, rows: int, attributes: int) -> Codes:
        """A line for each attribute, and one for the classes."""
        for path in sorted(self.folder.glob("codes-*.npy")):
            whole = np.load(path, mmap_mode="r")
            if whole.shape[0] > attributes and whole.shape[1] >= rows:
                return np.ascontiguousarray(
                    np.concatenate([whole[:attributes, :rows], whole[-1:, :rows]])
                )
        raise FileNotFoundError(f"no table of {rows} rows and {attributes} attributes was made")

    def frame(self, rows: int, attributes: int) -> pd.DataFrame:
        """The table as a data frame of small integers."""
        import pandas as pd

        return pd.DataFrame(named(self.codes(rows, attributes)), copy=False)

    def matrix(
        self, rows: int, attributes: int, dtype: Any
    ) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
        """A line for each row, without the classes; and the classes."""
        codes = self.codes(rows, attributes)
        return np.ascontiguousarray(codes[:-1].T, dtype=dtype), codes[-1].astype(np.int64)

    def parquet(self, rows: int, attributes: int) -> Path:
        """The path of a Parquet file, which is written if it is not there."""
        path = self.folder / f"rows-{rows}-{attributes}.parquet"
        if not path.exists():
            self.frame(rows, attributes).to_parquet(path, index=False, row_group_size=GROUP)
        return path

    def database(self, rows: int, attributes: int) -> Path:
        """The path of a DuckDB file with the table ``people``, which is written if it is not
        there.
        """
        path = self.folder / f"rows-{rows}-{attributes}.duckdb"
        if not path.exists():
            import duckdb

            with duckdb.connect(str(path)) as connection:
                connection.execute(
                    f"CREATE TABLE people AS SELECT * FROM '{self.parquet(rows, attributes)}'"
                )
        return path

    def _codes(self, attributes: int) -> Path:
        return self.folder / f"codes-{attributes:03}.npy"


def named(codes: Codes) -> dict[str, Codes]:
    """Columns by their names."""
    return {**{f"a{number}": line for number, line in enumerate(codes[:-1])}, "y": codes[-1]}
