"""Write an explanation as HTML that needs no other file and runs nothing.

Bars to the right speak for a class, bars to the left against it. A class has the colour that it has
in the pictures of :mod:`privet.report.plots`; what is said of no class is grey. What cannot be told
from noise is an outline. All text is escaped here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from privet._page import wrap_html
from privet._types import Floats
from privet.model.explanations.style import COLOURS, STYLE
from privet.model.explanations.values import (
    MAX_VALUES,
    choose_shown,
    group_values,
    join_alike,
    label_values,
    name_class,
)
from privet.text import escape_html, escape_invisible, join_some

if TYPE_CHECKING:
    from privet.model.explanations.explanation import Effect, Explanation, Interaction, Reasons

#: What is said of effects below the threshold.
NOISE = "not distinguishable from noise"
#: So many attributes and rows are open at first, and so many pairs have a map.
_OPEN, _OPEN_ROWS, _MAPS = 6, 3, 3
_ROWS = (
    "Why rows get their score: values of the rows that were given are shown as they are, without "
    "protection. Show this to those only who may see these rows."
)
_GIVEN = (
    "These rows were given beside the model: if they are about people, and no synthetic rows that "
    "were paid for, the averages give away facts about them."
)
#: A band is this many deviations to either side.
BAND = 2.0
#: Numbers of a map that are nearer than this are written alike.
_SAME = 0.005
#: So many attributes are listed in a sentence.
_MAX_NAMES = 20


def write_page(said: Explanation) -> str:
    """Return the explanation as a whole page."""
    model = said.model
    title = f"What the model learnt: {model.learner} for {model.schema.target}"
    alarm = "promise" if model.privacy.private else "alarm"
    guarantee = f'<p class="{alarm}" role="note">{escape_html(_say_guarantee(said))}</p>'
    return wrap_html(escape_invisible(title), f"{guarantee}\n{write_body(said)}")


def write_body(said: Explanation) -> str:
    """Return the explanation as a part of a page or of a notebook."""
    parts = [
        *(f"<p>{escape_html(text)}</p>" for text in explain_reading(said)),
        *([f"<p>{escape_html(_ROWS)}</p>"] if said.rows else []),
        *(_write_reasons(said, number, row) for number, row in enumerate(said.rows, 1)),
        "<h2>What matters</h2>",
        _write_importances(said),
        "<h2>What each value does</h2>",
        *_write_effects(said, _OPEN),
        *_write_interactions(said),
    ]
    return _wrap(*parts)


def write_summary(said: Explanation, opened: int = 0) -> str:
    """Return what matters and what each value does, folded but for the first few attributes."""
    return _wrap(_write_importances(said), *_write_effects(said, opened))


def write_box(said: Explanation) -> str:
    """Return the summary for a notebook: how to read it is folded, that it may be noise is not."""
    *reading, noise = explain_reading(said)
    if not said.repeats:
        noise += " A classifier's explain() measures it."
    how = "".join(f"<p>{escape_html(text)}</p>" for text in reading)
    folded = f"<details><summary>How to read this</summary>{how}</details>"
    return f'<div class="learnt"><p>{escape_html(noise)}</p>{folded}</div>{write_summary(said)}'


def explain_silence(said: Explanation) -> str:
    """Name the attributes that make no difference to the model; empty where there are none."""
    if not said.silent:
        return ""
    differ = "make" if len(said.silent) > 1 else "makes"
    return f"{join_some(said.silent, ', ', _MAX_NAMES)} {differ} no difference to this model."


def _wrap(*parts: str) -> str:
    return f'<div class="learnt"><style>{STYLE}</style>{"".join(parts)}</div>'


def _write_effects(said: Explanation, opened: int) -> list[str]:
    population = said.model.population
    noisy = ""
    if said.people.source == "released" and population is not None and population.deviation > 0:
        noise = _write_share(BAND * population.deviation)
        noisy = (
            f"<p>Shares of people are noisy, too, by up to about {noise}: nobody may have a value "
            "with a smaller share, and what is said about it then comes from other values.</p>"
        )
    effects = [
        _write_effect(said, said.effects[name], opened=place < opened)
        for place, name in enumerate(_order_names(said))
    ]
    return [noisy, *effects]


def _say_guarantee(said: Explanation) -> str:
    privacy = said.model.privacy
    if not privacy.private:
        return privacy.describe()
    return f"The model is {privacy.describe()}. This page follows from {_list_origins(said)}."


def _list_origins(said: Explanation) -> str:
    """Say what a page follows from; only of the model alone can be said that it cost nothing."""
    given = [
        *(["the rows that were given as people"] if said.people.source == "synthetic" else []),
        *(["the rows that are explained"] if said.rows else []),
    ]
    if not given:
        return "the model alone, and cost no privacy"
    return f"the model, and from {' and '.join(given)}, which this guarantee does not protect"


def explain_reading(said: Explanation) -> list[str]:
    """Return how the bars are to be read, in a few sentences."""
    one = len(said.scale.classes) == 1
    likelier = name_class(said.numbers[0])
    what = (
        f"Numbers are {said.unit}: to the right, a value makes {likelier} more likely."
        if one
        else f"Numbers are {said.unit}, for each class: to the right, a value speaks for it."
    )
    if said.scale.log:
        what += " One point multiplies the odds by 2.72."
    texts = [
        f"{what} A bar is how much the whole model says more, or less, when everybody has this "
        f"value than on average. Average over the {said.people.words}."
    ]
    if said.people.source == "synthetic":
        texts.append(_GIVEN)
    if said.repeats:
        texts.append(
            f"Lines are the noise: {BAND:g} times how far {said.repeats} repeats of the fit on "
            f"synthetic rows are from what is shown. A dashed outline is {NOISE}."
        )
    else:
        texts.append("The noise was not measured: some of these effects may be nothing but noise.")
    return texts


def _order_names(said: Explanation) -> list[str]:
    schema_names = {effect.name: name for name, effect in said.effects.items()}
    return [schema_names[each.name] for each in said.importances if each.name not in said.silent]


def _write_importances(said: Explanation) -> str:
    shown = [one for one in said.importances if one.name not in said.silent]
    limit = max((one.value + BAND * (one.deviation or 0.0) for one in shown), default=0)
    rows = "".join(
        _write_row(
            one.name,
            [_draw_bar(one.value, one.deviation, one.sure, limit)],
            "" if one.sure is not False else NOISE,
            f"{one.value:.2f}",
        )
        for one in shown
    )
    note = "How far an attribute moves the score of a person, on average"
    if not said.scale.log:
        note = "How much probability an attribute moves for a person, on average"
    silence = explain_silence(said)
    after = f"<p>{escape_html(silence)}</p>" if silence else ""
    return f"<p>{note}.</p><table class='bars'>{rows}</table>{after}"


def _write_effect(said: Explanation, effect: Effect, *, opened: bool) -> str:
    limit = _find_limit(effect.values, effect.deviation)
    weight = said.scale.measure(effect.values) * effect.shares
    shown, rest = choose_shown(weight, effect.sure, MAX_VALUES)
    table = _write_values(said, effect, shown, limit)
    if rest:
        inner = _write_values(said, effect, rest, limit)
        more = f"{len(rest)} more value{'s' if len(rest) > 1 else ''}"
        table += f"<details><summary>{more}</summary>{inner}</details>"
    told = effect.sure is None or bool(effect.sure.any())
    quiet = "" if told else f" <i>{NOISE}</i>"
    look = f"{' class=paper' if told else ''}{' open' if opened and told else ''}"
    return (
        f"<details{look}><summary><b>{escape_html(effect.name)}</b>{quiet}"
        f"</summary>{table}</details>"
    )


def _write_values(said: Explanation, effect: Effect, rows: Sequence[int], limit: float) -> str:
    one = len(said.scale.classes) == 1
    second = escape_html(name_class(said.numbers[0]))
    likely = f"<th class='number'>{second}</th>" if one else ""
    space = "<th></th>" if one else ""
    known = said.people.source != "uniform"
    people = "<th class='number'>people</th>" if known else ""
    head = f"<tr><th></th>{_head_bars(said)}{space}{likely}{people}</tr>"
    lines = []
    for row in rows:
        bars = [
            _draw_bar(
                float(effect.values[row, column]),
                None if effect.deviation is None else float(effect.deviation[row, column]),
                None if effect.sure is None else bool(effect.sure[row, column]),
                limit,
                _find_classes(said, column),
            )
            for column in range(effect.values.shape[1])
        ]
        cells = [_write_share(effect.shares[row])] if known else []
        if one:
            likely = _write_share(effect.probabilities[row, 1])
            cells = [_write_number(effect.values[row, 0], said), likely, *cells]
        lines.append(_write_row(effect.labels[row], bars, "", *cells))
    return _wrap_bars(said, head, *lines)


def _head_bars(said: Explanation) -> str:
    """The heads of the columns of bars: both ends of the scale, or the class that one is about."""
    if len(said.scale.classes) > 1:
        return "".join(f"<th>{escape_html(name)}</th>" for name in said.numbers)
    labels = [escape_invisible(label) for label in said.model.schema.label.labels]
    less, more = (escape_html(name_class(label)) for label in labels)
    return (
        f"<th><div class='ends'><span>&#9664; {less}</span><span>{more} &#9654;</span></div></th>"
    )


def _find_classes(said: Explanation, column: int) -> tuple[int, int]:
    """Return the classes whose colours bars to the left and to the right have."""
    if len(said.scale.classes) == 1:
        return (0, 1)
    return (said.scale.classes[column],) * 2


def _wrap_bars(said: Explanation, *lines: str) -> str:
    look = "bars" if len(said.scale.classes) == 1 else "bars many"
    return f"<div class='wide'><table class='{look}'>{''.join(lines)}</table></div>"


def _write_reasons(said: Explanation, number: int, row: Reasons) -> str:
    limit = _find_limit(row.parts, row.deviation)
    strength = said.scale.measure(row.parts)
    names = [effect.name for effect in said.effects.values()]
    one = len(said.scale.classes) == 1
    lines = [f"<tr><th></th>{_head_bars(said)}{'<th></th>' if one else ''}</tr>"]
    places = np.argsort(-strength, kind="stable").tolist()
    for place in (place for place in places if names[place] not in said.silent):
        bars = [
            _draw_bar(
                float(row.parts[place, column]),
                None if row.deviation is None else float(row.deviation[place, column]),
                None if row.sure is None else bool(row.sure[place, column]),
                limit,
                _find_classes(said, column),
            )
            for column in range(row.parts.shape[1])
        ]
        label = f"{names[place]} = {row.labels[place]}"
        cells = [_write_number(row.parts[place, 0], said)] if one else []
        lines.append(_write_row(label, bars, "", *cells))
    labels = [escape_invisible(label) for label in said.model.schema.label.labels]
    likely = ", ".join(
        f"{name_class(label)} {_write_share(share)}".replace(" ", "\u00a0")
        for label, share in zip(labels, row.probabilities.tolist(), strict=True)
    )
    from_bars = row.score - row.average
    sums = ""
    if one:
        average, bars_say, score = (
            _write_number(numbers[0], said) for numbers in (row.average, from_bars, row.score)
        )
        sums = f" {average} on average, {bars_say} from the bars, {score} in all ({said.unit})."
    else:
        named = (("on average", row.average), ("the bars", from_bars), ("in all", row.score))
        lines += [
            _write_row(name, [_write_number(number, said) for number in numbers], "")
            for name, numbers in named
        ]
    costs = ""
    if row.decision != int(row.probabilities.argmax()):
        costs = (
            f" The model decides for {name_class(labels[row.decision])} all the same, because "
            "some mistakes cost more than others. The bars explain the score, not the costs."
        )
    title = f"Why row {number} is {escape_html(name_class(labels[row.decision]))}"
    text = (
        f"<p>{escape_html(likely)}.{escape_html(costs)}{escape_html(sums)}</p>"
        f"{_wrap_bars(said, *lines)}"
    )
    if number <= _OPEN_ROWS:
        return f"<h2>{title}</h2>{text}"
    return f"<details class=paper><summary><b>{title}</b></summary>{text}</details>"


def _write_interactions(said: Explanation) -> list[str]:
    if not said.interactions:
        return ["<h2>Pairs</h2><p>The model asks about no two attributes together.</p>"]
    limit = max(pair.strength for pair in said.interactions)
    rows = "".join(
        _write_row(
            " and ".join(pair.names),
            [_draw_bar(pair.strength, None, pair.sure, limit)],
            NOISE if pair.sure is False else "",
            f"{pair.strength:.2f}",
        )
        for pair in said.interactions
    )
    text = (
        "What two attributes say together, beyond what each says alone: average size over people."
    )
    maps = [pair for pair in said.interactions if pair.sure is not False][:_MAPS]
    return [
        f"<h2>Pairs</h2><p>{text}</p><table class='bars'>{rows}</table>",
        *(_draw_map(said, pair) for pair in maps if len(said.scale.classes) == 1),
    ]


def _draw_map(said: Explanation, pair: Interaction) -> str:
    """A table of numbers whose cells have more of a class's colour the more they speak for it."""
    names = {effect.name: name for name, effect in said.effects.items()}
    places = [said.model.schema.names.index(names[name]) for name in pair.names]
    table, labels = pair.table[:, :, 0], []
    for axis, place in enumerate(places):
        attribute = said.model.schema.attributes[said.model.schema.names[place]]
        shares = said.people.shares[place]
        along = table if axis == 0 else table.T
        groups = join_alike(attribute, along, group_values(attribute, along, shares), _SAME)
        weights = np.zeros((len(groups), len(shares)))
        for row, group in enumerate(groups):
            weights[row, list(group)] = np.maximum(shares[list(group)], 1e-9)
        weights /= weights.sum(axis=1, keepdims=True)
        table = weights @ table if axis == 0 else table @ weights.T
        labels.append(label_values(attribute, groups))
    largest = max(float(np.abs(table).max()), 1e-9)
    head = "".join(f"<th>{escape_html(label)}</th>" for label in labels[1])
    lines = []
    for label, numbers in zip(labels[0], table.tolist(), strict=True):
        cells = "".join(
            f'<td class="{"c1" if number > 0 else "c0"}" style="--part:{abs(number) / largest * 100:.0f}%">'  # noqa: E501
            f"{number:+.2f}</td>"
            for number in numbers
        )
        lines.append(f"<tr><th>{escape_html(label)}</th>{cells}</tr>")
    one, other = map(escape_html, pair.names)
    return (
        f"<details class=paper><summary><b>{one}</b> (down) and <b>{other}</b> (across)</summary>"
        f"<div class='wide'><table class='map'><tr><th></th>{head}</tr>{''.join(lines)}</table>"
        "</div></details>"
    )


