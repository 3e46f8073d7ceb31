"""Find the codes of values by their labels: what people write, for what trees and tables hold.

People write a label: the text of a value, as the schema lists it. In 0.1, an integer was a code,
which is the position of a value in the domain. It still is, unless it could also be a value: the
attribute lists integers, or is a number or a date. Then it is refused. A label is always a value,
and ``code=1`` always a code.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import pairwise
from numbers import Integral

import numpy as np

from privet._validate import show, suggest
from privet.domain.attributes import Attribute, text_of
from privet.domain.schema import Schema
from privet.errors import QuestionError

#: An error lists so many labels.
MAX_LISTED = 10
#: Stands for the code of a label that several values share.
_SEVERAL = -1


class Codes(tuple[int, ...]):
    """Codes that were found or read as such: integers in it are never taken for values."""


def attribute_named(schema: Schema, name: str) -> Attribute:
    """Return the attribute of this name; raise with the names that there are."""
    try:
        return schema.attributes[name]
    except (KeyError, TypeError):
        advice = suggest(name, schema.names)
        raise QuestionError(
            f"no attribute {show(name)}; there are {', '.join(schema.names)}"
            + (f"; {advice}" if advice else "")
        ) from None


def find_code(schema: Schema, attribute: str, value: object) -> int:
    """Return the code of one value of an attribute."""
    return find_codes(schema, attribute, (value,))[0]


def find_codes(schema: Schema, attribute: str, values: object) -> Codes:
    """Return the codes of some values of an attribute, or of a single one.

    Texts are labels; numbers and booleans stand for their text. Integers are codes, where no value
    of the attribute is an integer.
    """
    domain = attribute_named(schema, attribute)
    if isinstance(values, Codes):
        return values
    listed = values if isinstance(values, Iterable) and not isinstance(values, str) else (values,)
    return _codes_in(domain, attribute, listed)


def read_codes(schema: Schema, attribute: str, values: Iterable[object]) -> Codes:
    """Return codes as they are, and the codes of labels: where integers are declared to be
    codes.
    """
    listed = tuple(values)
    if all(type(value) is int for value in listed):
        return Codes(listed)  # type: ignore[arg-type]
    # Any text is a label, whatever integers the attribute has: labels are found together.
    labelled = [value for value in listed if not _is_integer(value)]
    found = iter(_codes_in(attribute_named(schema, attribute), attribute, labelled))
    return Codes(int(value) if _is_integer(value) else next(found) for value in listed)  # type: ignore[call-overload]


def find_classes(schema: Schema, values: Iterable[object]) -> Codes:
    """Return the numbers of some classes.

    These are always values, and never numbers of classes: nobody gave numbers in 0.1.
    """
    return _codes_in(schema.label, schema.target, map(value_text, values))


def value_text(value: object) -> object:
    """Return a number or a boolean as its label, so that it is never taken for a code."""
    return text_of(value) if _is_number(value) else value  # type: ignore[arg-type]


def find_edge(schema: Schema, attribute: str, edge: object) -> int:
    """Return the code of the bin that begins at an inner edge of a numeric attribute."""
    cuts = _inner_cuts(attribute_named(schema, attribute))
    if not cuts:
        raise QuestionError(
            f"{attribute!r} has no bins to cut between: at= is for numbers and dates in bins; "
            "name the first value of the upper part instead"
        )
    domain = attribute_named(schema, attribute)
    number = domain.read_number(edge)
    for code, cut in cuts.items():
        if math.isclose(cut, number, rel_tol=1e-9):
            return code
    edges = [domain.label_edge(code) for code in cuts]
    raise QuestionError(
        f"{attribute!r} can be cut at {_list_some(edges)}, got {show(edge)}; choose an edge of "
        "its bins, or other bins in the schema"
    )


def list_edges(attribute: Attribute) -> list[str | None]:
    """Return the edges of the bins of an ordered attribute as conditions name them.

    They are one more than there are bins. The last one has a name for numbers only: dates and
    listed values end with a label.
    """
    if not attribute.ordered:
        return []
    edges: list[str | None] = [attribute.label_edge(code) for code in range(attribute.bins)]
    last = attribute.label_edge(attribute.bins) if attribute.holds_numbers else None
    return [*edges, last]


def refuse_edge(schema: Schema, attribute: str, code: object) -> None:
    """Raise for an integer that is both a code and the edge of another bin."""
    cuts = _inner_cuts(attribute_named(schema, attribute))
    if _is_integer(code) and any(cut == code != other for other, cut in cuts.items()):
        raise QuestionError(
            f"{attribute!r} has a bin {code} and an edge at {code}: write at={code} for the edge, "
            f"or code={code} for the bin"
        )


def _codes_in(domain: Attribute, name: str, values: Iterable[object]) -> Codes:
    code_of: dict[str, int] = {}
    for code, label in enumerate(domain.labels):
        # Bins that are too fine for six digits have the same label.
        code_of[label] = _SEVERAL if label in code_of else code
    confusable = domain.ordered or any(
        _is_whole(label) and int(label) != code for label, code in code_of.items()
    )
    return Codes(_code_in(domain, name, value, code_of, confusable) for value in values)


def _code_in(
    domain: Attribute, name: str, value: object, code_of: Mapping[str, int], confusable: bool
) -> int:
    if _is_integer(value):
        code = int(value)  # type: ignore[call-overload]
        if confusable:
            advice = _advise(domain, str(code))
            raise QuestionError(
                f"{code} could be a value or a code of {name!r}: write the label of the value; it "
                f"has the values {_list_labels(domain)}" + (f"; {advice}" if advice else "")
            )
        if not 0 <= code < domain.size:
            raise QuestionError(
                f"{name!r} has codes 0 to {domain.size - 1}, got {code}; name a value instead: "
                f"{_list_labels(domain)}"
            )
        return int(code)  # plain: a class of its own could pass for another number later
    text = value_text(value)
    if not isinstance(text, str):
        raise QuestionError(
            f"values of {name!r} must be labels (texts) or codes (integers), got {show(value)}"
        )
    if text not in code_of:
        advice = _advise(domain, text)
        raise QuestionError(
            f"{name!r} has the values {_list_labels(domain)}, got {text[:100]!r}"
            + (f"; {advice}" if advice else "")
        )
    if code_of[text] == _SEVERAL:
        raise QuestionError(f"{name!r} has several values with the label {text!r}; give a code")
    return code_of[text]


def _advise(domain: Attribute, text: str) -> str:
    """Return which value may be meant: one that is spelled alike, or the bin of a number."""
    number, cuts = domain.read_number(text), domain.cuts
    for code, (low, high) in enumerate(pairwise(cuts)):
        if low <= number < high or (number == high == cuts[-1]):
            return f"{text} is in {domain.labels[code]!r}"
    return suggest(text, domain.labels)


def _inner_cuts(domain: Attribute) -> dict[int, float]:
    """Return the edge at which each bin but the first begins, by code."""
    return dict(enumerate(domain.cuts[1:-1], start=1))


def _list_labels(domain: Attribute) -> str:
    return _list_some([repr(label) for label in domain.labels[: MAX_LISTED + 1]])


def _list_some(texts: list[str]) -> str:
    return ", ".join([*texts[:MAX_LISTED], "..."] if len(texts) > MAX_LISTED else texts)


def _is_integer(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating | np.bool_)


def _is_whole(label: str) -> bool:
    """Return whether a label is an integer as it is written."""
    digits = label.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) < 20
