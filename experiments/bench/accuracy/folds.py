"""The splits that all contestants share."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy.typing as npt
from sklearn.model_selection import StratifiedKFold

from privet._types import Ints

FOLDS = 5


def splits(classes: npt.NDArray[Any], repeat: int) -> Iterator[tuple[Ints, Ints]]:
    """Stratified training and test rows; the same for everyone."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nursery has a class of two rows
        yield from StratifiedKFold(FOLDS, shuffle=True, random_state=repeat).split(classes, classes)
