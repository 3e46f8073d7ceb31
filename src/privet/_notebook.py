"""Show objects in one line, and as small boxes in notebooks. All text is escaped here.

Names of columns, labels and notes come from owners and analysts, so nothing is trusted: HTML has no
other attribute than ``style``, and every text in it is escaped and shortened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from privet.text import escape_html, escape_invisible, shorten

#: A box shows so many rows of a table, and so many characters of a text.
MAX_ROWS, MAX_TEXT = 20, 200
#: One line shows so many characters of a fact.
MAX_FACT = 80

_BOX = (
    "display: inline-block; max-width: 100%; overflow-x: auto; margin: 0.3em 0; "
    "padding: 0.5em 0.9em; border: 1px solid rgba(128, 128, 128, 0.4); border-left: 4px solid "
    "{edge}; border-radius: 4px; font-size: 0.95em; line-height: 1.4"
)
_EDGE, _ALARM = "#2a7a5a", "#b3261e"
_TABLE = "border-collapse: collapse; margin: 0.4em 0 0"
_CELL = "text-align: {side}; vertical-align: top; padding: 0.1em 1.2em 0.1em 0; border: none"
_HEAD = _CELL + "; border-bottom: 1px solid rgba(128, 128, 128, 0.4); font-weight: 600"
_QUIET = "opacity: 0.75"


def one_line(kind: str, *facts: str) -> str:
    """Return ``<Kind: fact, fact>``; empty facts are left out."""
    shown = ", ".join(shorten(escape_invisible(fact), MAX_FACT) for fact in facts if fact)
    return f"<{kind}: {shown}>" if shown else f"<{kind}>"


def count_of(number: int, word: str, words: str = "") -> str:
    """Return ``1 leaf`` or ``3 leaves``."""
    return f"{number} {word if number == 1 else words or f'{word}s'}"


def html_box(
    title: str,
    facts: Mapping[str, object] | None = None,
    *,
    headers: Sequence[str] = (),
    rows: Sequence[Sequence[object]] = (),
    folded: str = "",
    alarm: bool = False,
) -> str:
    """Return a box with a title, facts line by line, and perhaps a table.

    A table that ``folded`` names opens with a click. ``alarm`` marks what comes without a promise.
    """
    parts = [f"<strong>{_text(title)}</strong>"]
    if facts:
        lines = "".join(
            f'<tr style="background: none"><td style="{_CELL.format(side="left")}; {_QUIET}">'
            f'{_text(name)}</td><td style="{_CELL.format(side="left")}">{_text(value)}</td></tr>'
            for name, value in facts.items()
        )
        parts.append(f'<table style="{_TABLE}"><tbody>{lines}</tbody></table>')
    if headers:
        table = _html_table(headers, rows)
        opens = f'<details><summary style="cursor: pointer">{_text(folded)}</summary>'
        parts.append(f"{opens}{table}</details>" if folded else table)
    edge = _ALARM if alarm else _EDGE
    return f'<div style="{_BOX.format(edge=edge)}">{"".join(parts)}</div>'


def _html_table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    shown = rows[:MAX_ROWS]
    sides = [
        "right" if shown and all(_is_number(row[column]) for row in shown) else "left"
        for column in range(len(headers))
    ]
    head = "".join(
        f'<th style="{_HEAD.format(side=side)}">{_text(name)}</th>'
        for side, name in zip(sides, headers, strict=True)
    )
    body = "".join(
        '<tr style="background: none">'
        + "".join(
            f'<td style="{_CELL.format(side=side)}">{_text(cell)}</td>'
            for side, cell in zip(sides, row, strict=True)
        )
        + "</tr>"
        for row in shown
    )
    more = len(rows) - len(shown)
    note = f'<div style="{_QUIET}">… {more} more</div>' if more else ""
    table = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return f'<table style="{_TABLE}">{table}</table>{note}'


def _text(value: object) -> str:
    shown = f"{value:.6g}" if isinstance(value, float) else str(value)
    return escape_html(shorten(shown, MAX_TEXT))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
