"""Explain epsilon in plain words, for the privacy card."""

from __future__ import annotations

import math
from fractions import Fraction

from privet.accounting.conversion import epsilon_for
from privet.accounting.cost import Cost
from privet.accounting.statement import PrivacyStatement, format_rounded_up
from privet.report.blocks import CardBlock, Drawing, Grid, Heading, Paragraph

#: A card lists so many tables.
MAX_LISTED = 40


def explain_promise(
    privacy: PrivacyStatement, released: str = "model", *, public_size: bool = False
) -> list[CardBlock]:
    """Explain what the promised epsilon lets somebody learn, with two worked examples.

    Where the number of rows is public, whoever is not in the table has somebody else in their
    place: one taken out and one put in.
    """
    epsilon, replace = privacy.epsilon, privacy.neighbours == "replace"
    whose, in_place = privacy.unit, public_size and not replace
    question = (
        f"which of two versions of one {whose} was used"
        if replace
        else f"whether one {whose} was in the table"
    )
    odds = _epsilon_of_two(privacy) if in_place else epsilon
    change = f"change by at most this factor when somebody sees the {released}. "
    if in_place:
        change = (
            f"change by at most {format_factor(odds)} when somebody sees the {released} "
            f"(e^{format_rounded_up(odds)}): the number of rows is public, so that somebody "
            "else is in "
            f"the place of a {whose} that is not there, one taken out and one put in. "
        )
    first = (
        f"Epsilon is {format_rounded_up(epsilon)}. Whatever is in the {released}, it is at most "
        f"{format_factor(epsilon)} times as likely with any one "
        f"{whose} as it is {'with another in its place' if replace else 'without it'}, or the "
        f"other way round (e^{format_rounded_up(epsilon)}). "
        f"So the odds about any one {whose} ({question}) {change}{_rate_epsilon(epsilon)}"
    )
    rows = tuple(
        (name, *_format_share_bounds(*bound_posterior(prior, odds)))
        for name, prior in (("1 in 2 (50 %)", 0.5), ("1 in 10 (10 %)", 0.1))
    )
    blocks: list[CardBlock] = [
        Heading("What epsilon means"),
        draw_number_line(epsilon),
        Paragraph(first),
        Grid(
            (f"believed before seeing the {released}", "after: at least", "after: at most"),
            rows,
            numeric=(1, 2),
        ),
    ]
    if not replace and not in_place:
        twice = _epsilon_of_two(privacy)
        text = (
            f"To tell two versions of the same {whose} apart, one is taken out and the other put "
            "in: the factor is then at most "
        )
        blocks.append(Paragraph(f"{text}{format_factor(twice)} (e^{format_rounded_up(twice)})."))
    if privacy.promised.epsilon is None:
        text = (
            f"The promise is stated as rho = {format_rounded_up(float(privacy.promised.rho))} "
            "(zero-concentrated differential privacy). Epsilon goes with delta = "
            f"{float(_delta_or_default(privacy)):.2g}: outcomes that together have about this "
            "probability may "
            "exceed the factor."
        )
        blocks.append(Paragraph(text))
    return blocks


#: What is said of an epsilon up to each number, and where the line begins and ends.
_RATINGS = ((0.1, "very strong"), (1.0, "strong"), (4.0, "moderate"), (10.0, "weak"))
_LINE = (0.01, 40.0)
_LINE_STYLE = """
.epsilon { position: relative; height: 4.4em; margin: 2.4em 0 1em; font-size: .85em; }
.epsilon span { position: absolute; top: 0; height: 1em; box-sizing: border-box;
  border: 1px solid rgba(128, 128, 128, .6); print-color-adjust: exact;
  background: color-mix(in srgb, currentColor var(--part), transparent); }
.epsilon em { position: absolute; top: 2.3em; left: 0; right: 0; font-style: normal;
  text-align: center; line-height: 1.1; }
.epsilon small { position: absolute; top: 1.1em; left: -1em; width: 2em; text-align: center; }
.epsilon b { position: absolute; top: -.35em; height: 1.7em; border-left: 3px solid #d0342c; }
.epsilon b i { position: absolute; top: -1.5em; left: -3em; width: 6em; text-align: center;
  font-style: normal; }
"""


def draw_number_line(epsilon: float) -> Drawing:
    """Draw where an epsilon lies between a very strong promise and hardly one, on a log scale."""
    place = _place_on_line(epsilon)
    starts = [_LINE[0], *(most for most, _ in _RATINGS)]
    names = [*(name for _, name in _RATINGS), "hardly a promise"]
    parts = []
    for number, (start, name) in enumerate(zip(starts, names, strict=True)):
        end = starts[number + 1] if number + 1 < len(starts) else _LINE[1]
        left, width = _place_on_line(start), _place_on_line(end) - _place_on_line(start)
        tick = f"<small>{start:g}</small>" if number else ""
        parts.append(
            f'<span style="left:{left:.1f}%;width:{width:.1f}%;--part:{15 + 17 * number}%">'
            f"{tick}<em>{name}</em></span>"
        )
    shown = format_rounded_up(epsilon)
    mark = f'<b style="left:{place:.1f}%"><i>{shown}</i></b>'
    title = f"epsilon {shown} on a line from very strong to hardly a promise"
    return Drawing(
        f'<div class="epsilon" role="img" aria-label="{title}"><style>{_LINE_STYLE}</style>'
        f"{''.join(parts)}{mark}</div>",
        (f"Epsilon {shown}: {_rating(epsilon)}.",),
    )


