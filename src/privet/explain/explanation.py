"""All numbers for one epsilon, together."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from privet.budget import Number
from privet.explain.attack import best_guess, best_test
from privet.explain.expected import Expected, MeasuredAccuracy, expect_accuracy, find_nearest
from privet.explain.inputs import check_probability
from privet.explain.losses import Losses, compute_losses_under
from privet.explain.noise import Noise, describe_noise, margin_probability
from privet.explain.participation import ParticipationCost, compute_price, cost_rise
from privet.explain.posterior import highest_posterior, lowest_posterior
from privet.explain.rows_needed import RowsNeeded, rows_for_share, rows_for_trial
from privet.explain.setting import Setting
from privet.schema import Schema


@dataclass(frozen=True)
class Belief:
    """What somebody of this prior may believe afterwards: that a person is in the table, or what
    that person's rows say.
    """

    prior: float
    in_table: float
    in_table_at_least: float
    record: float


@dataclass(frozen=True)
class Attack:
    """How often attacks succeed at most; ``exact_count`` is how often a noisy count is off by no
    more than the tolerance.
    """

    guess: float
    guess_record: float
    test: float
    exact_count: float


@dataclass(frozen=True)
class Explanation:
    """What an epsilon means for a table. Parts that depend on the number of rows are empty where it
    is not known.
    """

    losses: Losses
    rows: int | None
    beliefs: tuple[Belief, ...]
    attack: Attack
    noise: Noise
    trial: RowsNeeded
    share: RowsNeeded | None
    rise: float
    price: ParticipationCost | None
    expected: tuple[Expected, ...]
    nearest: tuple[MeasuredAccuracy, ...]

    def to_json(self) -> dict[str, Any]:
        """All of it, with fractions as text and None for what no bound says anything about."""
        found: dict[str, Any] = _json_value_of(asdict(self))
        return found


def explain(
    epsilon: Number, schema: Schema | None = None, setting: Setting | None = None
) -> Explanation:
    """What an epsilon means. Reads no row and charges nothing.

    Args:
        epsilon: as it would be passed to a question or a learner: for one row added or removed.
        schema: for whom the promise is (``rows_per_person``, ``neighbours``), the declared number
            of rows, and the tables most like it.
        setting: what else the numbers depend on.
    """
    setting = setting or Setting()
    rows = setting.rows_of(schema)
    loss = compute_losses_under(epsilon, schema)
    shape = (None, None) if schema is None else (schema.n_classes, len(schema.names))
    return Explanation(
        losses=loss,
        rows=rows,
        beliefs=tuple(
            Belief(
                check_probability("prior", prior),
                highest_posterior(prior, loss.presence),
                lowest_posterior(prior, loss.presence),
                highest_posterior(prior, loss.record),
            )
            for prior in setting.priors
        ),
        attack=Attack(
            best_guess(loss.presence),
            best_guess(loss.record),
            best_test(loss.presence, setting.false_alarms),
            margin_probability(loss.row, setting.tolerance),
        ),
        noise=describe_noise(loss.row, setting.confidence),
        trial=rows_for_trial(loss.row, setting.trial),
        share=None if rows is None else rows_for_share(loss.row, rows, setting.trial.share),
        rise=cost_rise(loss.presence),
        price=None
        if setting.cost is None
        else compute_price(loss.presence, setting.cost, setting.people_of(schema) or 1),
        expected=() if rows is None else tuple(expect_accuracy(loss.row, rows)),
        nearest=() if rows is None else tuple(find_nearest(loss.row, rows, *shape)),
    )


def _json_value_of(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _json_value_of(of) for key, of in value.items()}
    if isinstance(value, list | tuple):
        return [_json_value_of(of) for of in value]
    if isinstance(value, Fraction):
        return str(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value
