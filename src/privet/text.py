"""Make text fit to be shown, whatever a schema or a table holds."""

from __future__ import annotations

import html


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
