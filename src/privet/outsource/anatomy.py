"""Describe an outsourced table: what is public about it, and how its two halves look.

The identifier table IT has a row per person: the identifying attributes and the class, a group
number and a sealed sequence number. The sensitive table ST has a row per sensitive value: a
sequence number, the group number and the value. Whoever holds the key can join them; whoever does
not knows the group only.

Groups are l-diverse in the sense of Anatomy: no value has more than one l-th of the entries.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from privet._types import Ints
from privet._validate import check_integer, check_real
from privet.anonymity import Groups
from privet.domain import Attribute, Schema, text_of
from privet.domain.encode.rows import encode_entries
from privet.domain.encode.scalars import moment_of
from privet.errors import OutsourceError, ParameterError, SchemaError

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
        columns = {name: a.column or name for name, a in self.schema.attributes.items()}
        column = columns.pop(self.sensitive)
        if shared := [name for name, other in columns.items() if other == column]:
            raise ParameterError(
                f"sensitive must be the only attribute of its column {column!r}, which "
                f"{shared[0]!r} is read from, too: the server would learn of the one from the "
                f"other. Take {shared[0]!r} out of the schema"
            )
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
        """The columns of the identifier table: identifying attributes, the class, and the person.

        The person is there where the schema names one.
        """
        person = () if self.schema.person is None else (self.schema.person,)
        return (*self.identifying.names, self.schema.target, *person)

    def to_json(self) -> dict[str, Any]:
        """Return the content of ``anatomy.json``."""
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
        """Parse the content of ``anatomy.json``, or raise :class:`OutsourceError`."""
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


# Cells: entries as texts, None for null, so that they are stored, sent and sealed in one form.

CellText = str | None
#: Longer than any entry that a learner could use; an entry that is longer does not belong in such a
#: table.
MAX_CELL = 10_000


def people_cells(frame: Any, anatomy: Anatomy) -> list[list[CellText]]:
    """Return the cells of ``Anatomy.columns`` and the sensitive column, as the schema spells them.

    The sensitive column comes last.
    """
    schema = anatomy.schema
    columns = dict(zip(schema.names, attribute_cells(frame, schema), strict=True))
    (classes,) = cells_of(frame, [schema.target])
    columns[schema.target] = canonicalize_cells(schema.label, classes)
    if schema.person is not None:
        (columns[schema.person],) = cells_of(frame, [schema.person])
    return [columns[name] for name in (*anatomy.columns, anatomy.sensitive)]


def attribute_cells(frame: Any, schema: Schema) -> list[list[CellText]]:
    """Return the cells of each attribute, as the schema spells them.

    So an age leaves its owner as an age, not as the date of birth that it is read from.
    """
    cells = cells_of(frame, list(schema.find_columns(frame.columns).values()))
    return [
        canonicalize_cells(attribute, column)
        for attribute, column in zip(schema.attributes.values(), cells, strict=True)
    ]


def cells_of(frame: Any, names: Sequence[str]) -> list[list[CellText]]:
    """Return the columns of a data frame as texts.

    A number or boolean has the text of its category; a date is ISO 8601, in UTC.
    """
    absent = [name for name in names if name not in frame.columns]
    if absent:
        raise SchemaError(
            f"the table has no column {absent[0]!r}; it has {', '.join(map(str, frame.columns))}"
        )
    return [_extract_column(name, frame[name]) for name in names]


def _extract_column(name: str, column: Any) -> list[CellText]:
    import pandas as pd

    positions, uniques = pd.factorize(column)
    texts = [_cell_text(name, entry) for entry in uniques.tolist()]
    return [None if at < 0 else texts[at] for at in positions.tolist()]


def _cell_text(name: str, entry: Any) -> str:
    if isinstance(entry, date):  # a timestamp, too
        return _date_text(name, entry)
    if not isinstance(entry, str | bool | int | float | np.number | np.bool_):
        raise SchemaError(
            f"column {name!r} must hold text, numbers, truth values or dates, but one entry is a "
            f"{type(entry).__name__}"
        )
    text = text_of(entry.item() if isinstance(entry, np.generic) else entry)
    if (
        len(text) > MAX_CELL
        or "\x00" in text
        or any("\ud800" <= character <= "\udfff" for character in text)
    ):
        raise SchemaError(
            f"column {name!r} must hold texts of at most {MAX_CELL} characters without NUL and "
            "lone surrogates"
        )
    return text


def _date_text(name: str, entry: date) -> str:
    text = str(moment_of(entry))
    if np.isnat(moment_of(text)):
        raise SchemaError(
            f"column {name!r} must hold dates of the years 1000 to 9999, which can be written as "
            f"text; got the year {entry.year}"
        )
    return text


def canonicalize_cells(domain: Attribute, cells: Sequence[CellText]) -> list[CellText]:
    """Spell cells as the schema does.

    A source that writes 30.0 where another writes 30 would mark its rows in both halves alike.
    """
    known = {cell: domain.canonical(cell) for cell in set(cells)}
    return [known[cell] for cell in cells]


def codes_of(domain: Attribute, cells: Sequence[CellText]) -> npt.NDArray[np.int64]:
    """Return the code of each cell in one attribute's domain.

    The code of an unknown cell is the domain's size.
    """
    return encode_entries([domain], [cells])[0].astype(np.int64)


# Whether groups are l-diverse: no value has more than one l-th of the entries.


def find_undiverse_groups(gid: Ints, codes: Ints, l: int) -> Ints:  # noqa: E741 - its name everywhere
    """Return the groups in which some value has more than one l-th of the entries."""
    if not len(gid):
        return np.empty(0, dtype=np.int64)
    groups = Groups.of(gid, codes)
    return groups.ids[groups.largest * l > groups.sizes]


def find_undiverse_value_groups(anatomy: Anatomy, gid: Ints, values: Sequence[CellText]) -> Ints:
    """Return the groups that are not l-diverse by the codes of a table's values.

    Two ages of one bin are the same.
    """
    return find_undiverse_groups(gid, codes_of(anatomy.sensitive_domain, values), anatomy.l)
