"""Count what a client spends: bytes, seals and memory."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Meter:
    """A reading of what a client has spent.

    Args:
        requests, sent, received: exchanges with the server, and their bytes (heads and bodies).
        sealed, opened: encryptions and decryptions.
        refined: leaves that were refined.
        predictions: rows that were classified.
        rows_held: the most rows that were in memory at once, candidates included.
    """

    requests: int = 0
    sent: int = 0
    received: int = 0
    sealed: int = 0
    opened: int = 0
    refined: int = 0
    predictions: int = 0
    rows_held: int = 0

    def since(self, before: Meter) -> Meter:
        """Return what was spent after another reading.

        The largest number of rows held stays what it is.
        """
        spent = {name: value - getattr(before, name) for name, value in asdict(self).items()}
        return Meter(**(spent | {"rows_held": self.rows_held}))

    def each(self) -> dict[str, float]:
        """Return what one prediction took, on average over all."""
        return {
            name: getattr(self, name) / max(self.predictions, 1)
            for name in ("requests", "sent", "received", "sealed", "opened")
        }
