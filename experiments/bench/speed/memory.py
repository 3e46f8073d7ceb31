"""Peak memory of this process above a mark, and how fast one thread reads memory. Standard library
and NumPy only.
"""

from __future__ import annotations

import ctypes
import platform
import resource
import time
from pathlib import Path

import numpy as np

#: Bytes that are read to measure the bandwidth: more than any cache holds.
PROBE = 1 << 28


def mark() -> int:
    """The bytes that are resident now; on Linux what is free is given back, and the peak starts
    anew from here.
    """
    try:
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
        return _resident("VmRSS")
    except (OSError, AttributeError):
        return _resident("VmHWM")


def risen(since: int) -> int:
    """How many bytes the peak is above a mark."""
    return max(_resident("VmHWM") - since, 0)


def _resident(field: str) -> int:
    """Bytes now (VmRSS) or at the peak (VmHWM). Where there is no /proc, the peak, which the parent
    process may have set.
    """
    try:
        return (
            int(Path("/proc/self/status").read_text().partition(f"{field}:")[2].split()[0]) * 1024
        )
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (
            1 if platform.system() == "Darwin" else 1024
        )


def bandwidth_seconds(times: int = 10) -> list[float]:
    """Seconds of adding up PROBE bytes as 64-bit numbers, in one thread."""
    numbers = np.ones(PROBE, dtype=np.uint8).view(np.uint64)
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        numbers.sum()
        seconds.append(time.perf_counter() - start)
    return seconds
