"""State what a release promises: to whom, how much, and what was charged for it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

from privet._notebook import count_of, html_box, one_line
from privet._validate import check_name
from privet.accounting.conversion import epsilon_for
from privet.accounting.cost import Cost, compose_in_parallel, compose_sequentially, parse_fraction
from privet.domain import Schema
from privet.errors import ParameterError, PrivetError
from privet.text import escape_invisible

#: How the people of several tables relate: nobody is in two of them, somebody may be, or all hold
#: the same people.
People = Literal["disjoint", "may-overlap", "same"]
#: Statements of statements of statements are deep enough.
MAX_STATEMENT_DEPTH = 4
#: So many releases can be put together at most.
MAX_RELEASES = 1000
#: Fractions with many unlike denominators would add up to numbers that take forever.
MAX_DENOMINATOR_BITS = 4096

#: A notebook folds more charges than this.
MOST_OPEN = 6


@dataclass(frozen=True)
class Charge:
    """One thing that was paid for, under one row added or removed."""

    what: str
    cost: Cost

    def identity(self) -> tuple[Any, ...]:
        """Return what a recorded query recognises it by, its name first: never change these."""
        return ("Charge", self.what, self.cost)


@dataclass(frozen=True)
class PrivacyStatement:
    """What a model gives away.

    ``charges`` are for one row added or removed; :attr:`promised` is for the declared neighbours.
    ``private`` is false where no promise is made: no noise, a schema learnt from the data, or a
    test seed; ``reason`` then says why.

    A model made from several tables has a statement of ``parts``, one per table: what each of them
    promises, and how their ``people`` relate. One person then loses the largest of the parts if
    nobody is in two of them (parallel composition), and their sum otherwise (sequential
    composition).

    ``id`` names one release, so that nobody counts it twice; ``name`` is for people, such as that
    of a hospital. ``account`` is a digest of the ledger's account that was charged: two releases of
    one account hold the same people, whatever is asserted. ``assumes`` is what else the promise
    rests on, to be read after "provided that".

    ``local`` is true where people randomised their own records before anybody saw them. Charges are
    then for one row *replaced*, since that somebody takes part is not hidden, and the promise needs
    no trust in whoever collected the records.
    """

    charges: tuple[Charge, ...]
    neighbours: str
    rows_per_person: int
    person: bool
    private: bool
    reason: str = ""
    delta: Fraction | None = None
    notes: tuple[str, ...] = ()
    id: str = ""
    name: str = ""
    account: str = ""
    assumes: str = ""
    people: People | None = None
    parts: tuple[PrivacyStatement, ...] = ()
    local: bool = False

    def identity(self) -> tuple[Any, ...]:
        """Return what a recorded query recognises it by, its name first: never change these."""
        return (
            "PrivacyStatement",
            self.charges,
            self.neighbours,
            self.rows_per_person,
            self.person,
            self.private,
            self.reason,
            self.delta,
            self.notes,
            self.id,
            self.name,
            self.account,
            self.assumes,
            self.people,
            self.parts,
            self.local,
        )

    @classmethod
    def of(
        cls,
        schema: Schema,
        charges: Iterable[Charge],
        *,
        private: bool,
        reason: str = "",
        delta: Fraction | None = None,
        notes: Iterable[str] = (),
        id: str = "",  # noqa: A002
        name: str = "",
        account: str = "",
        assumes: str = "",
    ) -> PrivacyStatement:
        """Return the statement for a table with this schema.

        A private release has cost something: raises where nothing was charged.
        """
        charges = tuple(charges)
        if private and not any(charge.cost.rho for charge in charges):
            raise ParameterError(
                "a release for which nothing was charged cannot be stated to be private"
            )
        facts = (schema.neighbours, schema.rows_per_person, schema.person is not None)
        said = {"private": private, "reason": reason, "delta": delta, "notes": tuple(notes)}
        return cls(charges, *facts, **said, id=id, name=name, account=account, assumes=assumes)  # type: ignore[arg-type]

    @classmethod
    def randomised(
        cls, schema: Schema, cost: Cost, *, private: bool, reason: str = "", **names: str
    ) -> PrivacyStatement:
        """Return the statement of what was learnt from records that people randomised themselves,
        at this cost for one row replaced.

        Whose rows they were the collector does not know, and how many a person sent is not hidden:
        the promise is for what up to ``rows_per_person`` records of one person say, and rests on
        nobody having sent more.
        """
        charge, most = Charge("randomised response by each person", cost), schema.rows_per_person
        assumes = f"nobody sent more than {most} records" if most > 1 else ""
        return cls(
            (charge,),
            "replace",
            most,
            False,
            private,
            reason,
            assumes=assumes,
            local=True,
            **names,  # type: ignore[arg-type]
        )

    @classmethod
    def together(cls, statements: Sequence[PrivacyStatement], people: People) -> PrivacyStatement:
        """Return the statement of several releases that are used together.

        Their order does not matter.

        Raises where one is given twice, or cannot be told from another, and where they are stated
        for different neighbours.
        """
        check_name("people", people, get_args(People))
        if not statements:
            raise ParameterError("there must be at least one privacy statement")
        if len(statements) == 1:
            if statements[0].people not in (None, people):
                raise ParameterError(
                    f"people is stated already as {statements[0].people!r} in what is given alone, "
                    f"got {people!r}"
                )
            return statements[0]
        if len({statement.neighbours for statement in statements}) > 1:
            raise ParameterError(
                "some of these promise for a person added or removed, others for one replaced; "
                "they must agree"
            )
        # The same rule inside and outside is one rule: whoever merges step by step gets what
        # merging at once gives.
        flat = [
            part
            for statement in statements
            for part in (statement.parts if statement.people == people else (statement,))
        ]
        parts = tuple(sorted(flat, key=lambda part: min(leaf.id for leaf in part.leaves)))
        ids = [leaf.id for part in parts for leaf in part.leaves]
        if len(ids) > MAX_RELEASES:
            raise ParameterError(
                f"at most {MAX_RELEASES} releases can be put together, these are {len(ids)}; build "
                "the model anew"
            )
        if not all(ids):
            raise ParameterError(
                "one of these was written without an identity, so that nobody can tell whether it "
                "is used twice"
            )
        if len(set(ids)) < len(ids):
            named = next(leaf for part in parts for leaf in part.leaves if ids.count(leaf.id) > 1)
            raise ParameterError(
                f"the release {named.display_name} is given twice; each may be used once"
            )
        if people == "disjoint":
            _refuse_one_table(parts)
        if max(part.depth for part in parts) >= MAX_STATEMENT_DEPTH:
            raise ParameterError(
                f"people is said in more than {MAX_STATEMENT_DEPTH} ways, one inside the "
                "other; merge all "
                "releases at once"
            )
        denominators = [
            amount.denominator
            for part in parts
            for leaf in part.leaves
            for amount in leaf._list_amounts()
        ]
        if math.lcm(*denominators).bit_length() > MAX_DENOMINATOR_BITS:
            raise ParameterError(
                "the epsilons of these releases have too many digits to be added up; use rounder "
                "ones"
            )
        reasons = dict.fromkeys(part.reason for part in parts if not part.private)
        return cls(
            (),
            parts[0].neighbours,
            max(part.rows_per_person for part in parts),
            any(part.person for part in parts),
            private=all(part.private for part in parts),
            reason="; ".join(reasons),
            delta=min((part.delta for part in parts if part.delta is not None), default=None),
            people=people,
            parts=parts,
            local=all(part.local for part in parts),
        )

    def _list_amounts(self) -> list[Fraction]:
        """Return all amounts of a single release."""
        costs = [charge.cost for charge in self.charges]
        listed = [*(cost.epsilon for cost in costs), *(cost.rho for cost in costs), self.delta]
        return [amount for amount in listed if amount is not None]

    @property
    def leaves(self) -> tuple[PrivacyStatement, ...]:
        """The statements of single releases, in order; of a single release, itself."""
        return tuple(leaf for part in self.parts for leaf in part.leaves) if self.parts else (self,)

    @property
    def vertical(self) -> bool:
        """Whether tables with different attributes of the same people are behind it."""
        return self.people == "same" or any(part.vertical for part in self.parts)

    @property
    def depth(self) -> int:
        """How deep parts are nested; 0 for a single release."""
        return 1 + max(part.depth for part in self.parts) if self.parts else 0

    @property
    def display_name(self) -> str:
        """The name of a single release, or the beginning of its id."""
        return repr(self.name) if self.name else self.id[:12]

    @property
    def charged(self) -> Cost:
        """What all charges cost together, for one row added or removed; of several tables, for one
        row in each where people may be.
        """
        if self.parts:
            return self._composed(part.charged for part in self.parts)
        return compose_sequentially(charge.cost for charge in self.charges)

    @property
    def promised(self) -> Cost:
        """The same for the declared neighbours."""
        if self.parts:
            return self._composed(part.promised for part in self.parts)
        # What randomised records cost is for a row replaced already.
        return self.charged.for_neighbours(
            self.rows_per_person, "add-remove" if self.local else self.neighbours
        )

    def _composed(self, costs: Iterable[Cost]) -> Cost:
        return (
            compose_in_parallel(costs) if self.people == "disjoint" else compose_sequentially(costs)
        )

    @property
    def epsilon(self) -> float:
        """The promised epsilon: pure, or for ``delta`` where only rho is promised.

        Infinite where nothing is promised.
        """
        if not self.private:
            return float("inf")
        if self.promised.epsilon is not None:
            return float(self.promised.epsilon)
        return epsilon_for(self.promised.rho, self.delta or Fraction(1, 10**6))

    def describe(self) -> str:
        """Return the statement as one sentence."""
        if not self.private:
            return f"NOT PRIVATE: {escape_invisible(self.reason)}"
        whom = f"one {self.unit}"
        change = "replaced by another" if self.neighbours == "replace" else "added or removed"
        # how many records somebody sent is not hidden, only what they say
        if self.local and self.unit == "person":
            whom, change = (
                f"up to {self.rows_per_person} records of one person",
                "replaced by as many others",
            )
        change += self._condition()
        if self.promised.epsilon is not None:
            locally = "locally " if self.local else ""
            return (
                f"{locally}{format_rounded_up(self.epsilon)}-differentially private with "
                f"{whom} {change}"
            )
        pair = f"({format_rounded_up(self.epsilon)}, {float(self.delta or Fraction(1, 10**6)):.1g})"
        rho = format_rounded_up(float(self.promised.rho))
        return f"{pair}-differentially private with {whom} {change} (rho {rho})"

    @property
    def unit(self) -> Literal["person", "row"]:
        """Whom the promise is for: a person, if every table says what a person is, and otherwise a
        row.
        """
        return (
            "person"
            if all(leaf.person or leaf.rows_per_person > 1 for leaf in self.leaves)
            else "row"
        )

    @property
    def rests_on_disjoint(self) -> bool:
        """Whether somewhere the people of several tables are asserted to be different ones."""
        return self.people == "disjoint" or any(part.rests_on_disjoint for part in self.parts)

    def _condition(self) -> str:
        """Return what the promise rests on, in full."""
        many, reach, provided = len(self.leaves), "", []
        if self.people == "same":
            reach = f" in all {many} tables"
        elif self.people == "may-overlap" and not self.rests_on_disjoint:
            reach = (
                f", even if they are in all {many} batches"
                if self.unit == "person"
                else f", even one in each of the {many} batches"
            )
        if self.rests_on_disjoint:
            where = " where they were asserted to be disjoint" if self.depth > 1 else ""
            provided.append(f"nobody is in two of the {many} batches{where}")
        assumed = (escape_invisible(leaf.assumes) for leaf in self.leaves if leaf.assumes)
        provided += dict.fromkeys(assumed)
        return reach + (f", provided that {', and that '.join(provided)}" if provided else "")

    def __str__(self) -> str:
        return self.describe()

    def __repr__(self) -> str:
        tables = f"from {len(self.leaves)} releases" if self.parts else ""
        return one_line("PrivacyStatement", self.describe(), tables)

    def _repr_html_(self) -> str:
        facts: dict[str, object] = {"guarantee": self.describe()}
        if self.private:
            facts["cost"] = str(self.promised)
        if self.notes:
            facts["notes"] = "; ".join(self.notes)
        charges = [
            (charge.what, str(charge.cost)) for part in self.leaves for charge in part.charges
        ]
        headers = ("charged for", "cost for one row") if charges else ()
        many = count_of(len(charges), "charge") if len(charges) > MOST_OPEN else ""
        return html_box(
            "Privacy statement",
            facts,
            headers=headers,
            rows=charges,
            folded=many,
            alarm=not self.private,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the statement as a model file has it. Amounts are exact fractions."""
        return {
            "private": self.private,
            "reason": self.reason,
            "neighbours": self.neighbours,
            "rows_per_person": self.rows_per_person,
            "person": self.person,
            "delta": None if self.delta is None else str(self.delta),
            "charges": [
                {
                    "what": c.what,
                    "epsilon": None if c.cost.epsilon is None else str(c.cost.epsilon),
                    "rho": str(c.cost.rho),
                }
                for c in self.charges
            ],
            "notes": list(self.notes),
            **({"id": self.id} if self.id else {}),
            **({"name": self.name} if self.name else {}),
            **({"account": self.account} if self.account else {}),
            **({"assumes": self.assumes} if self.assumes else {}),
            **({"local": True} if self.local else {}),
            **(
                {"people": self.people, "parts": [part.to_json() for part in self.parts]}
                if self.parts
                else {}
            ),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PrivacyStatement:
        """Return the statement of a model file; raise a PrivetError for anything else."""
        try:
            if data.get("parts"):
                return cls.together([cls.from_json(part) for part in data["parts"]], data["people"])
            charges = tuple(
                Charge(
                    str(c["what"]),
                    Cost(
                        None if c["epsilon"] is None else parse_fraction(c["epsilon"]),
                        parse_fraction(c["rho"]),
                    ),
                )
                for c in data["charges"]
            )
            if (
                data["neighbours"] not in ("add-remove", "replace")
                or int(data["rows_per_person"]) < 1
            ):
                raise ValueError
            return cls(
                charges,
                data["neighbours"],
                int(data["rows_per_person"]),
                bool(data["person"]),
                bool(data["private"]),
                str(data["reason"]),
                None if data["delta"] is None else parse_fraction(data["delta"]),
                tuple(str(note) for note in data["notes"]),
                _check_text(data.get("id", "")),
                _check_text(data.get("name", "")),
                _check_text(data.get("account", "")),
                _check_text(data.get("assumes", ""), 1000),
                local=_is_local(data),
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            raise PrivetError("the privacy statement is damaged") from None


def format_rounded_up(value: float) -> str:
    """Format six significant digits, never less than the value.

    A promise is not rounded in its own favour.
    """
    text = f"{value:.6g}"
    if float(text) < value:
        digit = 10.0 ** (math.floor(math.log10(value)) - 5)
        text = f"{float(text) + digit:.6g}"
    return text


def _refuse_one_table(parts: Sequence[PrivacyStatement]) -> None:
    """Raise where two parts come from one table, so that their people cannot be disjoint."""
    seen: dict[str, PrivacyStatement] = {}
    for part in parts:
        accounts = {leaf.account: leaf for leaf in part.leaves if leaf.account}
        for account, leaf in accounts.items():
            if account in seen:
                raise ParameterError(
                    f"the releases {seen[account].display_name} and {leaf.display_name} were "
                    "charged to one "
                    "account, that of one table: people cannot "
                    "be 'disjoint', it must be 'may-overlap'"
                )
        seen |= accounts


def _is_local(data: Mapping[str, Any]) -> bool:
    """Return whether people randomised their records; what they paid is then for a row replaced,
    and never for a column of people.
    """
    local = data.get("local", False)
    if type(local) is not bool or (local and (data["neighbours"] != "replace" or data["person"])):
        raise ValueError
    return local


def _check_text(value: object, most: int = 200) -> str:
    if not isinstance(value, str) or len(value) > most:
        raise ValueError
    return value
