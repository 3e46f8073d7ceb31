"""Write each number as the end of a sentence, for an owner who never heard of epsilon.

"You" is a person whose rows may be in the table.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any, Literal, NamedTuple

from privet.epsilon.choice import Choice, Wishes
from privet.epsilon.expected import Range
from privet.epsilon.explanation import Explanation, Setting
from privet.epsilon.noise_on_counts import Trial, check_positive, check_probability

#: What no number above says, and everybody should know.
CAVEATS = (
    (
        "Epsilon limits what your own rows add to what somebody believes about you. It does not "
        "limit what the other rows teach about people like you."
    ),
    (
        "Accuracy is predicted from public tables, and 1 table in 10 lies outside of the range. To "
        "know how accurate your model is, ask for a private evaluation (privet evaluate)."
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
        Section("What one person risks, as an epsilon", tuple(_loss_lines(found))),
        Section("What somebody can learn about you (Lee and Clifton)", tuple(_belief_lines(found))),
        Section(
            "How often an attack succeeds (He et al.; Wasserman and Zhou; Kairouz et al.)",
            tuple(_attack_lines(found, setting)),
        ),
        Section("The noise on a count", tuple(_noise_lines(found, setting))),
        Section(
            "How many more rows make up for the noise (Vu and Slavkovic)",
            tuple(_rows_needed_lines(found, setting)),
        ),
        Section("The price of taking part (Hsu et al.)", tuple(_price_lines(found, setting))),
        Section(
            "How accurate a model can be: in 9 of 10 tables, measured on public ones",
            tuple(_expected_lines(found, setting)),
        ),
    ]
    return [section for section in sections if section.lines]


def _loss_lines(found: Sequence[Explanation]) -> Iterator[Sentence]:
    losses = [one.losses for one in found]
    yield Sentence(
        "Epsilon that hides whether you are in the table",
        tuple(format_epsilon(one.presence) for one in losses),
    )
    yield Sentence(
        "Epsilon that hides what your rows say, if it is known that you are in the table",
        tuple(format_epsilon(one.record) for one in losses),
    )
    yield Sentence(
        "Epsilon that the ledger is charged, for the declared neighbours",
        tuple(format_epsilon(one.charged) for one in losses),
    )


def _belief_lines(found: Sequence[Explanation]) -> Iterator[Sentence]:
    for place, belief in enumerate(found[0].beliefs):
        beliefs = [one.beliefs[place] for one in found]
        chance = f"there was a {format_percent(belief.prior)} chance that"
        yield Sentence(
            f"Someone who thought {chance} you are in the table can raise that to at most",
            tuple(format_share_up(one.in_table) for one in beliefs),
        )
        yield Sentence(
            "... or lower it to at least",
            tuple(format_share_down(one.in_table_at_least) for one in beliefs),
        )
        yield Sentence(
            f"... and a {format_percent(belief.prior)} chance that you have some condition, if it "
            "is known that you are in it, to at most",
            tuple(format_share_up(one.record) for one in beliefs),
        )


def _attack_lines(found: Sequence[Explanation], setting: Setting) -> Iterator[Sentence]:
    attacks = [one.attack for one in found]
    accused = format_percent(check_probability("false_alarms", setting.false_alarms))
    count = (
        f"A noisy count is {_describe_tolerance(setting.tolerance)}, so that taking it at face "
        "value works, with probability"
    )
    yield Sentence(
        "A guess whether you are in the table is right at most (tossing a coin: 50%)",
        tuple(format_share_up(one.guess) for one in attacks),
    )
    yield Sentence(
        "A guess which of two conditions you have, if it is known that you are in it, at most",
        tuple(format_share_up(one.guess_record) for one in attacks),
    )
    yield Sentence(
        f"A test that wrongly flags {accused} of people outside flags of those in the table at "
        "most",
        tuple(format_share_up(one.test) for one in attacks),
    )
    yield Sentence(count, tuple(format_percent(one.exact_count) for one in attacks))


def _noise_lines(found: Sequence[Explanation], setting: Setting) -> Iterator[Sentence]:
    noises = [one.noise for one in found]
    often = format_percent(check_probability("confidence", setting.confidence))
    yield Sentence(
        "Standard deviation of the noise, in rows",
        tuple(format_number(one.deviation) for one in noises),
    )
    yield Sentence(
        f"At least {often} of noisy counts are off by at most this many rows",
        tuple(f"{one.margin:,}" for one in noises),
    )
    yield Sentence(
        "... which is true of exactly this share of counts",
        tuple(format_percent(one.coverage) for one in noises),
    )


def _rows_needed_lines(found: Sequence[Explanation], setting: Setting) -> Iterator[Sentence]:
    trials = [one.trial for one in found]
    yield Sentence(
        f"Rows that a test needs to find {_describe_change(setting.trial)}, without noise",
        tuple(f"{one.without:,}" for one in trials),
    )
    yield Sentence("... and with noise", tuple(f"{one.noisy:,}" for one in trials))
    yield Sentence(
        "... which is this many more", tuple(format_percent(one.ratio - 1) for one in trials)
    )
    shares = [one.share for one in found if one.share is not None]
    if shares:
        rows = f"Rows for a share as precise as {shares[0].without:,} rows give without noise"
        yield Sentence(rows, tuple(f"{one.noisy:,}" for one in shares))


def _price_lines(found: Sequence[Explanation], setting: Setting) -> Iterator[Sentence]:
    yield Sentence(
        "Taking part raises what you must expect to lose by at most",
        tuple(format_share_up(one.rise) for one in found),
    )
    prices = [one.price for one in found if one.price is not None]
    if setting.cost is None or not prices:
        return
    lost = format_number(check_positive("cost", setting.cost))
    yield Sentence(
        f"If you must expect to lose {lost} anyway, that costs you at most",
        tuple(format_number_up(one.each) for one in prices),
    )
    if prices[0].people > 1:
        yield Sentence(
            f"... and {prices[0].people:,} people together at most",
            tuple(format_number_up(one.total) for one in prices),
        )


def _expected_lines(found: Sequence[Explanation], setting: Setting) -> Iterator[Sentence]:
    for place, learner in enumerate(found[0].expected):
        here = [one.expected[place] for one in found]
        yield Sentence(
            f"Points of accuracy that {learner.learner} loses to noise",
            tuple(format_points(one.lost) for one in here),
        )
        yield Sentence(
            "... so of what can be learnt, it keeps",
            tuple(format_range(one.low, one.high) for one in here),
        )
        yield Sentence(
            "... and in half of the tables at least",
            tuple(format_whole_percent(one.middle) for one in here),
        )
        ranges = [one.accuracy for one in here if one.accuracy is not None]
        if ranges and setting.majority is not None:
            share = format_percent(check_probability("majority", setting.majority))
            yield Sentence(
                f"... its accuracy, if the most frequent class has {share} of the rows",
                tuple(format_range(one.low, one.high) for one in ranges),
            )
    if found[0].expected:
        measured = tuple(str(one.expected[0].tables) for one in found)
        yield Sentence("Number of public tables of about this size and epsilon", measured)


def describe_expected(one: Explanation, setting: Setting) -> str:
    """Say in a sentence or two how accurate the default learner may be."""
    first, epsilon = one.expected[0], format_epsilon(one.losses.row)
    kept = format_range(first.low, first.high)
    text = (
        f"With {one.rows:,} rows and epsilon {epsilon}, noise costs the default learner "
        f"{format_points(first.lost)} points of accuracy in 9 of 10 tables. Where at least 5 "
        f"points can be learnt, it keeps {kept} of them."
    )
    if first.accuracy is None or setting.majority is None:
        return text
    share = format_percent(check_probability("majority", setting.majority))
    accuracy = format_range(first.accuracy.low, first.accuracy.high)
    return f"{text} If the most frequent class has {share} of the rows, its accuracy is {accuracy}."


#: What ``describe_expected`` and its lines mean.
WHAT_CAN_BE_LEARNT = (
    "What can be learnt is how much more accurate the best of these learners is without noise than "
    "always answering the most frequent class: 100% is as good as without noise, and 0% no better "
    "than that answer."
)
#: What to give in order to know more.
ASK_FOR_MAJORITY = (
    "To get a range of accuracies, say which share of the rows the most frequent class has, if "
    "that is public: --majority 0.7, for example."
)


def describe_wish(choice: Choice, wishes: Wishes, setting: Setting) -> str:
    """Describe a wish in words."""
    if choice.prior is not None:
        belief = (
            "you are in the table"
            if choice.wish == "posterior"
            else "you, who are in the table, have some condition"
        )
        limit = wishes.posterior if choice.wish == "posterior" else wishes.record
        return (
            f"Someone who thought there was a {format_percent(choice.prior)} chance that {belief} "
            f"can raise that to at most {format_percent(_check_wish(limit))}"
        )
    if choice.wish == "attack":
        return (
            "A guess whether you are in the table is right no more often than "
            f"{format_percent(_check_wish(wishes.attack))}"
        )
    if choice.wish == "exact_count":
        return (
            f"A noisy count is {_describe_tolerance(setting.tolerance)} no more often than "
            f"{format_percent(_check_wish(wishes.exact_count))}"
        )
    if choice.wish == "budget":
        return (
            "Taking part costs all people together no more than "
            f"{format_number(_check_wish(wishes.budget))}"
        )
    if choice.wish == "margin":
        return (
            f"At least {format_percent(check_probability('confidence', setting.confidence))} "
            "of noisy counts are off "
            f"by at most {wishes.margin:,} rows"
        )
    return f"The test needs at most {format_number(_check_wish(wishes.ratio))} times the rows"


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


def format_range(low: float, high: float) -> str:
    """Format a range of shares in whole percents, rounded outwards."""
    ends = (math.floor(100 * low + 1e-9), math.ceil(100 * high - 1e-9))
    return f"{ends[0]}% to {ends[1]}%"


def format_points(lost: Range) -> str:
    """Format what is lost, in points with one digit, rounded outwards. No less than nothing is."""
    low, high = (max(0.0, 1000 * end) for end in (lost.low, lost.high))
    return f"{math.floor(low + 1e-9) / 10:g} to {math.ceil(high - 1e-9) / 10:g}"


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
    return "exactly right" if tolerance == 0 else f"off by at most {tolerance:,}"


def _describe_change(trial: Trial) -> str:
    share, level, power = (
        format_percent(check_probability(name, getattr(trial, name)))
        for name in ("share", "level", "power")
    )
    points = format_number(100 * check_probability("difference", trial.difference))
    return f"that a share of {share} changes by {points} points (level {level}, power {power})"


def _check_wish(value: Any) -> float:
    return check_positive("wish", value)
