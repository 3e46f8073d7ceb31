"""Where the chance of a cell comes from: the system's cryptographic source, or a seed in tests."""

from __future__ import annotations

from privet.mechanisms.randomness import Bits, SeededBits, SystemBits


class Chance:
    """Fresh randomness for every fit of a cell.

    Args:
        seed: for tests alone, inside :func:`privet.testing.unlock_test_seeds`; the fits of one
            seed differ, and can be repeated.
    """

    def __init__(self, seed: int | None = None) -> None:
        self._next = seed

    def state(self) -> int | None:
        """The ``random_state`` of a learner's next fit."""
        if self._next is None:
            return None
        self._next += 1
        return self._next

    def bits(self) -> Bits:
        """A source of its own."""
        state = self.state()
        return SystemBits() if state is None else SeededBits(state)
