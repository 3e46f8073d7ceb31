"""Bars on standard error for work that takes its time, where somebody looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from privet.progress import watched


@contextmanager
def work_bars(what: str, *, remaining: bool = False) -> Iterator[Callable[[float], None]]:
    """Two bars: how much of the whole is paid for, which the caller tells, and how far the question
    is that is being answered.

    ``remaining``: the time that is left is told too, from how long it took so far.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _: None
        return
    columns = [
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
    ]
    if remaining:
        columns += [TextColumn("left:"), TimeRemainingColumn()]
    # The speed is that of the last hour: where steps are long, that of the last half a minute would
    # be none.
    with Progress(*columns, console=console, transient=True, speed_estimate_period=3600) as bars:
        whole = bars.add_task(what, total=1.0)
        step = bars.add_task("", total=None, visible=False)

        def told(doing: str, share: float | None) -> None:
            bars.update(
                step,
                description=f"  {doing}",
                total=None if share is None else 1.0,
                completed=share or 0.0,
                visible=True,
            )

        with watched(told):
            yield lambda share: bars.update(whole, completed=share)
