"""Measure what can be said about a person without their group, learnt from other people.

The part of an attack that is inference from the population would be possible if the person were not
in the table at all. It is shown beside the attack, so that an owner sees what the split itself
gives away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from privet._types import Floats, Ints
from privet._validate import check_integer
from privet.domain import Schema
from privet.errors import ParameterError
from privet.outsource.attack.adversaries import Logistic, NaiveBayes, fit_logistic, fit_naive_bayes
from privet.outsource.attack.groups import CodedTable, make_table, mix_bits
from privet.outsource.attack.matching import match_all
from privet.outsource.attack.posterior import Posterior, check_truth, independent_trials, wilson

_AT_ONCE = 1 << 18


@dataclass(frozen=True)
class Population:
    """How often other people's true values tell a person's value.

    Args:
        accuracy: of the most likely value of the whole domain, without any group.
        interval: 19 in 20 for that accuracy.
        in_group: of the most likely value of the person's group: the attack of somebody who has
            learnt elsewhere, from true pairs.
        folds: in how many parts people were split, whole groups at a time.
    """

    accuracy: float
    interval: tuple[float, float]
    in_group: float
    folds: int


def population(
    schema: Schema,
    codes: Sequence[npt.ArrayLike],
    classes: npt.ArrayLike,
    posterior: Posterior,
    truth: npt.ArrayLike,
    *,
    folds: int = 10,
    smoothing: float = 1.0,
) -> Population:
    """Cross-validate the model of an attack on the true values, whole groups at a time.

    Parts are a public function of position.
    """
    check_integer("folds", folds, 2, owner="population")
    table, groups = make_table(schema, codes, classes), posterior.groups
    if table.n_rows != groups.n_rows:
        raise ParameterError(
            f"population: the columns must have {groups.n_rows} rows as the attack had, got "
            f"{table.n_rows}"
        )
    values = check_truth(posterior, truth)
    first = np.full(groups.n_groups, groups.n_rows)
    np.minimum.at(first, groups.group, np.arange(groups.n_rows))
    part = (mix_bits(first.astype(np.uint64)) % np.uint64(folds)).astype(np.int64)[groups.group]
    guess, weights = np.empty(groups.n_rows, dtype=np.int64), np.zeros(len(groups.row))
    for fold in range(folds):
        others, mine = np.flatnonzero(part != fold), np.flatnonzero(part == fold)
        shares = np.bincount(values[others], minlength=groups.n_values) + smoothing
        model = _fit_population_model(posterior, table, others, values[others], smoothing)
        if model is None or not len(mine):
            guess[mine] = int(shares.argmax())
            continue
        guess[mine] = _predict_most_likely(model, table, mine, np.log(shares))
        here = np.flatnonzero(part[groups.row] == fold)
        weights[here] = model.weights(table, groups.row[here], groups.value[here])
    right = (guess == values).astype(float)
    probability, _ = match_all(groups, weights)
    accuracy = float(right.mean())
    return Population(
        accuracy=accuracy,
        interval=wilson(accuracy, independent_trials(right, np.arange(groups.n_rows))),
        in_group=float((replace(posterior, probability=probability).best == values).mean()),
        folds=folds,
    )


def _fit_population_model(
    posterior: Posterior, table: CodedTable, row: Ints, value: Ints, smoothing: float
) -> NaiveBayes | Logistic | None:
    share, n_values = np.ones(len(row)), posterior.groups.n_values
    if posterior.model == "logistic":
        return fit_logistic(table, row, value, share, n_values)
    return (
        fit_naive_bayes(table, row, value, share, n_values, smoothing=smoothing)
        if len(row)
        else None
    )


def _predict_most_likely(
    model: NaiveBayes | Logistic, table: CodedTable, rows: Ints, log_shares: Floats
) -> Ints:
    """The most likely value of the whole domain, for each row."""
    n_values, found = len(log_shares), []
    step = max(1, _AT_ONCE // n_values)
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        gain = model.weights(
            table, np.repeat(part, n_values), np.tile(np.arange(n_values), len(part))
        ).reshape(-1, n_values)
        found.append((gain + log_shares).argmax(axis=1))
    return np.concatenate(found)
