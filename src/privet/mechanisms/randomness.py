"""Get randomness from the operating system's cryptographic generator, and nowhere else.

A seed would let anyone strip the noise off again. So a seeded source exists for tests alone: it
must be unlocked by name, and everything that is drawn from it is marked ``private: false``.
"""

from __future__ import annotations

import hashlib
import os
from contextvars import ContextVar
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError, PrivacyError

Words = npt.NDArray[np.uint64]


class Bits(Protocol):
    """A source of uniform random 64-bit words."""

    @property
    def private(self) -> bool:
        """Whether nobody can know or repeat the words."""

    def words(self, count: int) -> Words:
        """Return this many fresh words."""


class SystemBits:
    """Words from the operating system's cryptographic generator."""

    private = True

    def words(self, count: int) -> Words:
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


_unlocked: ContextVar[bool] = ContextVar("test seeds unlocked", default=False)


class Unlocked:
    """Test seeds are unlocked until the end of the ``with`` block; without one, from now on."""

    def __init__(self) -> None:
        self._token = _unlocked.set(True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        _unlocked.reset(self._token)


def unlock_test_seeds() -> Unlocked:
    """Allow :class:`SeededBits`: inside a ``with`` block, or from a plain call on.

    For tests: what is drawn from a seed is not private, and is marked so.

    Examples
    --------
    >>> import privet as pv
    >>> car = pv.datasets.load("car")
    >>> with pv.testing.unlock_test_seeds():
    ...     tree = pv.GreedyTreeClassifier(1, schema=car.schema, random_state=7).fit(car.table)
    >>> print(tree.privacy_)
    NOT PRIVATE: a test seed was used
    """
    return Unlocked()


def are_test_seeds_unlocked() -> bool:
    """Return whether somebody has said that seeds are wanted here."""
    return _unlocked.get()


class SeededBits:
    """A repeatable stream of words, for tests.

    Refused unless unlocked with :func:`unlock_test_seeds`.

    Parameters
    ----------
    seed
        An integer.

    Examples
    --------
    >>> import privet as pv
    >>> with pv.testing.unlock_test_seeds():
    ...     first, again = pv.testing.SeededBits(7), pv.testing.SeededBits(7)
    >>> bool((first.words(3) == again.words(3)).all())
    True
    """

    private = False

    def __init__(self, seed: int) -> None:
        if not _unlocked.get():
            raise PrivacyError(
                "a seed lets anyone strip the noise off again; for tests, unlock it with "
                "privet.testing.unlock_test_seeds() (results are then marked private: false)"
            )
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
            raise ParameterError(f"a seed must be an integer, got {seed!r}")
        self._key = str(int(seed)).encode()
        self._block = 0

    def words(self, count: int) -> Words:
        self._block += 1
        stream = hashlib.shake_256(self._key + b":" + str(self._block).encode()).digest(8 * count)
        return np.frombuffer(stream, dtype=np.uint64)


def uniform_below(bits: Bits, bounds: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Draw exactly uniform integers in ``[0, bound)``, one per bound, by rejection.

    Bounds are 1 to 2**63.
    """
    masks = bounds - np.uint64(1)
    for shift in (1, 2, 4, 8, 16, 32):
        masks |= masks >> np.uint64(shift)
    drawn = bits.words(len(bounds)) & masks
    open_ = np.flatnonzero(drawn >= bounds)
    while len(open_):
        again = bits.words(len(open_)) & masks[open_]
        drawn[open_] = again
        open_ = open_[again >= bounds[open_]]
    return drawn


def uniform_order(bits: Bits, count: int) -> npt.NDArray[np.intp]:
    """Draw an exactly uniform permutation of ``0 .. count - 1``.

    It is the order of random words, drawn again until no two are equal.
    """
    while True:
        words = bits.words(count) if count > 1 else np.zeros(count, dtype=np.uint64)
        order = np.argsort(words, kind="stable")
        drawn = words[order]
        if (drawn[1:] != drawn[:-1]).all():
            return order


def uniform_int(bits: Bits, bound: int) -> int:
    """Draw an exactly uniform integer in ``[0, bound)``, for a bound of any size."""
    length = (bound - 1).bit_length()
    n_words = max(1, -(-length // 64))
    while True:
        drawn = int.from_bytes(bits.words(n_words).tobytes(), "little") & ((1 << length) - 1)
        if drawn < bound:
            return drawn
