"""Test whether a clock tells two worlds apart that differ in one person.

The same work is done many times in both worlds, turn by turn, and the CPU time of the process is
taken each time. Whether one world takes longer is judged by the test of Mann and Whitney (1947),
which assumes nothing about how times are distributed. Times that differ by less than
:data:`TOLERANCE` are not told apart: two tables of equal size lie in memory in different ways, and
that alone makes such a difference. What the test would have found is stated beside what it found.
"""

from __future__ import annotations

import gc
import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

#: Times that differ by less are taken to be the same.
TOLERANCE = 0.05
#: How likely it is at most that equal worlds are told apart, for all subjects together.
ERROR = 1e-6
#: How often each world is measured, by default: enough to find a few percent beyond the tolerance.
REPEATS = 60
#: Quantile of the normal distribution for a power of 99%.
_POWER = 2.33

Work = Callable[[], object]


@dataclass(frozen=True)
class ClockResult:
    """What the clock told about one subject.

    Args:
        subject: what was timed.
        without, with_person: the median CPU seconds in the two worlds.
        p: how likely it is that equal worlds (within the tolerance) look so different.
        allowed: p below this says that a clock tells the worlds apart.
        visible: the smallest ratio of times that would have been found with a probability of 99%.
    """

    subject: str
    without: float
    with_person: float
    p: float
    allowed: float
    visible: float

    @property
    def tells(self) -> bool:
        """Whether a clock tells the worlds apart."""
        return self.p < self.allowed

    @property
    def verdict(self) -> str:
        """What was found, in words."""
        return "TELLS" if self.tells else "not told apart"

    def to_json(self) -> dict[str, Any]:
        """Return the result for machines."""
        return {
            "subject": self.subject,
            "without": self.without,
            "with": self.with_person,
            "p": self.p,
            "visible": self.visible,
            "verdict": self.verdict,
        }


def time_worlds(without: Work, with_person: Work, repeats: int) -> tuple[list[float], list[float]]:
    """Return the CPU seconds of the work in both worlds, which take turns."""
    without(), with_person()  # what is loaded or compiled once is not timed
    times: tuple[list[float], list[float]] = [], []
    gc.collect()
    for turn in range(repeats):
        for world in (0, 1) if turn % 2 else (1, 0):
            begun = time.process_time()
            (without, with_person)[world]()
            times[world].append(time.process_time() - begun)
    return times


def judge(
    subject: str, without: Sequence[float], with_person: Sequence[float], n_subjects: int = 1
) -> ClockResult:
    """Return whether times tell two worlds apart; ``n_subjects`` are judged together."""
    factor = 1 + TOLERANCE
    # Either world may be the slower one, by more than the tolerance.
    p = min(
        1.0,
        2
        * min(
            p_larger(with_person, [factor * t for t in without]),
            p_larger(without, [factor * t for t in with_person]),
        ),
    )
    allowed = ERROR / n_subjects
    return ClockResult(
        subject,
        statistics.median(without),
        statistics.median(with_person),
        p,
        allowed,
        _find_visible_ratio(without, with_person, allowed),
    )


def p_larger(times: Sequence[float], others: Sequence[float]) -> float:
    """Return how likely such times are, if they are not larger than the others (Mann-Whitney).

    By the normal approximation, with ties counted half.
    """
    n, m = len(times), len(others)
    wins = sum((t > o) + (t == o) / 2 for t in times for o in others)
    deviation = math.sqrt(n * m * (n + m + 1) / 12)
    return math.erfc((wins - n * m / 2 - 0.5) / deviation / math.sqrt(2)) / 2


def _find_visible_ratio(
    without: Sequence[float], with_person: Sequence[float], allowed: float
) -> float:
    """Return the smallest ratio of times that the test would find, from the spread that was seen.

    The worlds' own difference is taken out first, by their medians. A ratio is found with a
    probability of 99% where the expected number of wins exceeds the limit by 2.33 deviations.
    """
    middles = statistics.median(without), statistics.median(with_person)
    alike = [t / middle for world, middle in ((without, middles[0]), (with_person, middles[1]))
             for t in world]  # fmt: skip
    n = len(without)
    deviation = math.sqrt(n * n * (2 * n + 1) / 12)
    ratio = 1 + TOLERANCE
    while ratio < 100:
        won = sum(ratio * t > (1 + TOLERANCE) * o for t in alike for o in alike) / len(alike) ** 2
        surplus = (won - 0.5) * n * n - _POWER * deviation
        if math.erfc(surplus / deviation / math.sqrt(2)) < allowed:
            return ratio
        ratio *= 1.01
    return math.inf
