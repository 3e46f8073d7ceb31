"""The header of a KEEL file: one line per attribute, with its public domain.

    @attribute Age integer [15, 64]
    @attribute Ldl real [0.98, 15.33]
    @attribute Famhist {Present, Absent}
    @attribute Chd {0, 1}
    @output Chd

The rule that makes a schema of it is fixed and looks at no row: the values as listed; bounds as
stated, cut into 16 bins of equal width, or with ``bins="auto"`` into a fine grid that the fit
resolves; one bin per number where a whole-number attribute has no more than 16 of them. Numbers
outside the bounds count in the nearest bin. The class is the attribute that ``@output`` names.
"""

from __future__ import annotations

import re
from typing import Literal

from privet.domain import Attribute, Categorical, Numeric, Schema

BINS = 16
Bins = int | Literal["auto"]
_ATTRIBUTE = re.compile(
    r"@attribute\s+(?P<name>'[^']+'|[^\s{\[]+)\s*(?P<kind>real|integer)?\s*(?P<domain>[\[{].*[\]}])\s*$",
    re.IGNORECASE,
)


def schema_of(header: str, bins: Bins = BINS) -> Schema:
    """The public schema that a header states."""
    attributes: dict[str, Attribute] = {}
    target = None
    for line in header.splitlines():
        word = line.split(maxsplit=1)[0].lower() if line.strip() else ""
        if word == "@attribute":
            name, attribute = attribute_of(line, bins)
            if name in attributes:
                raise ValueError(f"the attribute {name!r} stands twice")
            attributes[name] = attribute
        elif word in ("@output", "@outputs"):
            target = line.split(maxsplit=1)[1].strip().strip("'")
    label = None if target is None else attributes.pop(target, None)
    if target is None or label is None or label.ordered:
        raise ValueError("the header must name a nominal @output")
    return Schema(attributes, target, label.labels)


def attribute_of(line: str, bins: Bins = BINS) -> tuple[str, Attribute]:
    """The name and the domain of one ``@attribute`` line."""
    match = _ATTRIBUTE.match(line.strip())
    if match is None:
        raise ValueError(f"cannot read the line {line!r}")
    name, kind = match["name"].strip("'"), (match["kind"] or "").lower()
    values = [value.strip() for value in match["domain"][1:-1].split(",")]
    if match["domain"][0] == "{":
        return name, Categorical(values)
    if not kind or len(values) != 2:
        raise ValueError(f"a numeric attribute is real or integer with two bounds, not {line!r}")
    low, high = (float(value) for value in values)
    if kind == "integer" and high - low < BINS:
        return name, Numeric(edges=[low + step - 0.5 for step in range(int(high - low) + 2)])
    return name, Numeric(low, high, bins=bins)
