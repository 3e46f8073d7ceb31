"""Find and replace text inside string literals, also where a literal is written in several pieces.

``"PRAGMA synchronous" "=FULL"`` and ``f"{name}=FULL"`` hold the text ``=FULL`` as much as one plain
literal does. :func:`find_text` returns the ranges of the source that hold it, and
:func:`replace_text` the edits that put another text there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

#: What stands between the pieces of a literal: blanks, comments, line breaks.
_BETWEEN = re.compile(rb"(?:[ \t\f\r\n()]|\\\r?\n|#[^\n]*)+")
_OPENING = re.compile(rb"([a-zA-Z]{0,2})('''|\"\"\"|'|\")")
_ESCAPE = re.compile(
    rb"\\(?:\r?\n|[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|.)", re.S
)
#: Stands for a replacement field of an f-string, which no text matches.
_FIELD = "\0"


@dataclass(frozen=True)
class Piece:
    """One literal between its quotes."""

    raw: bool
    formatted: bool
    quote: str

    def write(self, text: str) -> str:
        """Return a text as it is written inside this literal."""
        if self.formatted:
            text = text.replace("{", "{{").replace("}", "}}")
        if not self.raw:
            text = text.replace("\\", "\\\\")
            text = text if len(self.quote) == 3 else text.replace("\n", "\\n")
            text = text.replace(self.quote[0], f"\\{self.quote[0]}")
        return text


@dataclass(frozen=True)
class Character:
    """One character of the value of a literal, and the bytes of the source that write it."""

    value: str
    start: int
    end: int
    piece: Piece


@dataclass(frozen=True)
class Edit:
    """Bytes of the source from ``start`` up to ``end``, and what takes their place."""

    start: int
    end: int
    text: bytes


def read_literal(source: bytes, start: int, end: int) -> list[Character]:
    """Return the characters of the literal in a range of the source; none for one of bytes."""
    characters: list[Character] = []
    at = start
    while at < end:
        blank = _BETWEEN.match(source, at, end)
        at = blank.end() if blank else at
        opening = _OPENING.match(source, at, end)
        if opening is None:
            break
        prefix, quote = opening[1].decode().lower(), opening[2].decode()
        if "b" in prefix:
            return []
        piece = Piece("r" in prefix, "f" in prefix, quote)
        read, at = _read_piece(source, opening.end(), piece)
        characters += read
    return characters


def _read_piece(source: bytes, at: int, piece: Piece) -> tuple[list[Character], int]:
    """Return the characters of one piece, and where the source goes on behind its quotes."""
    characters: list[Character] = []
    closing = piece.quote.encode()
    while not source.startswith(closing, at):
        start = at
        escape = _ESCAPE.match(source, at)
        if escape and not piece.raw:
            at = escape.end()
            value = _decode_escape(escape[0])
        elif piece.formatted and source[at : at + 2] in (b"{{", b"}}"):
            at += 2
            value = source[start : start + 1].decode()
        elif piece.formatted and source[at : at + 1] == b"{":
            at = _field_end(source, at)
            value = _FIELD
        else:
            at += _width(source[at])
            value = source[start:at].decode()
        if value:
            characters.append(Character(value, start, at, piece))
    return characters, at + len(closing)


def _decode_escape(escape: bytes) -> str:
    if escape.lstrip(b"\\\r") == b"\n":
        return ""  # a line that goes on
    return (
        escape.decode("ascii").encode().decode("unicode_escape")
        if escape.isascii()
        else escape.decode()
    )


def _width(first: int) -> int:
    """Return how many bytes a character of UTF-8 has, by its first one."""
    return 1 if first < 0x80 else 2 if first < 0xE0 else 3 if first < 0xF0 else 4


def _field_end(source: bytes, at: int) -> int:
    depth = 0
    while True:
        depth += {b"{": 1, b"}": -1}.get(source[at : at + 1], 0)
        at += 1
        if not depth:
            return at


def find_text(characters: list[Character], text: str) -> list[list[Character]]:
    """Return every occurrence of a text, as the characters that make it up."""
    value = "".join(character.value for character in characters)
    if len(value) != len(characters):
        return []
    return [
        characters[match.start() : match.end()] for match in re.finditer(re.escape(text), value)
    ]


def replace_text(occurrence: list[Character], text: str) -> list[Edit]:
    """Return the edits that put a text in place of an occurrence.

    All of it goes into the first piece of the literal, and what other pieces had of the old text
    is taken out, so that quotes and prefixes stay as they are.
    """
    edits: list[Edit] = []
    for character in occurrence:
        last = edits[-1] if edits else None
        if last is not None and last.end == character.start:
            edits[-1] = Edit(last.start, character.end, last.text)
        else:
            written = "" if last else character.piece.write(text)
            edits.append(Edit(character.start, character.end, written.encode()))
    return edits
