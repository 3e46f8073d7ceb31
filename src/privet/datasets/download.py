"""One file over HTTP: with a time-out, a size limit and a progress bar."""

from __future__ import annotations

import http.client
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from privet.errors import DatasetError

#: Seconds of silence after which a server counts as gone, and seconds for the whole file.
SILENCE_SECONDS = 30.0
WHOLE_SECONDS = 600.0
#: The largest archive of the known sets is below one megabyte.
MAX_BYTES = 32 * 2**20
_CHUNK = 64 * 1024


def download(url: str, title: str) -> bytes:
    """The content behind an address. Whatever goes wrong is one DatasetError that says what."""
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
