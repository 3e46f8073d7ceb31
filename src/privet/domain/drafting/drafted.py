"""Hold a drafted schema with what was left out, and check the names that were given for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from privet._validate import suggest
from privet.domain.attributes import Attribute, Ordinal, attribute_from_json
from privet.domain.schema import Schema
from privet.errors import SchemaError

MISSING, OTHER = "missing", "other"


@dataclass(frozen=True)
class Draft:
    """A drafted schema, and why columns are not in it.

    ``notes`` says for some columns that are in it what should be looked at.
    """

    schema: Schema
    left_out: Mapping[str, str]
    notes: Mapping[str, str] = field(default_factory=dict)

    def describe_left_out(self) -> list[str]:
        """Return a line for each column that was left out."""
        return [f"{column}: {why}" for column, why in self.left_out.items()]


@dataclass(frozen=True)
class Wishes:
    """What somebody says about the columns of a table before a schema is drafted."""

    target: str
    exclude: frozenset[str] = frozenset()
    include: frozenset[str] = frozenset()
    person: str | None = None

    @classmethod
    def read(
        cls,
        columns: Sequence[str],
        target: str | None,
        exclude: Iterable[str],
        include: Iterable[str],
        person: str | None,
    ) -> Wishes:
        """Return the wishes; raise one error with all that is wrong.

        The target is the last column unless named.
        """
        _check_columns(columns)
        left, kept = frozenset(exclude), frozenset(include)
        name = _last_column(columns, {*left, person}) if target is None else target
        told = [("target", {name}), ("exclude", left), ("include", kept)]
        told += [("person", set() if person is None else {person})]
        problems = [
            _describe_absent(what, column, columns)
            for what, named in told
            for column in sorted(named)
            if column not in columns
        ]
        clashes = [
            (left & kept, "is both excluded and included"),
            ({name} & left, "is the target, and is excluded"),
            ({name} & {person}, "is the target, and says whose row it is"),
            (kept & {person}, "says whose row it is, and can be no attribute"),
        ]
        problems += [f"column {column!r} {why}" for named, why in clashes for column in named]
        raise_problems(problems)
        return cls(name, left, kept, person)

    def skip(self, column: str) -> str | None:
        """Return why a column is left out whatever it holds; None where it may stay."""
        if column == self.person:
            return "it says whose row it is"
        return "you excluded it" if column in self.exclude else None


def _check_columns(columns: Sequence[str]) -> None:
    if twice := sorted({column for column in columns if columns.count(column) > 1}):
        raise SchemaError(f"column {twice[0]!r} stands more than once in the table")
    if len(columns) < 2:
        raise SchemaError(
            "a table needs at least one attribute and a class column, got "
            f"{len(columns)} column{'s' if len(columns) != 1 else ''}"
        )


def _last_column(columns: Sequence[str], without: set[str | None]) -> str:
    return next((column for column in reversed(columns) if column not in without), columns[-1])


def _describe_absent(what: str, column: str, columns: Sequence[str]) -> str:
    meant = suggest(column, columns)
    there = f"there are {', '.join(columns)}"
    return f"{what}: no column {column!r} in the table; {there}" + (f"; {meant}" if meant else "")


def raise_problems(problems: Sequence[str]) -> None:
    """Raise one error that lists all problems, if there are any."""
    if problems:
        raise SchemaError(problems[0] if len(problems) == 1 else "\n  ".join(["", *problems]))


def finish_draft(
    attributes: Mapping[str, Attribute],
    wishes: Wishes,
    classes: Sequence[str | int | float | bool],
    left_out: Mapping[str, str],
    notes: Mapping[str, str] | None = None,
) -> Draft:
    """Return the draft; raise where no attribute is left."""
    if not attributes:
        why = "; ".join(f"{column!r}: {reason}" for column, reason in left_out.items())
        raise SchemaError(
            f"no attribute is left beside the target {wishes.target!r}: every column was left out "
            f"({why}); keep those that you want with include (--include NAME)"
        )
    schema = Schema(attributes, wishes.target, classes, person=wishes.person)
    return Draft(schema, dict(left_out), dict(notes or {}))


def _are_integers(values: Sequence[object]) -> bool:
    return len(values) > 2 and all(type(value) is int for value in values)


def forgive(attribute: Attribute) -> Attribute:
    """Return the same attribute with a value for missing entries, and one for others.

    A public sample does not show all that a table holds, and a row that does not fit is not
    counted. Numbers get a fine grid, so that bounds which are too wide cost little. Three listed
    integers or more get their order.
    """
    data = attribute.to_json()
    if attribute.missing is None:
        taken = {*attribute.labels}
        data["missing"] = next(name for name in (MISSING, "none", "no entry") if name not in taken)
    values = data.get("values", [])
    if data["type"] == "categorical" and _are_integers(values) and "prefix" not in data:
        return Ordinal(sorted(values), missing=data["missing"], column=data.get("column"))
    if data["type"] == "categorical" and "other" not in data and "on_unknown" not in data:
        taken = {*attribute.labels, data["missing"]}
        data["other"] = next(name for name in (OTHER, "other value", "else") if name not in taken)
    if data["type"] == "numeric" and "edges" not in data:
        data = {key: fact for key, fact in data.items() if key != "spacing"} | {"bins": "auto"}
    return attribute_from_json(data)
