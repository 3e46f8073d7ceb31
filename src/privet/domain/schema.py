"""Declare everything that is public about a table, and nothing else."""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from privet._atomic import write_atomically
from privet._plain import copy_scalar
from privet._validate import check_boolean, check_integer, check_name
from privet.domain.attributes import (
    MAX_VALUES,
    TYPES,
    Attribute,
    Categorical,
    Value,
    attribute_from_json,
    is_name,
)
from privet.domain.rules import copy_rules, find_rule_codes
from privet.domain.shown import schema_html, schema_line
from privet.errors import DraftWarning, SchemaError
from privet.text import advise_swap

Neighbours = Literal["add-remove", "replace"]
VERSION = 1
_AMOUNT = re.compile("[0-9]{1,40}(/[1-9][0-9]{0,39})?")
_KEYS = {
    "privet",
    "version",
    "attributes",
    "target",
    "classes",
    "n_rows",
    "person",
    "rows_per_person",
    "neighbours",
    "from_data",
    "other_class",
    "paid",
    "impossible",
}


@dataclass(frozen=True, eq=False)
class Schema:
    """What is public about a table: its attributes with their domains, the target with its classes,
    owner-side facts.

    Nothing in it may be learnt from the private rows: whoever writes a schema publishes it.

    Parameters
    ----------
    attributes
        Name to :class:`Categorical`, :class:`Numeric`, :class:`Boolean`, :class:`Date` or
        :class:`Ordinal`, in order.
    target
        The name of the class column.
    classes
        The public list of classes.
    n_rows
        The number of rows, if the owner declares it public. Without it learners pay for a
        noisy size.
    person
        The column that says whose row it is. The curator keeps at most ``rows_per_person``
        rows of each person before counting; a row without a person is not counted. Without this
        column, how many rows a person has is the owner's assertion.
    rows_per_person
        How many rows one person may have; the guarantee is for a person, so it
        multiplies epsilon.
    neighbours
        ``"add-remove"`` or ``"replace"`` one person; the guarantee is stated for these
        neighbours.
    other_class
        The class of rows whose class is missing or not listed, one of ``classes``; without
        it such rows are not counted.
    paid
        What was paid for the schema itself, where :func:`~privet.draft_schema` found it with
        noise: ``{"epsilon": "1/10", "account": ..., "release": ...}``. A model that is learnt with
        it gives away both.
    impossible
        Values that are never together, such as ``[{"internet": "no", "security": "yes"}]``: each
        rule names two attributes or more, and a value or a list of values of each. Like all of a
        schema it is public knowledge, never learnt from rows; synthetic rows keep to it.
    from_data
        Whether the domain was read off the rows. What is learnt with such a schema is
        marked ``private: false``.

    Examples
    --------
    >>> import privet as pv
    >>> schema = pv.Schema(
    ...     {"age": pv.Numeric(0, 120, bins=12), "ward": pv.Categorical(["A", "B"])},
    ...     target="returned",
    ...     classes=["no", "yes"],
    ... )
    >>> schema
    <Schema: 2 attributes (age, ward), target 'returned' with 2 classes>
    """

    attributes: Mapping[str, Attribute]
    target: str
    classes: Sequence[Value]
    n_rows: int | None = None
    person: str | None = None
    rows_per_person: int = 1
    neighbours: Neighbours = "add-remove"
    from_data: bool = False
    other_class: Value | None = None
    paid: Mapping[str, str] | None = None
    impossible: Sequence[Mapping[str, Any]] = ()
    label: Categorical = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.attributes, Mapping) or not self.attributes:
            raise SchemaError(
                f"Schema: attributes must be a mapping from names to {_join_types()}, and not empty"
            )
        # plain copies, made once: what is checked here is what is kept
        attributes = {
            copy_scalar(name): _copy_attribute(name, attribute)
            for name, attribute in self.attributes.items()
        }
        object.__setattr__(self, "attributes", MappingProxyType(attributes))
        for fact in ("target", "person"):
            object.__setattr__(self, fact, copy_scalar(getattr(self, fact)))
        for name in self.attributes:
            _check_name("attributes", name)
        _check_name("target", self.target)
        if self.target in self.attributes:
            raise SchemaError(f"Schema: target {self.target!r} must not be an attribute too")
        for name, attribute in self.attributes.items():
            if attribute.column is not None and attribute.column in (self.target, self.person):
                raise SchemaError(
                    f"Schema: attribute {name!r} must not read column {attribute.column!r}, which "
                    "is the target or says whose row it is"
                )
            if attribute.column not in (None, name) and attribute.column in self.attributes:
                raise SchemaError(
                    f"Schema: attribute {name!r} must not read column {attribute.column!r}, which "
                    "is an attribute of its own: a table that is made for the schema has a column "
                    f"for each. Give {attribute.column!r} another name, with "
                    f"column={attribute.column!r}"
                )
        try:
            label = self._make_label()
        except SchemaError as error:
            raise SchemaError(f"Schema: classes: {error}") from None
        if label.size < 2:
            raise SchemaError(f"Schema: classes must hold at least 2 classes, got {label.size}")
        whose: Any = {"owner": "Schema", "error": SchemaError}
        if self.n_rows is not None:
            object.__setattr__(self, "n_rows", check_integer("n_rows", self.n_rows, 0, **whose))
        rows_per_person = check_integer("rows_per_person", self.rows_per_person, 1, **whose)
        object.__setattr__(self, "rows_per_person", rows_per_person)
        if self.person is not None:
            _check_name("person", self.person)
            if self.person in self.attributes or self.person == self.target:
                raise SchemaError(
                    f"Schema: person {self.person!r} must not be an attribute or the target: it "
                    "identifies people"
                )
        neighbours = check_name("neighbours", self.neighbours, get_args(Neighbours), **whose)
        object.__setattr__(self, "neighbours", neighbours)
        object.__setattr__(self, "from_data", check_boolean("from_data", self.from_data, **whose))
        if self.other_class is not None:
            object.__setattr__(self, "other_class", label.other)
        object.__setattr__(self, "paid", _copy_paid(self.paid))
        object.__setattr__(self, "classes", label.values)
        object.__setattr__(self, "label", label)
        object.__setattr__(self, "impossible", copy_rules(self))

    def __eq__(self, other: object) -> bool:
        """Return whether both have the same domain, in the same order, and the same owner-side
        facts.
        """
        facts = ("fingerprint", "n_rows", "person", "rows_per_person", "neighbours", "from_data")
        facts += ("paid", "impossible")  # type: ignore[assignment]
        return isinstance(other, Schema) and all(
            getattr(self, fact) == getattr(other, fact) for fact in facts
        )

    def _make_label(self) -> Categorical:
        """Return the classes as a domain; raise where they are none."""
        if self.other_class is None:
            return Categorical(self.classes, on_unknown="drop")
        label = Categorical(self.classes, other=self.other_class, missing=self.other_class)
        if label.size > len(self.classes):
            raise SchemaError(
                f"Schema: other_class must be one of the classes, got {self.other_class!r}"
            )
        return label

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        return schema_line(self)

    def _repr_html_(self) -> str:
        return schema_html(self)

    def __reduce__(self) -> tuple[Any, ...]:
        # a mapping proxy cannot be copied or pickled by itself
        return Schema.from_json, (self.to_json(),)

    # -- what it says ------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the attributes, in order."""
        return tuple(self.attributes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The domain size of each attribute, in order."""
        return tuple(attribute.size for attribute in self.attributes.values())

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return self.label.size

    @cached_property
    def impossible_codes(self) -> tuple[Mapping[str, tuple[int, ...]], ...]:
        """What is impossible, as codes of the attributes."""
        return find_rule_codes(self)

    def __iter__(self) -> Iterator[str]:
        return iter(self.attributes)

    def index(self, name: str) -> int:
        """Return the position of an attribute.

        Parameters
        ----------
        name
            The name of the attribute.

        Examples
        --------
        >>> import privet as pv
        >>> pv.datasets.load("car").schema.index("safety")
        5
        """
        try:
            return self.names.index(name)
        except ValueError:
            raise SchemaError(f"no attribute {name!r}; there are {', '.join(self.names)}") from None

    def encode(self, table: object) -> npt.NDArray[np.int64]:
        """Return the codes of rows, one column per attribute in the order of the schema.

        It is what an ONNX graph of codes reads. A code of the attribute's size is an unknown value.

        Parameters
        ----------
        table
            A data frame with the attributes of the schema; other columns are not looked at.

        Examples
        --------
        >>> import privet as pv
        >>> car = pv.datasets.load("car")
        >>> car.schema.encode(car.X.head(2)).tolist()
        [[3, 3, 0, 0, 0, 0], [3, 3, 0, 0, 0, 1]]
        """
        from privet.domain.encode.rows import encode

        return np.stack(encode(self, table, target=False).codes, axis=1).astype(np.int64)

    def find_columns(self, present: Collection[str]) -> dict[str, str]:
        """Return the column of each attribute in a table that has these columns.

        It is the one that the attribute names. A table that is made for the schema, such as a
        synthetic one, has none of these, and a column for each attribute instead.
        """
        named = {name: a.column for name, a in self.attributes.items() if a.column is not None}
        made = not any(column in present for column in named.values())
        if made and all(name in present for name in named):
            named = {}
        return {name: named.get(name, name) for name in self.attributes}

    def list_checks(self, present: Collection[str]) -> list[tuple[str, str, Attribute]]:
        """Return the name, the column and the domain of each attribute and of the target.

        For the owner's check of a table: a class that is not listed is a problem there.
        """
        columns = self.find_columns(present)
        checks = [(name, columns[name], attribute) for name, attribute in self.attributes.items()]
        label = Categorical(self.classes) if self.other_class is None else self.label
        return [*checks, (self.target, self.target, label)]

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the domain: attributes, target and classes, not the owner-side facts.

        Two parties whose tables have the same domain can exchange trees, whatever their sizes.
        """
        domain = {key: self.to_json()[key] for key in ("attributes", "target", "classes")}
        if self.other_class is not None:
            domain["other_class"] = self.other_class
        domain["attributes"] = list(domain["attributes"].items())  # order matters
        text = json.dumps(domain, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def declare(self, **facts: Any) -> Schema:
        """Return the same domain with other owner-side facts.

        These are ``n_rows``, ``person``, ``rows_per_person`` and ``neighbours``.

        Parameters
        ----------
        **facts
            The facts to change; the others stay.

        Examples
        --------
        >>> import privet as pv
        >>> pv.datasets.load("car").schema.declare(n_rows=1728, neighbours="replace").n_rows
        1728
        """
        allowed = {"n_rows", "person", "rows_per_person", "neighbours"}
        if unknown := set(facts) - allowed:
            raise SchemaError(
                f"Schema.declare: unknown fact {sorted(unknown, key=str)[0]!r}; allowed are "
                f"{', '.join(sorted(allowed))}"
            )
        return replace(self, **facts)

    def number_classes(self, count: int | None = None) -> Schema:
        """Return the same schema with the classes 0, 1, 2, ... in place of the labels.

        For labels that are numbers of classes, such as those that scikit-learn's meta-estimators
        train with: they number the sorted labels.

        Parameters
        ----------
        count
            How many classes; by default as many as there are. 2 is for one class against the rest.

        Examples
        --------
        >>> import privet as pv
        >>> pv.datasets.load("car").schema.number_classes().classes
        (0, 1, 2, 3)
        """
        n_classes = self.n_classes if count is None else count
        return replace(self, classes=range(check_integer("count", n_classes, 2, MAX_VALUES)))

    # -- the file ----------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """Return the schema as it stands in a file. Facts that were not declared are left out.

        Examples
        --------
        >>> import privet as pv
        >>> schema = pv.datasets.load("car").schema
        >>> pv.Schema.from_json(schema.to_json()) == schema
        True
        """
        out: dict[str, Any] = {
            "privet": "schema",
            "version": VERSION,
            "attributes": {
                name: attribute.to_json() for name, attribute in self.attributes.items()
            },
            "target": self.target,
            "classes": list(self.classes),
        }
        if self.n_rows is not None:
            out["n_rows"] = self.n_rows
        if self.person is not None:
            out["person"] = self.person
        if self.rows_per_person != 1:
            out["rows_per_person"] = self.rows_per_person
        if self.neighbours != "add-remove":
            out["neighbours"] = self.neighbours
        if self.from_data:
            out["from_data"] = True
        if self.other_class is not None:
            out["other_class"] = self.other_class
        if self.paid is not None:
            out["paid"] = dict(self.paid)
        if self.impossible:
            out["impossible"] = [
                {
                    name: list(values) if isinstance(values, tuple) else values
                    for name, values in rule.items()
                }
                for rule in self.impossible
            ]
        return out

    @classmethod
    def from_json(cls, data: object) -> Schema:
        """Return the schema that this JSON value describes.

        Parameters
        ----------
        data
            What :meth:`to_json` returns, or what stands in a schema file.

        Examples
        --------
        >>> import privet as pv
        >>> schema = pv.datasets.load("car").schema
        >>> pv.Schema.from_json(schema.to_json()) == schema
        True
        """
        if not isinstance(data, Mapping) or data.get("privet") != "schema":
            raise SchemaError(
                'this is not a Privet schema: it must be an object with "privet": "schema"'
            )
        version = data.get("version")
        if isinstance(version, bool) or version != VERSION:
            raise SchemaError(
                f"schema version must be {VERSION}, got {version!r}; a newer Privet may read it"
            )
        if unknown := set(data) - _KEYS:
            raise SchemaError(
                f"unknown key {sorted(unknown, key=str)[0]!r}; allowed are "
                f"{', '.join(sorted(_KEYS))}"
            )
        for key in ("attributes", "target", "classes"):
            if key not in data:
                raise SchemaError(f"{key!r} is missing")
        if not isinstance(data["attributes"], Mapping):
            raise SchemaError("attributes must be an object from names to attributes")
        attributes = {}
        for name, attribute in data["attributes"].items():
            try:
                attributes[name] = attribute_from_json(attribute)
            except SchemaError as error:
                raise SchemaError(f"attribute {name!r}: {error}") from None
        facts = {key: data[key] for key in _KEYS & set(data) - {"privet", "version", "attributes"}}
        return cls(attributes, **facts)

    @classmethod
    def draft(
        cls,
        sample: Any,
        target: str | None = None,
        *,
        exclude: Collection[str] = (),
        include: Collection[str] = (),
        person: str | None = None,
    ) -> Schema:
        """Draft a schema from a *public* sample; never from private rows.

        What it writes down is public. Columns that tell who somebody is and columns that never
        change are left out, and a :class:`~privet.errors.DraftWarning` says why. Every attribute
        gets a value for missing entries, and every list one for all other values, because a sample
        does not show everything.

        Parameters
        ----------
        sample
            Public rows, as a pandas DataFrame.
        target
            The class column; by default the last one.
        exclude
            Columns to leave out.
        include
            Columns to keep, although they look like identifiers.
        person
            The column that says whose row it is.

        Examples
        --------
        >>> import pandas as pd
        >>> import privet as pv
        >>> sample = pd.DataFrame({"plan": ["basic", "pro"] * 20, "left": ["no", "yes"] * 20})
        >>> pv.Schema.draft(sample).attributes["plan"].labels
        ('basic', 'pro', 'other', 'missing')
        """
        from privet.domain.drafting.sample import draft_sample

        drafted = draft_sample(
            sample, target, exclude=exclude, include=include, person=person, forgiving=True
        )
        if drafted.left_out:
            warnings.warn(
                "left out of the schema: " + "; ".join(drafted.describe_left_out()),
                DraftWarning,
                stacklevel=2,
            )
        return drafted.schema

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Schema:
        """Read a schema file.

        Parameters
        ----------
        path
            A schema file.

        Examples
        --------
        >>> import privet as pv
        >>> schema = pv.datasets.load("car").schema
        >>> schema.write("car.schema.json")
        >>> pv.Schema.read("car.schema.json") == schema
        True
        """
        try:
            text = Path(path).read_text(encoding="utf-8")
        except OSError as error:
            makes = "; 'privet init TABLE' makes one" if not Path(path).exists() else ""
            raise SchemaError(f"cannot read schema file {path}: {error.strerror}{makes}") from None
        except UnicodeDecodeError:
            raise SchemaError(f"schema file {path} is not UTF-8 text") from None
        except ValueError:
            raise SchemaError(f"cannot read schema file {path!r}: this is no path") from None
        try:
            return cls.from_json(json.loads(text, object_pairs_hook=_refuse_duplicate_keys))
        except json.JSONDecodeError as error:
            raise SchemaError(
                f"schema file {path} is not JSON: {error.msg} (line {error.lineno})"
                + advise_swap(str(path), "schema")
            ) from None
        except RecursionError:
            raise SchemaError(f"schema file {path} is nested too deeply") from None
        except SchemaError as error:
            raise SchemaError(f"schema file {path}: {error}") from None
        except ValueError:
            raise SchemaError(f"schema file {path} holds a number of too many digits") from None

    def write(self, path: str | PathLike[str]) -> None:
        """Write a schema file atomically: an existing file is replaced as a whole or not at all.

        Parameters
        ----------
        path
            The file to write.

        Examples
        --------
        >>> import privet as pv
        >>> schema = pv.datasets.load("car").schema
        >>> schema.write("car.schema.json")
        >>> pv.Schema.read("car.schema.json") == schema
        True
        """
        try:
            write_atomically(
                path, (json.dumps(self.to_json(), indent=2, ensure_ascii=False) + "\n").encode()
            )
        except (OSError, ValueError) as error:
            raise SchemaError(
                f"cannot write schema file {path}: {getattr(error, 'strerror', 'this is no path')}"
            ) from None


def _copy_attribute(name: object, attribute: Attribute) -> Attribute:
    """Return an attribute made anew of what a schema file says about it, in plain values."""
    # the very types: a subclass could answer otherwise each time that it is asked
    if type(attribute) not in TYPES.values():
        raise SchemaError(
            f"Schema: attribute {copy_scalar(name)!r} must be {_join_types()}, got "
            f"{type(attribute).__name__}"
        )
    facts = {
        key: [copy_scalar(one) for one in fact] if isinstance(fact, list) else copy_scalar(fact)
        for key, fact in attribute.to_json().items()
    }
    return attribute_from_json(facts)


def _copy_paid(paid: object) -> Mapping[str, str] | None:
    """Return a plain copy of what was paid for a schema; raise for anything else."""
    if paid is None:
        return None
    told = {copy_scalar(key): copy_scalar(value) for key, value in dict(paid).items()}  # type: ignore[call-overload]
    texts = all(type(value) is str and len(value) <= 200 for value in told.values())
    if set(told) != {"epsilon", "account", "release"} or not texts:
        raise SchemaError("Schema: paid must hold the texts 'epsilon', 'account' and 'release'")
    if not _AMOUNT.fullmatch(told["epsilon"]):
        raise SchemaError(
            f"Schema: paid: epsilon must be a number or a fraction, got {told['epsilon']!r}"
        )
    return MappingProxyType(told)


def _check_name(parameter: str, name: object) -> None:
    if not is_name(name):
        raise SchemaError(
            f"Schema: {parameter}: a name must be text of 1 to 200 characters without NUL, got "
            f"{name!r}"
        )


def _join_types() -> str:
    *first, last = (kind.__name__ for kind in TYPES.values())
    return f"{', '.join(first)} or {last}"


def _refuse_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in pairs:
        if key in out:
            raise SchemaError(f"the key {key!r} stands twice")
        out[key] = value
    return out


__all__ = ["MAX_VALUES", "Neighbours", "Schema"]
