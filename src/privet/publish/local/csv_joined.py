"""Lines of CSV, put together where a record goes over several of them: a quoted field may hold line
breaks (RFC 4180).

For records of one person: a quote that somebody opens and somebody else closes would swallow the
lines in between. Lines are put together only if that gives a whole record, with as many fields as
the header has; otherwise each of them stands for itself.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import Literal

#: So many lines are held back at most while a quote is open.
MOST_LINES = 1000


def join_lines(lines: Iterator[bytes], delim: str, n_fields: int) -> Iterator[bytes]:
    """The records of some lines, each as soon as it is whole."""
    form, held = _Form(delim, n_fields), deque[bytes]()

    def following() -> bytes | None:
        return held.popleft() if held else next(lines, None)

    while (line := following()) is not None:
        if not form.opens(line):
            yield line
            continue
        parts, again = [line], 0
        while len(parts) < MOST_LINES and again < n_fields and (more := following()) is not None:
            parts.append(more)
            state = form.after(more)
            if state == "closed":
                break
            again += state == "open again"  # each is one more field, and there are only so many
        whole = b"".join(parts)
        if len(parts) > 1 and form.is_record(whole):
            yield whole
        else:
            yield line
            held.extendleft(reversed(parts[1:]))


class _Form:
    """What a record looks like. In bytes: a quote or a separator is never part of another character
    in UTF-8.
    """

    def __init__(self, delim: str, n_fields: int) -> None:
        d, inside = re.escape(delim), '(?:[^"]|"")*'
        field = f'(?:"{inside}"|[^"{d}][^{d}]*|)'
        opening = f'(?:{field}{d})*"{inside}'  # whole fields, and one that is quoted and not closed
        self._opening = re.compile(opening.encode())
        self._going_on = re.compile(f'{inside}("{d}{opening})?'.encode())
        self._record = re.compile(f"{field}(?:{d}{field}){{{n_fields - 1}}}".encode())

    def opens(self, line: bytes) -> bool:
        """Whether a quote is open at the end of a record's first line."""
        return b'"' in line and self._opening.fullmatch(line.rstrip(b"\r\n")) is not None

    def after(self, line: bytes) -> Literal["open", "open again", "closed"]:
        """What has become of it at the end of a further line: another field may have been
        opened.
        """
        if b'"' not in line:
            return "open"
        found = self._going_on.fullmatch(line.rstrip(b"\r\n"))
        return "closed" if found is None else "open" if found[1] is None else "open again"

    def is_record(self, text: bytes) -> bool:
        """Whether these lines are one record."""
        return self._record.fullmatch(text.rstrip(b"\r\n")) is not None
