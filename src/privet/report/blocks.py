"""Define the few kinds of blocks that a card is made of, and write them as Markdown, HTML or text.

All text is escaped here.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from privet._page import wrap_html
from privet.text import escape_html, escape_invisible

#: Columns of a card in plain text, and how wide a column of a table may be unless it is the last.
TEXT_WIDTH, TEXT_COLUMN = 88, 24
#: A page folds more rows than this where a table says so.
MOST_OPEN = 6


@dataclass(frozen=True)
class Heading:
    """The heading of a section."""

    text: str


@dataclass(frozen=True)
class Paragraph:
    """Running text."""

    text: str


@dataclass(frozen=True)
class Banner:
    """A note that must not be overlooked. ``alarm`` is set where no promise is made."""

    text: str
    alarm: bool


@dataclass(frozen=True)
class Bullets:
    """A list."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Grid:
    """A table. The columns in ``numeric`` are aligned to the right.

    A page folds many rows of what ``folded`` names, all but the last ``kept``.
    """

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[int, ...] = ()
    folded: str = ""
    kept: int = 0


@dataclass(frozen=True)
class Drawing:
    """A picture as HTML, escaped already; where there is only text, what it says, as a list."""

    html: str
    items: tuple[str, ...]


CardBlock = Heading | Paragraph | Banner | Bullets | Grid | Drawing


def render_markdown(title: str, blocks: Sequence[CardBlock]) -> str:
    """Render the blocks in GitHub's Markdown."""
    return (
        "\n\n".join([f"# {_escape_markdown(title)}", *map(_render_markdown_block, blocks)]) + "\n"
    )


def render_html_page(title: str, blocks: Sequence[CardBlock]) -> str:
    """Render the blocks as one HTML page that needs no other file and runs nothing."""
    return wrap_html(title, "\n".join(map(render_html_block, blocks)))


def _render_markdown_block(block: CardBlock) -> str:
    match block:
        case Heading(text):
            return f"## {_escape_markdown(text)}"
        case Banner(text, alarm):
            return f"> **{'WARNING: ' if alarm else ''}{_escape_markdown(text)}**"
        case Bullets(items) | Drawing(_, items):
            return "\n".join(f"- {_escape_markdown(item)}" for item in items)
        case Grid(headers, rows, numeric):
            rule = ["---:" if column in numeric else "---" for column in range(len(headers))]
            lines = [[_escape_markdown(cell) for cell in row] for row in (headers, *rows)]
            return "\n".join(f"| {' | '.join(line)} |" for line in (lines[0], rule, *lines[1:]))
        case Paragraph(text):
            return _escape_markdown(text)


def render_html_block(block: CardBlock) -> str:
    """Render one block as HTML."""
    match block:
        case Heading(text):
            return f"<h2>{escape_html(text)}</h2>"
        case Banner(text, alarm):
            return (
                f'<p class="{"alarm" if alarm else "promise"}" role="note">{escape_html(text)}</p>'
            )
        case Bullets(items):
            return (
                "<ul>\n" + "\n".join(f"<li>{escape_html(item)}</li>" for item in items) + "\n</ul>"
            )
        case Grid(headers, rows, numeric, folded, kept) if folded and len(rows) - kept > MOST_OPEN:
            many = len(rows) - kept
            inside = render_html_block(Grid(headers, rows[:many], numeric))
            rest = render_html_block(Grid(headers, rows[many:], numeric)) if kept else ""
            title = f"{many} {escape_html(folded)}"
            return f"<details><summary>{title}</summary>\n{inside}\n</details>\n{rest}"
        case Grid(headers, rows, numeric):
            marks = [
                ' class="number"' if column in numeric else "" for column in range(len(headers))
            ]
            head = "".join(
                f'<th scope="col"{mark}>{escape_html(cell)}</th>'
                for mark, cell in zip(marks, headers, strict=True)
            )
            lines = [
                "".join(
                    f"<td{mark}>{escape_html(cell)}</td>"
                    for mark, cell in zip(marks, row, strict=True)
                )
                for row in rows
            ]
            inside = "\n".join(f"<tr>{line}</tr>" for line in lines)
            return (
                "<div "
                f'class="wide"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{inside}\n</tbody>\n</table></div>'
            )
        case Paragraph(text):
            return f"<p>{escape_html(text)}</p>"
        case Drawing(drawn, _):
            return drawn


def render_text(title: str, blocks: Sequence[CardBlock]) -> str:
    """Render the blocks as plain text, for a terminal or an e-mail."""
    shown = escape_invisible(title)
    head = f"{_wrap(shown)}\n{'=' * min(len(shown), TEXT_WIDTH)}"
    return "\n\n".join([head, *map(_render_text_block, blocks)]) + "\n"


def _render_text_block(block: CardBlock) -> str:
    match block:
        case Heading(text):
            return f"{_wrap(text)}\n{'-' * min(len(escape_invisible(text)), TEXT_WIDTH)}"
        case Banner(text, alarm):
            return _wrap(f"{'WARNING: ' if alarm else ''}{text}", "* ", "* ")
        case Bullets(items) | Drawing(_, items):
            return "\n".join(_wrap(item, "- ", "  ") for item in items)
        case Grid(headers, rows):
            lines = (headers, *rows)
            widths = [
                min(max(len(escape_invisible(line[column])) for line in lines), TEXT_COLUMN)
                for column in range(len(headers) - 1)
            ]
            return "\n".join(_render_text_row(line, widths) for line in lines)
        case Paragraph(text):
            return _wrap(text)


def _render_text_row(cells: tuple[str, ...], widths: Sequence[int]) -> str:
    """Return a row of a table: all cells but the last padded, the last one wrapped."""
    *first, last = map(escape_invisible, cells)
    start = "".join(f"{cell:<{width}}  " for cell, width in zip(first, widths, strict=True))
    return _wrap(last, start, " " * (sum(widths) + 2 * len(widths))).rstrip() or start.rstrip()


def _wrap(text: str, first: str = "", then: str = "") -> str:
    return textwrap.fill(
        escape_invisible(text), TEXT_WIDTH, initial_indent=first, subsequent_indent=then
    )


def _escape_markdown(text: str) -> str:
    """Text that Markdown shows as it is."""
    shown = escape_invisible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return "".join(f"\\{char}" if char in "\\`*_[]|~#$!" else char for char in shown)
