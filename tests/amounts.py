"""Amounts that no door takes.

How an amount is read is tested in ``tests/accounting/test_exact.py``, with every spelling there is.
A door (a question of a curator, a learner, a command, the service) is tested with one list of
these: that it refuses by name, and before anything is charged."""

from __future__ import annotations

import math

#: One of each kind: zero, negative, no number, text, a division by zero, nothing, a truth value, a
#: list, minus infinity, too many digits. Infinity is refused in other words: it means no noise.
NO_EPSILONS = [0, -1, math.nan, "x", "1/0", None, True, [], -math.inf, 10**200]
#: A delta may be zero, and must be below one.
NO_DELTAS = [-1, math.nan, "x", 1, 2]
