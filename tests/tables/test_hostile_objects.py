"""An object in a frame must not fail a count, nor move another row, whatever its class overrides.

Either would tell neighbours apart: the error, or the code of another entry, depends on one row.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta, tzinfo
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from privet.domain import Boolean, Categorical, Date, Numeric, Schema
from privet.domain.encode.rows import encode_entries
from privet.tables.open import open_table


class Struck(Exception):
    """An object was asked for something that its class overrides."""


def strike(*_args, **_named):
    raise Struck


def _striking(kind: type, *names: str) -> type:
    """A class whose methods raise an error."""
    return type(f"Striking{kind.__name__}", (kind,), dict.fromkeys(names, strike))


_COMPARED = ("__hash__", "__eq__", "__ne__", "__lt__", "__str__", "__repr__", "__bool__")
_NUMBER = (*_COMPARED, "__float__", "__int__", "__index__", "is_integer", "bit_length", "item")
_TEXT = (*_COMPARED, "__len__", "__iter__", "__getitem__", "isascii", "encode")
Text, Integer = _striking(str, *_TEXT), _striking(int, *_NUMBER)
Float, LongNumber = _striking(float, *_NUMBER), _striking(Decimal, *_NUMBER)
NumPyFloat, NumPyInteger = _striking(np.float64, *_NUMBER), _striking(np.int64, *_NUMBER)
Zone = _striking(tzinfo, "utcoffset", "dst", "tzname")
Moment = _striking(datetime, *_COMPARED, "utcoffset", "replace", "isoformat")
Day = _striking(date, *_COMPARED, "isoformat", "year", "timetuple")
Thing = _striking(object, *_COMPARED)
Silent = _striking(object, "__getattribute__")
Classless = type("Classless", (), {"__class__": property(strike)})
Kind = _striking(type, "__eq__", "__hash__", "__instancecheck__", "__subclasscheck__")


class Odd(metaclass=Kind):
    """An object of a class that cannot be compared with others."""


class Crooked(tzinfo):
    def utcoffset(self, _):
        return "an hour"


class EqualToAll(str):
    """Would be found in any list, and be anybody."""

    __eq__ = lambda self, _: True  # noqa: E731
    __hash__ = lambda self: hash("a")  # noqa: E731


def impostor(kind: type) -> object:
    return type("Impostor", (), {"__class__": property(lambda _: kind)})()


HOSTILE = {
    "text": Text("a"),
    "another text": Text("zzz"),
    "equal to all": EqualToAll("zzz"),
    "integer": Integer(3),
    "float": Float(3.5),
    "NaN": Float("nan"),
    "decimal": LongNumber("3.5"),
    "signalling NaN": Decimal("sNaN"),
    "NumPy float": NumPyFloat(7.5),
    "NumPy integer": NumPyInteger(3),
    "zone": datetime(2020, 1, 1, tzinfo=Zone()),
    "crooked zone": datetime(2020, 1, 1, tzinfo=Crooked()),
    "moment": Moment(2020, 1, 1),
    "day": Day(2020, 1, 1),
    "thing": Thing(),
    "silent": Silent(),
    "classless": Classless(),
    "odd class": Odd(),
    **{f"impostor of {kind.__name__}": impostor(kind) for kind in (str, int, float, datetime)},
    "array": np.array([1, 2]),
    "series": pd.Series([1]),
    "list": [1],
    "void": np.void(b"abc"),
}
#: What stands beside it: texts alone take another way than objects.
MATES = (["a"], ["b", 2.5, None, True, datetime(2020, 7, 1)], [1])
ATTRIBUTES = {
    "categorical": Categorical(["a", "b", "3"], other="other", missing="none"),
    "numeric": Numeric(0, 10, bins=2, missing="none"),
    "date": Date("2020-01-01", "2020-12-31", bins=2, missing="none"),
    "hour": Date(part="hour", bins=2, missing="none"),
    "boolean": Boolean(missing="none"),
}


def objects(entries) -> np.ndarray:
    column = np.empty(len(entries), dtype=object)
    for at, entry in enumerate(entries):
        column[at] = entry
    return column


def codes_of(schema: Schema, frame: bool, **columns) -> list[int]:
    """The codes of the rows that count, or their classes where there are no others."""
    table = {name: objects(entries) for name, entries in columns.items()}
    if frame:
        table = pd.DataFrame(
            {name: pd.Series(entries, dtype=object) for name, entries in table.items()}
        )
    opened = open_table(table)
    opened.check_structure(schema)
    opened.problems(schema)
    of = "x" if len(schema.attributes["x"].labels) > 1 else "class"
    return [
        int(code)
        for codes, classes, _ in opened.source(schema).rows()
        for code in (codes[0] if of == "x" else classes)
    ]


@pytest.mark.parametrize("frame", [True, False])
@pytest.mark.parametrize("kind", ATTRIBUTES)
@pytest.mark.parametrize("name", HOSTILE)
def test_an_object_is_read_by_itself(name, kind, frame):
    schema, entry = Schema({"x": ATTRIBUTES[kind]}, "class", ["no", "yes"]), HOSTILE[name]

    def codes(entries):
        return codes_of(schema, frame, x=entries, **{"class": ["no"] * len(entries)})

    alone = codes([entry])
    for mates in MATES:
        assert codes([*mates, entry]) == codes(mates) + alone


@pytest.mark.parametrize("name", HOSTILE)
def test_an_object_is_a_class_by_itself(name):
    schema, entry = Schema({"x": Categorical(["a"])}, "class", ["a", "b", "3"]), HOSTILE[name]

    def classes(entries):
        return codes_of(schema, True, x=["a"] * len(entries), **{"class": entries})

    for mates in (["a", "b"], ["b", 3, None]):
        assert classes([*mates, entry]) == classes(mates) + classes([entry])


@pytest.mark.parametrize("name", HOSTILE)
def test_an_object_is_a_person_of_its_own_or_none(name):
    schema = Schema({"x": Categorical(["a"])}, "class", ["no", "yes"], person="who")

    def classes(people):
        n = len(people)
        return codes_of(schema, True, x=["a"] * n, who=people, **{"class": ["no"] * n})

    for mates in (["a", "b"], ["b", 4, 2.5, datetime(2020, 7, 1)]):
        assert classes([*mates, HOSTILE[name]]) == classes(mates) + classes([HOSTILE[name]])


def test_what_is_readable_is_read_past_its_class():
    categorical, numeric, *_ = ATTRIBUTES.values()
    entries = [Text("a"), Integer(3), EqualToAll("zzz"), Thing(), None]
    (codes,) = encode_entries([categorical], [entries])
    assert codes.tolist() == [0, 2, 3, 3, 4]
    (codes,) = encode_entries([numeric], [[Float(7.5), LongNumber("2.5"), NumPyFloat(7), [1]]])
    assert codes.tolist() == [1, 0, 1, 2]


def test_people_are_told_apart_by_type_and_moment():
    schema = Schema({"x": Categorical(["a"])}, "class", ["no", "yes"], person="who")
    moment = pd.Timestamp("2020-01-01")
    people = [
        "1",
        1,
        True,
        (1, "a"),
        (1, "b"),
        moment,
        moment + pd.Timedelta(1, "ns"),
        moment.tz_localize("UTC"),
        moment.to_pydatetime(),
        moment.date(),
        timedelta(1),
    ]
    twice = people * 2
    columns = {"x": ["a"] * len(twice), "class": ["no"] * len(twice), "who": twice}
    assert len(codes_of(schema, False, **columns)) == len(people)
