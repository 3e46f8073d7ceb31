"""Ports that nobody else is given by chance."""

from __future__ import annotations

import os
import re
import socket
from itertools import count

#: Below those that systems hand out themselves, from 32768 or 49152.
_FIRST, _LAST = 10_000, 32_000
_LANES = 50  # of processes that run tests at the same time


def free_port() -> int:
    """A port that stays free: neither the system nor another process that runs tests takes it,
    however late it is used.
    """
    lane = int(re.sub(r"\D", "", os.environ.get("PYTEST_XDIST_WORKER", "")) or _LANES - 1) % _LANES
    for step in count(os.getpid()):
        port = _FIRST + (step * _LANES + lane) % (_LAST - _FIRST)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
    raise AssertionError
