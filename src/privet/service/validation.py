"""Say what is wrong with parameters and bodies that FastAPI refused, in words of ours.

FastAPI's words are its own, change with its version, and say things such as "Input should be a
valid dictionary" to people who sent JSON. What came is not repeated: a client may have sent what it
should not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

#: Kinds of errors, by how they begin, and what is allowed there. The first that fits counts.
_ALLOWED: tuple[tuple[str, Callable[[Mapping[str, Any]], str]], ...] = (
    ("missing", lambda _: "is missing"),
    ("extra_forbidden", lambda _: "is no parameter here; check its name, or leave it out"),
    ("json_invalid", lambda _: "is no JSON"),
    ("int", lambda _: "must be an integer"),
    ("finite_number", lambda _: "must be a finite number"),
    ("float", lambda _: "must be a number"),
    ("bool", lambda _: "must be true or false"),
    ("none_required", lambda _: "must be null"),
    ("greater_than_equal", lambda allowed: f"must be {allowed['ge']} or more"),
    ("greater_than", lambda allowed: f"must be more than {allowed['gt']}"),
    ("less_than_equal", lambda allowed: f"must be {allowed['le']} or less"),
    ("less_than", lambda allowed: f"must be less than {allowed['lt']}"),
    ("string_too_long", lambda allowed: f"must have at most {allowed['max_length']} characters"),
    ("string_too_short", lambda allowed: f"must have at least {allowed['min_length']} characters"),
    ("string_pattern_mismatch", lambda allowed: f"must fit the pattern {allowed['pattern']}"),
    ("string", lambda _: "must be text"),
    ("too_long", lambda allowed: f"must have at most {allowed['max_length']} items"),
    ("too_short", lambda allowed: f"must have at least {allowed['min_length']} items"),
    ("literal_error", lambda allowed: f"must be {allowed['expected']}"),
    ("enum", lambda allowed: f"must be {allowed['expected']}"),
    *((kind, lambda _: "must be a list") for kind in ("list", "tuple", "set")),
    *((kind, lambda _: "must be an object") for kind in ("dict", "model", "dataclass")),
)
_OTHERWISE = "is not what may stand here; /v1/openapi.json describes what may"


def describe_errors(errors: Sequence[Any], most: int = 20) -> list[dict[str, str]]:
    """Return where each error is, and what is allowed there."""
    return [
        {"where": ".".join(map(str, error["loc"]))[:200], "what": describe_error(error)}
        for error in errors[:most]
    ]


def describe_error(error: Mapping[str, Any]) -> str:
    """Return what is allowed where one error is."""
    kind, allowed = error["type"], error.get("ctx", {})
    for begins, describe in _ALLOWED:
        if kind.startswith(begins):
            try:
                return describe(allowed)
            except KeyError:  # another version has another name for the bound
                break
    return _OTHERWISE
