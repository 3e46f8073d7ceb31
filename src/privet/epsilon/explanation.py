"""Explain one epsilon for a table: all its numbers, together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import Any

from privet.accounting.cost import Number
from privet.domain import Schema
from privet.epsilon.adversary import (
    Losses,
    ParticipationCost,
    best_guess,
    best_test,
    compute_losses_under,
    compute_price,
    cost_rise,
    highest_posterior,
    lowest_posterior,
)
from privet.epsilon.expected import Expected, MeasuredAccuracy, Range, expect_accuracy, find_nearest
from privet.epsilon.noise_on_counts import (
    Noise,
    RowsNeeded,
    Trial,
    check_count,
    check_positive,
    check_probability,
    describe_noise,
    margin_probability,
    rows_for_share,
    rows_for_trial,
)
from privet.errors import ParameterError

# What the numbers depend on besides epsilon.


@dataclass(frozen=True)
class Setting:
    """What the numbers depend on besides epsilon.

    All of it is public or assumed: no row is looked at.

    Parameters
    ----------
    rows
        How many rows the table has; by default as the schema declares.
    priors
        What somebody may have believed about a person before.
    false_alarms
        The share of people outside that a test for membership accuses.
    tolerance
        How many rows a count may be off for an attack that takes it at face value.
    confidence
        How often a count should be within its margin.
    trial
        The test for which rows are counted.
    cost
        What a person must expect to lose, in any currency, who does not take part.
    people
        How many take part; by default as many as there are rows, which is the most there
        can be.
    majority
        The share of the rows that have the most frequent class, if it is public or guessed.
        With it, an accuracy can be expected.
    """

    rows: int | None = None
    priors: Sequence[Number] = (0.01, 0.1, 0.5)
    false_alarms: Number = 0.05
    tolerance: int = 0
    confidence: Number = 0.95
    trial: Trial = field(default_factory=Trial)
    cost: Number | None = None
    people: int | None = None
    majority: Number | None = None

    def __post_init__(self) -> None:
        if not self.priors:
            raise ParameterError("priors must hold at least one prior")
        for prior in self.priors:
            check_probability("prior", prior)
        check_probability("false_alarms", self.false_alarms)
        check_count("tolerance", self.tolerance, 0)
        check_probability("confidence", self.confidence)
        if self.cost is not None:
            check_positive("cost", self.cost)
        if self.rows is not None:
            check_count("rows", self.rows)
        if self.people is not None:
            check_count("people", self.people)
        if self.majority is not None:
            check_probability("majority", self.majority)

    def rows_of(self, schema: Schema | None) -> int | None:
        """Return the number of rows, as given here or as declared.

        A table that is declared empty has nothing to explain.
        """
        if self.rows is not None or schema is None:
            return self.rows
        if schema.n_rows == 0:
            raise ParameterError("rows must be an integer of at least 1, and the schema declares 0")
        return schema.n_rows

    def people_of(self, schema: Schema | None) -> int | None:
        """Return how many people take part: as given here, or as many as there are rows.

        There can be no more than that.
        """
        rows = self.rows_of(schema)
        if self.people is not None and rows is not None and self.people > rows:
            raise ParameterError(
                f"people must be at most the number of rows, {rows:,}, got {self.people}"
            )
        return rows if self.people is None else self.people


@dataclass(frozen=True)
class Belief:
    """What somebody with this prior may believe afterwards.

    It is that a person is in the table, or what that person's rows say.
    """

    prior: float
    in_table: float
    in_table_at_least: float
    record: float


@dataclass(frozen=True)
class Attack:
    """How often attacks succeed at most.

    ``exact_count`` is how often a noisy count is off by no more than the tolerance.
    """

    guess: float
    guess_record: float
    test: float
    exact_count: float


@dataclass(frozen=True)
class Explanation:
    """What an epsilon means for a table.

    Parts that depend on the number of rows are empty where it is not known.
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
        """Return everything as JSON: fractions as text, None where no bound says anything."""
        content: dict[str, Any] = _json_value_of(asdict(self))
        return content


def explain(
    epsilon: Number, schema: Schema | None = None, setting: Setting | None = None
) -> Explanation:
    """Explain what an epsilon means.

    Reads no row and charges nothing.

    Parameters
    ----------
    epsilon
        As it would be passed to a question or a learner: for one row added or removed.
    schema
        For whom the promise is (``rows_per_person``, ``neighbours``), the declared number
        of rows, and the tables most like it.
    setting
        What else the numbers depend on.
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
        expected=() if rows is None else tuple(expect_accuracy(loss.row, rows, setting.majority)),
        nearest=() if rows is None else tuple(find_nearest(loss.row, rows, *shape)),
    )


def _json_value_of(value: Any) -> Any:
    if isinstance(value, Range):
        value = value._asdict()
    if isinstance(value, dict):
        return {key: _json_value_of(of) for key, of in value.items()}
    if isinstance(value, list | tuple):
        return [_json_value_of(of) for of in value]
    if isinstance(value, Fraction):
        return str(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value
