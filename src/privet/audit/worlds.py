"""Make two worlds: small tables that differ in one person, chosen to be the worst case for trees.

:func:`pairs_of` gives ready pairs; :func:`pair_of` makes one from rows of your own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args

from privet._validate import check_integer, check_name
from privet.domain import Categorical, Numeric, Schema
from privet.domain.attributes import Attribute
from privet.domain.schema import Neighbours
from privet.errors import ParameterError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from privet.tables.base import CountSource


WorldRow = Mapping[str, Any]
PERSON = "who"


@dataclass(frozen=True)
class World:
    """A table and what is public about it."""

    schema: Schema
    rows: tuple[WorldRow, ...]

    @cached_property
    def table(self) -> pd.DataFrame:
        """Return all columns: attributes, class, and the person where the schema names one."""
        import pandas as pd

        names = [
            *self.schema.names,
            self.schema.target,
            *([self.schema.person] if self.schema.person else []),
        ]
        columns = {name: [row[name] for row in self.rows] for name in names}
        kinds = {
            name: float if attribute.holds_numbers else object
            for name, attribute in self.schema.attributes.items()
        }
        return pd.DataFrame(
            {
                name: pd.Series(values, dtype=kinds.get(name, object))
                for name, values in columns.items()
            }
        )

    @cached_property
    def source(self) -> CountSource:
        """The exact counts of the table, for a curator: rows are encoded once for all runs."""
        from privet.tables.open import open_table

        return open_table(self.table).source(self.schema)

    @cached_property
    def _codes(self) -> dict[tuple[str, bool], list[npt.NDArray[Any]]]:
        return {}

    def codes(self, schema: Schema, *, partial: bool = False) -> list[npt.NDArray[Any]]:
        """The attributes as a model of this schema sees them; they are encoded once for all
        runs.
        """
        from privet.domain.encode.rows import encode

        known = self._codes
        if (schema.fingerprint, partial) not in known:
            known[schema.fingerprint, partial] = encode(
                schema, self.X, target=False, partial=partial
            ).codes
        return known[schema.fingerprint, partial]

    @cached_property
    def uncounted(self) -> World:
        """Return the same rows, without making their number public."""
        return World(self.schema.declare(n_rows=None), self.rows)

    @cached_property
    def gridded(self) -> World:
        """Return the same rows, of which numbers have fine grids, without making their number
        public.
        """
        grids = {
            name: Numeric(one.cuts[0], one.cuts[-1], bins="auto")
            for name, one in self.schema.attributes.items()
            if one.ordered
        }
        attributes = {**self.schema.attributes, **grids}
        return World(replace(self.schema, attributes=attributes, n_rows=None), self.rows)

    @cached_property
    def ruled(self) -> World:
        """Return the same rows, of which a rule says that some cannot be."""
        return World(
            replace(self.schema, impossible=[{"a": "x", "b": ["[2, 3)", "[3, 4]"]}]), self.rows
        )

    @cached_property
    def emptied(self) -> World:
        """Return a world of nobody, without making their number public."""
        return World(self.schema.declare(n_rows=None), ())

    @cached_property
    def by_attribute(self) -> dict[str, World]:
        """Return, for each attribute, the same people with only it and the class."""
        return {
            name: World(replace(self.schema, attributes={name: one}), self.rows)
            for name, one in self.schema.attributes.items()
        }

    def __reduce__(self) -> tuple[Any, ...]:
        # what is kept beside them is made again in another process
        return World, (self.schema, self.rows)

    @property
    def X(self) -> pd.DataFrame:  # noqa: N802
        """The attributes."""
        return self.table[list(self.schema.names)]

    @property
    def y(self) -> pd.Series:
        """The classes."""
        return self.table[self.schema.target]

    @cached_property
    def lines(self) -> dict[str, World]:
        """Return made-up rows for each attribute: it takes values all over its domain, and the
        others are those of the first row here.
        """
        return {
            name: World(self.schema, tuple({**self.rows[0], name: value} for value in values))
            for name, attribute in self.schema.attributes.items()
            if (values := _values_all_over(attribute))
        }

    @property
    def numbers(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        """Return attributes and classes as numbers: any other value is its code.

        The arrays may be written into.
        """
        X, y = self._numbers  # noqa: N806
        return X.copy(), y.copy()

    @cached_property
    def _numbers(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        import numpy as np

        columns = [
            _encode_numbers(attribute, [row[name] for row in self.rows])
            for name, attribute in self.schema.attributes.items()
        ]
        classes = _encode_numbers(self.schema.label, [row[self.schema.target] for row in self.rows])
        return np.column_stack(columns), classes.astype(np.int64)


@dataclass(frozen=True)
class Pair:
    """Two neighbouring worlds.

    ``probes`` are the values that the two differ in: what an attacker asks a model about.
    """

    name: str
    one: World
    other: World
    probes: tuple[WorldRow, ...]

    def __post_init__(self) -> None:
        if self.one.schema != self.other.schema:
            raise ParameterError(
                "the two worlds of a pair must have the same schema: what is public does not "
                "depend on a person"
            )

    @property
    def schema(self) -> Schema:
        """What is public about both."""
        return self.one.schema

    @cached_property
    def probed(self) -> World:
        """The rows in question, by themselves."""
        return World(self.schema.declare(person=None), self.probes)


#: So many values of a domain are looked at.
_VALUES = 17


def _values_all_over(attribute: Attribute) -> list[Any]:
    """Return numbers from one bound to the other, or the first values of a list."""
    import numpy as np

    if attribute.holds_numbers and attribute.ordered:
        return [float(at) for at in np.linspace(attribute.cuts[0], attribute.cuts[-1], _VALUES)]
    return [] if attribute.ordered else list(attribute.labels[:_VALUES])


def _encode_numbers(attribute: Attribute, values: Sequence[Any]) -> npt.NDArray[np.float64]:
    import numpy as np

    from privet.domain.encode.rows import encode_entries

    numbers = values if attribute.holds_numbers else encode_entries([attribute], [values])[0]
    return np.array(numbers, dtype=np.float64)


DOMAIN = Schema(
    {"a": Categorical(["x", "y"]), "b": Numeric(0, 4, bins=4)},
    target="class",
    classes=["no", "yes"],
)


def _make_row(a: str, b: float, label: str) -> WorldRow:
    return {"a": a, "b": b, "class": label}


@dataclass(frozen=True)
class Family:
    """What the others in the table are, who comes, and who is there instead where people are
    replaced.

    They come last, or ``first`` of all rows.
    """

    others: Sequence[WorldRow]
    row: WorldRow
    instead: WorldRow
    first: bool = False

    @property
    def has_both_classes(self) -> bool:
        """Whether the others are of more than one class."""
        return len({other["class"] for other in self.others}) > 1


#: Each family is the worst case for some way to go wrong: a count that is not noised where it is
#: zero, a domain that is read off the rows, or a leaf of a lone row; a label that follows one row;
#: a split that one row decides; an order, of two or of many, in which all others move; a crowd that
#: hides nobody; a row that is not supposed to be; a threshold, a median or a midpoint that is taken
#: from the values; a scale or bound that one value sets; a place in the table that decides who is
#: looked at.
_FAMILIES: Mapping[str, Family] = {
    "nobody else": Family((), _make_row("x", 0.5, "yes"), _make_row("y", 3.5, "no")),
    "a lone row in a leaf": Family(
        [_make_row("y", 3.5, "no")] * 3,
        _make_row("x", 0.5, "yes"),
        _make_row("y", 3.5, "no"),
    ),
    "outvoted by two": Family(
        [_make_row("x", 0.5, "no")] * 2,
        _make_row("x", 0.5, "yes"),
        _make_row("x", 0.5, "no"),
    ),
    "a tie that one row breaks": Family(
        [_make_row("x", 0.5, "no"), _make_row("y", 3.5, "yes")] * 2,
        _make_row("x", 3.5, "yes"),
        _make_row("y", 0.5, "yes"),
    ),
    "outvoted by one": Family(
        [_make_row("x", 0.5, "no")],
        _make_row("x", 0.5, "yes"),
        _make_row("x", 0.5, "no"),
    ),
    "below one other": Family(
        [_make_row("x", 1.5, "no")],
        _make_row("x", 0.5, "yes"),
        _make_row("x", 3.5, "no"),
    ),
    "first of all in order": Family(
        [
            _make_row(a, b, label)
            for a in "xy"
            for b in (0.5, 1.5, 2.5, 3.5)
            for label in ("no", "yes")
        ][1:-1],
        _make_row("x", 0.5, "no"),
        _make_row("y", 3.5, "yes"),
    ),
    "the only one of its class": Family(
        [_make_row("x", 0.5, "no"), _make_row("y", 3.5, "yes")] * 30,
        _make_row("x", 0.5, "yes"),
        _make_row("y", 3.5, "no"),
    ),
    # Only the middle threshold is as good as a split of "a": one rival hides less than three.
    "against one of two": Family(
        [_make_row("x", 1.5, "no"), _make_row("y", 2.5, "yes")] * 10,
        _make_row("x", 2.5, "no"),
        _make_row("y", 1.5, "no"),
    ),
    # Within a class, "a" tells "b", so a pair of attributes is worth measuring.
    "one more of a dependent pair": Family(
        [
            _make_row("x", 0.5, "no"),
            _make_row("y", 3.5, "no"),
            _make_row("x", 3.5, "yes"),
            _make_row("y", 0.5, "yes"),
        ]
        * 16,
        _make_row("x", 0.5, "no"),
        _make_row("x", 0.5, "yes"),
    ),
    # Who comes is what a public rule says nobody is (World.ruled).
    "what a rule excludes": Family(
        [
            _make_row("x", 0.5, "no"),
            _make_row("y", 3.5, "no"),
            _make_row("x", 0.5, "yes"),
            _make_row("y", 3.5, "yes"),
        ]
        * 20,
        _make_row("x", 3.5, "no"),
        _make_row("y", 0.5, "yes"),
    ),
    "half like one and half like another": Family(
        [_make_row("x", 0.5, "no"), _make_row("y", 3.5, "yes")],
        _make_row("x", 3.5, "no"),
        _make_row("x", 3.5, "yes"),
    ),
    # Without the row, the classes part at 2 and the median is 3; with it, at 1.5 and 2.5.
    "a threshold that one row moves": Family(
        [_make_row("x", 1.0, "no")] * 3 + [_make_row("x", 3.0, "yes")] * 4,
        _make_row("x", 2.0, "yes"),
        _make_row("x", 0.5, "no"),
    ),
    "the largest of all values": Family(
        [_make_row("y", 0.5, "no"), _make_row("y", 1.0, "yes")] * 3,
        _make_row("y", 4.0, "no"),
        _make_row("y", 0.5, "no"),
    ),
    # One row ahead moves all others: who was in an even place is in an odd one.
    "ahead of all others": Family(
        [_make_row("x", 0.5, "no"), _make_row("y", 3.5, "yes")] * 4,
        _make_row("y", 3.5, "yes"),
        _make_row("x", 0.5, "no"),
        first=True,
    ),
}
FAMILIES = tuple(_FAMILIES)
#: Those that are tried where nobody says which.
USUAL = FAMILIES[:4]
#: Those that are tried on anybody's estimator, of which nothing is known.
FOR_ESTIMATORS = (
    *USUAL,
    "a threshold that one row moves",
    "the largest of all values",
    "ahead of all others",
)


#: Rows of both classes, for learners that refuse fewer.
_CROWD_ROWS = [_make_row("y", 3.5, "no"), _make_row("y", 2.5, "yes")] * 3


def pairs_of(
    neighbours: Neighbours = "add-remove",
    *,
    families: Sequence[str] = USUAL,
    rows_per_person: int = 1,
    alone: bool = False,
    crowd: bool = False,
) -> tuple[Pair, ...]:
    """Return ready pairs for these neighbours.

    Parameters
    ----------
    neighbours
        ``"add-remove"``: one person more. ``"replace"``: the same person with other
        rows, and the number of rows is public.
    families
        By name, some of ``FAMILIES``.
    rows_per_person
        Above 1, a column says whose row it is, and the person has one row more
        than is allowed to count.
    alone
        Only those in which nobody else is in the table, for what a person does on their own.
    crowd
        For learners that refuse a table of one class: where the others are of one class or there
        are none, six rows of both classes are in both tables besides.
    """
    check_integer("rows_per_person", rows_per_person, 1)
    check_name("neighbours", neighbours, get_args(Neighbours))
    if unknown := [name for name in families if name not in _FAMILIES]:
        raise ParameterError(f"families must be of {', '.join(FAMILIES)}, got {unknown[0]!r}")
    listed = [name for name in families if not (alone and _FAMILIES[name].others)]
    return tuple(
        _make_pair(name, neighbours, rows_per_person, _CROWD_ROWS if crowd else ())
        for name in listed
    )


def _make_pair(name: str, neighbours: Neighbours, most: int, crowd: Sequence[WorldRow]) -> Pair:
    family = _FAMILIES[name]
    row, instead = family.row, family.instead
    others = [*family.others, *(() if family.has_both_classes else crowd)]
    there = [{**other, PERSON: f"p{number}"} for number, other in enumerate(others)]
    times = 1 if most == 1 else most + 1
    comes, replaced = ([{**one, PERSON: "somebody"}] * times for one in (row, instead))
    facts: dict[str, Any] = {
        "neighbours": neighbours,
        "rows_per_person": most,
        "person": PERSON if most > 1 else None,
    }
    if neighbours == "replace":
        facts["n_rows"] = len(there) + times
    schema = DOMAIN.declare(**facts)
    absent = [] if neighbours == "add-remove" else replaced
    probes = (row,) if neighbours == "add-remove" else (row, instead)
    without, with_row = (
        World(schema, (*person, *there) if family.first else (*there, *person))
        for person in (absent, comes)
    )
    return Pair(name, without, with_row, probes)


# A pair from rows of your own.


def pair_of(
    X: Any,  # noqa: N803
    y: Sequence[Any],
    row: Sequence[Any],
    label: Any,
    *,
    instead: tuple[Sequence[Any], Any] | None = None,
    name: str = "worlds of one's own",
) -> Pair:
    """Make neighbouring worlds: ``X`` and ``y`` in both, and one more row in one of them.

    The rows are made up.

    Parameters
    ----------
    X, y
        The rows of both worlds, a table of numbers or words and its classes; not private
        ones, since their domain is read off here.
    row, label
        The row that comes.
    instead
        The row and class that are there in the other world, where people are replaced.
    name
        For the result.
    """
    import numpy as np

    names = [
        str(column) for column in getattr(X, "columns", [f"x{place}" for place in range(len(row))])
    ]
    listed = np.asarray(X, dtype=object).reshape(-1, len(names))
    if (
        len(listed) != len(y)
        or len(row) != len(names)
        or (instead is not None and len(instead[0]) != len(names))
    ):
        raise ParameterError(
            "X must have a class in y for each of its rows, and row a value for each of its "
            f"columns ({len(names)})"
        )
    there = [
        dict(zip((*names, "class"), (*line, of), strict=True))
        for line, of in zip(listed, y, strict=True)
    ]
    comes, replaced = (
        dict(zip((*names, "class"), (*one[0], one[1]), strict=True))
        for one in ((row, label), instead or (row, label))
    )
    everyone = [*there, comes, replaced]
    classes = sorted(
        {one["class"] for one in everyone}, key=lambda value: (str(type(value)), value)
    )
    if len(classes) < 2:
        raise ParameterError(f"y and label must hold at least two classes, got {classes}")
    schema = Schema(
        {name: _infer_attribute([one[name] for one in everyone]) for name in names},
        "class",
        classes,
    )
    schema = schema.declare(
        neighbours="add-remove" if instead is None else "replace",
        n_rows=None if instead is None else len(there) + 1,
    )
    without = there if instead is None else [*there, replaced]
    return Pair(
        name,
        World(schema, tuple(without)),
        World(schema, (*there, comes)),
        (comes,) if instead is None else (comes, replaced),
    )


def _infer_attribute(values: Sequence[Any]) -> Attribute:
    """The domain of made-up values."""
    if any(isinstance(value, str) for value in values):
        return Categorical(sorted({str(value) for value in values}))
    low, high = float(min(values)), float(max(values))
    return Numeric(low, high if high > low else low + 1, bins=2)
