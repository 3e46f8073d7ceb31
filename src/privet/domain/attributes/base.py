"""Define what every type of column can do.

A code is the position of a value in the attribute's public domain. One code past the end, ``size``,
is the *unknown* code: a row that carries it is not counted, and a prediction for it falls back on
what is known without it.

A type of column is one class in one file. It says how entries become codes
(:meth:`Attribute.encoding`), what an owner should be told about entries that do not fit
(:meth:`Attribute.diagnosis`), how its values are written, drawn and described, and how it stands in
a schema file. Sources, SQL, learners, plots, cards, synthetic tables and randomised records ask the
attribute, and never what type it has.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, wraps
from typing import Any, ClassVar, Literal, ParamSpec, Protocol, Self

import numpy as np
import numpy.typing as npt

from privet._plain import copy_scalar
from privet.domain.encode.encoding import Encoding, ValueKind
from privet.errors import SchemaError

Value = str | int | float | bool
P = ParamSpec("P")

MAX_VALUES = 65_535
MAX_BITS = 1100  # of an integer: more than any float has

#: How a table can fail to fit its schema.
What = Literal[
    "absent",
    "dtype",
    "classes",
    "identity",
    "unlisted",
    "null",
    "not a number",
    "not a date",
    "out of range",
]
#: What can be wrong with an entry, by the code that :meth:`Attribute.diagnosis` gives it.
PROBLEMS: tuple[What | None, ...] = (
    None,
    "unlisted",
    "not a number",
    "not a date",
    "out of range",
    "null",
)

#: How many times smaller than the larger bound a number is from which on bins have equal widths.
UNITS = 64.0


class Draws(Protocol):
    """Random numbers of a cryptographic source, for :meth:`Attribute.draw`."""

    def uniforms(self, count: int) -> npt.NDArray[np.float64]:
        """Return uniform numbers in [0, 1)."""

    def below(self, limits: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return uniform integers from 0 to below each limit."""


class Attribute(ABC):
    """The public domain of one column, and how its entries become small integers (codes).

    ``column`` is the name of the table's column where it differs from that of the attribute, so
    that several attributes can be read from one column.
    """

    #: How a schema file names the type.
    type: ClassVar[str]
    #: The keys that it may have in a schema file, besides ``type``.
    keys: ClassVar[tuple[str, ...]]
    #: Whether codes have an order: then they are split at thresholds, and missing entries, where
    #: they are set apart, have the last code.
    ordered: ClassVar[bool]
    #: Whether raw data are best held as floats: 202 and 202.0 are the same entry then, and edges of
    #: bins are numbers as people write them.
    holds_numbers: ClassVar[bool] = False
    #: What the owner is told about text that cannot be read; None where any text can be a value.
    unreadable: ClassVar[What | None] = None
    #: Whether codes are a fine grid, which learners merge into bins.
    auto: bool = False

    missing: Value | None
    on_unknown: str | None
    column: str | None

    # -- the domain --------------------------------------------------------------------------------

    @property
    @abstractmethod
    def size(self) -> int:
        """How many values the domain has."""

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """The text of each code."""

    @property
    def bins(self) -> int:
        """How many codes have an order; all of them where none has."""
        return self.size

    @property
    def cuts(self) -> tuple[float, ...]:
        """The edges of the bins of an ordered attribute, ``bins + 1`` of them; else none."""
        return ()

    @property
    @abstractmethod
    def unknown_code(self) -> int:
        """The code of a value that is not in the domain."""

    @property
    @abstractmethod
    def missing_code(self) -> int:
        """The code of null."""

    @property
    def missing_text(self) -> str | None:
        """Text that is read as a missing entry."""
        return None if self.missing is None else text_of(self.missing)

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The smallest type that holds every code, the unknown one included."""
        return smallest_unsigned(self.size)

    def read_number(self, value: object) -> float:  # noqa: ARG002
        """Return where a value lies on the line that an ordered attribute cuts; NaN for none."""
        return math.nan

    def label_edge(self, code: int) -> str:
        """Return the text of the edge at which a bin of an ordered attribute begins."""
        return f"{self.cuts[code]:.6g}"

    def list_bin_integers(self) -> tuple[list[int], list[int]] | None:
        """Return the first and last integer of each bin; None where bins are no integers."""
        return None

    def divide_grid(self, bins: int, units: float = UNITS) -> list[int]:  # noqa: ARG002
        """Return the codes at which about so many bins begin that cover the whole range.

        ``units`` are for numbers without a declared spacing.
        """
        return divide_evenly(0, self.bins, bins)

    # -- encoding ----------------------------------------------------------------------------------

    @abstractmethod
    def encoding(self, kind: ValueKind) -> Encoding | None:
        """Return how a column of this kind is encoded; None if it cannot match."""

    @abstractmethod
    def diagnosis(self, kind: ValueKind) -> Encoding | None:
        """Return an encoding that gives each entry the number of its problem in ``PROBLEMS``.

        It is for the owner's check of a table.
        """

    # -- values ------------------------------------------------------------------------------------

    @abstractmethod
    def list_examples(self) -> list[Value]:
        """Return a value for each code that is encoded as this code again."""

    @abstractmethod
    def draw(self, codes: npt.NDArray[np.int64], draws: Draws) -> npt.NDArray[Any]:
        """Draw a value for each code, uniformly among those that have it.

        Encoded again, the values have these codes. Null stands for a missing number.
        """

    @abstractmethod
    def canonical(self, cell: str | None) -> str | None:
        """Spell a cell of a text file as the schema does; None stands for null.

        What it returns has the code of the cell.
        """

    # -- words -------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def summary(self) -> str:
        """The kind and size of the domain in a few words, such as ``3 values``."""

    @abstractmethod
    def describe(self, *, limit: int | None = None) -> tuple[str, str]:
        """Return the kind of the column and its domain, in words for a privacy card.

        Of a list, show so many values at most, and how many more there are.
        """

    @abstractmethod
    def describe_unknown(self) -> str:
        """Say what happens to an entry that is not in the domain, such as ``not counted``."""

    @abstractmethod
    def describe_missing(self) -> str:
        """Say what happens to a missing entry."""

    @abstractmethod
    def describe_branch(
        self,
        codes: Sequence[int],
        *,
        among: Sequence[int] = (),
        limit: int | None = None,
        length: int | None = None,
    ) -> str:
        """Write the condition of a branch, such as ``= red``, ``in {red, blue}`` or ``< 35``.

        Args:
            codes: the codes that take the branch.
            among: the codes that are possible here. Where three or more take the branch and one
                does not, that one is named.
            limit: show so many values at most, and how many more there are.
            length: shorten each value to so many characters.
        """

    # -- the file ----------------------------------------------------------------------------------

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """Return what is declared about the values, as it stands in a schema file."""

    def to_json(self) -> dict[str, Any]:
        """Return the attribute as it stands in a schema file. Defaults are left out."""
        out = {"type": self.type, **self.facts()}
        for key in ("missing", "on_unknown", "column"):
            if getattr(self, key) is not None:
                out[key] = getattr(self, key)
        return out

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Return the attribute that the keys of a schema file describe, ``type`` left out."""
        return cls(**data)

    def __eq__(self, other: object) -> bool:
        """Return whether schema files describe both alike: 0 and False are different values."""
        return type(other) is type(self) and repr(other.to_json()) == repr(self.to_json())

    def __hash__(self) -> int:
        return hash(repr(self.to_json()))

    def __repr__(self) -> str:
        facts = {key: value for key, value in self.to_json().items() if key != "type"}
        listed = (f"{key}={_shorten_list(value)}" for key, value in facts.items())
        return f"{type(self).__name__}({', '.join(listed)})"

    def _keep(self, **facts: Any) -> None:
        """Set fields of an instance that nobody can change later."""
        for name, value in facts.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed; make another one")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed; make another one")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_json, ({k: v for k, v in self.to_json().items() if k != "type"},)


