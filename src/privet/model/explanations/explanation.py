"""Explain a whole model: what each attribute and each value does, and why a row gets its score."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from privet._atomic import save_file
from privet._notebook import one_line
from privet._types import Bools, Codes, Floats
from privet.domain.encode.rows import encode
from privet.errors import ParameterError
from privet.model.explanations.boxes import Boxes, Scale
from privet.model.explanations.effects import (
    average_scores,
    divide_scores,
    find_effects,
    find_interactions,
)
from privet.model.explanations.people import People
from privet.model.explanations.values import group_values, label_values, name_class
from privet.model.model import Model
from privet.text import escape_invisible

if TYPE_CHECKING:
    import pandas as pd

#: An effect is shown as real where it is at least so many standard deviations from nothing: chosen
#: so that what is shown keeps its sign (docs/results/explanations.md).
SURE = 3.0
#: Of more rows, only the first are explained.
MAX_ROWS = 100
#: What is smaller than this is rounding.
_NOTHING = 1e-9
#: So many pairs of attributes are shown at most.
MAX_PAIRS = 10


@dataclass(frozen=True)
class Effect:
    """What the model says when everybody has one value of an attribute, for each of its values.

    ``values`` (groups of values, numbers) is by how much that differs from what it says on average;
    ``deviation`` how far repeats of the fit are from that (root mean square, and that of a typical
    effect besides), and ``sure`` whether it
    can be told from noise: None where no fit was repeated.
    """

    name: str
    labels: tuple[str, ...]
    groups: tuple[tuple[int, ...], ...]
    #: The part of the people who have each.
    shares: Floats
    values: Floats
    #: The probability of each class when everybody has it (groups, classes).
    probabilities: Floats
    deviation: Floats | None
    sure: Bools | None


@dataclass(frozen=True)
class Importance:
    """How far an attribute moves the score of a person, on average over people."""

    name: str
    value: float
    deviation: float | None
    #: Whether any of its effects can be told from noise; None where no fit was repeated.
    sure: bool | None


@dataclass(frozen=True)
class Interaction:
    """What two attributes say together beyond what each says alone (values, values, numbers)."""

    names: tuple[str, str]
    strength: float
    table: Floats
    sure: bool | None


@dataclass(frozen=True)
class Reasons:
    """Why a row gets its score: ``parts`` (attributes, numbers) and ``average`` add up to it."""

    labels: tuple[str, ...]
    parts: Floats
    average: Floats
    deviation: Floats | None
    sure: Bools | None
    probabilities: Floats
    decision: int

    @property
    def score(self) -> Floats:
        """What the model says about the row."""
        return np.asarray(self.average + self.parts.sum(axis=0))


@dataclass(frozen=True, eq=False)
class Explanation:
    """What a whole model has learnt. :meth:`privet.Model.explain` makes one.

    Everything in it follows from the released model and from public or released people, so that it
    costs no privacy, and may be shown to whoever may see the model. What is said about rows that
    were given is about these rows.
    """

    model: Model
    people: People
    scale: Scale
    average: Floats
    importances: tuple[Importance, ...]
    effects: Mapping[str, Effect]
    interactions: tuple[Interaction, ...]
    rows: tuple[Reasons, ...]
    #: How many fits were repeated to measure the noise.
    repeats: int

    @property
    def unit(self) -> str:
        """What the numbers are."""
        labels = self.model.schema.label.labels
        of = (
            f" of {name_class(escape_invisible(labels[1]))}" if len(self.scale.classes) == 1 else ""
        )
        if self.scale.log:
            return f"log-odds{of}" if of else "points of score"
        return f"probability{of}"

    @property
    def numbers(self) -> list[str]:
        """What each number speaks for: the second of two classes, or each of more."""
        labels = self.model.schema.label.labels
        return [escape_invisible(labels[code]) for code in self.scale.classes]

    @property
    def silent(self) -> tuple[str, ...]:
        """The attributes that make no difference to the model, such as those it never asks about.

        Repeats of the fit may ask about them, but there is nothing to show.
        """
        by_name = {effect.name: effect for effect in self.effects.values()}
        return tuple(
            one.name
            for one in self.importances
            if one.value <= _NOTHING and np.abs(by_name[one.name].values).max() <= _NOTHING
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each attribute, value and class: effect, deviation, sure, share.

        Examples
        --------
        >>> import privet as pv
        >>> car = pv.datasets.load("car")
        >>> model = pv.GibbsTreeClassifier(epsilon=5, schema=car.schema).fit(car.table).model_
        >>> model.explain().to_frame().columns.tolist()
        ['attribute', 'value', 'share', 'speaks for', 'effect', 'deviation', 'sure']
        """
        import pandas as pd

        lines = [
            {
                "attribute": effect.name,
                "value": label,
                "share": effect.shares[group],
                "speaks for": self.numbers[number],
                "effect": effect.values[group, number],
                "deviation": None if effect.deviation is None else effect.deviation[group, number],
                "sure": None if effect.sure is None else bool(effect.sure[group, number]),
            }
            for effect in self.effects.values()
            for group, label in enumerate(effect.labels)
            for number in range(len(self.scale.classes))
        ]
        return pd.DataFrame(lines)

    def to_html(self) -> str:
        """Return the explanation as one HTML page: no other file, no script."""
        from privet.model.explanations.page import write_page

        return write_page(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the explanation to a file that ends in ``.html``.

        An existing file is replaced as a whole or not at all. Only its owner can read one about
        rows.
        """
        check_page(path)
        save_file(path, self.to_html(), private=bool(self.rows))

    def __repr__(self) -> str:
        leading = [each.name for each in self.importances[:3]]
        return one_line("Explanation", *leading, self.people.words)

    def _repr_html_(self) -> str:
        from privet.model.explanations.page import write_body

        return write_body(self)


def check_page(path: str | PathLike[str]) -> None:
    """Raise unless a file name has the suffix of a page."""
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise ParameterError(f"an explanation is saved as .html, got {Path(path).name!r}")


def explain_model(
    model: Model, rows: object = None, *, people: object = None, repeats: Sequence[Model] = ()
) -> Explanation:
    """Explain a model. See :meth:`privet.Model.explain`."""
    boxes = Boxes.of(model)
    who = People.of(model, people).take_for(boxes)
    codes = _encode_rows(model, rows)
    first = _Said.of(boxes, who, codes)
    others = [_Said.of(Boxes.of(other), who, codes) for other in repeats]
    effects = {
        name: _make_effect(model, who, place, first, others)
        for place, name in enumerate(model.schema.names)
    }
    typical = _find_typical(effects.values())
    effects = {name: _widen(effect, typical) for name, effect in effects.items()}
    importances = [
        Importance(
            escape_invisible(name),
            float(first.importances[place]),
            _deviate(
                float(first.importances[place]), [float(one.importances[place]) for one in others]
            ),
            _any_sure(effects[name].sure),
        )
        for place, name in enumerate(model.schema.names)
    ]
    return Explanation(
        model,
        who,
        boxes.scale,
        first.average,
        tuple(sorted(importances, key=lambda one: -one.value)),
        effects,
        _make_interactions(model, who, boxes.scale, first, others),
        _make_reasons(model, codes, first, others, typical),
        len(others),
    )


@dataclass(frozen=True)
class _Said:
    """What one model says about the people, and about some rows."""

    average: Floats
    effects: list[Floats]
    importances: Floats
    interactions: dict[tuple[int, int], Floats]
    parts: Floats

    @classmethod
    def of(cls, boxes: Boxes, people: People, codes: tuple[Codes, ...]) -> _Said:
        parts = divide_scores(boxes, people, people.sample)
        return cls(
            average_scores(boxes, people),
            find_effects(boxes, people),
            boxes.scale.measure(parts).mean(axis=0),
            find_interactions(boxes, people),
            divide_scores(boxes, people, codes),
        )


def _encode_rows(model: Model, rows: object) -> tuple[Codes, ...]:
    if rows is None:
        return tuple(np.zeros(0, dtype=np.int64) for _ in model.schema.names)
    encoded = encode(model.schema, rows, target=False, partial=model.privacy.vertical)
    return tuple(column[:MAX_ROWS] for column in encoded.codes)


def _make_effect(
    model: Model, people: People, place: int, said: _Said, others: Sequence[_Said]
) -> Effect:
    name, shares = model.schema.names[place], people.shares[place]
    attribute = model.schema.attributes[name]
    groups = group_values(attribute, said.effects[place], shares)
    weights = np.zeros((len(groups), attribute.size))
    for number, group in enumerate(groups):
        inside = list(group)
        total = shares[inside].sum()
        weights[number, inside] = shares[inside] / total if total > 0 else 1 / len(inside)
    values = weights @ said.effects[place]
    deviation = _deviate(values, [weights @ other.effects[place] for other in others])
    sample = list(people.sample)
    probabilities = np.empty((len(groups), model.schema.n_classes))
    for number, line in enumerate(weights):
        everybody = [*sample]
        everybody[place] = _spread_codes(line, len(sample[0]))
        probabilities[number] = model.probabilities(everybody).mean(axis=0)
    return Effect(
        escape_invisible(name),
        tuple(label_values(attribute, groups)),
        tuple(groups),
        np.array([shares[list(group)].sum() for group in groups]),
        values,
        probabilities,
        deviation,
        None,
    )


def _spread_codes(shares: Floats, count: int) -> Codes:
    """Return codes as frequent as these shares, evenly spread over so many rows."""
    points = (0.5 + np.arange(1, count + 1) * np.sqrt(2.0)) % 1.0
    return np.asarray(np.searchsorted(np.cumsum(shares)[:-1], points, side="right"))


def _any_sure(sure: Bools | None) -> bool | None:
    return None if sure is None else bool(sure.any())


def _find_typical(effects: Iterable[Effect]) -> float:
    """Return the deviation of half of all effects.

    People whose attributes are independent do not show how a fit chooses between attributes that go
    together (a husband is married), and a few repeats tell a deviation badly. So every deviation is
    widened by that of a typical effect: measured in docs/results/explanations.md.
    """
    found = [effect.deviation.ravel() for effect in effects if effect.deviation is not None]
    return float(np.median(np.concatenate(found))) if found else 0.0


def _widen(effect: Effect, typical: float) -> Effect:
    if effect.deviation is None:
        return effect
    deviation = np.hypot(effect.deviation, typical)
    return replace(effect, deviation=deviation, sure=_is_sure(effect.values, deviation))


def _make_interactions(
    model: Model, people: People, scale: Scale, said: _Said, others: Sequence[_Said]
) -> tuple[Interaction, ...]:
    found = []
    for (one, other), table in said.interactions.items():
        weights = np.outer(people.shares[one], people.shares[other])
        strength = float((weights * scale.measure(table)).sum())
        if strength <= _NOTHING:
            continue
        weighted = weights[:, :, None] * table
        # how much of it each repeat says again
        again = [
            float((weighted * repeat.interactions[one, other]).sum() / (weighted * table).sum())
            if (one, other) in repeat.interactions
            else 0.0
            for repeat in others
        ]
        sure = bool(SURE * _deviate(1.0, again) < 1) if again else None
        names = (model.schema.names[one], model.schema.names[other])
        shown = (escape_invisible(names[0]), escape_invisible(names[1]))
        found.append(Interaction(shown, strength, table, sure))
    found.sort(key=lambda pair: -pair.strength)
    return tuple(found[:MAX_PAIRS])


def _make_reasons(
    model: Model,
    codes: tuple[Codes, ...],
    said: _Said,
    others: Sequence[_Said],
    typical: float,
) -> tuple[Reasons, ...]:
    n_rows = len(codes[0])
    if not n_rows:
        return ()
    probabilities = model.probabilities(list(codes))
    decisions = model.decide(probabilities)
    deviation = _deviate(said.parts, [other.parts for other in others])
    deviation = None if deviation is None else np.hypot(deviation, typical)
    sure = None if deviation is None else _is_sure(said.parts, deviation)
    labels = [
        [
            *label_values(attribute, [(code,) for code in range(attribute.size)]),
            "not in the schema",
        ]
        for attribute in model.schema.attributes.values()
    ]
    return tuple(
        Reasons(
            tuple(
                texts[min(int(column[row]), len(texts) - 1)]
                for texts, column in zip(labels, codes, strict=True)
            ),
            said.parts[row],
            said.average,
            None if deviation is None else deviation[row],
            None if sure is None else sure[row],
            probabilities[row],
            int(decisions[row]),
        )
        for row in range(n_rows)
    )


def _deviate(said: Any, again: Sequence[Any]) -> Any:
    """Return how far repeats are from what is shown (root mean square); None without any.

    Not their standard deviation: an effect that noise alone has made is said by no repeat, and
    repeats may agree about that.
    """
    return np.sqrt(np.mean((np.array(again) - said) ** 2, axis=0)) if again else None


def _is_sure(values: Floats, deviation: Floats) -> Bools:
    return np.asarray((np.abs(values) > SURE * deviation) & (np.abs(values) > _NOTHING))
