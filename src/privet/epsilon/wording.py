"""Write each number as the end of a sentence, for an owner who never heard of epsilon."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any, Literal, NamedTuple

from privet.epsilon.choice import Choice, Wishes
from privet.epsilon.explanation import Explanation, Setting
from privet.epsilon.noise_on_counts import Trial, check_positive, check_probability

#: What no number above says, and everybody should know.
CAVEATS = (
    (
        "Beliefs are about what a person's own rows add. What the other rows teach about people "
        "like them is not limited by any epsilon."
    ),
    (
        "What learners keep was measured on public tables. Yours may differ: ask for a private "
        "evaluation (privet evaluate)."
    ),
)
SOURCES = (
    (
        "J. Lee and C. Clifton 2011, How much is enough? Choosing epsilon for differential "
        "privacy. ISC, pp. 325-340."
    ),
    "X.-M. He, X. S. Wang, H.-H. Chen and Y.-H. Dong 2015, Study on choosing the parameter epsilon "
    "in differential privacy. Journal on Communications 36(12), pp. 124-130.",
    (
        "L. Wasserman and S. Zhou 2010, A statistical framework for differential privacy. JASA "
        "105(489), pp. 375-389."
    ),
    (
        "P. Kairouz, S. Oh and P. Viswanath 2015, The composition theorem for differential "
        "privacy. ICML, pp. 1376-1385."
    ),
    (
        "D. Vu and A. Slavkovic 2009, Differential privacy for clinical trial data: preliminary "
        "evaluations. ICDM Workshops, pp. 138-143."
    ),
    (
        "J. Hsu et al. 2014, Differential privacy: an economic method for choosing epsilon. CSF, "
        "pp. 398-410."
    ),
)


class Sentence(NamedTuple):
    """A sentence that each of the numbers ends, one number per epsilon."""

    sentence: str
    numbers: tuple[str, ...]


class Section(NamedTuple):
    """The heading of one part, and its sentences."""

    title: str
    lines: tuple[Sentence, ...]


def make_sections(found: Sequence[Explanation], setting: Setting) -> list[Section]:
    """Write all numbers of some epsilons, side by side."""
    sections = [
        Section("What a person loses, as an epsilon", tuple(_loss_lines(found))),
        Section("What somebody may come to believe (Lee and Clifton)", tuple(_belief_lines(found))),
        Section(
            "How often an attack succeeds (He et al.; Wasserman and Zhou; Kairouz et al.)",
            tuple(_attack_lines(found, setting)),
        ),
        Section("The noise on a count", tuple(_noise_lines(found, setting))),
        Section(
            "How many rows the same accuracy needs (Vu and Slavkovic)",
            tuple(_rows_needed_lines(found, setting)),
        ),
        Section("The price of taking part (Hsu et al.)", tuple(_price_lines(found, setting))),
        Section(
            "What learners keep of what can be learnt, measured on public tables",
            tuple(_expected_lines(found)),
        ),
    ]
    return [section for section in sections if section.lines]


def _loss_lines(found: Sequence[Explanation]) -> Iterator[Sentence]:
    losses = [one.losses for one in found]
    yield Sentence(
        "Whether somebody is in the table costs",
        tuple(format_epsilon(one.presence) for one in losses),
    )
    yield Sentence(
        "What the rows of somebody in the table say costs",
        tuple(format_epsilon(one.record) for one in losses),
    )
    yield Sentence(
        "The ledger is charged, for the neighbours that are declared",
        tuple(format_epsilon(one.charged) for one in losses),
    )


def _belief_lines(found: Sequence[Explanation]) -> Iterator[Sentence]:
    for place, belief in enumerate(found[0].beliefs):
        beliefs = [one.beliefs[place] for one in found]
        who = f"Whoever gave it {format_percent(belief.prior)} that somebody"
        yield Sentence(
            f"{who} is in the table gives it afterwards at most",
            tuple(format_share_up(one.in_table) for one in beliefs),
        )
        yield Sentence(
            "... and at least", tuple(format_share_down(one.in_table_at_least) for one in beliefs)
        )
        yield Sentence(
            f"{who} in it has some condition gives it afterwards at most",
            tuple(format_share_up(one.record) for one in beliefs),
        )


def _attack_lines(found: Sequence[Explanation], setting: Setting) -> Iterator[Sentence]:
    attacks = [one.attack for one in found]
    accused = format_percent(check_probability("false_alarms", setting.false_alarms))
    count = (
        f"A noisy count is {_describe_tolerance(setting.tolerance)}, as an attack hopes that "
        "takes it at its "
        "word, with probability"
    )
    yield Sentence(
        "A guess whether somebody is in the table is right at most (a coin: 50%)",
        tuple(format_share_up(one.guess) for one in attacks),
    )
    yield Sentence(
        "A guess which of two conditions somebody in it has is right at most",
        tuple(format_share_up(one.guess_record) for one in attacks),
    )
    yield Sentence(
        f"A test that accuses {accused} of the people outside finds of those inside at most",
        tuple(format_share_up(one.test) for one in attacks),
    )
    yield Sentence(count, tuple(format_percent(one.exact_count) for one in attacks))


def _noise_lines(found: Sequence[Explanation], setting: Setting) -> Iterator[Sentence]:
    noises = [one.noise for one in found]
    often = format_percent(check_probability("confidence", setting.confidence))
    yield Sentence(
        "A count gets noise whose standard deviation in rows is",
        tuple(format_number(one.deviation) for one in noises),
    )
    yield Sentence(
        f"At least {often} of counts are off by so many rows or fewer",
        tuple(f"{one.margin:,}" for one in noises),
    )
    yield Sentence(
        "... which holds for exactly", tuple(format_percent(one.coverage) for one in noises)
    )


def _rows_needed_lines(found: Sequence[Explanation], setting: Setting) -> Iterator[Sentence]:
    trials = [one.trial for one in found]
    yield Sentence(
        f"A test that finds {_describe_change(setting.trial)} needs without noise, in rows",
        tuple(f"{one.without:,}" for one in trials),
    )
    yield Sentence("... and with the noise", tuple(f"{one.noisy:,}" for one in trials))
    yield Sentence("... which is more by", tuple(format_percent(one.ratio - 1) for one in trials))
    shares = [one.share for one in found if one.share is not None]
    if shares:
        rows = f"A share as precise as from {shares[0].without:,} rows without noise needs, in rows"
        yield Sentence(rows, tuple(f"{one.noisy:,}" for one in shares))


def _price_lines(found: Sequence[Explanation], setting: Setting) -> Iterator[Sentence]:
    yield Sentence(
        "What a person must expect to lose rises by taking part by at most",
        tuple(format_share_up(one.rise) for one in found),
    )
    prices = [one.price for one in found if one.price is not None]
    if setting.cost is None or not prices:
        return
    lost = format_number(check_positive("cost", setting.cost))
    yield Sentence(
        f"Of an expected loss of {lost}, this is for each person at most",
        tuple(format_number_up(one.each) for one in prices),
    )
    if prices[0].people > 1:
        yield Sentence(
            f"... and for {prices[0].people:,} people together at most",
            tuple(format_number_up(one.total) for one in prices),
        )


def _expected_lines(found: Sequence[Explanation]) -> Iterator[Sentence]:
    for place, learner in enumerate(found[0].expected):
        here = [one.expected[place] for one in found]
        yield Sentence(
            f"In the middle of the tables, {learner.learner} keeps",
            tuple(format_whole_percent(one.middle) for one in here),
        )
        yield Sentence(
            "... and in the worst and the best of them",
            tuple(
                f"{format_whole_percent(one.low)} to {format_whole_percent(one.high)}"
                for one in here
            ),
        )
    if found[0].expected:
        measured = tuple(str(one.expected[0].tables) for one in found)
        yield Sentence(
            (
                "So many tables were measured at so many rows x epsilon (others count with their "
                "last value)"
            ),
            measured,
        )


def describe_wish(choice: Choice, wishes: Wishes, setting: Setting) -> str:
    """Describe a wish in words."""
    if choice.prior is not None:
        what = (
            "somebody is in the table"
            if choice.wish == "posterior"
            else "somebody in it has some condition"
        )
        limit = wishes.posterior if choice.wish == "posterior" else wishes.record
        return (
            f"Whoever gave it {format_percent(choice.prior)} that {what} gives it afterwards "
            "no more than "
            f"{format_percent(_check_wish(limit))}"
        )
    if choice.wish == "attack":
        return (
            "A guess whether somebody is in the table is right no more often than "
            f"{format_percent(_check_wish(wishes.attack))}"
        )
    if choice.wish == "exact_count":
        return (
            f"A noisy count is {_describe_tolerance(setting.tolerance)} no more often than "
            f"{format_percent(_check_wish(wishes.exact_count))}"
        )
    if choice.wish == "budget":
        return (
            "The price of taking part is together no more than "
            f"{format_number(_check_wish(wishes.budget))}"
        )
    if choice.wish == "margin":
        return (
            f"At least {format_percent(check_probability('confidence', setting.confidence))} "
            "of counts are off "
            f"by {wishes.margin:,} rows or fewer"
        )
    return f"The noise takes no more than {format_number(_check_wish(wishes.ratio))} times the rows"


def format_percent(value: float) -> str:
    """Format a probability with three digits; near 0 and 1 it says on which side."""
    if math.isinf(value):
        return "no bound"
    if 0.9995 <= value < 1:
        return ">99.9%"
    return f"{format_number(100 * value)}%"


def format_share_up(value: float) -> str:
    """Format a share that is an upper bound: rounded up."""
    return format_percent(_round_to_three_digits(value, ROUND_CEILING))


def format_share_down(value: float) -> str:
    """Format a share that is a lower bound: rounded down."""
    return format_percent(_round_to_three_digits(value, ROUND_FLOOR))


def format_number_up(value: float) -> str:
    """Format a number that is an upper bound: rounded up."""
    return format_number(
        _round_to_three_digits(value, ROUND_CEILING)
        if value < 999.5 or math.isinf(value)
        else math.ceil(value)
    )


def _round_to_three_digits(value: float, rounding: str) -> float:
    if math.isinf(value) or value == 0:
        return value
    exact = Decimal(f"{value:.12g}")  # what floating point added is not rounded up
    return float(exact.quantize(Decimal(1).scaleb(exact.adjusted() - 2), rounding))


def format_whole_percent(value: float) -> str:
    """Format a share in whole percents, for what is not known better."""
    return f"{100 * value:.0f}%"


def format_number(value: float) -> str:
    """Format a number with three digits, or with all of those before the point."""
    if math.isinf(value):
        return "no bound"
    if abs(value) < 999.5:
        return f"{value:.3g}"
    return f"{value:,.0f}" if abs(value) < 1e15 else f"{value:.3g}"


def format_chosen_epsilon(epsilon: float, bound: Literal["at most", "at least"]) -> str:
    """Format a chosen epsilon with three digits, rounded to the side on which the wish is kept."""
    rounding = ROUND_FLOOR if bound == "at most" else ROUND_CEILING
    exact = Decimal(epsilon)
    return f"{float(exact.quantize(Decimal(1).scaleb(exact.adjusted() - 2), rounding)):g}"


def format_epsilon(value: Any) -> str:
    """Format an epsilon as people write it."""
    return f"{float(value):.6g}"


def _describe_tolerance(tolerance: int) -> str:
    return "exactly right" if tolerance == 0 else f"off by {tolerance:,} or fewer"


def _describe_change(trial: Trial) -> str:
    share, level, power = (
        format_percent(check_probability(name, getattr(trial, name)))
        for name in ("share", "level", "power")
    )
    points = format_number(100 * check_probability("difference", trial.difference))
    return f"a share of {share} changed by {points} points (level {level}, power {power})"


def _check_wish(value: Any) -> float:
    return check_positive("wish", value)
