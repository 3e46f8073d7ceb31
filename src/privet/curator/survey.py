"""Find out with noise what the columns of a table hold: bounds of numbers, frequent values of text.

Everything is asked of a curator, charged before it is read, within one reservation, and costs pure
epsilon. What is asked about is public: a very wide grid for numbers, an alphabet and a length for
text. So nothing that is found tells more of a row than was paid for.

**Numbers**: the cells of a grid in steps of about a quarter are counted, from 10^-4 to 10^12 on
both sides of zero. Runs of neighbouring cells that hold more than noise would tell the bounds
(:func:`find_runs`), which are set well outside; with ``bins="auto"``, bounds that are too wide cost
little. A number without such a run is left out: bounds that noise alone sets would hide it.

**Text**: first the words of a public dictionary are counted, then a prefix tree is walked. Its
candidates are all texts of two more characters after each prefix that was found; their counts get
Laplace noise, and those above a public threshold are kept. A level is paid for by itself, so the
levels of a column add up (sequential composition). No count is ever compared with an exact one, so
that no delta is needed. A threshold is :math:`b \\ln(m / 2\\beta)` for noise of scale b on m
candidates: then none of those that nobody has is kept, except with probability beta in all.

Neighbours: as the owner declares them. A person with k rows moves counts by k, which the ledger
charges k times (:meth:`~privet.accounting.cost.Cost.promised`).
"""

from __future__ import annotations

import math
import string
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from privet.accounting.cost import Budget, Cost, Number, parse_epsilon
from privet.accounting.ledger import Ledger
from privet.curator.account import continuing
from privet.curator.base import AnyCurator
from privet.curator.curator import Curator
from privet.domain import Schema
from privet.domain.attributes import Attribute, Boolean, Categorical, Date, Numeric, Value
from privet.domain.drafting.facts import ColumnFacts
from privet.errors import ParameterError
from privet.mechanisms.randomness import Bits
from privet.queries import CountValues
from privet.tables.base import Table

#: Characters that a text may be made of; texts with others are not found, and count as other.
ALPHABET = string.ascii_letters + string.digits + " _-./+<>=&(),:'%#*"
#: So many characters of a text are looked at. Longer ones are told apart by these.
DEPTH = 8
#: ... and of a class, whose name is wanted in full.
CLASS_DEPTH = 24
#: How likely it is that a value is listed that nobody has, for each column.
BETA = 0.01
#: Most candidates of a level, and most values of a column.
MOST, MOST_VALUES = 40_000, 200
#: Words that stand in many tables, as they are usually written.
DICTIONARY = tuple(
    spelled
    for word in (
        *(
            "yes",
            "no",
            "ja",
            "nein",
            "oui",
            "non",
            "true",
            "false",
            "male",
            "female",
            "other",
            "unknown",
            "none",
            "m",
            "f",
        ),
        *("y", "n", "high", "low", "medium", "single", "married", "divorced", "widowed", "basic"),
        *("pro", "free", "primary", "secondary", "tertiary", "monthly", "yearly", "cash", "card"),
        *("positive", "negative", "left", "right", "good", "bad", "small", "large"),
    )
    for spelled in dict.fromkeys((word, word.capitalize()))
) + tuple("0123456789")
#: What stands for all other texts, and for missing ones: outside of the alphabet.
_OTHER, _MISSING = "…", "∅"
#: So many rows over epsilon tell the bounds of most numbers, as measured.
_NUMBER_NEEDS = 60
_KIND_SHARE, _DICTIONARY_SHARE = Fraction(1, 8), Fraction(1, 4)
_TARGET_WEIGHT = 2
_CLASSES = ("no class", "any class")


@dataclass(frozen=True)
class Survey:
    """What was found, and what it cost."""

    attributes: Mapping[str, Attribute]
    classes: tuple[Value, ...]
    left_out: Mapping[str, str]
    paid: Mapping[str, str]


