"""What an attack came to, as counts, and what follows from them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from experiments.bench.membership.game import KINDS
from privet.audit.bounds import share_at_least, share_at_most

#: False positive rates at which the picture shows true ones.
GRID = tuple(round(10 ** (step / 4), 4) for step in range(-8, 1))
#: Low, as counted, high.
Interval = tuple[float, float, float]


@dataclass(frozen=True)
class Found:
    """What was counted on attacked models.

    ``auc`` and ``curve`` (true positive rates at those of GRID) are over all targets. The event
    (one target of a kind, one threshold) was chosen on shadow models; ``caught`` of its ``members``
    and ``mistaken`` of the ``others`` were said to be in.
    """

    auc: dict[str, float]
    curve: tuple[float, ...]
    kind: str
    members: int
    caught: int
    others: int
    mistaken: int

    def rates(self, confidence: float) -> tuple[Interval, Interval]:
        """The true and the false positive rate with Clopper-Pearson bounds that hold together at
        the confidence.
        """
        error = (1 - confidence) / 4  # two bounds each for two chances
        return _bounded(self.caught, self.members, error), _bounded(
            self.mistaken, self.others, error
        )

    def advantage(self, confidence: float) -> Interval:
        """TPR - FPR."""
        tpr, fpr = self.rates(confidence)
        return tpr[0] - fpr[2], tpr[1] - fpr[1], tpr[2] - fpr[0]

    def epsilon(self, confidence: float) -> float:
        """What epsilon is at least: by TPR <= e^epsilon FPR, and by 1 - FPR <= e^epsilon (1 -
        TPR).
        """
        (low, _, _), (_, _, high) = self.rates(confidence)
        return max(_log_ratio(low, high), _log_ratio(1 - high, 1 - low), 0.0)

    def within(self, epsilon: float, confidence: float) -> bool:
        """Whether the counts can be under this epsilon. The advantage is within its bound if both
        ratios are.
        """
        return self.epsilon(confidence) <= epsilon

    def record(self) -> dict[str, object]:
        """As a line of a table."""
        counted = {
            "kind": self.kind,
            "members": self.members,
            "caught": self.caught,
            "others": self.others,
            "mistaken": self.mistaken,
        }
        areas = {f"auc {kind}": round(self.auc[kind], 4) for kind in KINDS}
        return (
            counted
            | areas
            | {
                f"tpr at {at:g}": round(value, 4)
                for at, value in zip(GRID, self.curve, strict=True)
            }
        )

    @classmethod
    def of(cls, line: dict[str, str]) -> Found:
        """From a line of a table."""
        counts = (int(line[name]) for name in ("members", "caught", "others", "mistaken"))
        auc = {kind: float(line[f"auc {kind}"]) for kind in KINDS}
        return cls(auc, tuple(float(line[f"tpr at {at:g}"]) for at in GRID), line["kind"], *counts)


def advantage_bound(epsilon: float) -> float:
    """The most that TPR - FPR can be: (e^epsilon - 1)/(e^epsilon + 1)."""
    return math.tanh(epsilon / 2)


def tpr_bound(epsilon: float, fpr: float) -> float:
    """The most that the true positive rate can be at a false positive rate."""
    return min(math.exp(epsilon) * fpr, 1 - math.exp(-epsilon) * (1 - fpr))


def _bounded(hits: int, runs: int, error: float) -> Interval:
    return share_at_least(hits, runs, error), hits / runs, share_at_most(hits, runs, error)


def _log_ratio(above: float, below: float) -> float:
    if above <= 0:
        return -math.inf
    return math.log(above / below) if below > 0 else math.inf
