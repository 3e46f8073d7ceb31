"""Make text fit to be shown, whatever a schema or a table holds."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence


def escape_invisible(text: str) -> str:
    """Escape every character that would break a line or turn its direction."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape", "surrogatepass").decode()
        for char in text
    )


def escape_html(text: str) -> str:
    """Escape text so that HTML shows it as it is."""
    return html.escape(escape_invisible(text), quote=True)


def shorten(text: str, length: int) -> str:
    """Return at most so many characters; an ellipsis stands for the rest."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def shorten_apart(texts: Sequence[str], length: int) -> list[str]:
    """Shorten texts so that those which differ still do.

    By their beginning where that tells them apart, by both ends, or by their number.
    """
    half = length // 2
    ways = (
        [shorten(text, length) for text in texts],
        [text if len(text) <= length else f"{text[: half - 1]}…{text[-half:]}" for text in texts],
    )
    for shown in ways:
        if len(set(shown)) == len(set(texts)):
            return shown
    return [
        text if len(text) <= length else f"{number}: {shorten(text, length - 5)}"
        for number, text in enumerate(texts, 1)
    ]


def join_some(items: Sequence[str], separator: str, limit: int | None) -> str:
    """Join texts; show so many at most, and how many more there are."""
    if limit is None or len(items) <= limit:
        return separator.join(items)
    return f"{separator.join(items[:limit])}{separator}… ({len(items) - limit} more)"


def hide_password(place: str) -> str:
    """Return where a table or a ledger is, fit for a message.

    A URL that is written wrongly may still hold a password.
    """
    without_user = re.sub(r"(\b\w[\w+.-]+:/+).*@", r"\1...@", place)
    return re.sub(r"(?i)([?&](?:ssl)?password=)[^&]*", r"\1...", without_user)


def advise_swap(path: str, kind: str) -> str:
    """Return advice where a table was given in place of a file of another kind, or nothing."""
    ending = path.lower().rpartition(".")[2]
    if ending not in ("csv", "tsv", "txt", "parquet", "xlsx", "db", "sqlite", "duckdb"):
        return ""
    return f"; it looks like a table: were the {kind} and the table swapped?"
