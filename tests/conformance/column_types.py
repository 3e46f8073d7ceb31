"""An example of every type of column, with entries as a table spells them.

A new type is one more entry in ``EXAMPLES``: ``test_column_types.py`` runs everything on it.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from privet.domain import Attribute, Boolean, Categorical, Date, Numeric, Ordinal, Schema


@dataclass(frozen=True)
class Example:
    """An attribute ``x``, its column in a table, and what people should read about it.

    Args:
        attribute: the attribute.
        entries: entries of a table, each with its code; every code is there. None is null.
        yes: the codes of the rows whose class is yes, so that one split tells the classes apart.
        branches: how a tree writes the two branches of this split.
        boxes: how a picture writes them, where the attribute stands in a box.
        card: words of the privacy card.
    """

    attribute: Attribute
    entries: tuple[tuple[str | None, int], ...]
    yes: tuple[int, ...]
    branches: tuple[str, str]
    boxes: tuple[str, str]
    card: tuple[str, str]

    @property
    def schema(self) -> Schema:
        """The attribute beside another one."""
        colour = Categorical(["red", "blue"])
        return Schema({"x": self.attribute, "colour": colour}, "class", ["no", "yes"])

    @property
    def codes(self) -> list[int]:
        """The code of ``x`` in each row of :meth:`table`."""
        return [code for _ in range(self._repeats) for _, code in self.entries]

    def table(self) -> pd.DataFrame:
        """About 300 rows of text. All entries are equally frequent, in both colours."""
        entries = [entry for _ in range(self._repeats) for entry, _ in self.entries]
        colours = [("red", "blue")[turn % 2] for turn in range(self._repeats) for _ in self.entries]
        classes = ["yes" if code in self.yes else "no" for code in self.codes]
        column = self.attribute.column or "x"
        return pd.DataFrame({column: entries, "colour": colours, "class": classes}, dtype=object)

    @property
    def _repeats(self) -> int:
        return 2 * -(-150 // len(self.entries))


def _on(days: list[str]) -> tuple[tuple[str | None, int], ...]:
    """One entry for each code, in order."""
    return tuple((day, code) for code, day in enumerate(days))


EXAMPLES = {
    "categorical": Example(
        Categorical(["red", "green", 3], other="else", missing="none"),
        (("red", 0), ("green", 1), ("3.0", 2), ("pink", 3), ("else", 3), (None, 4), ("none", 4)),
        (0,),
        ("x = red", "x != red"),
        ("red", "not red"),
        ("one of a list", 'red, green, 3, else, none; everything else counts as "else"'),
    ),
    "beginnings": Example(
        Categorical(["A0", "B1", "C"], prefix=2, other="else", missing="none"),
        (("A0", 0), ("A01.4", 0), ("B1x", 1), ("C", 2), ("Cx", 3), ("else", 3), (None, 4)),
        (0,),
        ("x = A0", "x != A0"),
        ("A0", "not A0"),
        ("one of a list", "the first 2 characters count"),
    ),
    "ordinal": Example(
        Ordinal(["low", "medium", "high", 4], missing="?"),
        (("low", 0), ("medium", 1), ("high", 2), ("4.0", 3), (None, 4), ("?", 4), ("huge", 4)),
        (0, 1),
        ("x <= medium", "x >= high or = ?"),
        ("<= medium", ">= high or = ?"),
        ("one of a list in order", "low, medium, high, 4"),
    ),
    "numeric": Example(
        Numeric(0, 80, bins=4, missing="?"),
        (("-3", 0), ("19.5", 0), ("20", 1), ("5e1", 2), ("80", 3), ("99", 3), (None, 4), ("x", 4)),
        (0, 1),
        ("x < 40", "x >= 40 or = ?"),
        ("< 40", ">= 40 or = ?"),
        ("number", "0 to 80 in 4 bins"),
    ),
    "money": Example(
        Numeric(0, 80, bins=4, decimal=",", thousands=".", unit="€", missing="?"),
        (("-3,00 €", 0), ("19,5", 0), ("€20", 1), ("5e1", 2), ("1.000,5", 3), (None, 4), ("x", 4)),
        (0, 1),
        ("x < 40", "x >= 40 or = ?"),
        ("< 40", ">= 40 or = ?"),
        ("number", "0 to 80, written as 1.234,50 € in 4 bins"),
    ),
    "boolean": Example(
        Boolean(missing="unknown"),
        (("false", 0), ("No", 0), ("0", 0), ("TRUE", 1), ("y", 1), (None, 2), ("perhaps", 2)),
        (1,),
        ("x = true", "x in {false, unknown}"),
        ("true", "false, unknown"),
        ("true or false", 'a missing entry counts as "unknown"'),
    ),
    "date": Example(
        Date("2020-01-01", "2023-12-31", bins=4, missing="?"),
        (
            ("1999-12-31", 0),
            ("2020-12-30T23:59:59Z", 0),
            ("2021-01-01", 1),
            ("2021-12-31 08:30", 2),
            ("2023-12-31", 3),
            (None, 4),
            ("31/12/2021", 4),
        ),
        (0, 1),
        ("x <= 2021-12-30", "x >= 2021-12-31 or = ?"),
        ("<= 2021-12-30", ">= 2021-12-31 or = ?"),
        ("date", "2020-01-01 to 2023-12-31 in 4 bins"),
    ),
    "date on a fine grid": Example(
        Date("2020-01-01", "2020-01-04", bins="auto", missing="?"),
        (
            ("1999-12-31", 0),
            ("2020-01-01T23:59:59Z", 0),
            ("2020-01-02", 1),
            ("2020-01-03 08:30", 2),
            ("2021-12-31", 3),
            (None, 4),
            ("31/12/2021", 4),
        ),
        (0, 1),
        ("x <= 2020-01-02", "x >= 2020-01-03 or = ?"),
        ("<= 2020-01-02", ">= 2020-01-03 or = ?"),
        ("date", "2020-01-01 to 2020-01-04 in a grid of 4 bins, which learners merge"),
    ),
    "year": Example(
        Date(1990, 1999, part="year", bins=5),
        _on(["1990-05-01", "1993-01-01", "1994", "1996-12-31T23:59", "2024-01-01"]),
        (0, 1),
        ("x <= 1993", "x >= 1994"),
        ("<= 1993", ">= 1994"),
        ("year of a date", "1990 to 1999 in 5 bins"),
    ),
    "month": Example(
        Date(part="month", column="when"),
        _on([f"2020-{month:02}-15" for month in range(1, 13)]),
        (0, 1, 2, 3, 4, 5),
        ("x <= June", "x >= July"),
        ("<= June", ">= July"),
        ("month of a date", "January to December in 12 bins"),
    ),
    "weekday": Example(
        Date(part="weekday", column="when"),
        _on([f"2024-01-0{day}" for day in range(1, 8)]),  # the first was a Monday
        (0, 1, 2, 3, 4),
        ("x <= Friday", "x >= Saturday"),
        ("<= Friday", ">= Saturday"),
        ("weekday of a date", "Monday to Sunday in 7 bins"),
    ),
    "hour": Example(
        Date(part="hour", bins=4, column="when"),
        _on([f"2024-01-01T{hour}:59:59+01:00" for hour in ("03", "07", "18", "19")]),
        (0, 1),
        ("x <= 11", "x >= 12"),
        ("<= 11", ">= 12"),
        ("hour of a date", "0 to 23 in 4 bins"),
    ),
    "age": Example(
        Date(0, 99, part="age", at="2024-12-31", bins=4, missing="not told", column="born"),
        (
            ("2024-01-01", 0),
            ("1975-01-01", 1),
            ("1974-12-31", 2),
            ("1900-01-01", 3),
            ("49", 1),
            (None, 4),
        ),
        (0, 1),
        ("x <= 49", "x >= 50 or = not told"),
        ("<= 49", ">= 50 or = not told"),
        ("age on 2024-12-31, from a date", "0 to 99 in 4 bins"),
    ),
}
