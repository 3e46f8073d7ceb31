"""Decide when an answer leaves: at a time that follows from public sizes, not when its work ends.

Every query says how much work it is (:class:`~privet.queries.base.Load`). Times a pace that the
owner can set, that is the deadline of its answer, rounded up to one of few steps. An answer whose
work ends earlier waits; one whose work takes longer leaves at the next multiple of the deadline.
So a clock tells of the rows only whether a multiple was passed: such answers are counted and
logged, and an owner who sees many of them should give more time (``privet curator limits``:
``step_time``, ``rows``).

Nor is an answer kept before it may leave. Else whoever sends the same request again, or looks at
the history, the metrics or an export meanwhile, would see when its work ended.
"""

from __future__ import annotations

import logging
import math
import time

from privet.domain import Schema
from privet.queries.base import Load
from privet.service.limits import Limits

#: Steps that one noisy number or candidate takes: it is drawn, and written as JSON.
STEPS_A_NUMBER = 1000
#: Steps that it takes to read and encode one value of a row.
STEPS_A_VALUE = 60
_LOG = logging.getLogger(__name__)  # for the owner


def deadline(load: Load, schema: Schema, limits: Limits) -> float:
    """Return the seconds after which the answer to a query leaves, from public sizes alone."""
    n_rows = limits.rows if schema.n_rows is None else schema.n_rows
    row_steps = STEPS_A_VALUE * (len(schema.names) + 1) + load.row_steps
    steps = n_rows * row_steps + load.steps + STEPS_A_NUMBER * (load.numbers + load.nodes)
    return round_up(limits.first_step + 1e-9 * limits.step_time * steps, limits.first_step)


def round_up(seconds: float, first_step: float) -> float:
    """Return the next of few steps, each a quarter longer than the one before."""
    step = first_step
    while 0 < step < seconds:
        step *= 1.25
    return step


class Departure:
    """When one answer leaves, from the moment its request came.

    ``due`` is its deadline in seconds. It is set where the query is known; what is refused before
    leaves at the first step.
    """

    #: Answers that came too late for their deadline, since this process began.
    late = 0

    def __init__(self, first_step: float) -> None:
        self._begun = time.monotonic()
        self.due = self._first_step = first_step
        self._over = False

    def wait(self) -> float:
        """Return the seconds that are left until the answer may leave."""
        if self._over:
            return 0.0
        left, multiple = self._find_left()
        self._count(multiple)
        return left

    def hold(self) -> None:
        """Wait in this thread until the answer may leave; :meth:`wait` is over then."""
        if self._over:
            return
        left, multiple = self._find_left()
        if left > 0:
            time.sleep(left)
        self._over = True
        self._count(multiple)  # not before: the log would tell when the work ended

    def _find_left(self) -> tuple[float, int]:
        """Return the seconds that are left, and which multiple of the deadline then ends."""
        taken = time.monotonic() - self._begun
        if self.due <= 0:
            return 0.0, 1
        multiple = max(1, math.ceil(taken / self.due))
        return multiple * self.due - taken, multiple

    def _count(self, multiple: int) -> None:
        if multiple > 1 and self.due > self._first_step:
            Departure.late += 1
            _LOG.info("an answer is late: %d deadlines; %d are so far", multiple, Departure.late)
