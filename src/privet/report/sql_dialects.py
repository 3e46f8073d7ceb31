"""How each engine writes what an exported statement is made of: names, literals, numbers, dates.

The type of a column is not known when a statement is written: every entry is read by what it is.
Dates are read in turn, in columns of steps before: their text in ISO 8601 (``privet_t``), and their
moment in UTC (``privet_m``), which is null where the text is no date of the years 1000 to 9999. The
parts of a moment are those that the engine's tables are read with.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from privet.domain.encode.encoding import DatePart, SpelledNumber
from privet.domain.encode.scalars import ISO_MOMENT
from privet.errors import ParameterError
from privet.tables.dialect import Dialect as TableDialect
from privet.tables.dialect import quote_identifier
from privet.tables.duckdb.codes import DuckDBDialect
from privet.tables.postgres.codes import PostgresDialect
from privet.tables.spark.codes import SparkDialect
from privet.tables.sqlite.codes import SQLiteDialect

#: A number as text: a sign, digits with one point, and an exponent of at most two digits.
_NUMBER = r"^[ \t\n\r\f\v]*[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]{1,2})?[ \t\n\r\f\v]*$"
#: The offset at the end of a text that is a timestamp.
_OFFSET = "[+-][0-9]{2}:[0-9]{2}$"


class Dialect(ABC):
    """How one engine writes names, literals and numbers that are read from any column."""

    materialized: ClassVar[str] = "MATERIALIZED "
    text_type: ClassVar[str] = "TEXT"
    real_type: ClassVar[str] = "DOUBLE"
    greatest: ClassVar[str] = "greatest"

    def name(self, name: str) -> str:
        """Return a quoted name."""
        return quote_identifier(name)

    def text(self, text: str) -> str:
        """Return a text literal."""
        if "\x00" in text:
            raise ParameterError(f"SQL export: a text with NUL cannot be written: {text!r}")
        return "'" + text.replace("'", "''") + "'"

    def real(self, number: float) -> str:
        """Return a literal of double precision."""
        written = repr(float(number))
        return written if "e" in written else f"{written}e0"

    def as_text(self, column: str) -> str:
        """Return a column as text."""
        return f"CAST({column} AS {self.text_type})"

    @abstractmethod
    def as_number(self, column: str) -> str:
        """Return a column of numbers or text as a double; null where it is no number."""

    def is_missing(self, column: str) -> str:
        """Return whether an entry is null, or NaN."""
        return f"{column} IS NULL OR lower({self.as_text(column)}) = 'nan'"

    @abstractmethod
    def is_text(self, column: str) -> str:
        """Return whether an entry is text, and no number."""

    def as_spelled(self, column: str, spelled: SpelledNumber) -> str:
        """Return a column as a double, whose text spells numbers in a declared way."""
        text = self.as_text(column)
        for part in spelled.removed:
            text = f"replace({text}, {self.text(part)}, '')"
        if spelled.decimal != ".":
            text = f"replace({text}, {self.text(spelled.decimal)}, '.')"
        plain, read = self.as_number(column), self.as_number(text)
        return f"CASE WHEN {self.is_text(column)} THEN {read} ELSE {plain} END"

    def cut(self, text: str, length: int) -> str:
        """Return the first characters of a text."""
        return f"left({text}, {int(length)})"

    # -- dates -------------------------------------------------------------------------------------

    #: Knows the parts of a moment.
    calendar: ClassVar[TableDialect]

    def moment_steps(self, column: str, a: int) -> list[str]:
        """Return what steps select in turn, of which the last is the moment of an entry."""
        text = f"privet_t{a}"
        return [f"{self.date_text(column)} AS {text}", f"{self.moment(text)} AS privet_m{a}"]

    @abstractmethod
    def date_text(self, column: str) -> str:
        """Return a date, a timestamp or a text as text: ISO 8601 where it is a date."""

    @abstractmethod
    def moment(self, text: str) -> str:
        """Return the moment that a text spells, in UTC; null where it spells none."""

    def as_part(self, column: str, moment: str, part: DatePart) -> str:
        """Return a part of a moment, or the number that an entry without one is."""
        read = f"CAST({self.calendar.part_of(moment, part)} AS {self.real_type})"
        if part.range is None:
            return read
        (low, high), number = part.range, f"({self.as_number(column)})"
        alone = f"CASE WHEN {number} BETWEEN {low} AND {high} THEN {number} END"
        return f"CASE WHEN {moment} IS NULL THEN {alone} ELSE {read} END"


class _DuckDB(Dialect):
    text_type = "VARCHAR"
    calendar = DuckDBDialect()

    def is_text(self, column: str) -> str:
        return f"typeof({column}) = 'VARCHAR'"

    def as_number(self, column: str) -> str:
        text = self.as_text(column)
        return (
            f"CASE WHEN regexp_full_match({text}, {self.text(_NUMBER)}) "
            f"THEN TRY_CAST({text} AS DOUBLE) END"
        )

    def date_text(self, column: str) -> str:
        text = self.as_text(column)  # of an instant it ends in +02
        whole = f"regexp_replace({text}, '([+-][0-9][0-9])$', '\\1:00')"
        return f"CASE WHEN typeof({column}) LIKE 'TIMESTAMP%Z%' THEN {whole} ELSE {text} END"

    def moment(self, text: str) -> str:
        clock = f"TRY_CAST(left({text}, 16) AS TIMESTAMP)"
        minutes = f"60 * CAST({text}[-5:-4] AS INTEGER) + CAST({text}[-2:] AS INTEGER)"
        offset = f"CASE {text}[-6] WHEN '-' THEN -1 ELSE 1 END * ({minutes})"
        return (
            f"CASE WHEN NOT regexp_full_match({text}, '{ISO_MOMENT}') THEN NULL WHEN "
            f"regexp_matches({text}, '{_OFFSET}') THEN {clock} - to_minutes({offset}) "
            f"ELSE {clock} END"
        )


class _Postgres(Dialect):
    real_type = "float8"
    calendar = PostgresDialect()

    def real(self, number: float) -> str:
        return f"float8 '{float(number)!r}'"

    def text(self, text: str) -> str:
        written = super().text(text)
        # means the same whatever standard_conforming_strings is
        return "E" + written.replace("\\", "\\\\") if "\\" in text else written

    def is_text(self, column: str) -> str:
        return f"CAST(pg_typeof({column}) AS text) IN ('text', 'character varying', 'character')"

    def as_number(self, column: str) -> str:
        text = self.as_text(column)
        return (
            f"CASE WHEN {text} ~ {self.text(_NUMBER)} AND length({text}) < 100 "
            f"THEN CAST({text} AS float8) END"
        )

    def date_text(self, column: str) -> str:
        # JSON has ISO 8601, whatever the session's DateStyle is
        return f"""(to_jsonb({column}) #>> '{{}}') COLLATE "C\""""

    def moment(self, text: str) -> str:
        # only the minute counts: PostgreSQL rounds fractions of a second up
        clock, offset = f"left({text}, 16)", f"right({text}, 6)"
        zoned = f"({clock} || {offset})::timestamptz AT TIME ZONE 'UTC'"
        return (
            f"CASE WHEN {text} !~ '{ISO_MOMENT}' THEN NULL WHEN {text} ~ '{_OFFSET}' THEN "
            f"{zoned} ELSE ({clock})::timestamp END"
        )


class _SQLiteCalendar(SQLiteDialect):
    """Parts of a moment that SQLite wrote, without functions of ours."""

    _FIELDS: ClassVar[dict[str, str]] = {
        "date": "CAST(strftime('%s', date({0})) AS INTEGER) / 86400",
        "year": "CAST(strftime('%Y', {0}) AS INTEGER)",
        "month": "CAST(strftime('%m', {0}) AS INTEGER)",
        "day": "CAST(strftime('%d', {0}) AS INTEGER)",
        "weekday": "(CAST(strftime('%w', {0}) AS INTEGER) + 6) % 7 + 1",
        "hour": "CAST(strftime('%H', {0}) AS INTEGER)",
    }

    def field(self, moment: str, name: str) -> str:
        return f"({self._FIELDS[name].format(moment)})"


class _SQLite(Dialect):
    greatest = "max"
    real_type = "REAL"
    calendar = _SQLiteCalendar()

    def as_text(self, column: str) -> str:
        return f"CAST({column} AS TEXT) COLLATE BINARY"

    def is_text(self, column: str) -> str:
        return f"typeof({column}) = 'text'"

    def cut(self, text: str, length: int) -> str:
        return f"substr({text}, 1, {int(length)})"

    def as_number(self, column: str) -> str:
        # There are no regular expressions: text counts where JSON would take it for a number.
        text = f"trim({column})"
        return (
            f"CASE typeof({column}) WHEN 'integer' THEN CAST({column} AS REAL) WHEN 'real' THEN "
            f"{column} WHEN 'text' THEN CASE WHEN json_valid({text}) AND json_type({text}) IN "
            f"('integer', 'real') THEN CAST({text} AS REAL) END END"
        )

    def moment_steps(self, column: str, a: int) -> list[str]:
        text, zone = f"privet_t{a}", f"privet_z{a}"
        offsets = " OR ".join(
            f"substr({text}, -6) GLOB '[+-]{hours}:[0-5][0-9]'" for hours in ("0[0-9]", "1[0-4]")
        )
        found = (
            f"CASE WHEN length({text}) <= 16 THEN '' WHEN substr({text}, -1) = 'Z' THEN 'Z' WHEN "
            f"{offsets} THEN substr({text}, -6) ELSE '' END AS {zone}"
        )
        written, moment = super().moment_steps(column, a)
        return [written, found, moment]

    def date_text(self, column: str) -> str:
        return f"CASE typeof({column}) WHEN 'text' THEN {column} END COLLATE BINARY"

    def moment(self, text: str) -> str:
        zone = text.replace("privet_t", "privet_z")  # found in the step before
        seconds = f"substr({text}, 17, length({text}) - 16 - length({zone}))"
        day, clock = f"substr({text}, 1, 10)", f"substr({text}, 11, 6)"
        is_day = (  # date() checks days of months where it adds some
            f"{day} GLOB '[1-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' AND "
            f"date({day}, '+0 days') = {day}"
        )
        is_clock = " OR ".join(
            f"{clock} GLOB '[T ]{hours}:[0-5][0-9]'" for hours in ("[01][0-9]", "2[0-3]")
        )
        is_fraction = (
            f"{seconds} GLOB ':[0-5][0-9].[0-9]*' AND length({seconds}) <= 13 AND "
            f"rtrim(substr({seconds}, 5), '0123456789') = ''"
        )
        is_rest = f"{seconds} = '' OR {seconds} GLOB ':[0-5][0-9]' OR {is_fraction}"
        return (
            f"CASE WHEN {is_day} THEN CASE WHEN length({text}) = 10 THEN datetime({text}) WHEN "
            f"({is_clock}) AND ({is_rest}) THEN datetime(substr({text}, 1, 16) || {zone}) END END"
        )


class _Spark(Dialect):
    materialized = ""
    text_type = "STRING"
    calendar = SparkDialect()

    def name(self, name: str) -> str:
        quote_identifier(name)  # refuses what is no name
        return "`" + name.replace("`", "``") + "`"

    def text(self, text: str) -> str:
        super().text(text)
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    def real(self, number: float) -> str:
        return f"{float(number)!r}D"

    def is_text(self, column: str) -> str:
        return f"typeof({column}) = 'string'"

    def as_number(self, column: str) -> str:
        text = self.as_text(column)
        return f"CASE WHEN {text} RLIKE {self.text(_NUMBER)} THEN TRY_CAST({text} AS DOUBLE) END"

    def date_text(self, column: str) -> str:
        text = self.as_text(column)  # of an instant it is a clock of the session's time zone
        instant = f"date_format(TRY_CAST({text} AS TIMESTAMP), 'yyyy-MM-dd HH:mmXXX')"
        return f"CASE WHEN typeof({column}) = 'timestamp' THEN {instant} ELSE {text} END"

    def moment(self, text: str) -> str:
        def number(first: int, length: int) -> str:
            return f"coalesce(TRY_CAST(substr({text}, {first}, {length}) AS INT), 0)"

        days = f"CAST(unix_date(TRY_CAST(substr({text}, 1, 10) AS DATE)) AS BIGINT)"
        sign = f"CASE substr({text}, -6, 1) WHEN '-' THEN -1 ELSE 1 END"
        offset = (
            f"CASE WHEN {text} RLIKE '{_OFFSET}' THEN {sign} * (60 * {number(-5, 2)} + "
            f"{number(-2, 2)}) ELSE 0 END"
        )
        minutes = f"1440 * {days} + 60 * {number(12, 2)} + {number(15, 2)} - {offset}"
        # Java's $ would let the end of a line follow
        is_moment = f"{text} RLIKE '{ISO_MOMENT}' AND right({text}, 1) <> char(10)"
        return f"CASE WHEN {is_moment} THEN floor(({minutes}) / 60) END"


DIALECTS: dict[str, Dialect] = {
    "duckdb": _DuckDB(),
    "postgres": _Postgres(),
    "spark": _Spark(),
    "sqlite": _SQLite(),
}
