"""Run independent parts of work on a bounded number of threads.

The work should release the interpreter lock (NumPy, compiled loops, a query engine): then plain
threads use all cores. A pool lives as long as one call, so nothing is left running.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")


_LIMITS: list[int] = []  # what this process was told to use at most


def count_cores() -> int:
    """Return the number of cores, or of those allowed: the most threads that any call uses."""
    return min([os.cpu_count() or 1, *_LIMITS])


def limit_cores(most: int) -> None:
    """Let this process use so many cores: others of the machine have work of their own."""
    _LIMITS[:] = [most]


def for_each_part(
    n_parts: int, work: Callable[[int], Result], *, workers: int | None = None
) -> list[Result]:
    """Call ``work`` once for each part, and return the results in the order of the parts.

    Args:
        n_parts: the parts are numbered 0 to ``n_parts - 1``, and started in this order.
        work: what to do with a part; it must not depend on other parts.
        workers: the most threads to use, the caller's included; never more than there are cores or
            parts. One (or less) means no other thread than the caller's. By default, all cores.

    Raises:
        Exception: what ``work`` raised. If several parts fail, it is the exception of the first of
            them, as in a plain loop. No part is started after a failure, and all threads have ended
            when it is raised.
    """
    cores = count_cores()
    n_threads = min(n_parts, cores if workers is None else min(workers, cores))
    if n_threads <= 1:
        return [work(part) for part in range(n_parts)]
    waiting = deque(range(n_parts))  # popleft is safe among threads
    results: dict[int, Result] = {}
    failures: dict[int, BaseException] = {}

    def do_parts() -> None:
        while not failures:
            try:
                part = waiting.popleft()
            except IndexError:  # other threads took the rest
                return
            try:
                results[part] = work(part)
            except BaseException as failure:  # noqa: BLE001  # raised below, by the caller
                failures[part] = failure

    with ThreadPoolExecutor(n_threads - 1) as pool:
        try:
            for _ in range(n_threads - 1):
                pool.submit(do_parts)
            do_parts()
        finally:
            waiting.clear()  # an interrupt between two parts must not wait for all others
    if failures:
        # Parts before a failed one have been started, so the first failure is always among these.
        raise failures[min(failures)]
    return [results[part] for part in range(n_parts)]


def for_each_range(
    n: int, work: Callable[[int, int], object], *, workers: int | None = None
) -> None:
    """Cut 0 to ``n`` into one range of about equal length per thread, and call ``work`` with the
    ends of each.

    Args:
        n: how many things there are, such as rows.
        work: called with the first number of a range and the one after its last.
        workers: the most threads to use, as for :func:`for_each_part`.
    """
    cores = count_cores()
    n_ranges = max(1, min(n, cores if workers is None else min(workers, cores)))
    for_each_part(
        n_ranges,
        lambda part: work(n * part // n_ranges, n * (part + 1) // n_ranges),
        workers=n_ranges,
    )
