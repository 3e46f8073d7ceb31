"""Fetch the raw table of a data set, and verify it by its hash.

It comes from the folder that ``PRIVET_DATA`` names, from the cache, or from the network.
"""

from __future__ import annotations

import http.client
import os
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from privet._atomic import atomic_file
from privet.datasets.canonical import CellTexts, NumericColumns, canonical_cells, hash_cells
from privet.datasets.uci import Archive
from privet.errors import DatasetError

if TYPE_CHECKING:
    import pandas as pd


BASE_URL = "https://archive.ics.uci.edu/static/public"


def raw_cells(name: str, columns: NumericColumns, archive: Archive, sha256: str) -> CellTexts:
    """Return the canonical cells of the raw table with this hash."""
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


# Download one file: with a time-out, a size limit and a progress bar.

#: Seconds of silence after which a server counts as gone, and seconds for the whole file.
SILENCE_SECONDS = 30.0
WHOLE_SECONDS = 600.0
#: The largest archive of the known sets is below one megabyte.
MAX_BYTES = 32 * 2**20
_CHUNK = 64 * 1024


def download(url: str, title: str) -> bytes:
    """Download the content behind an address.

    Whatever goes wrong is one DatasetError that says what.
    """
    if not url.lower().startswith(("https://", "http://")):
        raise DatasetError(f"{url} is not an http or https address")
    # - checked above
    request = urllib.request.Request(url, headers={"User-Agent": "privet"})  # noqa: S310
    try:
        # - checked above
        with urllib.request.urlopen(request, timeout=SILENCE_SECONDS) as response:  # noqa: S310
            return _read_response(response, title)
    except urllib.error.HTTPError as error:
        with error:
            raise DatasetError(f"the server answered {error.code} {error.reason}") from None
    except TimeoutError:
        raise DatasetError(f"the server was silent for {SILENCE_SECONDS:g} seconds") from None
    except urllib.error.URLError as error:
        if isinstance(error.reason, TimeoutError):
            raise DatasetError(f"the server was silent for {SILENCE_SECONDS:g} seconds") from None
        raise DatasetError(f"no connection ({error.reason})") from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise DatasetError(f"the connection failed ({error or type(error).__name__})") from None


def _read_response(response: http.client.HTTPResponse, title: str) -> bytes:
    declared = response.headers.get("Content-Length", "")
    total = int(declared) if declared.isdecimal() else None
    deadline = time.monotonic() + WHOLE_SECONDS
    content = bytearray()
    with _show_progress(title, total) as advance:
        while chunk := response.read(_CHUNK):
            content += chunk
            advance(len(chunk))
            if len(content) > MAX_BYTES:
                raise DatasetError(f"the file is larger than {MAX_BYTES:,} bytes")
            if time.monotonic() > deadline:
                raise DatasetError(f"the file was not complete after {WHOLE_SECONDS:g} seconds")
    # a read in chunks does not notice by itself that the connection broke off
    if total is not None and len(content) != total:
        raise DatasetError(f"the file broke off after {len(content):,} of {total:,} bytes")
    return bytes(content)


@contextmanager
def _show_progress(title: str, total: int | None) -> Iterator[Callable[[int], object]]:
    """A bar on standard error if that is a terminal, else nothing."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda size: bar.advance(task, size)


# Files on disk: the folder that ``PRIVET_DATA`` names, and the cache.


def own_file(name: str) -> Path | None:
    """Return the file of this set in the folder that ``PRIVET_DATA`` names, if it is there."""
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
    """Return the file of this set in the cache, if it is there."""
    return _if_file(cache_path(name))


def cache_path(name: str) -> Path:
    """Return where the cache keeps this set: below ``PRIVET_CACHE``, or the user's cache folder."""
    if own := os.environ.get("PRIVET_CACHE"):
        base = Path(own)
    elif shared := os.environ.get("XDG_CACHE_HOME"):
        base = Path(shared) / "privet"
    else:
        base = Path.home() / ".cache" / "privet"
    return base / "datasets" / f"{name}.csv"


def read_cells(path: Path, columns: NumericColumns) -> CellTexts:
    """Read the canonical cells of a CSV file with a header."""
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
    """Put a verified table into the cache, atomically."""
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
    """Raise unless a table has the expected hash."""
    if (actual := hash_cells(cells)) != expected:
        rows = len(next(iter(cells.values())))
        raise DatasetError(
            f"the canonical hash of these {rows:,} rows is {actual[:16]}..., expected is "
            f"{expected[:16]}..."
        )


def _to_csv(frame: pd.DataFrame, path: Path) -> None:
    frame.to_csv(path, index=False, encoding="utf-8", lineterminator="\n")


def _if_file(path: Path) -> Path | None:
    return path if path.is_file() else None
