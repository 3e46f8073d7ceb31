"""Read the values and bounds that CHECK constraints declare.

A rule is text that somebody wrote for a database, and is only ever read here, never run. What is
not a plain list or a plain bound says nothing: ``OR``, ``NOT``, functions and comparisons of
columns are passed over, so that no bound is read that a row may break.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from privet.domain.attributes import Value
from privet.domain.drafting.facts import ColumnFacts

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<string>'(?:[^']|'')*')
      | (?P<quoted>"(?:[^"]|"")*")
      | (?P<number>[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
      | (?P<word>[^\W\d]\w*)
      | (?P<cast>::)
      | (?P<mark><=|>=|<>|!=|[<>=(),\[\]])
    )""",
    re.VERBOSE,
)
_TYPE = re.compile(r"\s*(?:character\s+varying|double\s+precision|\w+)(?:\([0-9, ]+\))?(?:\[\])?")
_NUMERIC = re.compile("(?:small|big)?int|numeric|decimal|real|double|float", re.IGNORECASE)
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_MOST = 100_000  # characters of a rule that are read


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str

    @property
    def value(self) -> Value | None:
        """The value of a literal."""
        if self.kind == "string":
            return self.text[1:-1].replace("''", "'")
        if self.kind != "number":
            return None
        number = float(self.text)
        return int(number) if number.is_integer() and "e" not in self.text.lower() else number

    @property
    def column(self) -> str | None:
        """The name of a column."""
        if self.kind == "quoted":
            return self.text[1:-1].replace('""', '"')
        return self.text if self.kind == "word" else None

    def says(self, *words: str) -> bool:
        return self.kind in ("word", "mark") and self.text.upper() in words


@dataclass(frozen=True)
class Rule:
    """What one condition says about one column."""

    column: str
    values: tuple[Value, ...] = ()
    low: float | None = None
    high: float | None = None


def apply_rules(
    facts: Mapping[str, ColumnFacts], expressions: Iterable[str]
) -> dict[str, ColumnFacts]:
    """Return the facts with what CHECK constraints say. Names are matched as SQL does."""
    narrowed, exact = dict(facts), {name.lower(): name for name in facts}
    for expression in expressions:
        for rule in read_rule(expression):
            name = rule.column if rule.column in facts else exact.get(rule.column.lower())
            if name is not None:
                narrowed[name] = narrowed[name].narrow(rule.values, rule.low, rule.high)
    return narrowed


def read_rule(expression: str) -> list[Rule]:
    """Return what a constraint says; nothing unless all of it is understood."""
    tokens = _list_tokens(expression)
    if tokens is None or any(token.says("OR", "NOT", "CASE", "NULL") for token in tokens):
        return []
    # without OR and NOT, parentheses only group what holds all the same
    flat = [token for token in tokens if not token.says("(", ")", "[", "]", "CHECK", "ARRAY")]
    rules = []
    while flat:
        read = _read_condition(flat)
        if read is None:
            return []
        rule, used = read
        rules.append(rule)
        flat = flat[used:]
        if flat:
            if not flat[0].says("AND") or len(flat) == 1:
                return []
            flat = flat[1:]
    return rules


def _list_tokens(expression: str) -> list[_Token] | None:
    """Return the tokens of a rule, without casts; None where it is none of ours."""
    text, place, tokens = expression[:_MOST].strip(), 0, list[_Token]()
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None or match.lastgroup is None:
            return None
        place = match.end()
        if match.lastgroup == "cast":
            kind = _TYPE.match(text, place)
            if kind is None:
                return None
            place = kind.end()
            if tokens and _NUMERIC.match(kind.group().strip()):  # '-5'::integer
                tokens[-1] = _as_number(tokens[-1])
        else:
            tokens.append(_Token(match.lastgroup, match.group(match.lastgroup)))
        place += len(text) - place - len(text[place:].lstrip())
    return tokens


def _as_number(token: _Token) -> _Token:
    text = token.text.strip("'")
    number = _TOKEN.fullmatch(text)
    spelled = number is not None and number.lastgroup == "number"
    return _Token("number", text) if spelled else token


def _read_condition(tokens: list[_Token]) -> tuple[Rule, int] | None:
    """Return what the first condition says, and how many tokens it is."""
    first, second = tokens[0], tokens[1] if len(tokens) > 1 else None
    if second is None:
        return None
    if first.column is not None and second.says("BETWEEN") and len(tokens) >= 5:
        low, word, high = tokens[2:5]
        if word.says("AND") and _are_numbers(low.value, high.value):
            return Rule(first.column, low=low.value, high=high.value), 5  # type: ignore[arg-type]
        return None
    start = 3 if second.says("=") and len(tokens) > 2 and tokens[2].says("ANY") else 2
    if first.column is not None and (start == 3 or second.says("IN")):
        values, used = _read_list(tokens[start:])
        return (Rule(first.column, values=values), start + used) if values else None
    if len(tokens) < 3 or second.text not in _FLIPPED:
        return None
    third, sign = tokens[2], second.text
    if first.value is not None and third.column is not None:
        first, third, sign = third, first, _FLIPPED[sign]
    bound = third.value
    if first.column is None or not _are_numbers(bound):
        return None
    if sign in (">", ">="):
        return Rule(first.column, low=bound), 3  # type: ignore[arg-type]
    return Rule(first.column, high=bound), 3  # type: ignore[arg-type]


def _are_numbers(*values: Value | None) -> bool:
    return all(isinstance(value, int | float) for value in values)


def _read_list(tokens: list[_Token]) -> tuple[tuple[Value, ...], int]:
    """Return the literals of a list, and how many tokens they are with their commas."""
    values: list[Value] = []
    used = 0
    while used < len(tokens) and (value := tokens[used].value) is not None:
        values.append(value)
        used += 1
        if used == len(tokens) or not tokens[used].says(","):
            return tuple(values), used
        used += 1
    return (), used
