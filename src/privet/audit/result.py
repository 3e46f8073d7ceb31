"""What an audit found, of one claim or of a table of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from privet.audit.bounds import epsilon_at_least


@dataclass(frozen=True)
class AuditResult:
    """What an audit found.

    ``hits`` are those of the event in the ``counted`` runs of each world, where it is likelier
    first. ``reach`` is about the bound that a perfect test would have found in so many runs, where
    that is known. ``lines`` is how many claims are judged together: the more there are, the more a
    single one takes to be called violated (:func:`judged_together`).
    """

    subject: str
    claimed: float
    delta: float
    confidence: float
    runs: int
    counted: int
    hits: tuple[int, int]
    pair: str
    event: str
    neighbours: str = ""
    reach: float | None = None
    lines: int = 1

    @property
    def bound(self) -> float:
        """What epsilon is at least, with the ``confidence``. One below the claim does not prove it:
        it says how close the audit came.
        """
        return self._bound(self.confidence)

    @property
    def sure_bound(self) -> float:
        """What epsilon is at least, where the sure bounds of all ``lines`` hold at once with the
        ``confidence`` (Bonferroni).
        """
        return self._bound(1 - (1 - self.confidence) / self.lines)

    def _bound(self, confidence: float) -> float:
        return epsilon_at_least(
            self.hits[0],
            self.counted,
            self.hits[1],
            self.counted,
            delta=self.delta,
            confidence=confidence,
        )

    @property
    def holds(self) -> bool:
        """Whether the claim stands: it is not refuted, with the ``confidence`` for all ``lines``
        together.
        """
        return self.sure_bound <= self.claimed

    @property
    def verdict(self) -> str:
        """``holds``, ``violated``, or ``in doubt``: above the claim if it were judged alone, and
        not among so many.
        """
        if not self.holds:
            return "violated"
        return "holds" if self.bound <= self.claimed else "in doubt"

    @property
    def tightness(self) -> float:
        """The bound as a share of the claim: near 1, a smaller claim would be refuted."""
        return self.bound / self.claimed if self.claimed > 0 else math.inf

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "subject": self.subject,
            "neighbours": self.neighbours,
            "claimed_epsilon": self.claimed,
            "delta": self.delta,
            "audited_lower_bound": self.bound,
            "lower_bound_for_all_lines": self.sure_bound,
            "within_reach": self.reach,
            "confidence": self.confidence,
            "lines": self.lines,
            "runs": self.runs,
            "counted": self.counted,
            "hits": list(self.hits),
            "worlds": self.pair,
            "event": self.event,
            "tightness": round(self.tightness, 4),
            "verdict": self.verdict,
        }


def judged_together(results: Sequence[AuditResult]) -> list[AuditResult]:
    """The same results, judged as one table: if all claims are true, *none* is called violated,
    with the confidence.
    """
    return [replace(one, lines=len(results)) for one in results]
