"""The splits that all contestants share, and what is measured on each."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from privet._types import Floats, Ints

FOLDS = 5


def splits(classes: npt.NDArray[Any], repeat: int) -> Iterator[tuple[Ints, Ints]]:
    """Stratified training and test rows; the same for everyone."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nursery has a class of two rows
        yield from StratifiedKFold(FOLDS, shuffle=True, random_state=repeat).split(classes, classes)


def measures(truth: Ints, guess: Ints, chances: Floats) -> dict[str, float]:
    """Accuracy; AUROC, for more than two classes the mean over one against the rest; the mean
    recall of the classes.
    """
    present = np.unique(truth)
    ranked = [1] if chances.shape[1] == 2 else [label for label in present if len(present) > 1]
    return {
        "accuracy": float((guess == truth).mean()),
        "auroc": float(
            np.mean([roc_auc_score(truth == label, chances[:, label]) for label in ranked])
        ),
        "balanced": float(np.mean([(guess[truth == label] == label).mean() for label in present])),
    }