@dataclass
class Surveyor:
    """Asks about the columns of one table.

    Args:
        table: an open table.
        target: its class column.
        ledger, dataset, analyst: the account that is charged; the data set has a budget.
        facts: the owner-side facts of the schema that is made.
        dictionary: public words to look for first.
    """

    table: Table
    target: str
    ledger: Ledger
    dataset: str
    analyst: str
    facts: Mapping[str, Any]
    dictionary: Sequence[str] = DICTIONARY
    budget: Budget | None = None
    bits: Bits | None = None
    _reserved: AnyCurator | None = field(default=None, init=False)

    def survey(
        self, columns: Sequence[ColumnFacts], classes: Sequence[Value], epsilon: Number
    ) -> Survey:
        """Find what these columns hold, and the classes unless they are given.

        The ledger is charged what it costs for the declared neighbours; ``paid`` says so.
        """
        amount = parse_epsilon("epsilon", epsilon)
        if not columns and classes:
            raise ParameterError("there is nothing to pay for: all columns are known")
        share = amount / (len(columns) + (0 if classes else _TARGET_WEIGHT))
        found: dict[str, Attribute] = {}
        left_out: dict[str, str] = {}
        helper = columns[0].name if columns else self.target
        first = self._curator(self._schema({helper: _WHATEVER}, _CLASSES))
        with first.reserving(Cost.pure(amount), "describe the columns of the table") as reserved:
            self._reserved = reserved
            known = tuple(classes)
            if not known:
                texts = self._find_texts(self.target, share * _TARGET_WEIGHT, CLASS_DEPTH)
                known = tuple(text for text in texts.values if len(text) < CLASS_DEPTH)
                if len(known) < 2:
                    raise ParameterError(
                        f"fewer than two classes of {self.target!r} are frequent enough to be "
                        f"found (a class needs about {texts.needs:.0f} rows at this epsilon), and "
                        f"looking for them was charged; list them, as in --classes 'no|yes'"
                    )
            for column in columns:
                attribute, why = self._find(column, share)
                if attribute is None:
                    left_out[column.name] = why
                else:
                    found[column.name] = attribute
            promised = Cost.pure(amount).promised(first.schema).epsilon
            paid = {
                "epsilon": str(promised),
                "account": first.account,
                "release": reserved._reservation,
            }
        return Survey(found, known, left_out, paid)

    # -- one column --------------------------------------------------------------------------------

    def _find(self, column: ColumnFacts, epsilon: Fraction) -> tuple[Attribute | None, str]:
        kind: str | None = column.kind
        if column.spelled:
            epsilon, part = epsilon * (1 - _KIND_SHARE), epsilon * _KIND_SHARE
            kind = self._find_kind(column.name, part)
        if kind in ("integer", "number"):
            return self._find_bounds(column.name, epsilon)
        if kind == "bool":
            return Boolean(missing="missing"), ""
        if kind == "date":
            return Date("1900-01-01", "2099-12-31", bins="auto", missing="missing"), ""
        found = self._find_texts(column.name, epsilon, DEPTH)
        if not found.values:
            advice = (
                f"; if it holds amounts such as 1,234.50 €, say so: --column "
                f"'{column.name}=0..9000 as 1,234.50 €'; dates must be written as 2024-12-31"
                if column.spelled
                else ""
            )
            return None, (
                f"no value of it is frequent enough to be found (about {found.needs:.0f} rows at "
                f"this epsilon){advice}"
            )
        longest = max(map(len, found.values))
        return Categorical(
            found.values, other="other", missing="missing", prefix=max(DEPTH, longest)
        ), ""

    def _find_kind(self, name: str, epsilon: Fraction) -> str:
        """Return what most entries of a column of a text file are."""
        number = Numeric(edges=[-1e300, 1e300], missing="none")
        date = Date("1000-01-01", "9999-12-31", bins=1, missing="none")
        told: dict[str, float] = {}
        for kind, attribute in (("number", number), ("date", date)):
            counts = self._count(name, attribute, epsilon / 2)
            told[kind] = counts[0] - counts[1]
        likely = max(told, key=lambda kind: told[kind])
        return likely if told[likely] > 0 else "text"

    def _find_bounds(self, name: str, epsilon: Fraction) -> tuple[Numeric | None, str]:
        """Return a number with bounds well outside of where its rows are."""
        *counts, _ = self._count(name, Numeric(edges=GRID, missing="none"), epsilon)
        runs = find_runs(counts, 1 / float(epsilon))
        if runs is None:
            needs = _NUMBER_NEEDS / float(epsilon)
            return None, (
                f"its bounds cannot be found in so few rows (about {needs:.0f} would do at this "
                f"epsilon); say them: --column '{name}=0..100'"
            )
        return Numeric(*widen_bounds(*runs), bins="auto", missing="missing"), ""

    def _find_texts(self, name: str, epsilon: Fraction, depth: int) -> _Texts:
        """Return the frequent texts of a column, or their first characters."""
        left, values = epsilon, list[str]()
        if self.dictionary:
            part = epsilon * _DICTIONARY_SHARE
            left -= part
            counts = self._count_texts(name, self.dictionary, None, part)
            needed = threshold(part, len(self.dictionary))
            values = [word for word in self.dictionary if counts[word] > needed]
            if values and counts[_OTHER] < needed:
                return _Texts(values, needed)  # the rest is too rare to be found
        prefixes, needs = [""], 0.0
        found: list[str] = []
        length = 0
        while prefixes and length < depth:
            step = 2 if len(prefixes) * len(ALPHABET) ** 2 < MOST and length + 2 <= depth else 1
            rounds = math.ceil((depth - length) / step)
            part = left / rounds
            left -= part
            candidates = list_candidates(prefixes, step, first=length == 0)
            counts = self._count_texts(name, candidates, length + step, part)
            needed = threshold(part, len(candidates), rounds)
            needs = max(needs, needed)
            kept = sorted(
                (text for text in candidates if counts[text] > needed),
                key=lambda text: -counts[text],
            )[:MOST_VALUES]
            length += step
            found += [text for text in kept if len(text) < length]
            prefixes = [text for text in kept if len(text) == length]
        whole = [*values, *(text for text in [*found, *prefixes] if text not in values)]
        return _Texts(whole[:MOST_VALUES], needs)

    def _count_texts(
        self, name: str, candidates: Sequence[str], prefix: int | None, epsilon: Fraction
    ) -> dict[str, int]:
        """Return noisy counts of these texts, or of what begins with them."""
        attribute = Categorical(list(candidates), other=_OTHER, missing=_MISSING, prefix=prefix)
        return dict(zip(attribute.labels, self._count(name, attribute, epsilon), strict=True))

    # -- asking ------------------------------------------------------------------------------------

    def _count(self, name: str, attribute: Attribute, epsilon: Fraction) -> list[int]:
        schema = self._schema({name: attribute})
        with self._asking(schema) as curator:
            answer = curator.ask(CountValues(name), epsilon)
        return [int(number) for number in answer.tables[0]]

    def _schema(
        self, attributes: Mapping[str, Attribute], classes: Sequence[Value] = _CLASSES
    ) -> Schema:
        """Return a schema under which every row counts, whatever its class is."""
        target = self.target if self.target not in attributes else self._other_column
        return Schema(attributes, target, classes, other_class=classes[-1], **self.facts)

    @property
    def _other_column(self) -> str:
        """A column that stands for the target where the target is asked about."""
        from privet.tables.catalog.read import read_catalog

        person = self.facts.get("person")
        return next(
            column.name
            for column in read_catalog(self.table)
            if column.name not in (self.target, person) and column.kind not in (None, "date")
        )

    def _curator(self, schema: Schema) -> Curator:
        return Curator(
            self.table,
            schema,
            self.budget,
            ledger=self.ledger,
            dataset=self.dataset,
            analyst=self.analyst,
            bits=self.bits,
        )

    @contextmanager
    def _asking(self, schema: Schema) -> Iterator[Curator]:
        assert isinstance(self._reserved, Curator)
        curator = continuing(self._curator(schema), self._reserved)
        with curator.snapshot():
            yield curator


