"""Lines in a random order, however many there are."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from typing import TextIO

import numpy as np

from privet.errors import TableError
from privet.mechanisms.randomness import Bits, uniform_below, uniform_order

#: So many piles, of which one at a time is in memory.
PILES = 64
_BLOCK = 1 << 14


def shuffle_lines(lines: Iterable[str], bits: Bits) -> Iterator[str]:
    """The lines, each with its end, in an exactly uniform order: dealt at random to piles in files
    without a name, and each pile put into a random order (Rao 1961, Sandelius 1962). The first one
    comes when the last was taken.
    """
    with ExitStack() as stack:
        piles = [
            stack.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n"))
            for _ in range(PILES)
        ]
        _deal(iter(lines), piles, bits)
        for pile in piles:
            mine = pile.readlines()
            for place in uniform_order(bits, len(mine)):
                yield mine[place]


def _deal(lines: Iterator[str], piles: Sequence[TextIO], bits: Bits) -> None:
    while block := list(islice(lines, _BLOCK)):
        drawn = uniform_below(bits, np.full(len(block), len(piles), dtype=np.uint64))
        try:
            for line, pile in zip(block, drawn, strict=True):
                piles[pile].write(line)
            for pile in piles:
                pile.flush()
        except OSError as error:
            raise TableError(
                f"reports could not be kept in {tempfile.gettempdir()} ({error.strerror}); "
                "make room there, or name another folder in the environment variable TMPDIR"
            ) from None
    for pile in piles:
        pile.seek(0)
