"""Work on a long table block by block: what is computed on the way takes little memory, and all
cores take part.
"""

from __future__ import annotations

from collections.abc import Callable

from privet.parallel import for_each_part

#: Rows at a time.
BLOCK = 1 << 16
#: From this many rows on, it is worth preparing a quicker way. The codes are the same either way.
MANY_ROWS = 1 << 14


def for_each_block(n_rows: int, work: Callable[[int, int], None]) -> None:
    """Call ``work`` with the first row of each block and the one after its last."""
    n_blocks = max(1, -(-n_rows // BLOCK))  # no rows are a block, too
    for_each_part(n_blocks, lambda part: work(part * BLOCK, min((part + 1) * BLOCK, n_rows)))