def _rating(epsilon: float) -> str:
    for most, name in _RATINGS:
        if epsilon <= most:
            return f"a {name} promise by common standards"
    return "hardly a promise"


def _place_on_line(epsilon: float) -> float:
    low, high = map(math.log, _LINE)
    return 100 * min(max((math.log(max(epsilon, 1e-9)) - low) / (high - low), 0.0), 1.0)


def bound_posterior(prior: float, epsilon: float) -> tuple[float, float]:
    """Return the least and the greatest probability after odds change by at most e^epsilon.

    By Bayes' rule.
    """
    shrink = math.exp(-epsilon)
    return prior * shrink / (prior * shrink + 1 - prior), prior / (prior + (1 - prior) * shrink)


def format_factor(epsilon: float) -> str:
    """Format e^epsilon, rounded up: a promise must not be rounded in its own favour."""
    if epsilon > 13:
        return f"10^{math.ceil(epsilon / math.log(10))}"
    digits = 3 if epsilon < 2 else 1 if epsilon < 5 else 0
    return f"{math.ceil(math.exp(epsilon) * 10**digits) / 10**digits:.{digits}f}"


def list_charges(privacy: PrivacyStatement) -> list[CardBlock]:
    """List everything that was paid for, and the sums."""
    text = (
        "Each question to the table is paid for with privacy, and the amounts add up. These were "
        "asked:"
    )
    change = "added or removed"
    if privacy.local:
        text = (
            "People paid when they randomised their records. Whatever is computed from randomised "
            "records costs nothing more:"
        )
        change = "replaced by another"
    rows = [(charge.what, *_format_amounts(charge.cost)) for charge in privacy.charges]
    if privacy.parts:
        text = (
            "The model was made from several tables, and each was paid for by its own people. "
            f"{_describe_composition(privacy)}"
        )
        listed = privacy.leaves[:MAX_LISTED]
        rows = [
            (f"{leaf.display_name}, for the neighbours above", *_format_amounts(leaf.promised))
            for leaf in listed
        ]
        rows += (
            [(f"… {len(privacy.leaves) - MAX_LISTED} more", "", "")]
            if len(privacy.leaves) > MAX_LISTED
            else []
        )
    else:
        rows.append((f"all together, for one row {change}", *_format_amounts(privacy.charged)))
    rows.append(("promised, for the neighbours above", *_format_amounts(privacy.promised)))
    return [
        Heading("What was paid"),
        Paragraph(text),
        Grid(
            ("for", "epsilon", "rho"),
            tuple(rows),
            numeric=(1, 2),
            folded="lines, one for each question",
            kept=1 if privacy.parts else 2,
        ),
    ]


def _describe_composition(privacy: PrivacyStatement) -> str:
    """How the promises of several tables make one."""
    text = {
        "disjoint": "The owners assert that nobody is in two of them, so that a person loses the "
        "largest amount. If somebody is, that person loses the sum of the amounts of their tables.",
        "may-overlap": "Somebody may be in all of them, so that a person loses the sum of the amounts.",  # noqa: E501
        "same": (
            "They hold different attributes of the same people, so that a person loses the sum of "
            "the amounts."
        ),
    }[privacy.people or "same"]
    inside = [part for part in privacy.parts if part.parts]
    if any(part.rests_on_disjoint for part in inside):
        text += (
            " Some were put together before. Where nobody is in two of those, as their owners "
            "assert, they count with their largest."
        )
    elif inside:
        text += " Some were put together before, and such a group counts with its sum."
    return text


def _format_amounts(cost: Cost) -> tuple[str, str]:
    return "none" if cost.epsilon is None else format_rounded_up(
        float(cost.epsilon)
    ), format_rounded_up(float(cost.rho))


def _delta_or_default(privacy: PrivacyStatement) -> Fraction:
    return privacy.delta or Fraction(1, 10**6)


def _epsilon_of_two(privacy: PrivacyStatement) -> float:
    """Epsilon for one taken out and one put in: twice as large, or that of four times rho."""
    promised = privacy.promised
    return (
        2 * privacy.epsilon
        if promised.epsilon is not None
        else epsilon_for(4 * promised.rho, _delta_or_default(privacy))
    )


def _format_share_bounds(least: float, most: float) -> tuple[str, str]:
    """As percentages, rounded outwards; certainty is not claimed."""
    low, high = math.floor(1000 * least) / 10, math.ceil(1000 * most) / 10
    return (
        "almost 0 %" if low == 0 else f"{low:.1f} %",
        "almost 100 %" if high >= 100 else f"{high:.1f} %",
    )


def _rate_epsilon(epsilon: float) -> str:
    if epsilon <= 0.1:
        return "By common standards this is a very strong promise."
    if epsilon <= 1:
        return "By common standards this is a strong promise."
    if epsilon <= 4:
        return "By common standards this is a moderate promise."
    if epsilon <= 10:
        return (
            "By common standards this is a weak promise: it rules out certainty, not strong "
            "suspicion."
        )
    return "This is hardly a promise: by itself it allows near certainty about a single person."
