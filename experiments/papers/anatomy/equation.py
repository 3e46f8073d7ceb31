"""The paper's own measure of time: what a client spends, and no waiting for the server's work.

Mancuhan and Clifton 2014 (section 4) count the client's cryptography, its network, and its learning
and inference. Here that is the time of the client's processor, plus the bytes over the speed of the
line, plus a round trip for each exchange that a prediction waits for. The processor and the meters
are measured; line and round trip are arithmetic. The clock, which waits for the server's work too,
is told apart from it everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

#: Bits a second, by name.
SPEEDS = {"1gbit": 1e9, "100mbit": 1e8, "10mbit": 1e7}
#: Milliseconds of a round trip.
ROUND_TRIPS = (0, 5, 20)
#: The paper's line, whose round trip it does not name.
PAPERS = ("100mbit", 5)
#: Over so many predictions what is done once is shared.
PREDICTIONS = (1, 10, 100, 1000, 10_000)
LINES = [(speed, trip) for speed in SPEEDS for trip in ROUND_TRIPS]
Step = dict[str, Any]


def name_line(speed: str, trip: int) -> str:
    """Name the column of a line."""
    return f"equation_ratio_{speed}_{trip}ms"


def seconds_of(step: Step, speed: str, trip: int) -> float:
    """Return what a step takes a client by the paper's measure."""
    bits = 8 * (step["sent"] + step["received"])
    return float(step["cpu"] + bits / SPEEDS[speed] + step["waited"] * trip / 1000)


def add_steps(steps: Sequence[Step], weights: Sequence[float] | None = None) -> Step:
    """Return the sum of steps, each so many times."""
    weights = [1.0] * len(steps) if weights is None else weights
    names = ("seconds", "cpu", "sent", "received", "waited")
    return {
        name: sum(one[name] * weight for one, weight in zip(steps, weights, strict=True))
        for name in names
    }


def compare_lines(ours: Sequence[Step], naive: Sequence[Step]) -> dict[str, float]:
    """Return the ratio of two learners' seconds on each line."""
    mine, other = add_steps(ours), add_steps(naive)
    return {name_line(*line): seconds_of(mine, *line) / seconds_of(other, *line) for line in LINES}


def amortise(answers: dict[str, Any], naive: dict[str, Any], rows: int) -> dict[str, float]:
    """Return the ratio after so many predictions, on the paper's line.

    Up to the rows of the fold it is measured. Beyond, each prediction takes what it takes once all
    leaves that the fold reaches are refined.
    """
    found = {}
    each = add_steps([naive["predict"]], [1 / rows])
    for n in PREDICTIONS:
        done = [part["step"] for part in answers["parts"] if part["upto"] <= n]
        covered = max((part["upto"] for part in answers["parts"] if part["upto"] <= n), default=0)
        again = add_steps([answers["again"]], [(n - covered) / answers["again"]["predictions"]])
        ours = add_steps([*done, again])
        other = add_steps([naive["learn"], each], [1, n])
        found[f"equation_ratio_after_{n}"] = seconds_of(ours, *PAPERS) / seconds_of(other, *PAPERS)
    return found
