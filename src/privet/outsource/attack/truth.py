"""The true values, which only the owner has, and people whose values an adversary may have heard
of.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from privet.checks import check_integer
from privet.errors import ParameterError
from privet.outsource.attack.groups import mix_bits
from privet.outsource.attack.posterior import Posterior
from privet.typed import Ints


def check_truth(posterior: Posterior, truth: npt.ArrayLike) -> Ints:
    """The true value code of each row, if every one is in the group of its row."""
    values = np.asarray(truth)
    if values.ndim != 1 or values.dtype.kind not in "iu" or len(values) != posterior.groups.n_rows:
        raise ParameterError(f"truth must be one column of {posterior.groups.n_rows} value codes")
    values = values.astype(np.int64)
    if (posterior.of_values(values) < 0).any():
        raise ParameterError("truth must give every row a value that its group holds")
    return values


def acquaintances(truth: npt.ArrayLike, how_many: int) -> dict[int, int]:
    """The true values of a few people, by position: what an adversary may know beforehand. Who: a
    public function of position.
    """
    values = np.asarray(truth)
    check_integer("how_many", how_many, 0, len(values), owner="acquaintances")
    rows = np.argsort(mix_bits(np.arange(len(values), dtype=np.uint64)), kind="stable")[:how_many]
    return {int(row): int(values[row]) for row in rows}
