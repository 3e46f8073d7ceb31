"""Evaluate a released model on private rows, with intervals and a price.

One noisy histogram answers for everything: how many rows of each class the model puts into each
class, in a few public bins of the probability that it states. All measures are ratios of sums of
its entries. Their intervals hold two things at once: that these rows are a sample of people, and
the noise. To first order the variance of a measure m of the noisy entries N_i is

    sum over i of (dm/dN_i)^2 (E[N_i] + s^2),

where s is the standard deviation of the noise, as the rows of an entry are Poisson distributed in a
sample of people; it is exact for linear m.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from privet._notebook import html_box, one_line
from privet._types import Floats, Json
from privet.accounting.cost import Number, is_infinite, parse_epsilon
from privet.curator import AnyCurator
from privet.domain import text_of
from privet.errors import ParameterError, QuestionError
from privet.learners.score_groups import ScoreGroups
from privet.model import Model
from privet.queries import Numbers, Scores

if TYPE_CHECKING:
    import pandas as pd

#: Standard deviations of a normal distribution within which 95% of it lies.
Z = 1.96
#: Bins of the stated probability for each class that can be said: of two classes, and of more.
BINS, BINS_OF_MANY = 8, 4
#: A ratio is not told where what it divides by is not this many deviations of its noise.
MIN_DEVIATIONS = 2.0
#: Probabilities are kept this far from 0 and 1 in the log loss, so that one row is bounded in it.
CLIP = 1e-3


class Measure(NamedTuple):
    """A measure with its 95% interval; NaN where the noise is too large to tell."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        if math.isnan(self.value):
            return "-"
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"

    def to_json(self) -> Json | None:
        """Return the measure for JSON, which has no NaN: None where it is not told."""
        return None if math.isnan(self.value) else dict(self._asdict())


NOT_TOLD = Measure(math.nan, math.nan, math.nan)


class CalibrationBin(NamedTuple):
    """What a model states for some rows, and how many of these are as it says."""

    predicted: str
    stated: float
    right: Measure
    rows: float