@dataclass(frozen=True)
class _Texts:
    """Texts that were found, and about how many rows one needs for that."""

    values: list[str]
    needs: float


_WHATEVER = Categorical([_MISSING], other=_OTHER, missing=_MISSING)


def threshold(epsilon: Fraction, candidates: int, rounds: int = 1) -> float:
    """Return what a noisy count must exceed, so that values that nobody has are not listed."""
    return math.log(candidates * rounds / (2 * BETA)) / float(epsilon)


def expect_needs(columns: int, epsilon: Number, *, classes_known: bool) -> tuple[float, float]:
    """Return in about how many rows a text must be, and a class, to be found for this epsilon."""
    share = parse_epsilon("epsilon", epsilon)
    share /= max(columns + (0 if classes_known else _TARGET_WEIGHT), 1)
    candidates = len(list_candidates([""], 2, first=True))

    def need(part: Fraction, depth: int) -> float:
        rounds = depth // 2
        return threshold(part * (1 - _DICTIONARY_SHARE) / rounds, candidates, rounds)

    return need(share, DEPTH), need(share * _TARGET_WEIGHT, CLASS_DEPTH)


def list_candidates(prefixes: Sequence[str], step: int, *, first: bool) -> list[str]:
    """Return all texts that continue a prefix by so many characters, and those that end before.

    A prefix that was found may be the whole text; at the first level, nothing is.
    """
    ends = [] if first else [""]
    tails = [*ends, *ALPHABET]
    if step == 2:
        tails += [one + two for one in ALPHABET for two in ALPHABET]
    return [prefix + tail for prefix in prefixes for tail in tails]


