"""The paper's measure of time: what is added up, and over how many predictions it is shared."""

from __future__ import annotations

import pytest

from experiments.papers.anatomy.equation import (
    LINES,
    amortise,
    compare_lines,
    name_line,
    seconds_of,
)


def step(cpu: float, moved: int = 0, waited: int = 0, seconds: float = 0.0, n: int = 0) -> dict:
    return {
        "cpu": cpu,
        "sent": moved // 2,
        "received": moved - moved // 2,
        "waited": waited,
        "seconds": seconds,
        "predictions": n,
    }


def test_processor_line_and_round_trips_are_added():
    one = step(2.0, moved=1_250_000, waited=100, seconds=99.0)
    assert seconds_of(one, "10mbit", 20) == pytest.approx(2 + 1 + 2)
    assert seconds_of(one, "1gbit", 0) == pytest.approx(2 + 0.01)


def test_the_clock_is_not_in_it():
    slow, quick = step(1.0, seconds=50.0), step(2.0, seconds=1.0)
    assert compare_lines([slow], [quick])[name_line("1gbit", 0)] == 0.5
    assert len(compare_lines([slow], [quick])) == len(LINES) == 9


def test_what_is_done_once_is_shared():
    """cnl learns for 10 seconds, and then both take as long for a prediction: 1/100 second."""
    answers = {
        "parts": [{"upto": 1, "step": step(1.0)}, {"upto": 10, "step": step(0.5)}],
        "again": step(0.2, n=20),
    }
    naive = {"learn": step(10.0), "predict": step(0.1)}
    found = amortise(answers, naive, 10)
    assert found["equation_ratio_after_1"] == pytest.approx(1.0 / 10.01)
    assert found["equation_ratio_after_10"] == pytest.approx(1.5 / 10.1)
    assert found["equation_ratio_after_1000"] == pytest.approx((1.5 + 9.9) / 20)
    assert found["equation_ratio_after_10000"] == pytest.approx((1.5 + 99.9) / 110)
