"""Parts of work on threads: each once, results in order, failures as in a plain loop."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from privet._parallel import for_each_part, for_each_range


@pytest.fixture
def three_cores(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 3)


@pytest.mark.parametrize("workers", [None, -1, 0, 1, 2, 64])
@pytest.mark.parametrize("n_parts", [0, 1, 2, 50])
def test_results_are_in_the_order_of_the_parts(three_cores, n_parts, workers):
    assert for_each_part(n_parts, lambda part: part**2, workers=workers) == [
        part**2 for part in range(n_parts)
    ]


def test_results_are_in_order_whichever_part_ends_first(three_cores):
    last_done = threading.Event()

    def work(part: int) -> int:
        if part == 0:
            assert last_done.wait(30)
        if part == 9:
            last_done.set()
        return part

    assert for_each_part(10, work) == list(range(10))


@pytest.mark.parametrize(("workers", "threads"), [(None, 3), (2, 2), (64, 3)])
def test_parts_run_at_once_on_a_bounded_number_of_threads(three_cores, workers, threads):
    together = threading.Barrier(threads)  # passed only by so many at once
    used = set()

    def work(_: int) -> None:
        used.add(threading.get_ident())
        together.wait(30)

    before = threading.active_count()
    for_each_part(threads * 4, work, workers=workers)
    assert len(used) == threads
    assert threading.get_ident() in used
    assert threading.active_count() == before


@pytest.mark.parametrize("workers", [0, 1])
def test_one_worker_is_the_caller(three_cores, workers):
    used = for_each_part(5, lambda _: threading.get_ident(), workers=workers)
    assert set(used) == {threading.get_ident()}


def test_the_first_failed_part_is_the_one_that_is_raised(three_cores):
    later_failed = threading.Event()

    def work(part: int) -> None:
        if part == 1:
            assert later_failed.wait(30)
            raise ValueError("part 1")
        if part == 2:
            later_failed.set()
            raise KeyError("part 2")

    with pytest.raises(ValueError, match="part 1"):
        for_each_part(3, work)


def test_nothing_is_started_after_a_failure(three_cores):
    started, failed = [], threading.Event()

    def work(part: int) -> None:
        started.append(part)
        if part == 0:
            failed.set()
            raise ValueError("no")
        assert failed.wait(30)
        threading.Event().wait(0.05)  # time for the failure to be noted

    before = threading.active_count()
    with pytest.raises(ValueError, match="no"):
        for_each_part(1000, work)
    assert len(started) < 20
    assert threading.active_count() == before


@pytest.mark.parametrize("workers", [None, 1, 2])
@pytest.mark.parametrize("n", [0, 1, 2, 300_001])
def test_ranges_are_every_number_once(three_cores, n, workers):
    seen = np.zeros(n, dtype=int)
    ranges = []

    def work(low: int, high: int) -> None:
        ranges.append((low, high))
        seen[low:high] += 1

    for_each_range(n, work, workers=workers)
    assert (seen == 1).all()
    assert len(ranges) == max(1, min(n, workers or 3))
