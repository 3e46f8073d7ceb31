"""From a case to a result: the audit runs here, and every fit in the peers' process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from experiments.bench.audit_peers.cases import Case
from privet.audit import AuditResult, World, audit

#: The error of the whole table: each line has its share of it.
ERROR = 0.001
Ask = Callable[[dict[str, Any]], dict[str, Any]]


def audited(case: Case, ask: Ask, runs: int, lines: int) -> AuditResult:
    """The case against its promise, in a table of so many lines that all hold together with a
    confidence of 99.9%.
    """
    worlds = [plain(case.pair.one), plain(case.pair.other)]
    facts = {
        "release": case.release,
        "epsilon": case.epsilon,
        "delta": case.delta,
        "settings": dict(case.settings),
        "worlds": worlds,
    }
    facts["probes"] = plain(case.pair.probed)["X"]

    def run(world: World) -> dict[str, Any]:
        seen: dict[str, Any] = ask(facts | {"world": plain(world)})["seen"]
        return seen

    return audit(
        run,
        case.pair,
        case.epsilon,
        runs,
        delta=case.delta,
        confidence=1 - ERROR / lines,
        name=case.name,
    )


def plain(world: World) -> dict[str, list[Any]]:
    """The rows of a world as they can be written down, in their order."""
    names, target = world.schema.names, world.schema.target
    return {
        "X": [[row[name] for name in names] for row in world.rows],
        "y": [row[target] for row in world.rows],
    }
