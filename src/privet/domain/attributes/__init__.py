"""Describe the public domain of one column: a file per type of column.

- :mod:`~privet.domain.attributes.base`: what every type can do, and what a code is
- :mod:`~privet.domain.attributes.listed`: what types with a list of values share
- :mod:`~privet.domain.attributes.binned`: what types with an order and bins share
- :mod:`~privet.domain.attributes.categorical`, :mod:`~privet.domain.attributes.boolean`,
  :mod:`~privet.domain.attributes.numeric`, :mod:`~privet.domain.attributes.dates`,
  :mod:`~privet.domain.attributes.ordinal`: the types

A new type is one file, and one entry in :data:`TYPES`.
"""

from __future__ import annotations

from collections.abc import Mapping

from privet._validate import check_name
from privet.domain.attributes.base import (
    MAX_BITS,
    MAX_VALUES,
    Attribute,
    Value,
    is_name,
    is_writable_text,
    smallest_unsigned,
    text_of,
)
from privet.domain.attributes.boolean import Boolean
from privet.domain.attributes.categorical import Categorical
from privet.domain.attributes.dates import Date
from privet.domain.attributes.numeric import Numeric
from privet.domain.attributes.ordinal import Ordinal
from privet.errors import SchemaError

#: The types of columns, by their names in schema files.
TYPES: dict[str, type[Attribute]] = {
    kind.type: kind for kind in (Categorical, Numeric, Boolean, Date, Ordinal)
}


def attribute_from_json(data: object) -> Attribute:
    """Return the attribute that a schema file describes."""
    if not isinstance(data, Mapping):
        raise SchemaError(
            f"an attribute must be an object with a 'type', got {type(data).__name__}"
        )
    kind = check_name("type", data.get("type"), tuple(TYPES), error=SchemaError)
    allowed = {"type", *TYPES[kind].keys}
    if unknown := set(data) - allowed:
        raise SchemaError(
            f"unknown key {sorted(unknown, key=str)[0]!r} in a {kind} attribute; allowed are "
            f"{', '.join(sorted(allowed))}"
        )
    return TYPES[kind].from_json({key: value for key, value in data.items() if key != "type"})


__all__ = [
    "MAX_BITS",
    "MAX_VALUES",
    "TYPES",
    "Attribute",
    "Boolean",
    "Categorical",
    "Date",
    "Numeric",
    "Ordinal",
    "Value",
    "attribute_from_json",
    "is_name",
    "is_writable_text",
    "smallest_unsigned",
    "text_of",
]