def _make_grid() -> list[float]:
    """Return a public grid for numbers of any size, in steps of about a quarter."""
    steps = (1, 1.25, 1.6, 2, 2.5, 3.2, 4, 5, 6.4, 8)
    above = [float(f"{step}e{power}") for power in range(-4, 12) for step in steps]
    above.append(1e12)
    return [-x for x in reversed(above)] + [0.0] + above


GRID = _make_grid()


def find_runs(counts: Sequence[int], scale: float) -> tuple[float, float] | None:
    """Return the ends of the runs of cells of the grid that hold more than Laplace noise would.

    Of each run of cells, 1.5 scales per cell are taken off its noisy sum: what noise of this scale
    leaves of the largest of all runs exceeds scale ln(cells / beta) / u with a probability of at
    most beta, where E exp(u (noise / scale - 1.5)) <= 1, as it is for u = 5/6 (Lundberg). None
    where no run exceeds that. Each run leaves the cells before and behind it for the next.
    """
    needed = scale * math.log(len(counts) / BETA) * 6 / 5
    parts, ends = [(0, len(counts))], list[int]()
    while parts:
        first, last = parts.pop()
        most, run = needed, None
        sum_, begin = 0.0, first
        for cell in range(first, last):
            if sum_ <= 0:
                sum_, begin = 0.0, cell
            sum_ += counts[cell] - 1.5 * scale
            if sum_ > most:
                most, run = sum_, (begin, cell + 1)
        if run is not None:
            ends += run
            parts += [(first, run[0]), (run[1], last)]
    return (GRID[min(ends)], GRID[max(ends)]) if ends else None


def widen_bounds(low: float, high: float) -> tuple[float, float]:
    """Return round bounds well outside of these, by what they span; numbers that are not negative
    stay so, and cells just below zero are noise beside large numbers.
    """
    width = max(high - low, abs(high) / 4, abs(low) / 4, 1e-3)
    least = max(0.0, low - width) if -low <= high / 1000 else low - width
    return _round_on_grid(least, down=True), _round_on_grid(high + width, down=False)


def _round_on_grid(bound: float, *, down: bool) -> float:
    if down:
        return max((edge for edge in GRID if edge <= bound), default=GRID[0])
    return min((edge for edge in GRID if edge >= bound), default=GRID[-1])


def pay_for(schema: Schema, survey: Survey) -> Schema:
    """Return a schema that says what was paid for it."""
    return replace(schema, paid=survey.paid)
