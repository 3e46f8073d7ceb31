"""Values that break parsers."""

from __future__ import annotations

from typing import Any

#: Written in place of a value that :mod:`json` cannot write.
DEEP, LONG, DEEP_OBJECT = "@deep@", "@long@", "@deep-object@"

NUMBERS: list[Any] = [
    *(0, 1, -1, 2, 3, 7, 255, 256, 65_535, 65_536, 2**31 - 1, 2**31, 2**32, 2**53, 2**53 + 1, 2**63 - 1, 2**63, -(2**63) - 1, 2**64),
    *(10**30, 10**400, -(10**400), 0.0, -0.0, 0.1, 0.5, 1.0, 1.5, -0.5, 1e-7, 5e-324, 1e16, 1e308, 1.7976931348623157e308),
    *(float("nan"), float("inf"), float("-inf"), True, False),
]
TEXTS: list[str] = [
    *(
        "",
        " ",
        "\x00",
        "a\x00b",
        "\ud800",
        "\udfff\ud800",
        "\ufeff",
        "\ufeffa",
        "\r\n",
        "\n",
        "\t",
        "\x1f",
        "\x7f",
        "\x85",
        "\u2028",
        "\u202e",
    ),
    *(
        "0",
        "1",
        "-1",
        "01",
        "+1",
        " 1",
        "1 ",
        "1_000",
        "1.0",
        "1e3",
        "1E3",
        "1e400",
        "-1e400",
        "1e-400",
        "1e999999999",
        "0x10",
        "\u0661\u0662",
    ),
    *(
        "1/3",
        "1/0",
        "0/1",
        "-1/3",
        "2/6",
        "1/3/5",
        "1e5/3",
        "9" * 5000,
        "1/" + "7" * 5000,
        "nan",
        "NaN",
        "inf",
        "-Infinity",
        "null",
        "None",
        "true",
    ),
    *("'", '"', '""', "a,b", ";", "|", "\\", "%", "%s%n", "{}", "[red]", "[/]", "$(id)", "'; DROP TABLE journal; --", "*", "?", "[a-z]"),
    *("e\u0301", "\u00e9", "\u0130", "\u00df", "\U0001f642", "\U0010ffff", "a" * 201, "a" * 501, "a" * 100_000, "\U0001f642" * 300),
    *(".", "..", "/", "-", "--", "-o", "@", "~", "a.csv", "__proto__", "__class__", "constructor", "privet", "version"),
]
EMPTIES: list[Any] = [None, [], {}, [[]], [None], [{}], {"": None}, {"a": {"a": {}}}, [0] * 70, [""] * 70]
PLACEHOLDERS = [DEEP, LONG, DEEP_OBJECT]
VALUES: list[Any] = [*NUMBERS, *TEXTS, *EMPTIES, *PLACEHOLDERS]

#: Raw bytes, for inputs that are no JSON.
BYTES: list[bytes] = [
    *(
        b"\x00",
        b"\xff",
        b"\xfe\xff",
        b"\xef\xbb\xbf",
        b"\xc0\x80",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\x80",
        b"\r\n",
        b"\n",
        b"\r",
        b"\x1a",
    ),
    *(
        b'"',
        b'""',
        b",",
        b";",
        b"\t",
        b"|",
        b"\\",
        b"'",
        b"{",
        b"[",
        b"NaN",
        b"1e999",
        b"-0",
        b"9" * 400,
        b"a" * 3000,
        b"\x1f",
        b"\x0b\x0c",
    ),
    *(text.encode("utf-8", "surrogatepass") for text in TEXTS if len(text) < 6000),
]


def written(text: str, depth: int) -> str:
    """JSON with its placeholders filled in."""
    if "@" not in text:
        return text
    text = text.replace(f'"{DEEP}"', "[" * depth + "]" * depth).replace(f'"{LONG}"', "9" * 5000)
    return text.replace(f'"{DEEP_OBJECT}"', '{"a":' * depth + "0" + "}" * depth)
