"""Check the shape of JSON: what may stand in a query's body, with bounds, and as JSON Schema.

A shape checks a value that was parsed from JSON and says what is wrong with the first part that
does not fit. What came is not repeated: a client may have sent what it should not.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol

from privet._types import Json
from privet.errors import ParameterError


class ShapeError(ParameterError):
    """A body does not have the shape that is allowed. Carries where, and what is allowed there."""

    def __init__(self, where: str, what: str) -> None:
        self.where, self.what = where, what
        super().__init__(f"{where}: {what}")


class Shape(Protocol):
    """What a value may be."""

    @property
    def schema(self) -> Json:
        """The same as JSON Schema, for the description of the service."""

    def check(self, value: Any, where: str) -> None:
        """Raise :class:`ShapeError` unless the value fits."""


def _refuse(where: str, what: str) -> NoReturn:
    raise ShapeError(where, what)


@dataclass(frozen=True)
class Integer:
    """An integer within bounds; never a boolean."""

    low: int
    high: int

    @property
    def schema(self) -> Json:
        return {"type": "integer", "minimum": self.low, "maximum": self.high}

    def fits(self, value: Any) -> bool:
        return type(value) is int and self.low <= value <= self.high

    def check(self, value: Any, where: str) -> None:
        if not self.fits(value):
            _refuse(where, f"must be an integer from {self.low} to {self.high}")


@dataclass(frozen=True)
class Real:
    """A number that is finite."""

    @property
    def schema(self) -> Json:
        return {"type": "number"}

    def fits(self, value: Any) -> bool:
        return type(value) is int or (type(value) is float and math.isfinite(value))

    def check(self, value: Any, where: str) -> None:
        if not self.fits(value):
            _refuse(where, "must be a number")


@dataclass(frozen=True)
class Text:
    """Text of bounded length."""

    most: int
    least: int = 0

    @property
    def schema(self) -> Json:
        return {"type": "string", "minLength": self.least, "maxLength": self.most}

    def check(self, value: Any, where: str) -> None:
        if type(value) is not str or not self.least <= len(value) <= self.most:
            _refuse(where, f"must be text of {self.least} to {self.most} characters")


@dataclass(frozen=True)
class OneOf:
    """One of a few texts."""

    texts: tuple[str, ...]

    @property
    def schema(self) -> Json:
        return {"type": "string", "enum": list(self.texts)}

    def check(self, value: Any, where: str) -> None:
        if type(value) is not str or value not in self.texts:
            _refuse(where, f"must be {' or '.join(map(repr, self.texts))}")


@dataclass(frozen=True)
class Items:
    """A list of bounded length. It is read up to the first item that does not fit."""

    of: Shape
    least: int
    most: int

    @property
    def schema(self) -> Json:
        return {
            "type": "array",
            "items": self.of.schema,
            "minItems": self.least,
            "maxItems": self.most,
        }

    def check(self, value: Any, where: str) -> None:
        if type(value) is not list or not self.least <= len(value) <= self.most:
            _refuse(where, f"must be a list of {self.least} to {self.most} items")
        if isinstance(self.of, Integer | Real) and all(map(self.of.fits, value)):
            return  # a million numbers, without a name for each
        for number, item in enumerate(value):
            self.of.check(item, f"{where}.{number}")


@dataclass(frozen=True)
class Named:
    """An object whose names are free, such as those of attributes."""

    of: Shape
    name: Text

    @property
    def schema(self) -> Json:
        return {
            "type": "object",
            "propertyNames": self.name.schema,
            "additionalProperties": self.of.schema,
        }

    def check(self, value: Any, where: str) -> None:
        if type(value) is not dict:
            _refuse(where, "must be an object")
        for name, item in value.items():
            self.name.check(name, f"the names in {where}")
            self.of.check(item, f"{where}.{name[:100]}")


@dataclass(frozen=True)
class Document:
    """Any object; whoever reads it checks it."""

    @property
    def schema(self) -> Json:
        return {"type": "object"}

    def check(self, value: Any, where: str) -> None:
        if type(value) is not dict:
            _refuse(where, "must be an object")


@dataclass(frozen=True)
class Either:
    """One of several shapes, told apart by the kind of the value."""

    shapes: tuple[Shape, ...]

    @property
    def schema(self) -> Json:
        return {"anyOf": [shape.schema for shape in self.shapes]}

    def check(self, value: Any, where: str) -> None:
        problems = []
        for shape in self.shapes:
            try:
                shape.check(value, where)
            except ShapeError as problem:
                problems.append(problem)
            else:
                return
        # The one that got deepest is the one that was meant.
        raise max(problems, key=lambda problem: problem.where.count("."))


@dataclass(frozen=True)
class Field:
    """A named part of an object. One that is not required may be left out, or be null where that
    says something: none, or all.
    """

    shape: Shape
    required: bool = False
    description: str = ""
    nullable: bool = False

    @property
    def schema(self) -> Json:
        schema = self.shape.schema
        if self.nullable:
            schema = {"anyOf": [schema, {"type": "null"}]}
        return {**schema, "description": self.description} if self.description else schema


@dataclass(frozen=True)
class Fields:
    """An object with these fields and no others."""

    of: Mapping[str, Field]
    description: str = ""
    examples: tuple[Json, ...] = field(default=())

    @property
    def schema(self) -> Json:
        schema: Json = {
            "type": "object",
            "properties": {name: part.schema for name, part in self.of.items()},
            "required": [name for name, part in self.of.items() if part.required],
            "additionalProperties": False,
        }
        if self.description:
            schema["description"] = self.description
        if self.examples:
            schema["examples"] = list(self.examples)
        return schema

    def check(self, value: Any, where: str) -> None:
        if type(value) is not dict:
            _refuse(where, "must be an object")
        for name in value:
            if name not in self.of:
                close = difflib.get_close_matches(str(name)[:100], self.of, 1)
                meant = f"; did you mean {close[0]!r}?" if close else ""
                _refuse(f"{where}.{name[:100]}", f"is not known here{meant}")
        for name, part in self.of.items():
            if name not in value:
                if part.required:
                    _refuse(f"{where}.{name}", "is required")
            elif value[name] is not None or not part.nullable:
                part.shape.check(value[name], f"{where}.{name}")
