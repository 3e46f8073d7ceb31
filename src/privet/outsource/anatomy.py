"""Anatomy: what is public about an outsourced table, and how its two halves look.

The identifier table IT has a row per person: the identifying attributes and the class, a group
number and a sealed sequence number. The sensitive table ST has a row per sensitive value: a
sequence number, the group number and the value. Whoever holds the key can join them; whoever does
not knows the group only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

from privet.checks import check_integer, check_real
from privet.errors import OutsourceError, ParameterError, SchemaError
from privet.schema import Attribute, Schema

VERSION = 1
#: Said wherever an outsourced table or what was learnt from it is shown.
STATEMENT = (
    "This is anatomization, not differential privacy. Whoever sees both tables knows for every "
    "person a group in which no sensitive value has more than one l-th of the entries, and can "
    "learn more by correlation with what identifies people (the deFinetti attack; measure it with "
    "'privet outsource attack'), by background knowledge, and from who is asked about."
)
_KEYS = {"privet", "version", "id", "l", "sensitive", "pruning", "schema", "statement"}


@dataclass(frozen=True)
class Anatomy:
    """The public facts of one outsourced table.

    Args:
        id: 32 hexadecimal digits that no other split has. Everything that is sealed is bound to it.
        l: no sensitive value has more than one l-th of the entries of any group.
        sensitive: the attribute whose link to people is hidden.
        schema: all attributes, the sensitive one included, and the class.
        pruning: the share of rows, drawn at random, that learners keep aside for pruning.
    """

    id: str
    l: int  # noqa: E741 - its name everywhere
    sensitive: str
    schema: Schema
    pruning: float = 0.2

    def __post_init__(self) -> None:
        if not isinstance(self.id, str) or not re.fullmatch(r"[0-9a-f]{32}", self.id):
            raise ParameterError(f"id must be 32 hexadecimal digits, got {self.id!r}")
        object.__setattr__(self, "l", check_integer("l", self.l, 2))
        if self.sensitive == self.schema.target:
            raise ParameterError(
                f"sensitive must not be the class {self.sensitive!r}: what a tree predicts, the "
                "server knows"
            )
        if self.sensitive not in self.schema.attributes:
            raise ParameterError(
                f"sensitive must be one of {', '.join(self.schema.names)}; got {self.sensitive!r}"
            )
        if len(self.schema.attributes) < 2:
            raise ParameterError("a table needs an identifying attribute beside the sensitive one")
        if self.sensitive_domain.size < self.l:
            raise ParameterError(
                f"l must be at most {self.sensitive_domain.size}, the values that "
                f"{self.sensitive!r} has; got {self.l}"
            )
        check_real("pruning", self.pruning, least=0, below=1)

    @property
    def sensitive_domain(self) -> Attribute:
        """The public domain of the sensitive attribute."""
        return self.schema.attributes[self.sensitive]

    @cached_property
    def identifying(self) -> Schema:
        """The schema of the identifier table: what the server learns from."""
        return replace(
            self.schema,
            attributes={
                name: a for name, a in self.schema.attributes.items() if name != self.sensitive
            },
        )

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns of the identifier table: identifying attributes, the class, and the person
        where the schema names one.
        """
        person = () if self.schema.person is None else (self.schema.person,)
        return (*self.identifying.names, self.schema.target, *person)

    def to_json(self) -> dict[str, Any]:
        """As it stands in ``anatomy.json``."""
        return {
            "privet": "anatomy",
            "version": VERSION,
            "statement": STATEMENT,
            "id": self.id,
            "l": self.l,
            "sensitive": self.sensitive,
            "pruning": self.pruning,
            "schema": self.schema.to_json(),
        }

    @classmethod
    def from_json(cls, data: object) -> Anatomy:
        """What ``anatomy.json`` says, or :class:`OutsourceError`."""
        if not isinstance(data, Mapping) or data.get("privet") != "anatomy":
            raise OutsourceError("this is no description of an outsourced table")
        if data.get("version") != VERSION:
            raise OutsourceError(
                f"an outsourced table of version {data.get('version')!r}; this Privet reads "
                f"version {VERSION}"
            )
        if set(data) != _KEYS:
            raise OutsourceError(
                "the description of an outsourced table must have exactly "
                f"{', '.join(sorted(_KEYS))}"
            )
        try:
            return cls(
                data["id"],
                data["l"],
                data["sensitive"],
                Schema.from_json(data["schema"]),
                data["pruning"],
            )
        except (ParameterError, SchemaError, TypeError) as error:
            raise OutsourceError(
                f"the description of an outsourced table is wrong: {error}"
            ) from None

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Anatomy:
        """Read ``anatomy.json``."""
        try:
            return cls.from_json(json.loads(Path(path).read_text(encoding="utf-8")))
        except OSError as error:
            raise OutsourceError(f"cannot read {path}: {error.strerror}") from None
        except (ValueError, RecursionError):
            raise OutsourceError(f"cannot read {path}: it is no JSON") from None
