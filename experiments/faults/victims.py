"""Processes that ask, and tell what they got before they are killed."""

from __future__ import annotations

import os
import select
import signal
import sys
import traceback
from collections.abc import Callable
from typing import NoReturn

from privet.accounting.ledger import Entry
from privet.errors import PrivetError

Tell = Callable[[str], None]
#: Seconds without a word, on a machine that may be busy.
PATIENCE = 180


class Victim:
    """A forked process that works until it is done or killed. A line that it told is out of it,
    whatever becomes of it then.
    """

    def __init__(self, work: Callable[[Tell], None]) -> None:
        reader, writer = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(reader)
            _work(work, writer)
        os.close(writer)
        self._reader = reader
        self.lines: list[str] = []
        self._rest = b""
        self.code: int | None = None  # once it has ended

    def hear(self) -> bool:
        """Wait for it to tell more; False if it will not. One that hangs is killed, and counts as
        one that crashed.
        """
        if not select.select([self._reader], [], [], PATIENCE)[0]:
            os.kill(self.pid, signal.SIGKILL)
            self.lines.append(f"crash it hung for {PATIENCE} seconds")
        told = os.read(self._reader, 1 << 16)
        *lines, self._rest = (self._rest + told).split(b"\n")
        self.lines += [line.decode() for line in lines]
        return bool(told)

    def kill(self) -> None:
        """As kill -9 does."""
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)
        self.end()

    def end(self) -> int:
        """Hear it out; its exit code, negative if it was killed."""
        if self.code is None:
            while self.hear():
                pass
            os.close(self._reader)
            self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.code

    @property
    def receipts(self) -> list[tuple[int, str]]:
        """The lines of the ledger that it told of, as numbers and hashes."""
        return [
            (int(line.split()[1]), line.split()[2])
            for line in self.lines
            if line.startswith("answer ")
        ]

    @property
    def refusals(self) -> list[str]:
        """The kinds of errors of ours that it met."""
        return [line.split(" ", 2)[1] for line in self.lines if line.startswith("refused ")]

    @property
    def crashes(self) -> list[str]:
        """Errors that are none of ours."""
        return [line for line in self.lines if line.startswith("crash ")]


def answered(entry: Entry) -> str:
    """What a victim tells of an answer: the line that paid for it."""
    return f"answer {entry.number} {entry.hash}"


def _work(work: Callable[[Tell], None], writer: int) -> NoReturn:
    def tell(line: str) -> None:
        # in one piece, as it is shorter than a pipe's unit
        os.write(writer, line.replace("\n", " ").encode()[:4000] + b"\n")

    code = 0
    try:
        work(tell)
    except PrivetError as error:
        tell(f"refused {type(error).__name__} {error}")
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is told
        where = traceback.extract_tb(error.__traceback__)[-1]
        tell(f"crash {type(error).__name__}: {error} ({where.name}:{where.lineno})")
        code = 1
    os._exit(code)
