"""Draft a schema from what is written about the columns: names, types, labels, keys and rules.

No row is looked at. What a catalog does not say is a *blank*, which somebody who knows the table
fills in (:mod:`~privet.domain.drafting.answers`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from privet._validate import suggest
from privet.domain.attributes import Attribute, Boolean, Categorical, Date, Numeric, Value
from privet.domain.drafting.answers import read_answer
from privet.domain.drafting.drafted import Draft, Wishes, finish_draft, forgive, raise_problems
from privet.domain.drafting.facts import ColumnFacts
from privet.domain.drafting.identifiers import judge_name, split_name
from privet.errors import SchemaError

#: Bounds that a name alone suggests; wider than what is likely.
_USUAL = {"age": (0, 120), "year": (1900, 2100), "hour": (0, 24), "percent": (0, 100)}
#: Days that nearly all dates about people lie between.
_FIRST, _LAST = "1900-01-01", "2099-12-31"


@dataclass(frozen=True)
class Outline:
    """What is known of a table before a row is looked at.

    Args:
        columns: the facts of all columns, by name.
        wishes: what was said about them.
        attributes: what can be drafted.
        blanks: columns whose values are not known, and what is missing.
        left_out: why others are left out.
    """

    columns: Mapping[str, ColumnFacts]
    wishes: Wishes
    attributes: Mapping[str, Attribute]
    blanks: Mapping[str, str]
    left_out: Mapping[str, str]
    classes: tuple[Value, ...] = field(default=())

    @property
    def target(self) -> ColumnFacts:
        """The facts of the class column."""
        return self.columns[self.wishes.target]

    def finish(self, classes: Sequence[Value] = ()) -> Draft:
        """Return the draft, without the columns that are still blank."""
        known = tuple(classes) or self.classes
        problems = []
        if not known:
            problems.append(
                f"the classes of {self.wishes.target!r} are not known: list them, as in "
                "--classes 'no|yes'"
            )
        if self.blanks and (problems or not self.attributes):
            names, first = ", ".join(map(repr, self.blanks)), next(iter(self.blanks))
            problems.append(
                f"it is not known what these columns hold: {names}{_WAYS.format(name=first)}"
            )
        if problems and self.left_out:
            why = "; ".join(f"{name!r}: {reason}" for name, reason in self.left_out.items())
            problems.append(f"left out: {why}; --include NAME keeps a column all the same")
        raise_problems(problems)
        blanks = {name: f"{why}{_WAYS.format(name=name)}" for name, why in self.blanks.items()}
        left_out = {**self.left_out, **blanks}
        ordered = {name: left_out[name] for name in self.columns if name in left_out}
        return finish_draft(self.attributes, self.wishes, known, ordered)


_WAYS = (
    "; say it with --column '{name}=a|b|c' or '{name}=0..100', show a public sample with --sample, "
    "or pay for it with --epsilon"
)


def outline_table(
    facts: Sequence[ColumnFacts],
    wishes: Wishes,
    answers: Mapping[str, str],
    classes: Sequence[Value] = (),
) -> Outline:
    """Return what can be drafted from a catalog and from answers, and what is still blank."""
    by_name = {column.name: column for column in facts}
    problems = check_answers(by_name, wishes.target, answers)
    left_out: dict[str, str] = {}
    attributes: dict[str, Attribute] = {}
    blanks: dict[str, str] = {}
    for name, column in by_name.items():
        if name == wishes.target:
            continue
        if why := wishes.skip(name):
            left_out[name] = why
        elif name in answers:
            try:
                answered = read_answer(name, answers[name])
            except SchemaError as error:
                problems.append(str(error))
                continue
            if answered is None:
                left_out[name] = "you left it out"
            else:
                attributes[name] = answered
        elif why := _judge_facts(column, name in wishes.include):
            left_out[name] = why
        elif drafted := draft_facts(column):
            attributes[name] = drafted
        else:
            blanks[name] = describe_blank(column)
    raise_problems(problems)
    known = tuple(classes) or classes_of(by_name[wishes.target])
    return Outline(by_name, wishes, attributes, blanks, left_out, known)


def check_answers(
    columns: Mapping[str, ColumnFacts], target: str, answers: Mapping[str, str]
) -> list[str]:
    """Return what is wrong with the names that were answered for."""
    problems = []
    for name in answers:
        if name == target:
            problems.append(f"column {name!r} is the target; list its classes with --classes")
        elif name not in columns:
            meant = suggest(name, columns)
            problems.append(
                f"column {name!r} is not in the table" + (f"; {meant}" if meant else "")
            )
    return problems


def _judge_facts(column: ColumnFacts, included: bool) -> str | None:
    if column.kind is None:
        return f"its type {column.type} cannot be matched with a schema"
    if included:
        return None
    if column.unique:
        return "no two rows may share a value of it, so it tells who somebody is"
    return None if column.values else judge_name(column.name)


def draft_facts(column: ColumnFacts) -> Attribute | None:
    """Return the attribute that the facts suffice for; None where values are not known."""
    usual = next((_USUAL[word] for word in split_name(column.name) if word in _USUAL), None)
    if column.values:
        return forgive(Categorical(list(column.values)))
    if column.kind == "bool":
        return forgive(Boolean())
    if column.kind == "date":
        return forgive(Date(_FIRST, _LAST, bins="auto"))
    if column.kind in ("integer", "number") or column.spelled:
        low, high = column.low, column.high
        if usual is not None:
            low, high = (b if b is not None else u for b, u in zip((low, high), usual, strict=True))
        if low is not None and high is not None and low < high:
            return forgive(Numeric(low, high, bins="auto"))
    return None


def classes_of(column: ColumnFacts) -> tuple[Value, ...]:
    """Return the classes that a catalog tells; none where it does not."""
    if column.kind == "bool":
        return (False, True)
    return column.values if len(column.values) > 1 else ()


def describe_blank(column: ColumnFacts) -> str:
    """Say what is missing to describe a column."""
    if column.spelled:
        return "a file of text does not say what it holds"
    if column.kind == "text":
        return "its values are not known"
    one = "upper" if column.high is None and column.low is not None else "lower"
    both = column.low is None and column.high is None
    return "its bounds are not known" if both else f"its {one} bound is not known"
