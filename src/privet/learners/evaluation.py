"""Evaluate a released model on private rows, with intervals and a price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from privet._notebook import html_box, one_line
from privet.accounting.cost import Number
from privet.curator import AnyCurator
from privet.domain import text_of
from privet.model import Model
from privet.queries import Numbers

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A noisy confusion matrix (true classes in lines, predicted ones in columns) and what follows
    from it.
    """

    confusion: npt.NDArray[np.int64]
    answer: Numbers
    classes: tuple[object, ...]

    @property
    def accuracy(self) -> float:
        """The share of rows on the diagonal, between 0 and 1."""
        total = max(float(self.confusion.sum()), 1.0)
        return min(max(float(np.trace(self.confusion)) / total, 0.0), 1.0)

    def to_frame(self) -> pd.DataFrame:
        """Return the noisy confusion matrix with labels: true classes in rows, predicted ones in
        columns.
        """
        import pandas as pd

        true, predicted = (pd.Index(self._labels, name=name) for name in ("true", "predicted"))
        return pd.DataFrame(self.confusion, index=true, columns=predicted)

    @property
    def _labels(self) -> list[str]:
        return [text_of(label) for label in self.classes]  # type: ignore[arg-type]

    def __repr__(self) -> str:
        low, high = self.interval()
        return one_line(
            "Evaluation",
            f"accuracy {self.accuracy:.3f} ({low:.3f} to {high:.3f}, privacy noise alone)",
            f"{len(self.classes)} classes",
            str(self.answer.row_cost),
        )

    def _repr_html_(self) -> str:
        low, high = self.interval()
        facts = {
            "accuracy": f"{self.accuracy:.3f}",
            "95% interval": f"{low:.3f} to {high:.3f} (privacy noise alone)",
            "cost": str(self.answer.row_cost),
        }
        matrix = zip(self._labels, self.confusion.tolist(), strict=True)
        rows = [(label, *row) for label, row in matrix]
        headers = ("true class (noisy counts)", *(f"predicted {label}" for label in self._labels))
        alarm = not self.answer.private
        return html_box("Evaluation", facts, headers=headers, rows=rows, alarm=alarm)

    def interval(self, deviations: float = 2.0) -> tuple[float, float]:
        """Return an interval around the accuracy, for the noise alone.

        About 19 in 20 for two standard deviations.

        The accuracy is a ratio c/n of noisy sums; with T classes, T entries are in c and T**2 in n.
        To first order its variance is s**2 (T (1 - 2a) + T**2 a**2) / n**2.
        """
        n_classes, a = len(self.confusion), self.accuracy
        total = max(float(self.confusion.sum()), 1.0)
        variance = (
            self.answer.deviation**2
            * max(n_classes * (1 - 2 * a) + (n_classes * a) ** 2, 0.0)
            / total**2
        )
        half = deviations * float(np.sqrt(variance))
        return max(a - half, 0.0), min(a + half, 1.0)


def evaluate(model: Model, curator: AnyCurator, epsilon: Number) -> Evaluation:
    """Ask a curator for the noisy confusion matrix of a released model.

    Cost: pure ``epsilon``; a row is in one entry.
    """
    answer = curator.confusion(model, epsilon)
    return Evaluation(answer.tables[0], answer, tuple(model.schema.classes))