@dataclass(frozen=True, eq=False)
class Evaluation:
    """How well a model does on private rows, from one noisy histogram.

    ``confusion`` is the noisy confusion matrix (true classes in lines, predicted ones in columns),
    and ``table`` the same, divided by the bin of the probability that the model stated. ``groups``
    says what each bin stands for. ``training`` is whether the model was trained on rows of the
    account that was asked, and so on these unless they were kept apart.
    """

    confusion: npt.NDArray[np.int64]
    answer: Numbers
    classes: tuple[object, ...]
    table: npt.NDArray[np.int64] | None = None
    groups: ScoreGroups | None = None
    training: bool = False

    # -- measures ----------------------------------------------------------------------------------

    @property
    def accuracy(self) -> float:
        """The share of rows on the diagonal, between 0 and 1."""
        total = max(float(self.confusion.sum()), 1.0)
        return min(max(float(np.trace(self.confusion)) / total, 0.0), 1.0)

    def interval(self) -> tuple[float, float]:
        """Return a 95% interval around the accuracy, for sampling and noise together."""
        measure = self._share(np.eye(len(self.confusion), dtype=bool), np.True_)
        told = not math.isnan(measure.value)
        return (measure.low, measure.high) if told else (0.0, 1.0)

    def measures(self) -> dict[str, Measure]:
        """Return accuracy, balanced accuracy, AUROC and log loss with 95% intervals.

        Of more than two classes, the AUROC is the mean over all classes of each against the rest.
        AUROC and log loss are those of the probabilities rounded to the public groups, and the log
        loss of probabilities between 0.001 and 0.999.
        """
        a, (low, high) = self.accuracy, self.interval()
        found = {
            "accuracy": Measure(a, low, high),
            "balanced accuracy": self._mean([self._recall(k) for k in self._each]),
        }
        if self.groups is not None:
            found["AUROC"] = self._mean([self._auroc(k) for k in self._positive])
            found["log loss"] = self._log_loss()
        return found

    def by_class(self) -> dict[str, tuple[Measure, Measure]]:
        """Return recall and precision of each class, with 95% intervals."""
        eye = np.eye(len(self.confusion), dtype=bool)
        return {
            label: (
                self._share(eye, np.arange(len(eye))[:, None] == k),
                self._share(eye, np.arange(len(eye))[None, :] == k),
            )
            for k, label in enumerate(self._labels)
        }

    def calibration(self) -> list[CalibrationBin]:
        """Return for each group what the model states, and the share of rows where it is right."""
        if self.groups is None or self.table is None:
            return []
        found = []
        for k, label in enumerate(self._labels):
            for number in range(1 + len(self.groups.edges[k])):
                here = np.zeros(self.table.shape, dtype=bool)
                here[:, k, number] = True
                right = np.zeros(self.table.shape, dtype=bool)
                right[k, k, number] = True
                rows = max(float(self.table[:, k, number].sum()), 0.0)
                stated = float(self.groups.shares[k, number, k])
                found.append(CalibrationBin(label, stated, self._share(right, here), rows))
        return found

    @property
    def _each(self) -> range:
        return range(len(self.confusion))

    @property
    def _positive(self) -> Sequence[int]:
        """The classes whose AUROC counts: of two classes it is the same for both."""
        return [1] if len(self.confusion) == 2 else self._each

    @cached_property
    def _counts(self) -> Floats:
        """All entries that were asked for, with the true class first."""
        return np.asarray(self.confusion if self.table is None else self.table, dtype=np.float64)

    def _widen(self, mask: Any) -> Any:
        """Return a mask of the confusion matrix as one of all entries."""
        mask = np.asarray(mask)
        if mask.ndim == 2 and self._counts.ndim == 3:
            mask = mask[:, :, None]
        return np.broadcast_to(mask, self._counts.shape)

    def _share(self, right: Any, among: Any) -> Measure:
        """Return the share of rows in some entries that are in others of them.

        The sampling error is that of Agresti and Coull (1998), which covers small numbers and
        shares near 0 and 1.
        """
        among = self._widen(among)
        right = self._widen(right) & among
        n, c = float(self._counts[among].sum()), float(self._counts[right].sum())
        s = self.answer.deviation
        if n <= max(MIN_DEVIATIONS * s * math.sqrt(int(among.sum())), 0.5):
            return NOT_TOLD
        share = min(max(c / n, 0.0), 1.0)
        wide = n + Z**2
        middle = (min(max(c, 0.0), n) + Z**2 / 2) / wide
        noise = s**2 * (right.sum() * (1 - middle) ** 2 + (among & ~right).sum() * middle**2)
        half = Z * math.sqrt(middle * (1 - middle) / wide + float(noise) / n**2)
        return Measure(
            share, max(min(middle - half, share), 0.0), min(max(middle + half, share), 1)
        )

    def _recall(self, k: int) -> tuple[float, Floats] | None:
        """Return the recall of a class and its derivatives."""
        mine = np.zeros(self._counts.shape)
        mine[k] = 1.0
        right = np.zeros(self._counts.shape)
        right[k, k] = 1.0
        n = float(self._counts[k].sum())
        if n <= MIN_DEVIATIONS * self.answer.deviation * math.sqrt(self._counts[k].size):
            return None
        recall = float((self._counts * right).sum()) / n
        return recall, (right - recall * mine) / n

    def _auroc(self, k: int) -> tuple[float, Floats] | None:
        """Return how often a row of class k has a larger score for it than a row of another class
        (ties count half), and its derivatives.
        """
        assert self.groups is not None
        scores = self.groups.shares[:, :, k].reshape(-1)
        flat = self._counts.reshape(len(self.confusion), -1)
        positive, negative = flat[k], flat.sum(axis=0) - flat[k]
        above = (scores[:, None] > scores[None, :]) + 0.5 * (scores[:, None] == scores[None, :])
        n_pos, n_neg = float(positive.sum()), float(negative.sum())
        s = self.answer.deviation * math.sqrt(flat.shape[1])
        others = len(flat) - 1
        if n_pos <= MIN_DEVIATIONS * s or n_neg <= MIN_DEVIATIONS * s * math.sqrt(others):
            return None
        value = float(positive @ above @ negative) / (n_pos * n_neg)
        slopes = np.tile((above.T @ positive / n_pos - value) / n_neg, (len(flat), 1))
        slopes[k] = (above @ negative / n_neg - value) / n_pos
        return value, slopes.reshape(self._counts.shape)

    def _log_loss(self) -> Measure:
        assert self.groups is not None
        shares = np.moveaxis(self.groups.shares, 2, 0).clip(CLIP, 1 - CLIP)
        losses = -np.log(shares)
        n = float(self._counts.sum())
        if n <= MIN_DEVIATIONS * self.answer.deviation * math.sqrt(self._counts.size):
            return NOT_TOLD
        value = float((self._counts * losses).sum()) / n
        return self._measure(max(value, 0.0), (losses - value) / n, math.inf)

    def _mean(self, found: list[tuple[float, Floats] | None]) -> Measure:
        """Return the mean of some measures; none where one of them is not told."""
        known = [one for one in found if one is not None]
        if len(known) < len(found):
            return NOT_TOLD
        value = sum(one for one, _ in known) / len(known)
        slopes = sum((slopes for _, slopes in known), np.zeros(self._counts.shape)) / len(known)
        return self._measure(min(max(value, 0.0), 1.0), slopes, 1.0)

    def _measure(self, value: float, slopes: Floats, most: float) -> Measure:
        """Return a measure with its interval, from its derivatives."""
        # a row more than there is, so that no entry is taken for certain to stay empty
        variances = np.maximum(self._counts, 0.0) + self.answer.deviation**2
        half = Z * math.sqrt(float((slopes**2 * variances).sum()))
        return Measure(value, max(value - half, 0.0), min(value + half, most))

    # -- what people see ---------------------------------------------------------------------------

    def to_frame(self) -> pd.DataFrame:
        """Return the noisy confusion matrix with labels: true classes in rows, predicted ones in
        columns.
        """
        import pandas as pd

        true, predicted = (pd.Index(self._labels, name=name) for name in ("true", "predicted"))
        return pd.DataFrame(self.confusion, index=true, columns=predicted)

    def to_json(self) -> Json:
        """Return everything for JSON; what is not told is None."""
        low, high = self.interval()
        return {
            "accuracy": self.accuracy,
            "interval": [low, high],
            "classes": self._labels,
            "noisy_confusion": self.confusion.tolist(),
            "measures": {name: one.to_json() for name, one in self.measures().items()},
            "by_class": {
                label: {"recall": recall.to_json(), "precision": precision.to_json()}
                for label, (recall, precision) in self.by_class().items()
            },
            "calibration": [
                {**one._asdict(), "right": one.right.to_json()} for one in self.calibration()
            ],
            "training_rows": self.training,
        }

    @property
    def _labels(self) -> list[str]:
        return [text_of(label) for label in self.classes]  # type: ignore[arg-type]

    @property
    def warning(self) -> str:
        """Say that these are the training rows, or nothing."""
        return _TRAINING if self.training else ""

    def __repr__(self) -> str:
        low, high = self.interval()
        return one_line(
            "Evaluation",
            f"accuracy {self.accuracy:.3f} ({low:.3f} to {high:.3f}, sampling and noise)",
            "ON TRAINING ROWS" if self.training else "",
            f"{len(self.classes)} classes",
            str(self.answer.row_cost),
        )

    def _repr_html_(self) -> str:
        facts = {name: str(one) for name, one in self.measures().items()}
        facts["in brackets"] = "95% intervals, for sampling and privacy noise together"
        facts["cost"] = str(self.answer.row_cost)
        if self.training:
            facts["beware"] = self.warning
        matrix = zip(self._labels, self.confusion.tolist(), strict=True)
        rows = [(label, *row) for label, row in matrix]
        headers = ("true class (noisy counts)", *(f"predicted {label}" for label in self._labels))
        alarm = not self.answer.private or self.training
        return html_box("Evaluation", facts, headers=headers, rows=rows, alarm=alarm)


