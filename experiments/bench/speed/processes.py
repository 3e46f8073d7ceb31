"""CPU seconds of this process and of all that it started, also of those that still run: joblib
keeps its workers, and Spark its executors. Standard library only.
"""

from __future__ import annotations

import os
import time
from pathlib import Path


def cpu_seconds() -> float:
    """CPU seconds so far; those of this process alone where there is no /proc."""
    parents, ticks = dict[int, int](), dict[int, int]()
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = place.read_text().rpartition(") ")[2].split()
        except OSError:  # it has just ended
            continue
        pid = int(place.parent.name)
        # user and system time, its own and that of children that have ended
        parents[pid], ticks[pid] = int(fields[1]), sum(map(int, fields[11:15]))
    if not ticks:
        return time.process_time()
    below = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in below} - below:
        below |= more
    return sum(ticks[pid] for pid in below) / os.sysconf("SC_CLK_TCK")
