"""Work on a long table block by block: what is computed on the way takes little memory, and all
cores take part.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

#: Rows at a time.
BLOCK = 1 << 16
#: From this many rows on, it is worth preparing a quicker way. The codes are the same either way.
MANY = 1 << 14


def for_each_block(n_rows: int, work: Callable[[int, int], None]) -> None:
    """Call ``work`` with the first row of each block and the one after its last."""
    if n_rows <= BLOCK:
        work(0, n_rows)
        return
    starts = range(0, n_rows, BLOCK)
    with ThreadPoolExecutor(min(os.cpu_count() or 1, len(starts))) as pool:
        for _ in pool.map(lambda low: work(low, min(low + BLOCK, n_rows)), starts):
            pass  # errors are raised here
