"""Large questions wait for room, in order, and leave it when they are done, whatever happens."""

from __future__ import annotations

import threading

import pytest

from privet.service.limits import MemoryGate


def test_no_more_is_held_than_there_is():
    room, lock, held, most = MemoryGate(10), threading.Lock(), 0, 0

    def work(size):
        nonlocal held, most
        with room.taken(size):
            with lock:
                held += size
                most = max(most, held)
            threading.Event().wait(0.005)
            with lock:
                held -= size

    threads = [threading.Thread(target=work, args=(size,)) for size in (1, 4, 6, 10, 3, 7, 2) * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert 7 <= most <= 10


def test_one_that_needs_more_than_all_is_alone():
    room, inside, go = MemoryGate(10), threading.Event(), threading.Event()

    def large():
        with room.taken(1000):
            inside.set()
            go.wait(60)

    first = threading.Thread(target=large)
    first.start()
    assert inside.wait(60)
    came = threading.Event()
    second = threading.Thread(target=lambda: room.taken(1).__enter__() or came.set())
    second.start()
    assert not came.wait(0.1)
    go.set()
    assert came.wait(60)
    first.join()
    second.join()


def test_small_ones_do_not_pass_a_large_one_for_ever():
    room, order = MemoryGate(10), []
    first = room.taken(6)
    first.__enter__()
    queued = threading.Event()

    def work(name, size):
        with room.taken(size):
            order.append(name)

    large = threading.Thread(target=work, args=("large", 8))
    large.start()
    while not room._waiting:
        queued.wait(0.001)
    small = threading.Thread(target=work, args=("small", 1))
    small.start()
    while len(room._waiting) < 2:
        queued.wait(0.001)
    first.__exit__(None, None, None)
    large.join(60)
    small.join(60)
    assert order == ["large", "small"]


def test_room_is_left_after_a_failure():
    room = MemoryGate(10)
    with pytest.raises(ValueError, match="x"), room.taken(10):
        raise ValueError("x")
    with room.taken(10):
        pass
