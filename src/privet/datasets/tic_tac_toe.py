"""Tic-Tac-Toe Endgame (Aha 1991): every board on which a game can end, x having moved first.

The class is whether x has won. Row by row the same as the UCI file.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

LINES = ("012", "345", "678", "036", "147", "258", "048", "246")


def generate_boards() -> Iterator[tuple[str, ...]]:
    """The 958 final boards, square by square, with their class: won by x, won by o, and drawn."""
    # blank last: the product order of the UCI file
    boards = ["".join(squares) for squares in product("xob", repeat=9)]
    ends = [(board, find_outcome(board)) for board in boards]
    for outcome in ("x", "o", "draw"):
        for board, how in ends:
            if how == outcome:
                yield *board, "positive" if outcome == "x" else "negative"


def find_outcome(board: str) -> str | None:
    """How the game ended on this board: ``"x"``, ``"o"`` or ``"draw"``; None if no game ends
    there.
    """
    extra = board.count("x") - board.count("o")
    x_won, o_won = _has_won(board, "x"), _has_won(board, "o")
    # The winner moved last; x is one ahead after its own move, and even after one of o.
    if x_won and not o_won and extra == 1:
        return "x"
    if o_won and not x_won and extra == 0:
        return "o"
    full = "b" not in board
    return "draw" if full and extra == 1 and not x_won and not o_won else None


def _has_won(board: str, player: str) -> bool:
    return any(all(board[int(square)] == player for square in line) for line in LINES)
