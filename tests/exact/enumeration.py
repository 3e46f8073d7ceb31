"""The whole law of a sampler, by running it with every outcome of its randomness.

The code that runs is the sampler's own. Only its doors to chance are replaced: words, integers
below a bound, orders, and signs, which have tests of their own (``test_uniform.py``). What comes
through a door is a number that is not decided yet. Comparing it decides no more than the
comparison, and each answer is a branch with an exact rational chance; using it as an index decides
it whole. All branches are run, one after the other. Those whose chance falls below a limit are
given up, and their chances added up: so every chance is known from below and from above.

Coins of probability exp(-x) are drawn by a loop of their own (:mod:`privet.mechanisms.coins`).
It is enumerated first; then a coin is a single branch with the chances that were found, so that
what is made of many coins can be enumerated too.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import permutations

import numpy as np
import pytest

from privet.mechanisms import coins as bernoulli
from privet.mechanisms import laplace, randomness

#: Branches that are less likely are given up, and so are numbers that would have to be decided out
#: of more than this many.
LIMIT, MOST = Fraction(1, 1 << 70), 1 << 10


class GivenUp(Exception):
    """This branch is too unlikely to go on with."""


class Again(Exception):
    """A sampler that starts anew begins its second round."""


class Paths:
    """One run: which branches it has taken, and how likely that is."""

    def __init__(self, prefix: tuple[int, ...], rounds: int | None, limit: Fraction) -> None:
        self.prefix, self.rounds, self.limit = prefix, rounds, limit
        self.taken: list[int] = []
        self.chance = Fraction(1)
        self.others: list[tuple[int, ...]] = []
        self.lost = Fraction(0)

    def choose(self, weights: Sequence[int]) -> int:
        """One of several branches with these weights, none of them zero."""
        total = sum(weights)
        at = len(self.taken)
        if at < len(self.prefix):
            choice = self.prefix[at]
        else:
            choice = max(range(len(weights)), key=weights.__getitem__)
            for other, weight in enumerate(weights):
                if other != choice:
                    chance = self.chance * Fraction(weight, total)
                    if chance < self.limit:
                        self.lost += chance
                    else:
                        self.others.append((*self.taken, other))
        self.chance *= Fraction(weights[choice], total)
        self.taken.append(choice)
        if self.chance < self.limit:
            raise GivenUp
        return choice

    def begin_round(self) -> None:
        """An integer is decided whole: the start of a round of a sampler that rejects."""
        if self.rounds is not None:
            if self.rounds == 0:
                raise Again
            self.rounds -= 1


class Open:
    """A whole number from ``low`` to below ``high``, all equally likely, of which only what is
    asked for is decided.
    """

    def __init__(self, paths: Paths, high: int) -> None:
        self._paths, self._low, self._high = paths, 0, high

    def _below(self, bound: int) -> bool:
        if not self._low < bound < self._high:
            return self._low < bound
        below = self._paths.choose([bound - self._low, self._high - bound]) == 0
        self._low, self._high = (self._low, bound) if below else (bound, self._high)
        return below

    def __lt__(self, other: int) -> bool:
        return other is not self and self._below(int(other))  # NumPy compares a number with itself

    def __ge__(self, other: int) -> bool:
        return not self._below(int(other))

    def __gt__(self, other: int) -> bool:
        return other is not self and not self._below(int(other) + 1)

    def __le__(self, other: int) -> bool:
        return self._below(int(other) + 1)

    def __eq__(self, other: object) -> bool:
        return not self._below(int(other)) and self._below(int(other) + 1)  # type: ignore[call-overload]

    __hash__ = None  # type: ignore[assignment]

    def __index__(self) -> int:
        if self._high - self._low > MOST:
            raise GivenUp
        if self._high - self._low > 1:
            self._paths.begin_round()
            self._low += self._paths.choose([1] * (self._high - self._low))
            self._high = self._low + 1
        return self._low

    __int__ = __index__

    def __and__(self, mask: int) -> Open:
        """The lowest bits of a word that nothing was asked of."""
        mask = int(mask)
        assert self._low == 0
        assert mask & (mask + 1) == self._high & (self._high - 1) == 0
        return Open(self._paths, mask + 1)

    def __ror__(self, other: int) -> int:
        return other | int(self)

    def __add__(self, other: int) -> int:
        return int(self) + int(other)

    def __floordiv__(self, other: int) -> int:
        return int(self) // int(other)


class OpenBits:
    """Words of which nothing is decided."""

    private = True

    def __init__(self, paths: Paths) -> None:
        self.paths = paths

    def words(self, count: int) -> np.ndarray:
        return _array([Open(self.paths, 1 << 64) for _ in range(count)])


def _array(listed: list) -> np.ndarray:
    made = np.empty(len(listed), dtype=object)
    made[:] = listed
    return made


def _uniform_int(bits: OpenBits, bound: int) -> Open:
    return Open(bits.paths, bound)


def _uniform_below(bits: OpenBits, bounds: np.ndarray) -> np.ndarray:
    return _array([Open(bits.paths, int(bound)) for bound in bounds])


def _uniform_order(bits: OpenBits, count: int) -> np.ndarray:
    orders = list(permutations(range(count)))
    return np.array(
        orders[bits.paths.choose([1] * len(orders))] if count > 1 else range(count), dtype=np.intp
    )


def _random_signs(bits: OpenBits, count: int) -> np.ndarray:
    return np.array([bits.paths.choose([1, 1]) == 1 for _ in range(count)], dtype=bool)


@cache
def _coin(numerator: int, denominator: int) -> tuple[int, int, int]:
    """The chances of heads, of tails, and of what is not known, in units of 2**-80."""
    law = _enumerated(lambda bits: _TAIL(bits, numerator, denominator, 1), None, coins=False)
    heads, tails = (math.floor(law.low.get(side, 0) * (1 << 80)) for side in (True, False))
    return heads, tails, (1 << 80) - heads - tails


def _tail(bits: OpenBits, numerator: int, denominator: int, k: int) -> bool:
    assert k == 1
    chances = _coin(int(numerator), denominator)
    sides = [side for side in range(3) if chances[side]]
    side = sides[bits.paths.choose([chances[side] for side in sides])]
    if side == 2:
        raise GivenUp
    return side == 0


def _exp_coins(bits: OpenBits, numerators: np.ndarray, denominator: int) -> np.ndarray:
    return np.array(
        [_tail(bits, int(numerator), denominator, 1) for numerator in numerators], dtype=bool
    )


_TAIL = bernoulli._flip_series
COINS = {_TAIL: _tail, bernoulli.exp_coins: _exp_coins}
DOORS = {
    randomness.uniform_int: _uniform_int,
    randomness.uniform_below: _uniform_below,
    randomness.uniform_order: _uniform_order,
    laplace.random_signs: _random_signs,
}


@contextmanager
def opened(doors: dict) -> Iterator[None]:
    """Inside this block every module of the package has the doors of this one."""
    with pytest.MonkeyPatch.context() as patch:
        for name, module in list(sys.modules.items()):
            if name.startswith("privet."):
                for door, ours in doors.items():
                    if getattr(module, door.__name__, None) is door:
                        patch.setattr(module, door.__name__, ours)
        yield


@dataclass(frozen=True)
class Law:
    """What is known of each outcome's chance: at least ``low``, and at most ``rest`` more."""

    low: dict[Hashable, Fraction]
    rest: Fraction

    def high(self, outcome: Hashable) -> Fraction:
        return self.low.get(outcome, Fraction(0)) + self.rest


