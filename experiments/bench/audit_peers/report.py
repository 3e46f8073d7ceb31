"""The page and the CSV file of the results."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.bench.audit_peers.audits import ERROR
from experiments.bench.audit_peers.cases import CASES, Case
from experiments.bench.audit_peers.dealing import computed
from experiments.bench.audit_peers.remarks import REMARKS
from privet._atomic import write_atomically
from privet.audit import AuditResult, epsilon_at_least

FIELDS = (
    "case",
    "peer",
    "versions",
    "neighbours",
    "epsilon",
    "delta",
    "bound",
    "ceiling",
    "runs",
    "counted",
    "hits",
    "other_hits",
    "verdict",
    "worlds",
    "event",
)
Line = dict[str, str]
_VERDICTS = _REFUTED, _IN_THIS_READING, _NOT_REFUTED = (
    "refuted",
    "refuted in this reading",
    "not refuted",
)

_TOP = """# Do peers keep their promise?

Made by `python -m experiments.bench.audit_peers` (`--anew` repeats it); the figures are in [audit-peers.csv](audit-peers.csv). The
[audit](../concepts/audit.md) that our own learners go through, on fitted models of other libraries in an environment of their own:
{versions}.

Two made-up tables that differ in one person; many fits in each; an event that is chosen on one half of them and counted on the other.
Whatever the interfaces take was declared: bounds, classes, values. No seed was set. All bounds hold together with a confidence of
{confidence:.1%}. One above the claim refutes it; one below proves nothing.

"""  # noqa: E501

_MIDDLE = """
**An infinite epsilon looks finite here.** Where something is never seen without the person, no epsilon is large enough. But if it was not
seen in n counted runs, it follows only that it is rarer than about {rarer:.0f}/n; so the bound ends at the number in the column "at most",
whatever the truth, and grows by ln 2 when there are twice as many runs.

**Which neighbours.** None of the three says, in the reference of these classes, whom epsilon is for: a row added or removed, or one
replaced. Where the answer decides, it says "in this reading" above. A bound above 2 for a replaced row refutes an epsilon of 1 for added or
removed rows too, since a replacement is a removal and an addition.

These projects do not hide what they are for: "The public release of diffprivlib is intended for research and education purposes
only", and distributed-random-forest has a "built-in DP RF for experimentation and comparison". The faults are those of these releases, and
may be gone in later ones.

Not audited, because they are not on the Python package index or have to be compiled: PrivaTree, Smooth Random Trees, dp-xgboost, FedTree.
"""  # noqa: E501


def line_of(case: Case, result: AuditResult, versions: Mapping[str, str]) -> Line:
    """What is kept of a result. Bounds are rounded down."""
    ceiling = epsilon_at_least(
        result.counted,
        result.counted,
        0,
        result.counted,
        delta=case.delta,
        confidence=result.confidence,
    )
    others = ", ".join(f"{name} {versions[name]}" for name in ("scikit-learn", "numpy"))
    values: dict[str, Any] = {
        "case": case.name,
        "peer": case.peer,
        "versions": f"{case.peer} {versions[case.peer]}, {others}",
        "neighbours": case.neighbours,
        "epsilon": f"{case.epsilon:g}",
        "delta": f"{case.delta:g}",
        "bound": _down(result.bound),
        "ceiling": _down(ceiling),
        "runs": result.runs,
        "counted": result.counted,
        "hits": result.hits[0],
        "other_hits": result.hits[1],
        "verdict": result.verdict,
        "worlds": result.pair,
        "event": result.event,
    }
    return {name: str(values[name]) for name in FIELDS}


def read(path: Path) -> dict[str, Line]:
    """The lines of a CSV file by their case; none if there is no file."""
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        return {line["case"]: line for line in csv.DictReader(file)}


def write(lines: Mapping[str, Line], out: Path) -> list[Path]:
    """Write audit-peers.csv and audit-peers.md, in the order of the cases."""
    ordered = [lines[case.name] for case in CASES if case.name in lines]
    table = io.StringIO()
    writer = csv.DictWriter(table, FIELDS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(ordered)
    page, figures = out / "audit-peers.md", out / "audit-peers.csv"
    write_atomically(figures, table.getvalue().encode())
    write_atomically(page, _page(ordered).encode())
    return [page, figures]


def _page(lines: Sequence[Line]) -> str:
    versions = ", ".join(
        dict.fromkeys(version for line in lines for version in line["versions"].split(", "))
    )
    text = _TOP.format(versions=versions, confidence=1 - ERROR) + _table(lines)
    text += _MIDDLE.format(rarer=-math.log(ERROR / len(CASES) / 2))
    verdicts = {line["case"]: _verdict(line) for line in lines}
    exact = computed()
    for verdict in _VERDICTS:
        some = [line for line in lines if verdicts[line["case"]] == verdict]
        text += f"\n## {verdict.capitalize()}\n" if some else ""
        text += "".join(_section(line, exact.get(line["case"], "")) for line in some)
    return text


def _verdict(line: Line) -> str:
    if line["verdict"] == _NOT_REFUTED:
        return _NOT_REFUTED
    return _IN_THIS_READING if REMARKS[line["case"]].reading else _REFUTED


def _table(lines: Sequence[Line]) -> str:
    head = (
        "| what | of | neighbours | claimed | lower bound | at most | runs in each world | "
        "|\n|---|---|---|---:|---:|---:|---:|---|\n"
    )
    return head + "".join(
        f"| {REMARKS[line['case']].title} | {line['peer']} | {line['neighbours']} | {_claim(line)} "
        f"| {line['bound']} | {line['ceiling']} "
        f"| {line['runs']} | {_verdict(line)} |\n"
        for line in lines
    )


def _section(line: Line, exact: str) -> str:
    remark = REMARKS[line["case"]]
    seen = (
        f"{line['hits']} against {line['other_hits']} of {line['counted']} runs: {line['event']}."
    )
    facts = [
        f"- Claimed: {remark.says}",
        f"- Worlds: {line['worlds']} (`{line['case']}`).",
        f"- Seen: {seen}",
        f"- Why: {remark.why}",
    ]
    facts += [f"- Computed: {exact}"] if exact else []
    facts += [f"- How to avoid it: {remark.avoid}"] if remark.avoid else []
    return f"\n### {remark.title}\n\n" + "\n".join(facts) + "\n"


def _claim(line: Line) -> str:
    return line["epsilon"] if line["delta"] == "0" else f"{line['epsilon']}, delta {line['delta']}"


def _down(bound: float) -> str:
    return f"{int(bound * 100) / 100:.2f}"