def _write_row(label: str, bars: Sequence[str], note: str, *cells: str) -> str:
    inside = "".join(f"<td class='track'>{bar}</td>" for bar in bars)
    after = "".join(f"<td class='number'>{escape_html(cell)}</td>" for cell in cells)
    small = f"<br><i>{escape_html(note)}</i>" if note else ""
    return f"<tr><th scope='row'>{escape_html(label)}{small}</th>{inside}{after}</tr>"


def _draw_bar(
    value: float,
    deviation: float | None,
    sure: bool | None,
    limit: float,
    classes: tuple[int, int] | None = None,
) -> str:
    """A bar from zero, with a line for its noise; positions are shares of the track.

    ``classes`` are those of bars to the left and to the right; a bar of none starts at the left.
    """
    limit = limit or 1.0
    zero, reach = (0.0, 100.0) if classes is None else (50.0, 50.0)
    length = min(abs(value) / limit, 1.0) * reach
    start = zero - length if value < 0 else zero
    look = "size" if classes is None else f"c{classes[int(value >= 0)] % COLOURS}"
    look += " unsure" if sure is False else ""
    told = f"{value:+.3f}"
    line = ""
    if deviation is not None:
        told += f" ± {BAND * deviation:.3f}"
        low = max(zero + (value - BAND * deviation) / limit * reach, 0.0)
        high = min(zero + (value + BAND * deviation) / limit * reach, 100.0)
        line = f'<u style="left:{low:.2f}%;width:{max(high - low, 0.0):.2f}%"></u>'
    if sure is False:
        told += f": {NOISE}"
    axis = f'<s style="left:{zero:g}%"></s>'
    bar = f'<b class="{look}" style="left:{start:.2f}%;width:{length:.2f}%"></b>'
    return f'<div class="axis" title="{escape_html(told)}">{axis}{bar}{line}</div>'


def _find_limit(values: Floats, deviation: Floats | None) -> float:
    """The end of a scale: the largest value, and of the bands what has room."""
    largest = float(np.abs(values).max(initial=0.0))
    if deviation is None:
        return largest
    ends = float((np.abs(values) + BAND * deviation).max(initial=0.0))
    return min(ends, 1.5 * largest)


def _write_number(value: float, said: Explanation) -> str:
    text = f"{value:+.2f}" if said.scale.log else f"{100 * value:+.1f} %"
    return text if any(digit in text for digit in "123456789") else text[1:]


def _write_share(share: float) -> str:
    percent = 100 * float(share)
    return f"{percent:.0f} %" if percent >= 9.5 else f"{percent:.1f} %"
