"""Many audits in one table: which lines it has, and how they are worked off by several
processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from fractions import Fraction
from multiprocessing import get_context
from typing import Literal, NamedTuple, get_args

from privet.audit.bounds import CONFIDENCE
from privet.audit.result import AuditResult, judged_together
from privet.audit.subjects import SUBJECTS, audit_subject, subject_named
from privet.checks import check_integer, check_name
from privet.schema.schema import Neighbours

Relations = Literal["add-remove", "replace", "both"]
_STRIDE = 5


class Line(NamedTuple):
    """What is audited, and for whom."""

    subject: str
    neighbours: Neighbours


def lines_of(subjects: Sequence[str] = (), neighbours: Relations = "both") -> list[Line]:
    """The lines for these subjects, by default all; one that promises for one relation only has a
    line for that one.
    """
    check_name("neighbours", neighbours, get_args(Relations))
    found = []
    for name in dict.fromkeys(subjects or SUBJECTS):
        subject = subject_named(name)
        of = subject.relations if neighbours == "both" else (subject.neighbours(neighbours),)
        found += [Line(name, one) for one in of]
    return found


def audit_table(
    lines: Sequence[Line],
    runs: int = 4000,
    *,
    epsilon: Fraction | None = None,
    confidence: float = CONFIDENCE,
    jobs: int = 1,
    done: Callable[[float], None] = lambda _: None,
) -> list[AuditResult]:
    """Audit all lines, and judge them together.

    Args:
        lines: such as :func:`lines_of` gives.
        runs: of each, in each of its two worlds.
        epsilon: what each is given per row added or removed; by default what its claim takes.
        confidence: of each bound by itself, and of all verdicts together.
        jobs: how many processes work at once.
        done: told the share of the lines that are done.
    """
    check_integer("runs", runs, 64)
    check_integer("jobs", jobs, 1)
    # Quick and slow ones are mixed, so that the time left can be told from the lines that are done.
    order = [place for start in range(_STRIDE) for place in range(start, len(lines), _STRIDE)]
    found: dict[int, AuditResult] = {}
    for place, result in _audit_in_processes(lines, order, runs, epsilon, confidence, jobs):
        found[place] = result
        done(len(found) / len(lines))
    return judged_together([found[place] for place in range(len(lines))])


def _audit_in_processes(
    lines: Sequence[Line],
    order: Sequence[int],
    runs: int,
    epsilon: Fraction | None,
    confidence: float,
    jobs: int,
) -> Iterator[tuple[int, AuditResult]]:
    if jobs == 1:
        for place in order:
            yield place, _audit_line(lines[place], runs, epsilon, confidence)
        return
    # Fresh processes: one that is forked off a process with threads may hang.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        waiting: dict[Future[AuditResult], int] = {
            pool.submit(_audit_line, lines[place], runs, epsilon, confidence): place
            for place in order
        }
        try:
            for future in as_completed(waiting):
                yield waiting[future], future.result()
        finally:
            for future in waiting:
                future.cancel()


def _audit_line(line: Line, runs: int, epsilon: Fraction | None, confidence: float) -> AuditResult:
    return audit_subject(
        line.subject, epsilon, runs, neighbours=line.neighbours, confidence=confidence
    )
