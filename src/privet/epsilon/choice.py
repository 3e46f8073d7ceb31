"""Choose an epsilon by what it should keep: bounds on beliefs, attacks, noise, rows or a price.

Wishes for privacy bound epsilon from above, wishes for accuracy from below. Where the lowest of the
former is not below the highest of the latter, some epsilon keeps all of them; otherwise none does,
and the table needs more rows or the wishes must be modest.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from privet.accounting.cost import Number
from privet.domain import Schema
from privet.epsilon.adversary import compute_losses_under, epsilon_for_posterior, epsilon_for_price
from privet.epsilon.explanation import Setting
from privet.epsilon.noise_on_counts import check_probability, epsilon_for_margin, epsilon_for_ratio
from privet.errors import ParameterError


@dataclass(frozen=True)
class Wishes:
    """What an epsilon should keep. A wish that is None is not made.

    Parameters
    ----------
    posterior
        Nobody should believe more than this that a person is in the table, unless they
        did before: this is for the highest of the given priors that is below it.
    record
        Nor, of somebody in the table, that their rows say something.
    attack
        A guess of in or out should not be right more often than this, where both were
        equally likely; above one half.
    exact_count
        A noisy count should not be within the tolerance more often than this.
    budget
        The compensation of all people should cost no more than this.
    margin
        A count should be off by no more rows than this, with the given confidence.
    ratio
        The test should need no more than so many times the rows that it needs without noise.
    """

    posterior: Number | None = None
    record: Number | None = None
    attack: Number | None = None
    exact_count: Number | None = None
    budget: Number | None = None
    margin: int | None = None
    ratio: Number | None = None


@dataclass(frozen=True)
class Choice:
    """One wish, and the epsilon that it allows for one row, as you would pass it to a query.

    ``prior`` is whose belief it is.
    """

    wish: str
    bound: Literal["at most", "at least"]
    epsilon: float
    prior: float | None = None


@dataclass(frozen=True)
class Choices:
    """All wishes together.

    ``largest`` and ``smallest`` are the bounds that they leave; None where nothing bounds that
    side.
    """

    choices: tuple[Choice, ...]
    largest: float | None
    smallest: float | None

    @property
    def possible(self) -> bool:
        """Whether some epsilon keeps all wishes."""
        return self.largest is None or self.smallest is None or self.smallest <= self.largest

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON."""
        return {
            "choices": [asdict(choice) for choice in self.choices],
            "largest": self.largest,
            "smallest": self.smallest,
            "possible": self.possible,
        }


def choose(wishes: Wishes, schema: Schema | None = None, setting: Setting | None = None) -> Choices:
    """Find which epsilons keep the wishes.

    Reads no row and charges nothing.

    Parameters
    ----------
    wishes
        At least one.
    schema
        For whom the promise is; see :func:`~privet.epsilon.explain`.
    setting
        Priors, tolerance, confidence, the test, cost and people.
    """
    setting = setting or Setting()
    person = compute_losses_under(1, schema)
    choices: list[Choice] = []

    def most(wish: str, epsilon: float, prior: float | None = None) -> None:
        choices.append(Choice(wish, "at most", epsilon, prior))

    if wishes.posterior is not None:
        prior = _find_highest_prior("posterior", wishes.posterior, setting)
        most(
            "posterior",
            epsilon_for_posterior(prior, wishes.posterior) / float(person.presence),
            prior,
        )
    if wishes.record is not None:
        prior = _find_highest_prior("record", wishes.record, setting)
        most("record", epsilon_for_posterior(prior, wishes.record) / float(person.record), prior)
    if wishes.attack is not None:
        if check_probability("attack", wishes.attack) <= 0.5:
            raise ParameterError(
                f"attack must be above 0.5, which is what a coin has, got {wishes.attack!r}"
            )
        most("attack", epsilon_for_posterior(0.5, wishes.attack) / float(person.presence))
    if wishes.exact_count is not None:
        most(
            "exact_count",
            epsilon_for_margin(
                setting.tolerance, check_probability("exact_count", wishes.exact_count)
            ),
        )
    if wishes.budget is not None:
        if setting.cost is None:
            raise ParameterError(
                "a price can be kept below a sum only where it is said what a person must expect "
                "to lose who does not take part (cost)"
            )
        people = setting.people_of(schema)
        if people is None:
            raise ParameterError(
                "a price can be kept below a sum only where it is said how many people take part "
                "(people or rows)"
            )
        most(
            "budget",
            epsilon_for_price(wishes.budget, setting.cost, people) / float(person.presence),
        )
    if wishes.margin is not None:
        choices.append(
            Choice("margin", "at least", epsilon_for_margin(wishes.margin, setting.confidence))
        )
    if wishes.ratio is not None:
        choices.append(
            Choice(
                "ratio",
                "at least",
                epsilon_for_ratio(wishes.ratio, setting.trial.rows, setting.trial.share),
            )
        )
    if not choices:
        raise ParameterError("wishes must hold at least one wish")
    above = [choice.epsilon for choice in choices if choice.bound == "at most"]
    below = [choice.epsilon for choice in choices if choice.bound == "at least"]
    return Choices(tuple(choices), min(above, default=None), max(below, default=None))


def _find_highest_prior(name: str, believed: Number, setting: Setting) -> float:
    limit, priors = (
        check_probability(name, believed),
        [check_probability("prior", prior) for prior in setting.priors],
    )
    below = [prior for prior in priors if prior < limit]
    if not below:
        raise ParameterError(
            f"{name} must be above a prior, and the lowest is {min(priors):g}; got {believed!r}"
        )
    return max(below)
