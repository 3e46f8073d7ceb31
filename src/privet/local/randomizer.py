"""Randomise records: what each person runs on their own device, once for each record.

Values become codes first. A code that the schema does not know is replaced by one drawn at random,
so that every record gives a report, whatever it holds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from os import PathLike
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from privet._types import Ints
from privet._validate import check_integer, check_name
from privet.accounting.cost import Cost, Number, parse_epsilon, parse_exact
from privet.domain import Attribute, Schema
from privet.domain.attributes import Value
from privet.domain.encode.rows import encode
from privet.domain.encode.values import codes_of_plain, plain_value_of
from privet.errors import ModelError, ParameterError, SchemaError
from privet.mechanisms.randomness import Bits, SystemBits, uniform_below, uniform_order
from privet.mechanisms.response import randomized_response

Spread = Literal["split", "sample"]
#: Below it a report says next to nothing, and what it says is lost in floating point; above it, it
#: is the truth.
LEAST_EPSILON, MOST_EPSILON = Fraction(1, 1000), Fraction(100)
#: The share of the class, where every value is randomised by itself: it takes part in every
#: question.
CLASS_SHARE = Fraction(1, 3)
MAX_SETS = 100_000
MAX_POINTS = 1 << 50


class Randomizer:
    """Turn a record into a report that tells about its owner by a factor of at most e**epsilon.

    This holds whatever is done with the report.

    A report is made of exact k-ary responses
    (:func:`~privet.mechanisms.response.randomized_response`). Sensitivity: none is needed.
    Neighbours: the content of one record is replaced by any other (*local* privacy); that somebody
    takes part at all is not hidden, nor with how many records. Cost: pure ``epsilon`` per record,
    so m records of one person cost m epsilon.

    Whatever a record holds, there is one report, of one form: a value that the schema does not know
    is replaced by a uniformly random one first. Declare ``other`` or ``missing`` where such values
    should count by themselves.

    Parameters
    ----------
    schema
        The public schema.
    epsilon
        What a record costs in all.
    spread
        ``"split"``: every value and the class are randomised by themselves, each with a
        share of epsilon, and all are reported. ``"sample"``: a few attributes are drawn at
        random, and their values and the class are reported together by one response with all of
        epsilon. Which were drawn is told.
    together
        With ``"sample"``, how many attributes are drawn. Cells of at most so many
        attributes can be counted.
    class_share
        With ``"split"``, the share of epsilon for the class; the attributes have equal
        parts of the rest.
    bits
        The source of randomness; tests pass a seeded one.
    """

    def __init__(
        self,
        schema: Schema,
        epsilon: Number,
        spread: Spread = "sample",
        together: int = 1,
        *,
        class_share: Number = CLASS_SHARE,
        bits: Bits | None = None,
    ) -> None:
        if not isinstance(schema, Schema):
            raise ParameterError(f"schema must be a Schema, got {type(schema).__name__}")
        self.schema, self.bits = schema, bits or SystemBits()
        self.epsilon = check_epsilon(epsilon)
        check_name("spread", spread, get_args(Spread))
        self.spread: Spread = spread
        self.together = check_integer("together", together, 1)
        if together > len(schema.names) or (spread == "split" and together != 1):
            most = (
                f"at most the number of attributes ({len(schema.names)})"
                if spread == "sample"
                else "1, or left out, with spread='split'"
            )
            raise ParameterError(f"together must be {most}, got {together}")
        self.class_share = parse_exact("class_share", class_share)
        if self.class_share >= 1:
            raise ParameterError(f"class_share must be above 0 and below 1, got {class_share!r}")
        if math.comb(len(schema.names), self.together) > MAX_SETS:
            raise ParameterError(
                f"together is {together}: there are more than {MAX_SETS} sets of so many "
                "attributes; draw fewer"
            )
        largest = math.prod(sorted(schema.sizes)[-self.together :]) * schema.n_classes
        if spread == "sample" and largest > MAX_POINTS:
            raise ParameterError(
                f"together is {together}: the attributes have more than {MAX_POINTS} joint values; "
                "draw fewer"
            )

    @property
    def cost(self) -> Cost:
        """What a record costs, for one row replaced by another."""
        return Cost.pure(self.epsilon)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a report: a value for each attribute (None if not drawn), and a class."""
        return (*self.schema.names, self.schema.target)

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """With ``"split"``: the epsilon of each attribute's response, and last that of the class.

        They add up to epsilon.
        """
        k = len(self.schema.names)
        label = self.epsilon * self.class_share
        return (*[(self.epsilon - label) / k] * k, label)

    @cached_property
    def sets(self) -> tuple[tuple[int, ...], ...]:
        """With ``"sample"``: the sets of attributes, by position, that may be drawn, all equally
        likely.
        """
        return tuple(combinations(range(len(self.schema.names)), self.together))

    def points(self, drawn: tuple[int, ...]) -> int:
        """Return how many joint values some attributes and the class have."""
        return math.prod(self.schema.sizes[a] for a in drawn) * self.schema.n_classes

    def one(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Make the report of one record: a mapping from names to values, with the class."""
        codes, label = codes_of_record(self.schema, record)
        reported, labels = self._randomized(
            np.array(codes, dtype=np.int64)[:, None], np.array([label], dtype=np.int64)
        )
        return {name: column[0] for name, column in self._values(reported, labels).items()}

    def many(self, table: object, y: object = None) -> Any:
        """Make the reports of a table, in a random order.

        Where the schema names a person, they are of at most ``rows_per_person`` rows of each.
        """
        return shuffle_reports(
            self.bits, self._values(*self._randomized(*codes_of_table(self.schema, table, y)))
        )

    def write(self, path: str | PathLike[str]) -> None:
        """Write the public file that all people should use, atomically."""
        from privet.local.randomizer_file import write_randomizer

        write_randomizer(self, path)

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Randomizer:
        """Read a public file, or raise :class:`~privet.errors.ModelError`."""
        from privet.local.randomizer_file import read_randomizer

        randomizer = read_randomizer(path)
        if not isinstance(randomizer, cls):
            raise ModelError(
                path,
                "it randomises leaves, not records; read it with read_randomizer",
                "randomizer",
            )
        return randomizer

    def _randomized(self, codes: Ints, classes: Ints) -> tuple[Ints, Ints]:
        schema, bits = self.schema, self.bits
        codes = np.array(
            [
                replace_unknown(bits, line, size)
                for line, size in zip(codes, schema.sizes, strict=True)
            ]
        )
        classes = replace_unknown(bits, classes, schema.n_classes)
        if self.spread == "split":
            *shares, of_class = self.shares
            responses = zip(codes, schema.sizes, shares, strict=True)
            reported = np.array(
                [randomized_response(bits, line, size, share)[0] for line, size, share in responses]
            )
            return reported, randomized_response(bits, classes, schema.n_classes, of_class)[0]
        reported, labels = np.full_like(codes, -1), np.empty_like(classes)
        which = uniform_below(bits, np.full(len(classes), len(self.sets), dtype=np.uint64)).astype(
            np.int64
        )
        order = np.argsort(which, kind="stable")
        for mine in np.split(order, np.flatnonzero(np.diff(which[order])) + 1):
            if len(mine):
                drawn = self.sets[which[mine[0]]]
                joint = np.ravel_multi_index(
                    (*codes[list(drawn)][:, mine], classes[mine]), self._shape(drawn)
                ).astype(np.int64)
                said = np.unravel_index(
                    randomized_response(bits, joint, self.points(drawn), self.epsilon)[0],
                    self._shape(drawn),
                )
                for a, line in zip(drawn, said[:-1], strict=True):
                    reported[a, mine] = line
                labels[mine] = said[-1]
        return reported, labels

    def _shape(self, drawn: tuple[int, ...]) -> tuple[int, ...]:
        return (*(self.schema.sizes[a] for a in drawn), self.schema.n_classes)

    def _values(self, codes: Ints, classes: Ints) -> dict[str, Any]:
        listed = {
            name: column_of(values, line)
            for (name, values), line in zip(self._words.items(), codes, strict=True)
        }
        return {**listed, self.schema.target: column_of(list(self.schema.classes), classes)}

    @cached_property
    def _words(self) -> dict[str, list[Any]]:
        return {
            name: attribute.list_examples() for name, attribute in self.schema.attributes.items()
        }


def check_epsilon(epsilon: Number) -> Fraction:
    """Return the exact epsilon of a record, or raise unless it makes sense for one."""
    amount = parse_epsilon("epsilon", epsilon)
    if not LEAST_EPSILON <= amount <= MOST_EPSILON:
        raise ParameterError(
            f"epsilon of a record must lie between {LEAST_EPSILON} and {MOST_EPSILON}, got "
            f"{epsilon!r}"
        )
    return amount


# Values to codes and back.


def codes_of_record(schema: Schema, record: Mapping[str, Any]) -> tuple[list[int], int]:
    """Encode one record and its class, as a table of it would be encoded."""
    columns = schema.find_columns(record.keys())
    needed = list(dict.fromkeys([*columns.values(), schema.target]))
    absent = [name for name in needed if name not in record]
    if absent:
        raise SchemaError(f"the record has no {absent[0]!r}; it must have {', '.join(needed)}")
    codes = [
        _code_of_entry(attribute, record[columns[name]])
        for name, attribute in schema.attributes.items()
    ]
    return codes, _code_of_entry(schema.label, record[schema.target])


def _code_of_entry(attribute: Attribute, entry: Any) -> int:
    return int(codes_of_plain(attribute.encoding, [plain_value_of(entry)])[0])


def codes_of_table(schema: Schema, table: object, y: object = None) -> tuple[Ints, Ints]:
    """Encode a table, one array row per attribute, and its classes.

    Where the schema names a person, at most so many rows of each stay.
    """
    encoded = encode(schema, table, y)
    assert encoded.classes is not None
    kept = np.arange(len(encoded.classes))
    if encoded.person is not None:
        kept = _keep_first_rows(encoded.person, schema.rows_per_person)
    return np.array([line[kept] for line in encoded.codes], dtype=np.int64), encoded.classes[
        kept
    ].astype(np.int64)


def _keep_first_rows(person: npt.NDArray[np.intp], most: int) -> npt.NDArray[np.intp]:
    """The first rows of each person. What rows hold is not looked at: it must not decide whether
    there is a report.

    A row without a person is one of somebody else: nobody is left out for what stands there, and
    nobody takes another's place.
    """
    own = np.where(person >= 0, person, person.max(initial=-1) + 1 + np.arange(len(person)))
    order = np.argsort(own, kind="stable")
    ordered = own[order]
    number = np.arange(len(ordered)) - np.searchsorted(ordered, ordered, side="left")
    return np.sort(order[number < most])


def replace_unknown(bits: Bits, codes: Ints, size: int) -> Ints:
    """Replace each code that the schema does not know by a uniformly random one."""
    unknown = np.flatnonzero(codes >= size)
    filled = codes.copy()
    filled[unknown] = uniform_below(bits, np.full(len(unknown), size, dtype=np.uint64)).astype(
        np.int64
    )
    return filled


def column_of(values: Sequence[Value], codes: Ints) -> npt.NDArray[Any]:
    """Return the values of some codes; None for -1."""
    table = np.empty(len(values) + 1, dtype=object)
    table[:-1], table[-1] = list(values), None
    return np.asarray(table[codes])


def shuffle_reports(bits: Bits, columns: Mapping[str, npt.NDArray[Any]]) -> Any:
    """Return reports as a data frame, in a random order.

    The place of a row in its table may depend on what it holds, and would tell that.
    """
    import pandas as pd

    reports = pd.DataFrame(columns)
    return reports.iloc[uniform_order(bits, len(reports))].reset_index(drop=True)
