"""What was spent over time: steps up to now, below the cap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from privet.budget import Budget
from privet.ledger import Entry
from privet.service.page.amounts import format_down

#: The picture's inner size; the page stretches it to its own.
WIDTH, HEIGHT = 1000, 150


@dataclass(frozen=True)
class Tick:
    """A mark on an axis: where, and what it says."""

    at: float
    text: str


@dataclass(frozen=True)
class Chart:
    """A step chart, ready to be drawn. ``ticks`` go up the amounts, ``dates`` along the time, in
    percent.
    """

    line: str
    area: str
    cap: Tick
    ticks: tuple[Tick, ...]
    dates: tuple[Tick, ...]
    first: str
    last: str


def make_chart(entries: Sequence[Entry], cap: Budget, now: datetime | None = None) -> Chart | None:
    """The chart of one data set's charges, oldest first; None where there are none."""
    if not entries:
        return None
    times = [datetime.fromisoformat(entry.time) for entry in entries]
    begin = times[0]
    span = max(now or datetime.now(UTC), *times, begin + timedelta(minutes=1)) - begin
    columns: dict[int, float] = {}  # at most one step for each column of the picture
    total, x = 0.0, 0
    for time, entry in zip(times, entries, strict=True):
        total += float(entry.cost.amount(cap.unit) or 0)
        # a clock that was set back does not turn the line
        x = max(x, round((time - begin) / span * WIDTH))
        columns[x] = total
    top = max(float(cap.amount), total) * 1.02 or 1.0

    def height(amount: float) -> float:
        return round(HEIGHT - amount / top * HEIGHT, 1)

    line = (
        f"M0 {HEIGHT}"
        + "".join(f"H{x}V{height(amount)}" for x, amount in columns.items())
        + f"H{WIDTH}"
    )
    # An amount beside the cap would run into the cap's own text.
    amounts = [
        amount
        for amount in _list_round_amounts(top)
        if abs(amount - float(cap.amount)) > 0.12 * top
    ]
    return Chart(
        line,
        f"{line}V{HEIGHT}Z",
        Tick(height(float(cap.amount)), format_down(cap.amount)),
        tuple(Tick(height(amount), f"{amount:.4g}") for amount in amounts),
        _make_date_ticks(begin, span),
        f"{begin:%d %B %Y}".lstrip("0"),
        f"{begin + span:%d %B %Y}".lstrip("0"),
    )


def _list_round_amounts(top: float) -> list[float]:
    """Round amounts from 0 up, three or four of them."""
    power = 10.0 ** math.floor(math.log10(top / 3))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if top / (power * factor) <= 4.2)
    return [step * number for number in range(int(top / step) + 1)]


def _make_date_ticks(begin: datetime, span: timedelta) -> tuple[Tick, ...]:
    form = (
        "%d %b %H:%M"
        if span < timedelta(days=4)
        else "%d %b"
        if span < timedelta(days=300)
        else "%b %Y"
    )
    parts = 2 if span < timedelta(days=4) else 3  # longer texts, fewer of them
    return tuple(
        Tick(round(part / parts * 100, 2), f"{begin + span * part / parts:{form}}".lstrip("0"))
        for part in range(parts + 1)
    )
