"""Values to codes and back. A code that the schema does not know is replaced by one that is drawn,
so that no report is ever left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.errors import SchemaError
from privet.mechanisms.randomness import Bits, uniform_below, uniform_order
from privet.schema import Attribute, Categorical, Schema
from privet.schema.attributes import Value
from privet.schema.encode import encode
from privet.schema.entries import codes_of_plain, number_of, plain_value_of
from privet.typed import Ints


def reported_values(attribute: Attribute) -> list[Value]:
    """A value for each code, which is encoded as this code again: a listed value, the middle of a
    bin, or a text for missing.
    """
    if isinstance(attribute, Categorical):
        return list(attribute.values)
    low, high = (np.array(edges) for edges in (attribute.cuts[:-1], attribute.cuts[1:]))
    middle = low / 2 + high / 2
    inside = attribute.codes_of(middle) == np.arange(attribute.bins)
    numbers: list[Value] = [float(number) for number in np.where(inside, middle, low)]
    if attribute.missing is None:
        return numbers
    # A label that spells a number would be taken for one; any other text is a missing entry.
    return [
        *numbers,
        attribute.missing
        if math.isnan(number_of(attribute.missing)) and attribute.missing
        else "missing",
    ]


def codes_of_record(schema: Schema, record: Mapping[str, Any]) -> tuple[list[int], int]:
    """The codes of one record, and of its class, as a table of it would have them."""
    absent = [name for name in (*schema.names, schema.target) if name not in record]
    if absent:
        raise SchemaError(
            f"the record has no {absent[0]!r}; it must have "
            f"{', '.join((*schema.names, schema.target))}"
        )
    codes = [
        int(codes_of_plain(attribute, [plain_value_of(record[name])])[0])
        for name, attribute in schema.attributes.items()
    ]
    return codes, int(codes_of_plain(schema.label, [plain_value_of(record[schema.target])])[0])


def codes_of_table(schema: Schema, table: object, y: object = None) -> tuple[Ints, Ints]:
    """The codes of a table, one line per attribute, and its classes. Where the schema names a
    person, at most so many rows of each stay.
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
    """The codes, with a uniformly random one for each that the schema does not know."""
    unknown = np.flatnonzero(codes >= size)
    filled = codes.copy()
    filled[unknown] = uniform_below(bits, np.full(len(unknown), size, dtype=np.uint64)).astype(
        np.int64
    )
    return filled


def column_of(values: Sequence[Value], codes: Ints) -> npt.NDArray[Any]:
    """The values of some codes; None for -1."""
    table = np.empty(len(values) + 1, dtype=object)
    table[:-1], table[-1] = list(values), None
    return np.asarray(table[codes])


def shuffle_reports(bits: Bits, columns: Mapping[str, npt.NDArray[Any]]) -> Any:
    """Reports as a data frame. Where a row stands in its table may depend on what it holds, and
    would tell that.
    """
    import pandas as pd

    reports = pd.DataFrame(columns)
    return reports.iloc[uniform_order(bits, len(reports))].reset_index(drop=True)