_TRAINING = (
    "the model was trained on rows of this account: unless these rows were kept apart, it does "
    "worse on new ones"
)


def evaluate(model: Model, curator: AnyCurator, epsilon: Number) -> Evaluation:
    """Ask a curator for the noisy scores of a released model by class.

    Cost: pure ``epsilon``; a row is in one entry. A curator that cannot tell scores (of randomised
    records, or of an older version) is asked for the confusion matrix, for the same price.
    """
    training = curator.account in {leaf.account for leaf in model.privacy.leaves} - {""}
    classes = tuple(model.schema.classes)
    n_bins = BINS if len(classes) == 2 else BINS_OF_MANY
    groups = ScoreGroups.of(model, n_bins)
    try:
        answer = curator.ask(Scores(model, groups.edges), epsilon)
    except (ParameterError, QuestionError):  # refused, and nothing was charged
        answer = curator.confusion(model, epsilon)
        return Evaluation(answer.tables[0], answer, classes, training=training)
    table = answer.tables[0]
    return Evaluation(table.sum(axis=2), answer, classes, table, groups, training)


def advise_epsilon(
    n_rows: float | None, n_classes: int, epsilon: Number, width: float = 0.05
) -> str:
    """Return what an evaluation for this epsilon can tell, from public sizes; empty where that is
    enough.

    The half width of the interval around the accuracy is about
    1.96 sqrt(1/4n + 2 E/(4 epsilon^2 n^2)), for E entries and n rows.
    """
    if n_rows is None or n_rows < 1 or is_infinite(epsilon):
        return ""
    amount = float(parse_epsilon("epsilon", epsilon))
    entries = n_classes**2 * (BINS if n_classes == 2 else BINS_OF_MANY)
    noise = Z * math.sqrt(entries / 2) / (amount * n_rows)
    if noise <= width:
        return ""
    enough = Z * math.sqrt(entries / 2) / (width * n_rows)
    return (
        f"with about {n_rows:.3g} rows, the noise of epsilon {amount:g} alone moves the accuracy "
        f"by about {noise:.2g} either way; epsilon {_round_up(enough)} would leave {width:g}"
    )


def _round_up(amount: float) -> str:
    """Return a short decimal that is at least the amount."""
    scale = 10.0 ** (math.floor(math.log10(amount)) - 1)
    return f"{math.ceil(amount / scale - 1e-9) * scale:.2g}"
