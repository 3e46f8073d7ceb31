"""Make text fit to be shown, whatever a schema or a table holds."""

from __future__ import annotations


def escape_invisible(text: str) -> str:
    """Escape every character that would break a line or turn its direction."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape", "surrogatepass").decode()
        for char in text
    )


def shorten(text: str, length: int) -> str:
    """Return at most so many characters; an ellipsis stands for the rest."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"
