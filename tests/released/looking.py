"""Look for canaries in the bytes of anything: as they are, unpacked, decoded, and as numbers of
every kind.
"""

from __future__ import annotations

import base64
import binascii
import bz2
import gzip
import io
import re
import sqlite3
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tests.released.canaries import Canaries

#: With and without separators between thousands: "12,100" may be one number or two.
_NUMBERS = (
    re.compile(rb"(?<![\w.])\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?!\w)"),
    re.compile(rb"(?<![\w.])\d{1,3}(?:[,_']\d{3})+(?:\.\d+)?(?!\w)"),
)
#: Digits alone are a decimal number.
_HEX = re.compile(
    rb"(?<![0-9A-Za-z])(?:0x([0-9a-fA-F]+)|(?=[0-9]*[a-fA-F])([0-9a-fA-F]{3,16}))(?![0-9A-Za-z])"
)
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{16,}={0,2}")
_STREAM = re.compile(rb"stream\r?\n(.*?)endstream", re.DOTALL)
_PACKED = {b"\x1f\x8b": gzip.decompress, b"BZh": bz2.decompress}
#: A share is told by at least so many decimals.
_DECIMALS = 5


def found_in(data: bytes, looked_for: Canaries) -> set[str]:
    """The canaries that are somewhere in these bytes."""
    return {canary for reading in readings(data) for canary in _found(reading, looked_for)}


def readings(data: bytes, depth: int = 3) -> Iterator[bytes]:
    """The bytes, and what they are when unpacked or decoded."""
    plain, packed = _opened(data)
    yield plain
    if depth:
        for inner in (*packed, *_decoded(plain)):
            yield from readings(inner, depth - 1)


def _opened(data: bytes) -> tuple[bytes, list[bytes]]:
    """What can be read as it is, and what was packed in it. Packed bytes and pixels tell nothing
    before they are unpacked.
    """
    for start, unpack in _PACKED.items():
        if data.startswith(start):
            return b"", [unpack(data)]
    if data.startswith(b"\x89PNG"):
        return b"", list(_png(data))
    if data.startswith(b"%PDF"):
        streams = _STREAM.findall(data)
        return _STREAM.sub(b"", data), [
            part for stream in streams for part in _inflated(stream) or [stream]
        ]
    if data.startswith(b"PAR1"):
        return data, [_parquet(data)]
    if data.startswith(b"SQLite format 3"):
        return data, [_sqlite(data)]
    if zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            return data, [packed.read(name) for name in packed.namelist()]
    return data, _inflated(data)


def _inflated(data: bytes) -> list[bytes]:
    try:
        return [zlib.decompressobj().decompress(data)] if data[:1] == b"\x78" else []
    except zlib.error:
        return []


def _png(data: bytes) -> Iterator[bytes]:
    """Everything but the pixels: what a picture says about itself."""
    at = 8
    while at + 12 <= len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        chunk = data[at + 8 : at + 8 + length]
        at += 12 + length
        if kind not in (b"IDAT", b"IEND", b"IHDR"):
            yield chunk
            for packed in re.finditer(rb"\x78[\x01\x5e\x9c\xda]", chunk):
                yield from _inflated(chunk[packed.start() :])


def _parquet(data: bytes) -> bytes:
    """Rows, metadata and the statistics of columns, as text."""
    import pyarrow.parquet as pq

    file = pq.ParquetFile(io.BytesIO(data))
    meta = file.metadata
    groups = [meta.row_group(group) for group in range(meta.num_row_groups)]
    told = [
        str(group.column(column).to_dict())
        for group in groups
        for column in range(group.num_columns)
    ]
    keys = b"\n".join(value for pair in (meta.metadata or {}).items() for value in pair)
    return "\n".join([str(meta.to_dict()), *told, file.read().to_pandas().to_csv()]).encode() + keys


def _sqlite(data: bytes) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "copy.sqlite")
        path.write_bytes(data)
        connection = sqlite3.connect(path)
        try:
            return "\n".join(connection.iterdump()).encode("utf-8", "surrogateescape")
        finally:
            connection.close()


def _decoded(data: bytes) -> Iterator[bytes]:
    """What could be base64 (of either alphabet) or hexadecimal digits, decoded; texts in which
    escapes stand for letters.
    """
    for word in set(_BASE64.findall(data)):
        plain = word.rstrip(b"=")
        with_padding = plain + b"=" * (-len(plain) % 4)
        with suppress(binascii.Error, ValueError):
            yield base64.b64decode(
                with_padding, altchars=b"-_" if b"-" in word or b"_" in word else b"+/"
            )
        if len(plain) % 2 == 0 and re.fullmatch(rb"[0-9a-fA-F]+", plain):
            yield bytes.fromhex(plain.decode())


def _found(data: bytes, looked_for: Canaries) -> Iterator[str]:
    lowered = data.lower()
    for text in looked_for.texts:
        encodings = (text.encode(), text.encode("utf-16-le"), text.encode().hex().encode())
        if any(encoded in lowered for encoded in encodings):
            yield text
    yield from _seed(lowered, data, looked_for.seed)
    tokens = {token for kind in _NUMBERS for token in kind.findall(data)}
    # sums of fractions have dust
    values = {round(float(re.sub(rb"[,_']", b"", token)), 6) for token in tokens}
    hexadecimal = {int(one or other, 16) for one, other in _HEX.findall(data)}
    binary = not _is_text(data)
    for number in looked_for.numbers:
        if (
            number in values
            or number in hexadecimal
            or (binary and any(code in data for code in _codes(number)))
        ):
            yield str(number)
    fractions = [_with_tolerance(token) for token in tokens]
    for share in looked_for.shares:
        told = any(abs(value - share) <= tolerance for value, tolerance in fractions)
        if told or (
            binary and any(struct.pack(form, share) in data for form in ("<d", ">d", "<f"))
        ):
            yield f"share {share:.6f}"


def _with_tolerance(token: bytes) -> tuple[float, float]:
    """A number, and by how much its last digit may be rounded; one of few decimals tells no
    share.
    """
    decimals = 0 if b"e" in token.lower() else len(token.partition(b".")[2])
    return float(re.sub(rb"[,_']", b"", token)), max(
        0.51 * 10.0**-decimals, 1e-12
    ) if decimals >= _DECIMALS else -1


def _seed(lowered: bytes, data: bytes, seed: int) -> Iterator[str]:
    length = (seed.bit_length() + 7) // 8
    raw = (seed.to_bytes(length, "little"), seed.to_bytes(length, "big"))
    texts = (str(seed), f"{seed:x}", raw[0].hex())
    if any(code in data for code in raw) or any(text.encode() in lowered for text in texts):
        yield "seed"


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return b"\0" not in data


def _codes(number: int) -> tuple[bytes, ...]:
    return tuple(struct.pack(form, number) for form in ("<i", ">i", "<q", ">q", "<f", "<d", ">d"))
