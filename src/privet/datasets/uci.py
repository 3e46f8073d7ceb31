"""Read the archives of the UCI Machine Learning Repository as tables of text."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from privet.errors import DatasetError

#: A raw file of these sets has a few megabytes; more is no data set of ours, or a bomb.
MAX_FILE_BYTES = 32 * 2**20


@dataclass(frozen=True)
class Archive:
    """One zip file of the repository.

    Args:
        number, slug: as they stand in its address, ``NUMBER/SLUG.zip``.
        files: the raw files inside, in order.
        separator: what stands between two fields; None for blanks.
        first: a field before the attributes: the class (moved to the end) or an identifier (left
            out).
    """

    number: int
    slug: str
    files: tuple[str, ...]
    separator: str | None = ","
    first: Literal["class", "identifier"] | None = None

    @property
    def path(self) -> str:
        """Its address below the base address."""
        return f"{self.number}/{self.slug}.zip"

    def rows(self, content: bytes, width: int) -> list[list[str]]:
        """Return the rows of all raw files in the zip, the class last.

        ``width`` is the number of columns to expect.
        """
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as package:
                return [
                    row
                    for file in self.files
                    for row in self._rows_of(file, _read_member(package, file), width)
                ]
        # what the zipfile module raises for damaged, truncated, encrypted or unsupported files
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            OSError,
            RuntimeError,
            ValueError,
        ) as error:
            raise DatasetError(f"not a readable zip file ({error})") from None

    def _rows_of(self, file: str, text: str, width: int) -> Iterator[list[str]]:
        for number, line in enumerate(text.splitlines(), start=1):
            # adult.test opens with a remark
            if not line.strip() or line.startswith("|"):
                continue
            fields = [field.strip() for field in line.split(self.separator)]
            if len(fields) != width + (self.first == "identifier"):
                raise DatasetError(
                    f"line {number} of {file} has {len(fields)} fields, which is not the known "
                    "layout"
                )
            yield _arrange_fields(fields, self.first)


def _arrange_fields(fields: Sequence[str], first: str | None) -> list[str]:
    row = (
        [*fields[1:], fields[0]]
        if first == "class"
        else list(fields[1:] if first == "identifier" else fields)
    )
    # the labels of adult.test end in a dot; no class of any set does
    row[-1] = row[-1].removesuffix(".")
    return row


def _read_member(package: zipfile.ZipFile, file: str) -> str:
    members = [info for info in package.infolist() if info.filename.rpartition("/")[2] == file]
    if not members:
        raise DatasetError(f"there is no {file} in the zip file")
    with package.open(members[0]) as stream:
        content = stream.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        raise DatasetError(f"{file} in the zip file is larger than {MAX_FILE_BYTES:,} bytes")
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise DatasetError(f"{file} in the zip file is not UTF-8 text") from None
