"""The loop: make an input, give it to the target, look at what became of it."""

from __future__ import annotations

import faulthandler
import os
import re
import resource
import shutil
import signal
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from privet.errors import PrivetError
from tests.fuzz.minimise import minimised
from tests.fuzz.target import Target

#: Bytes of memory that a process may take.
MEMORY = 8 << 30
#: Seconds after which an input that waits for something, rather than computes, has hung.
PATIENCE = 180
#: Inputs that made something new happen are kept to be changed again; so many at most, none longer
#: than this.
POOL = 3000
POOLED = 1 << 15
_VARIABLE = re.compile(r"'[^']*'|\"[^\"]*\"|\[[^\]]*\]|[^\s]*/[^\s]*|\d[\d.e+-]*|[^\x20-\x7e]+")


class TooSlow(BaseException):
    """An input took more CPU time than it may."""


@dataclass
class Crash:
    """What should not have happened: where, what, how often, and the first input that did it, made
    smaller.
    """

    where: str
    told: str
    data: bytes
    times: int = 1


@dataclass
class Result:
    """What became of all inputs."""

    inputs: int = 0
    taken: int = 0
    refused: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    #: Kilobytes.
    memory: int = 0
    #: How many inputs got each message, less what varies in it.
    messages: dict[str, int] = field(default_factory=dict)
    crashes: dict[str, Crash] = field(default_factory=dict)


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder in memory where there is one: a ledger waits for the disk at every charge."""
    shared = Path("/dev/shm")
    folder = Path(
        tempfile.mkdtemp(prefix="privet-fuzz-", dir=shared if os.access(shared, os.W_OK) else None)
    )
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def fuzz(
    target: Target,
    inputs: int,
    seed: int,
    *,
    limited: bool = False,
    tell: Callable[[Result], None] = lambda _: None,
) -> Result:
    """Try so many inputs. ``limited``: with limits on time and memory, which are those of the whole
    process. ``tell`` hears how it goes.
    """
    rng = Random(f"{seed} {target.name}")
    result = Result()
    corpus = target.corpus()
    for data in corpus:
        outcome = attempt(target, data)  # without limits: loops may have to be compiled first
        assert outcome == "taken", (
            f"{target.name}: a valid input must be taken, but: {outcome}\n{data[:300]!r}"
        )
    corpus = corpus + target.extra()
    pool = list(corpus)
    current = target.folder / "current"
    if limited:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.RLIM_INFINITY))
    begun = told = time.monotonic()
    for _ in range(inputs):
        data = target.mutate(rng, rng.choice(corpus if rng.random() < 0.5 else pool), corpus)
        if limited:
            current.write_bytes(data)  # what a process that dies was doing
        start = time.process_time()
        outcome = attempt(target, data, limited=limited)
        taken = time.process_time() - start
        result.inputs += 1
        result.slowest = max(result.slowest, taken)
        if isinstance(outcome, Crash):
            _note(result, target, outcome, limited=limited)
        elif outcome == "taken":
            result.taken += 1
            if rng.random() < 0.01 and len(pool) < POOL and len(data) < POOLED:
                pool.append(data)
        else:
            result.refused += 1
            if outcome not in result.messages and len(pool) < POOL and len(data) < POOLED:
                pool.append(data)
            result.messages[outcome] = result.messages.get(outcome, 0) + 1
        result.seconds = time.monotonic() - begun
        if time.monotonic() - told > 2:
            result.memory, told = (
                resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
                time.monotonic(),
            )
            tell(result)
    result.memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return result


def attempt(target: Target, data: bytes, *, limited: bool = False) -> Crash | str:
    """What becomes of one input: "taken", the message with which it is refused, or a crash."""
    refused = ""
    try:
        with _limits(target.seconds if limited else 0), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            target.run(data)
    except PrivetError as error:
        refused = f"{type(error).__name__}: {_VARIABLE.sub('…', str(error)[:300])[:100]}"
        try:
            str(error).encode()
        except UnicodeEncodeError as broken:  # it could not be printed
            return _crash(broken, data)
    except TooSlow as error:
        return _crash(error, data, "too slow")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - this is what we look for
        return _crash(error, data)
    left = os.listdir(target.out)  # noqa: PTH208 - for every input, so it should be fast
    for name in left:
        path = target.out / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    if refused and left:
        return Crash("files left behind", f"refused, but it left {left}: {refused}", data)
    if half := [name for name in left if name.endswith((".part", ".tmp")) or name.startswith(".")]:
        return Crash("files left behind", f"taken, but it left {half}", data)
    return refused or "taken"


@contextmanager
def _limits(seconds: float) -> Iterator[None]:
    """CPU time is limited, so that a busy machine is not to blame; what waits for ever ends the
    process.
    """
    if not seconds:
        yield
        return

    was_late = False

    def late(*_: object) -> None:
        nonlocal was_late
        was_late = True
        raise TooSlow(f"more than {seconds:g} seconds of CPU time")

    signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    faulthandler.dump_traceback_later(PATIENCE, exit=True)
    try:
        yield
        if was_late:  # an event loop swallows what is raised within it
            raise TooSlow(f"more than {seconds:g} seconds of CPU time")
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        faulthandler.cancel_dump_traceback_later()


def _crash(error: BaseException, data: bytes, kind: str = "") -> Crash:
    """Two crashes are one if they come from the same line of Privet."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if "/privet/" in frame.filename or "/fuzz/t" in frame.filename
    ]
    last = frames[-1] if frames else None
    where = f"{kind or type(error).__name__} at " + (
        f"{Path(last.filename).name}:{last.name}" if last else "?"
    )
    told = "".join(traceback.format_exception(error))
    return Crash(where, told[-4000:], data)


def _note(result: Result, target: Target, crash: Crash, *, limited: bool) -> None:
    if crash.where in result.crashes:
        result.crashes[crash.where].times += 1
        return

    def same(data: bytes) -> bool:
        outcome = attempt(target, data, limited=limited)
        return isinstance(outcome, Crash) and outcome.where == crash.where

    if not crash.where.startswith("too slow"):
        crash.data = minimised(crash.data, same)
    result.crashes[crash.where] = crash
