"""The search for canaries finds them, however they are hidden; otherwise finding none would tell
nothing.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
import sqlite3
import struct
import zipfile
import zlib

import duckdb
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.released.canaries import NOTE, SEED, canaries
from tests.released.looking import found_in

CANARIES = canaries()
NUMBERS = st.sampled_from(sorted(CANARIES.numbers))
FILLER = st.text(st.characters(codec="ascii", categories=["L", "Z"]), max_size=20)


def _zipped(data: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("inside.txt", data)
    return out.getvalue()


def _png(data: bytes) -> bytes:
    chunk = b"Comment\0\0" + zlib.compress(data)
    return (
        b"\x89PNG\r\n\x1a\n"
        + struct.pack(">I4s", len(chunk), b"zTXt")
        + chunk
        + b"\0\0\0\0"
        + struct.pack(">I4sI", 0, b"IEND", 0)
    )


WRAPS = {
    "as it is": lambda data: data,
    "gzip": gzip.compress,
    "zip": _zipped,
    "zlib": zlib.compress,
    "base64": lambda data: b'{"blob": "' + base64.b64encode(data) + b'"}',
    "base64 for addresses": lambda data: (
        b"receipt-1." + base64.urlsafe_b64encode(data).rstrip(b"=")
    ),
    "hexadecimal": lambda data: data.hex().encode(),
    "a picture's comment": _png,
    "a stream of a PDF": lambda data: b"%PDF-1.4\nstream\n" + zlib.compress(data) + b"\nendstream",
}
TEXTS = {
    "decimal": str,
    "thousands": lambda number: f"{number:,}",
    "a fraction": lambda number: f"{number}.0",
    "with dust": lambda number: f"{number}.000000000018",
    "scientific": lambda number: f"{number:e}",
    "hexadecimal": hex,
    "in JSON": lambda number: json.dumps({"counts": [[1, number], [3, 4]]}),
    "in dense JSON": lambda number: json.dumps(
        {"counts": [[12, number, 10651, 345, 678]]}, separators=(",", ":")
    ),
}
BINARY = ("<i", ">i", "<q", ">q", "<f", "<d")


@settings(max_examples=50)
@given(NUMBERS, st.sampled_from(sorted(TEXTS)), st.sampled_from(sorted(WRAPS)), FILLER, FILLER)
def test_an_exact_number_is_found_in_any_text(number, text, wrap, before, after):
    data = f"{before} rows here are: {TEXTS[text](number)}, {after}".encode()
    assert str(number) in found_in(WRAPS[wrap](data), CANARIES)


@settings(max_examples=50)
@given(NUMBERS, st.sampled_from(BINARY), st.sampled_from(sorted(WRAPS)))
def test_an_exact_number_is_found_in_binary(number, form, wrap):
    data = b"\xff\xfe filler for length" + struct.pack(form, number) + b"\0\xff"
    assert str(number) in found_in(WRAPS[wrap](data), CANARIES)


@settings(max_examples=50)
@given(st.sampled_from(sorted(CANARIES.shares)), st.integers(5, 17))
def test_an_exact_share_is_found(share, decimals):
    assert f"share {share:.6f}" in found_in(
        f'"probability": {share:.{decimals}f}'.encode(), CANARIES
    )


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize(
    "text", [*CANARIES.texts, str(SEED), hex(SEED), SEED.to_bytes(12, "little").hex()]
)
def test_a_text_and_a_seed_are_found(text, wrap):
    expected = text if text in CANARIES.texts else "seed"
    assert expected in found_in(WRAPS[wrap](f"somewhere in {text}/x, there".encode()), CANARIES)


def test_the_bytes_of_a_seed_are_found():
    for order in ("little", "big"):
        assert found_in(b"\0\xff" + SEED.to_bytes(12, order) + b"\0", CANARIES) == {"seed"}


def test_tables_are_opened(tmp_path):
    # - DuckDB finds it by name
    frame = pd.DataFrame({"n": [10007, 5], "text": [NOTE, "x"]})  # noqa: F841
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY frame TO '{tmp_path / 't.parquet'}' (FORMAT parquet, COMPRESSION zstd, "
            f"KV_METADATA {{privet: '11,503 rows'}})"
        )
    assert {"10007", NOTE, "11503"} <= found_in((tmp_path / "t.parquet").read_bytes(), CANARIES)
    connection = sqlite3.connect(tmp_path / "t.sqlite")
    with connection:
        connection.execute("CREATE TABLE t (n INTEGER)")
        connection.execute("INSERT INTO t VALUES (10243)")
    connection.close()
    assert "10243" in found_in((tmp_path / "t.sqlite").read_bytes(), CANARIES)


@settings(max_examples=50)
@given(FILLER, st.integers(0, 999), st.sampled_from(sorted(WRAPS)))
def test_other_numbers_are_not_taken_for_canaries(text, number, wrap):
    data = f"{text} {number} of {number / 7:.9f} and x10007y, 210007, 0.10007".encode()
    assert found_in(WRAPS[wrap](data), CANARIES) == set()