def law_of(
    sampler: Callable[[OpenBits], Hashable], *, coins: bool = True, limit: Fraction = LIMIT
) -> Law:
    """The law of a sampler's outcome. ``coins``: those of exp(-x) are single branches."""
    return _enumerated(sampler, None, coins=coins, limit=limit)


def law_of_round(sampler: Callable[[OpenBits], Hashable], rounds: int = 1) -> Law:
    """The same for a sampler that decides one integer, and then takes it or starts anew: the law of
    the first round, given that it ends.

    Rounds are alike and independent, so that is the law of the last one too (and of the first two
    or more, given that one of them ends).
    """
    once = _enumerated(sampler, rounds, coins=True)
    ended = sum(once.low.values())
    low = {outcome: chance / (ended + once.rest) for outcome, chance in once.low.items()}
    return Law(low, max((once.low[o] + once.rest) / ended - low[o] for o in low))


def _enumerated(
    sampler: Callable[[OpenBits], Hashable],
    rounds: int | None,
    *,
    coins: bool,
    limit: Fraction = LIMIT,
) -> Law:
    low: dict[Hashable, Fraction] = {}
    rest = Fraction(0)
    waiting: list[tuple[int, ...]] = [()]
    with opened(DOORS | COINS if coins else DOORS):
        while waiting:
            paths = Paths(waiting.pop(), rounds, limit)
            try:
                outcome = sampler(OpenBits(paths))
                low[outcome] = low.get(outcome, Fraction(0)) + paths.chance
            except Again:
                pass
            except GivenUp:
                rest += paths.chance
            waiting += paths.others
            rest += paths.lost
    return Law(low, rest)
