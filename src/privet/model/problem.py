"""What raises the one error of model files inside."""

from __future__ import annotations


class Damaged(ValueError):
    """What a document is not. Turned into a :class:`~privet.errors.ModelError` where the path is
    known.
    """


def require(holds: bool, reason: str) -> None:
    """Raise :class:`Damaged` with this reason unless it holds."""
    if not holds:
        raise Damaged(reason)
