"""Make text fit to be shown, whatever a schema or a table holds."""

from __future__ import annotations

import re


def escape_invisible(text: str) -> str:
    """Escape every character that would break a line or turn its direction."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape", "surrogatepass").decode()
        for char in text
    )


def shorten(text: str, length: int) -> str:
    """Return at most so many characters; an ellipsis stands for the rest."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def hide_password(place: str) -> str:
    """Return where a table or a ledger is, fit for a message.

    A URL that is written wrongly may still hold a password.
    """
    without_user = re.sub(r"(\b\w[\w+.-]+:/+).*@", r"\1...@", place)
    return re.sub(r"(?i)([?&](?:ssl)?password=)[^&]*", r"\1...", without_user)
