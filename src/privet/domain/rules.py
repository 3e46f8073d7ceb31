"""Check what a schema says to be impossible: values that are never together.

A rule names two attributes or more, and a value or a list of values of each: no row has one of the
listed values of every attribute it names. It is public knowledge about the world, such as that who
has no internet has no add-on to it.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from privet._plain import copy_scalar
from privet.domain.attributes import text_of
from privet.errors import SchemaError

if TYPE_CHECKING:
    from privet.domain.schema import Schema

#: More rules than this are refused: every row is compared with each.
MOST_RULES = 1000
#: Rules that are not found to exclude each other in so many steps are taken as they are.
MOST_STEPS = 1000

_ALLOWED = (
    "a rule names two attributes or more, and a value or a list of values of each, such as "
    '{"internet": "no", "security": "yes"}'
)


def copy_rules(schema: Schema) -> tuple[Mapping[str, Any], ...]:
    """Return a plain copy of the rules; raise for values that the attributes do not have."""
    rules = schema.impossible
    if not isinstance(rules, list | tuple) or len(rules) > MOST_RULES:
        raise SchemaError(
            f"Schema: impossible must be a list of at most {MOST_RULES} rules; {_ALLOWED}"
        )
    copied = tuple(_copy_rule(schema, number, rule) for number, rule in enumerate(rules))
    if not _leave_rows(schema, _find_codes(schema, copied)):
        raise SchemaError(
            "Schema: impossible: together, the rules exclude every row; a rule is about values "
            "that are never together"
        )
    return copied


def _copy_rule(schema: Schema, number: int, rule: Any) -> Mapping[str, Any]:
    where = f"Schema: impossible[{number}]"
    if not isinstance(rule, Mapping) or len(rule) < 2:
        raise SchemaError(f"{where}: {_ALLOWED}; got {rule!r}")
    copied: dict[str, Any] = {}
    for given, values in rule.items():
        name = copy_scalar(given)
        if name not in schema.attributes:
            close = difflib.get_close_matches(str(name), schema.names, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise SchemaError(f"{where}: there is no attribute {name!r}{hint}")
        listed = isinstance(values, list | tuple)
        texts = tuple(copy_scalar(value) for value in (values if listed else [values]))
        for text in texts:
            _find(schema, where, name, text)
        if not texts:
            raise SchemaError(f"{where}: {name!r} must have at least one value")
        copied[name] = texts if listed else texts[0]
    return MappingProxyType(copied)


def _find(schema: Schema, where: str, name: str, value: Any) -> int:
    """Return the code of a value of an attribute, by its label."""
    labels = schema.attributes[name].labels
    try:
        return labels.index(text_of(value))
    except (ValueError, TypeError):
        shown = ", ".join(map(repr, labels[:5])) + (", ..." if len(labels) > 5 else "")
        raise SchemaError(f"{where}: {name!r} has no value {value!r}; it has {shown}") from None


def _leave_rows(schema: Schema, rules: Sequence[Mapping[str, Collection[int]]]) -> bool:
    """Return whether a row is left by rules as codes; True where that takes too long to find out.

    Attribute by attribute, values are tried that complete no rule. Values that the same rules name
    are tried once.
    """
    names = list(dict.fromkeys(name for rule in rules for name in rule))
    places = {name: place for place, name in enumerate(names)}
    last = [max(places[name] for name in rule) for rule in rules]
    choices = [_sort_choices(name, rules, schema.attributes[name].size) for name in names]
    named = [{number for number, rule in enumerate(rules) if name in rule} for name in names]
    # so many attributes have a value, and these rules are met by all of theirs
    waiting = [(0, frozenset(range(len(rules))))]
    for _ in range(MOST_STEPS):
        if not waiting:
            return False
        place, met = waiting.pop()
        if place == len(names):
            return True
        for choice in choices[place]:
            left = met - (named[place] - choice)
            if not any(last[number] == place for number in left):
                waiting.append((place + 1, left))
    return True


def _sort_choices(
    name: str, rules: Sequence[Mapping[str, Collection[int]]], size: int
) -> list[frozenset[int]]:
    """Return which rules name a value of an attribute, for each kind of value, the freest last."""
    of_codes: dict[int, set[int]] = {}
    for number, rule in enumerate(rules):
        for code in rule.get(name, ()):
            of_codes.setdefault(code, set()).add(number)
    kinds = {frozenset(found) for found in of_codes.values()}
    if len(of_codes) < size:
        kinds.add(frozenset())
    return sorted(kinds, key=len, reverse=True)


def find_rule_codes(schema: Schema) -> tuple[Mapping[str, tuple[int, ...]], ...]:
    """Return the rules of a schema as codes."""
    return _find_codes(schema, schema.impossible)


def _find_codes(
    schema: Schema, rules: Sequence[Mapping[str, Any]]
) -> tuple[Mapping[str, tuple[int, ...]], ...]:
    return tuple(
        {
            name: tuple(
                _find(schema, "Schema: impossible", name, value)
                for value in (values if isinstance(values, tuple) else (values,))
            )
            for name, values in rule.items()
        }
        for rule in rules
    )
