"""The MONK's problems (Thrun et al. 1991): three rules over all 432 robots, without noise.

The UCI file of the third problem has noise in its training part; here every row follows the rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

Robot = tuple[int, int, int, int, int, int]
MonkRule = Callable[[Robot], bool]
SIZES = (3, 3, 2, 3, 4, 2)


def satisfies_monks_1(robot: Robot) -> bool:
    """Head and body have the same shape, or the jacket is red."""
    a1, a2, _, _, a5, _ = robot
    return a1 == a2 or a5 == 1


def satisfies_monks_2(robot: Robot) -> bool:
    """Exactly two attributes have their first value."""
    return robot.count(1) == 2


def satisfies_monks_3(robot: Robot) -> bool:
    """The jacket is green and the holding a sword, or the jacket is not blue and the body not an
    octagon.
    """
    _, a2, _, a4, a5, _ = robot
    return (a5 == 3 and a4 == 1) or (a5 != 4 and a2 != 3)


def generate_monks_rows(rule: MonkRule) -> Iterator[tuple[str, ...]]:
    """All robots in order, with class ``"1"`` where the rule holds."""
    a1, a2, a3, a4, a5, a6 = (range(1, size + 1) for size in SIZES)
    for robot in product(a1, a2, a3, a4, a5, a6):
        yield *(str(value) for value in robot), "1" if rule(robot) else "0"