def divide_evenly(low: int, high: int, parts: int) -> list[int]:
    """Return where so many parts of the integers from low to below high begin, of equal size."""
    parts = min(parts, high - low)
    return [low + (high - low) * i // parts for i in range(parts)]


def takes_plain_values(make: Callable[P, None]) -> Callable[P, None]:
    """Let a constructor see plain copies of its arguments, which are the same at each look."""

    @wraps(make)
    def take(*values: P.args, **named: P.kwargs) -> None:
        plain = {name: _copy_argument(value) for name, value in named.items()}
        make(*map(_copy_argument, values), **plain)

    return take


def _copy_argument(value: Any) -> Any:
    """Return a value, or a list of values, in plain types; raise for one that hides its class."""
    kind = type(value)
    if value.__class__ is not kind:
        raise SchemaError(f"a schema must be made of plain values, got {kind.__name__}")
    if issubclass(kind, list | tuple):
        return [_copy_argument(entry) for entry in value]
    return np.array(value) if issubclass(kind, np.ndarray) else copy_scalar(value)


def text_of(value: Value) -> str:
    """Return the one text that stands for a value.

    So ``1``, ``1.0`` and ``"1"`` are the same category everywhere.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, int | np.integer):
        return str(int(value))
    number = float(value)
    return str(int(number)) if number.is_integer() else repr(number)


def smallest_unsigned(largest: int) -> np.dtype[Any]:
    """Return the smallest unsigned integer type that holds ``largest``."""
    return np.min_scalar_type(largest)


def is_writable_text(value: str) -> bool:
    """Return whether it can be written to a file: no lone surrogates."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_column(owner: str, column: object) -> str | None:
    """Return the name of a column; raise for what no column is called."""
    if column is not None and not is_name(column):
        raise SchemaError(
            f"{owner}: column must be the name of the table's column, got {column!r}; leave it out "
            "where the attribute has the column's name"
        )
    return column  # type: ignore[return-value]


def is_name(name: object) -> bool:
    """Return whether it can name a column: text of 1 to 200 characters without NUL."""
    return (
        isinstance(name, str)
        and 0 < len(name) <= 200
        and "\x00" not in name
        and is_writable_text(name)
    )


def _shorten_list(value: object) -> str:
    """Write a value; of a long list, its ends and how many there are."""
    if not isinstance(value, list) or len(value) <= 6:
        return repr(value)
    first, last = ", ".join(map(repr, value[:3])), repr(value[-1])
    return f"[{first}, ..., {last}] ({len(value)})"


def check_finite(owner: str, name: str, value: object) -> float:
    """Return a finite number as a float; raise for anything else."""
    try:
        finite = (
            not isinstance(value, bool) and isinstance(value, int | float) and math.isfinite(value)
        )
        number = float(value) if finite else math.nan  # type: ignore[arg-type]
    except OverflowError:
        number = math.nan
    if math.isnan(number):
        raise SchemaError(f"{owner}: {name} must be a finite number, got {value!r}")
    return number + 0.0  # minus zero is zero
