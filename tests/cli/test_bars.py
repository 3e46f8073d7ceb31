"""Progress bars, where somebody looks."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.progress import Progress

from privet import _progress
from privet.cli import asking


class Clock:
    """Time that passes when it is told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def shown(monkeypatch):
    """The clock and the bars that a terminal would show."""
    clock, made = Clock(), []

    def bars(*columns, **options):
        options["console"] = Console(file=io.StringIO(), force_terminal=True)
        made.append(Progress(*columns, **options, auto_refresh=False, get_time=clock))
        return made[-1]

    monkeypatch.setattr(asking, "Progress", bars)
    monkeypatch.setattr(
        asking, "Console", lambda **_: Console(file=io.StringIO(), force_terminal=True)
    )
    return clock, made


def test_the_timer_of_a_query_goes_on_after_another_one_was_done(shown):
    clock, made = shown
    with asking.work_bars("fitting") as paid:
        (bars,) = made
        for doing in ("counting", "counting", "choosing splits"):
            began = clock.now
            for share in (0.25, 0.5, 1.0):
                clock.now += 2
                _progress.tell(doing, share)
                paid(share / 2)
            whole, step = bars.tasks
            assert step.finished
            assert step.finished_time == clock.now - began - 2, "from its own beginning"
            assert whole.elapsed == clock.now
        clock.now += 5
        _progress.tell("choosing splits", None)
        clock.now += 5
        assert not step.finished
        assert step.elapsed == 5
