"""What is measured on the test rows of a fold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata
from sklearn.metrics import roc_auc_score

from privet._types import Floats, Ints

#: A probability of 0 for what happened would make the log loss infinite.
SMALLEST_PROBABILITY = 1e-6
CALIBRATION_BINS = 10


@dataclass(frozen=True)
class Measure:
    """A figure on a fold; ``sign`` is -1 where smaller is better."""

    name: str
    title: str
    sign: int = 1


ACCURACY = Measure("accuracy", "accuracy")
AUROC = Measure("auroc", "AUROC")
LOG_LOSS = Measure("log_loss", "log loss", -1)
BALANCED = Measure("balanced", "balanced accuracy")
CALIBRATION = Measure("calibration", "calibration error", -1)
MEASURES = (ACCURACY, AUROC, LOG_LOSS, BALANCED, CALIBRATION)


def measure(truth: Ints, guess: Ints, chances: Floats) -> dict[str, float]:
    """Return every measure by name. AUROC for more than two classes is the mean over one class
    against the rest, balanced accuracy the mean recall of the classes.
    """
    present = np.unique(truth)
    ranked = [1] if chances.shape[1] == 2 else [label for label in present if len(present) > 1]
    of_truth = chances[np.arange(len(truth)), truth]
    return {
        ACCURACY.name: float((guess == truth).mean()),
        AUROC.name: float(
            np.mean([roc_auc_score(truth == label, chances[:, label]) for label in ranked])
        ),
        LOG_LOSS.name: float(-np.log(np.clip(of_truth, SMALLEST_PROBABILITY, 1)).mean()),
        BALANCED.name: float(
            np.mean([(guess[truth == label] == label).mean() for label in present])
        ),
        CALIBRATION.name: calibration_error(truth, chances),
    }


def calibration_error(truth: Ints, chances: Floats) -> float:
    """Return the expected calibration error of the most likely class: its mean probability beside
    how often it is right, in bins that hold equally many rows.

    Rows of one probability share a bin, so that their order cannot matter.
    """
    likeliest = chances.argmax(axis=1)
    confidence = chances[np.arange(len(truth)), likeliest]
    right = likeliest == truth
    rank = (rankdata(confidence) - 0.5) / len(truth)
    bins = (rank * CALIBRATION_BINS).astype(np.int64)
    gaps = np.bincount(bins, confidence - right, CALIBRATION_BINS)
    return float(np.abs(gaps).sum() / len(truth))
