"""Hand a model from party to party: the file that travels, and the proof of who did what in it.

A relay file has a head (the schema that all parties share, and how their people relate) and
entries, in the order in which they came: a party joins, a party leaves, a party has taken turns.
Whose turn is next follows from them, by :mod:`privet.learners.relay`, so that everybody computes
the same plan. Each entry has a digest over all that came before it. A party signs its card when it
joins, and that digest when it has taken turns: nobody can forge a turn, move it elsewhere or leave
one out without breaking a signature.

What is received is checked like any file of a stranger. It cannot make a party pay more than its
card says, or twice: a card is for one relay, and in the party's own ledger every question of its
turns has a key, made of the card and the number of the question, that pays once. Another copy of
the relay, in which something else happened, asks something else under the same key, and is refused.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import Any, Self, get_args

from privet.accounting.cost import parse_exact, parse_fraction
from privet.accounting.statement import People, PrivacyStatement
from privet.curator import AnyCurator
from privet.curator.resumed import Remembered, ResumableCurator
from privet.curator.spending import Spending
from privet.domain import Schema
from privet.domain.tree import Tree
from privet.errors import ParameterError, PrivetError, QuestionError, Unavailable
from privet.federation.card import HEX, VERSION, Card, share_schema
from privet.federation.keys import SigningKey, verify
from privet.learners.foreseen_turns import ForeseenTurns
from privet.learners.random_trees.batches import PEOPLE, combine_facts
from privet.learners.relay import Relay, StepKind, Turn, make_model
from privet.model import Model
from privet.model.document import canonical_json, from_document, schema_from, to_document
from privet.model.file import read_sealed, seal, unseal, write_sealed
from privet.model.structure import Damaged, require

MAX_ENTRIES = 10_000
#: Every entry is checked against all parties, so work grows with the square.
MAX_PARTIES = 1000
#: A curator weighs rows by no more.
MAX_TREES = 10_000
_KIND = "relay"
_KEYS = {"privet", "version", "schema", "people", "entries"}


@dataclass(frozen=True)
class Visit:
    """The turns that a party took one after the other, and the trees that it added, as a model with
    the statement of what it paid for them; signed.
    """

    name: str
    turns: tuple[Turn, ...]
    added: Model
    signature: str = ""


@dataclass(frozen=True)
class Left:
    """A party that takes no more turns."""

    name: str


Entry = Card | Visit | Left


@dataclass(frozen=True)
class RelayFile:
    """A relay as it travels: what all share, and what happened, in order."""

    schema: Schema
    people: People
    entries: tuple[Entry, ...] = ()
    _digest: str | None = field(default=None, repr=False, compare=False)

    @classmethod
    def start(cls, schema: Schema, cards: Sequence[Card], people: People) -> Self:
        """Return a relay that nobody has taken a turn in. It sees no data and costs nothing."""
        PEOPLE.check("people", people)
        shared = share_schema(schema)
        if len(cards) < 2:
            raise ParameterError(f"a relay needs two parties or more, got {len(cards)}")
        relay = cls(shared, people)
        for card in cards:
            relay = relay.join(card)
        return relay

    def join(self, card: Card) -> Self:
        """Return the relay with one more party."""
        if len(self.cards) >= MAX_PARTIES:
            raise ParameterError(f"a relay has at most {MAX_PARTIES} parties")
        if card.name in self.cards or any(card.key == one.key for one in self.cards.values()):
            raise ParameterError(f"{card.name!r} takes part already, by this name or with this key")
        if not card.is_signed(self.schema):
            raise ParameterError(
                f"the card of {card.name!r} is not signed by its key, or is for another schema"
            )
        return self._with(card)

    def leave(self, name: str) -> Self:
        """Return the relay without the turns that a party has not taken."""
        self.card_of(name)
        if name in self._left:
            raise ParameterError(f"{name!r} has left already")
        return self._with(Left(name))

    # -- who, what, whose turn ---------------------------------------------------------------------

    @cached_property
    def cards(self) -> dict[str, Card]:
        """The cards of all parties that ever took part, by name, in order."""
        return {entry.name: entry for entry in self.entries if isinstance(entry, Card)}

    def card_of(self, name: str) -> Card:
        """Return the card of a party, or raise."""
        if name not in self.cards:
            raise ParameterError(
                f"there is no party {name!r} in this relay; there are {', '.join(self.cards)}"
            )
        return self.cards[name]

    @property
    def visits(self) -> list[Visit]:
        """What was done, in order."""
        return [entry for entry in self.entries if isinstance(entry, Visit)]

    @property
    def _left(self) -> set[str]:
        return {entry.name for entry in self.entries if isinstance(entry, Left)}

    @cached_property
    def standing(self) -> Relay:
        """Where the relay stands, and what is still to be done."""
        names = list(self.cards)
        return Relay(
            self.schema,
            "epsilon",
            tuple(card.party for card in self.cards.values()),
            frozenset(names.index(name) for name in self._left),
            tuple(turn for visit in self.visits for turn in visit.turns),
            tuple(tree for visit in self.visits for tree in visit.added.trees),
        )

    def turns_of(self, name: str) -> tuple[Turn, ...]:
        """Return the turns that a party can take now."""
        self.card_of(name)
        return self.standing.turns_of(list(self.cards).index(name))

    @cached_property
    def unforeseen(self) -> str:
        """Which party did what the plan does not foresee, in words; empty where nobody did."""
        plan, names = ForeseenTurns(self.schema, "epsilon"), list(self.cards)
        for entry in self.entries:
            try:
                if isinstance(entry, Card):
                    plan.join(entry.party)
                elif isinstance(entry, Left):
                    plan.leave(names.index(entry.name))
                else:
                    plan.take(names.index(entry.name), entry.turns, entry.added.trees)
            except ParameterError as problem:
                return f"{entry.name} {problem}"
        return ""

    def check_plan(self) -> None:
        """Raise unless everybody did what the plan foresees, which all parties compute alike."""
        if self.unforeseen:
            raise ParameterError(
                f"{self.unforeseen}, by the plan that follows from the cards: go on with the file "
                "as it was before, without them (privet relay leave), or run the same version of "
                "Privet everywhere. Nothing was charged"
            )

    def check_turn(self, name: str) -> None:
        """Raise unless a party can take a turn now."""
        self.check_plan()
        if not self.turns_of(name):
            raise ParameterError(self._explain_no_turn(name))

    def list_parties(self) -> list[dict[str, Any]]:
        """Return who takes part: public key, rows, epsilon, spent, turns taken and to take."""
        return [
            {
                "name": name,
                "key": card.key,
                "rows": card.rows,
                "epsilon": str(card.epsilon),
                "spent": format(
                    float(sum(turn.amount for turn in self._turns_taken_by(name))), ".4g"
                ),
                "taken": len(self._turns_taken_by(name)),
                "to take": sum(turn.party == number for turn in self.standing.rest),
                "left": name in self._left,
            }
            for number, (name, card) in enumerate(self.cards.items())
        ]

    @property
    def is_looking_at_classes(self) -> bool:
        """Whether the plan follows from the first turn, which nobody has taken yet."""
        rest = self.standing.rest
        return bool(rest) and rest[0].kind == "classes"

    @property
    def next_names(self) -> list[str]:
        """Who can take a turn now."""
        return [name for name in self.cards if self.turns_of(name)]

    @property
    def idle_names(self) -> list[str]:
        """Who has, and gets, no turn: its evidence is less than half of what a turn needs."""
        if self.is_looking_at_classes:
            return []
        busy = {list(self.cards)[turn.party] for turn in self.standing.rest}
        busy |= {one.name for one in self.visits}
        return [name for name in self.cards if name not in busy | self._left]

    @property
    def not_private(self) -> dict[str, str]:
        """Why turns that were taken are not private, by who took them. No model of them is."""
        return {
            visit.name: visit.added.privacy.reason
            for visit in self.visits
            if not visit.added.privacy.private
        }

    # -- taking turns ------------------------------------------------------------------------------

    def check_key(self, name: str, key: SigningKey) -> None:
        """Raise unless this is the key of a party."""
        if key.public != self.card_of(name).key:
            raise ParameterError(f"this is not the key that {name!r} joined with")

    def check_curator(self, name: str, curator: AnyCurator) -> None:
        """Raise unless a party can take turns with this table. Charges nothing."""
        if curator.schema.fingerprint != self.schema.fingerprint:
            raise QuestionError(
                "the table has another schema than the relay: attributes, values, target or "
                "classes differ"
            )
        if curator.schema.neighbours != self.schema.neighbours:
            raise ParameterError(
                f"the relay promises for one person {_CHANGES[self.schema.neighbours]}, and the "
                "schema of this table for another change; they must agree"
            )
        for visit in self.visits:
            same = visit.added.privacy.account == curator.account
            if visit.name == name and not same:
                raise ParameterError(
                    f"the turns that {name!r} took before were charged to another account: use the "
                    "same table and the same ledger"
                )
            if visit.name != name and same and self.people == "disjoint":
                raise ParameterError(
                    f"{visit.name!r} took turns with this very table, and the relay says that "
                    "nobody is in two of its tables"
                )

    def take_turns(
        self,
        name: str,
        curator: AnyCurator,
        key: SigningKey,
        most: int | None = None,
        paid: Callable[[float], None] = lambda _: None,
    ) -> Self:
        """Take the turns that a party can take now, with the rows of its curator, and sign them.

        So many at ``most``; by default all. Where people differ between parties, the model is
        better if they alternate, turn by turn; where they are alike it is the same. ``paid`` is
        told which share of what it may cost is paid.

        The same turns again get the recorded answers, and give the same file. Cost: the amounts of
        these turns, pure epsilon, charged before any row is read. Neighbours: one row added or
        removed.
        """
        card = self.card_of(name)
        self.check_key(name, key)
        self.check_turn(name)
        self.check_curator(name, curator)
        number, standing = list(self.cards).index(name), self.standing
        before, taken = len(standing.trees), list[Turn]()
        own = [visit.added.privacy for visit in self.visits if visit.name == name]
        asked = sum(len(statement.charges) for statement in own)
        ledger_key = card.ledger_key(self.schema)
        # An interrupted visit keeps what it has set aside, and no other copy of the relay gets it.
        aside = f"{ledger_key}-{asked}-{most or 'all'}-{self.digest[:16]}"
        once = ResumableCurator(
            curator,
            Remembered(ledger_key),
            paid,
            f"{name} has taken these turns already, on another copy of the relay: go on with the "
            "file that came of it, or let the others go on without it (privet relay leave). "
            "Nothing was charged",
            asked=asked,
            reservation=aside,
        )
        # What the later turns of a visit cost may follow from the first.
        left = card.epsilon - sum(turn.amount for turn in self._turns_taken_by(name))
        with (
            _free_when_refused(once),
            Spending.reserve(once, left, f"relay: turns of {name}") as spending,
        ):
            # A look at the classes goes with the tree that follows: it may add nothing by itself.
            while (turns := standing.turns_of(number)) and _count_added(taken) != most:
                standing, charges = standing.take(number, spending.curator)
                spending.charges += charges
                taken.append(turns[0])
            spending.give_back()
            facts = f"{ledger_key} {asked} {len(spending.charges)}"
            release = hashlib.sha256(facts.encode()).hexdigest()[:32]
            statement = spending.statement(name=name, id=release)
        schema = curator.schema.declare(n_rows=None)
        visit = Visit(name, tuple(taken), make_model(schema, standing.trees[before:], statement))
        return self._sign(visit, key)

    def _turns_taken_by(self, name: str) -> list[Turn]:
        return [turn for visit in self.visits if visit.name == name for turn in visit.turns]

    def _sign(self, visit: Visit, key: SigningKey) -> Self:
        digest = _digest_after(self.digest, visit)
        return self._with(replace(visit, signature=key.sign(digest.encode())))

    def _explain_no_turn(self, name: str) -> str:
        if name in self._left:
            return f"{name!r} has left this relay"
        if self.is_looking_at_classes:
            first = self.next_names[0]
            return f"it is not {name}'s turn yet: first, {first} looks at how frequent classes are"
        if not self.standing.rest:
            return "all turns are taken: privet relay finish makes the model"
        if any(turn.party == list(self.cards).index(name) for turn in self.standing.rest):
            waiting = ", ".join(self.next_names)
            return f"it is not {name}'s turn yet: first comes {waiting}"
        return (
            f"{name!r} has taken all its turns; now it is the turn of {', '.join(self.next_names)}"
        )

    # -- the end -----------------------------------------------------------------------------------

    def finish(self, *, early: bool = False) -> Model:
        """Return the model that the parties have made.

        This is post-processing: it sees no row, and pays nothing. ``early`` leaves out turns that
        nobody has taken yet.
        """
        if self.standing.rest and not early:
            raise ParameterError(
                f"turns are still to be taken, next by {', '.join(self.next_names)}; --early makes "
                "a model without them"
            )
        if not self.visits:
            raise ParameterError("nobody has taken a turn yet")
        self.check_plan()
        statements = self._join_statements()
        rows = {one.id: self.cards[name].rows for name, one in statements.items()}
        settings = {**self.standing.settings, "relay": self.digest, "rows": rows}
        schema = combine_facts([visit.added.schema for visit in self.visits])
        statement = PrivacyStatement.together(list(statements.values()), self.people)
        return make_model(schema, self.standing.trees, statement, settings)

    def _join_statements(self) -> dict[str, PrivacyStatement]:
        """Return what each party that took turns gives away, by its name."""
        visits: dict[str, list[PrivacyStatement]] = {}
        for visit in self.visits:
            visits.setdefault(visit.name, []).append(visit.added.privacy)
        return {name: _join_visits(statements) for name, statements in visits.items()}

    # -- the file ----------------------------------------------------------------------------------

    @property
    def digest(self) -> str:
        """What is signed: a digest over the head and all entries, without signatures."""
        if self._digest is None:
            digest = hashlib.sha256(canonical_json(self._head())).hexdigest()
            for entry in self.entries:
                digest = _digest_after(digest, entry)
            object.__setattr__(self, "_digest", digest)
        assert self._digest is not None
        return self._digest

    def _with(self, entry: Entry) -> Self:
        """Return the relay with one more entry; its digest goes on from this one's."""
        digest = _digest_after(self.digest, entry)
        return replace(self, entries=(*self.entries, entry), _digest=digest)

    def _head(self) -> dict[str, Any]:
        return {
            "privet": _KIND,
            "version": VERSION,
            "schema": self.schema.to_json(),
            "people": self.people,
        }

    def write(self, path: str | PathLike[str]) -> None:
        """Write the relay to a file, as a whole or not at all."""
        write_sealed(self.to_bytes(), path, _KIND)

    def to_bytes(self) -> bytes:
        """Return the bytes of the file."""
        return seal({**self._head(), "entries": [_entry_to(entry) for entry in self.entries]})

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Self:
        """Read a relay file and check every signature, or raise
        :class:`~privet.errors.ModelError`.
        """
        return read_sealed(path, cls.from_bytes, _KIND)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return the relay in these bytes, or raise :class:`~privet.model.structure.Damaged`."""
        try:
            return cls._parse(data)
        except RecursionError:
            raise Damaged("it is nested too deeply") from None

    @classmethod
    def _parse(cls, data: bytes) -> Self:
        document = unseal(data, _KIND, VERSION)
        require(set(document) == _KEYS, f"a relay must have exactly {', '.join(sorted(_KEYS))}")
        require(document["people"] in get_args(People)[:2], "people is not said")
        entries = document["entries"]
        require(
            isinstance(entries, list) and len(entries) <= MAX_ENTRIES,
            f"entries must be a list of {MAX_ENTRIES} at most",
        )
        schema = schema_from(document["schema"])
        require(
            schema == share_schema(schema) and not schema.from_data,
            "its schema says something about the rows of a party",
        )
        relay = cls(schema, document["people"])
        for entry in entries:
            relay = relay._read_entry(entry)
        relay._check_end()
        return relay

    def _check_end(self) -> None:
        """Raise :class:`Damaged` where no model could come of what was done.

        Whoever takes the next turn would pay for nothing.
        """
        trees = self.standing.trees
        require(len(trees) <= MAX_TREES, f"it has more than {MAX_TREES} trees and terms")
        try:
            if self.visits:
                PrivacyStatement.together(list(self._join_statements().values()), self.people)
        except PrivetError as problem:
            raise Damaged(f"its visits do not go together: {problem}") from None

    def _read_entry(self, data: Any) -> Self:
        named = isinstance(data, dict) and isinstance(data.get("name", ""), str)
        require(named, "an entry must be an object, and its name a text")
        kind = str(data.get("kind")) if isinstance(data, dict) else ""
        require(kind in _ENTRY_KEYS, f"an entry must be one of {', '.join(_ENTRY_KEYS)}")
        require(set(data) == _ENTRY_KEYS[kind], f"an entry has other parts than {kind!r} has")
        try:
            if kind == "join":
                return self.join(Card.from_json(self.schema, data["card"]))
            if kind == "leave":
                return self.leave(data["name"])
            return self._read_visit(data)
        except PrivetError as problem:
            raise Damaged(str(problem)) from None

    def _read_visit(self, data: dict[str, Any]) -> Self:
        name, signature = data["name"], data["signature"]
        card = self.card_of(name)
        require(name not in self._left, f"{name!r} took turns after it had left")
        require(isinstance(data["model"], dict), "a visit has no model")
        require(isinstance(data["turns"], list), "the turns of a visit must be a list")
        added = from_document(data["model"])
        require(added.schema.fingerprint == self.schema.fingerprint, "a visit has another schema")
        require(added.combine == "scores", "a visit adds no scores")
        made = make_model(added.schema, added.trees, added.privacy)
        require(
            to_document(added) == to_document(made), "a visit adds something else than its trees"
        )
        number = list(self.cards).index(name)
        turns = tuple(_turn_from(self.schema, number, turn) for turn in data["turns"])
        paid = sum(turn.amount for turn in (*self._turns_taken_by(name), *turns))
        require(paid <= card.epsilon, f"{name!r} took turns for more than it said it would pay")
        relay = self._with(Visit(name, turns, added, signature))
        require(
            isinstance(signature, str)
            and set(signature) <= HEX
            and verify(card.key, signature, relay.digest.encode()),
            f"a visit of {name!r} is not signed by its key, or something before it was changed",
        )
        self._check_turns(turns, added.trees)
        _check_statement(added.privacy, name, self.schema, turns)
        return relay

    def _check_turns(self, turns: Sequence[Turn], trees: Sequence[Tree]) -> None:
        """Raise :class:`Damaged` unless these trees are what came of these turns."""
        named = [turn.attribute for visit in self.visits for turn in visit.turns]
        named = [name for name in [*named, *(turn.attribute for turn in turns)] if name]
        require(len(set(named)) == len(named), "two turns are about the same term")
        kinds = [turn.kind for turn in turns]
        first = not self.visits and kinds[:1] == ["classes"]
        require("classes" not in kinds[first:], "only the first turn of all is about classes")
        start = int(first and trees[0].kind == "constant")
        require(
            [_name_term(tree) for tree in trees[start:]]
            == [turn.attribute for turn in turns[first:]]
            and all(tree.kind != "constant" for tree in trees[start:]),
            "a visit has not one tree for each turn",
        )


def _count_added(turns: Sequence[Turn]) -> int:
    """Return how many trees and terms came of turns, beside a start from class shares."""
    return sum(turn.kind != "classes" for turn in turns)


@contextmanager
def _free_when_refused(once: ResumableCurator) -> Iterator[None]:
    """Free what was set aside for work that is refused. What is interrupted keeps it."""
    try:
        yield
    except Unavailable:
        raise
    except PrivetError:
        once.give_up()
        raise


def _name_term(tree: Tree) -> str:
    """Return the attribute of an additive term; nothing for any other tree."""
    number = int(tree.cells.attribute[0])
    return tree.schema.names[number] if tree.kind == "term" and number >= 0 else ""


def _check_statement(
    statement: PrivacyStatement, name: str, schema: Schema, turns: Sequence[Turn]
) -> None:
    """Raise :class:`Damaged` unless this says what a visit of these turns must say."""
    require(
        not statement.parts and statement.name == name and bool(statement.id),
        f"a visit of {name!r} has the privacy statement of something else",
    )
    require(
        statement.neighbours == schema.neighbours and not statement.local,
        "a visit promises for another change of a row than the relay",
    )
    require(not statement.assumes, "a visit makes its promise depend on something")
    paid = sum(turn.amount for turn in turns)
    require(
        bool(turns) and statement.charged.epsilon == paid,
        f"a visit of {name!r} says that it paid something else than its turns cost",
    )


def _join_visits(statements: Sequence[PrivacyStatement]) -> PrivacyStatement:
    """Return what all visits of one party give away: they see the same rows, so their charges add
    up.
    """
    first = statements[0]
    if len(statements) == 1:
        return first
    facts = ("neighbours", "rows_per_person", "person", "delta", "account")
    agree = {tuple(getattr(one, fact) for fact in facts) for one in statements}
    if len(agree) > 1:
        raise ParameterError(
            f"the visits of {first.name!r} are not about one table: account, neighbours and rows "
            "per person must be the same"
        )
    reasons = dict.fromkeys(one.reason for one in statements if not one.private)
    ids = "".join(one.id for one in statements)
    return replace(
        first,
        charges=tuple(charge for one in statements for charge in one.charges),
        private=all(one.private for one in statements),
        reason="; ".join(reasons),
        id=hashlib.sha256(ids.encode()).hexdigest()[: len(first.id)],
    )


_CHANGES = {"add-remove": "added or removed", "replace": "replaced"}

_ENTRY_KEYS = {
    "join": {"kind", "card"},
    "leave": {"kind", "name"},
    "visit": {"kind", "name", "turns", "model", "signature"},
}


def _entry_to(entry: Entry) -> dict[str, Any]:
    if isinstance(entry, Card):
        return {"kind": "join", "card": entry.to_json()}
    if isinstance(entry, Left):
        return {"kind": "leave", "name": entry.name}
    return {
        "kind": "visit",
        "name": entry.name,
        "turns": [[turn.kind, str(turn.amount), turn.attribute] for turn in entry.turns],
        "model": to_document(entry.added),
        "signature": entry.signature,
    }


def _digest_after(digest: str, entry: Entry) -> str:
    """Return the digest of a relay after one more entry, whose signature does not count."""
    told = {**_entry_to(entry), "signature": ""}
    return hashlib.sha256(digest.encode() + canonical_json(told)).hexdigest()


def _turn_from(schema: Schema, party: int, data: Any) -> Turn:
    require(
        isinstance(data, list) and len(data) == 3 and all(isinstance(one, str) for one in data),
        "a turn must be three texts",
    )
    kind, amount, attribute = data
    require(kind in get_args(StepKind), f"a turn must be one of {', '.join(get_args(StepKind))}")
    require(
        attribute in schema.names if kind == "term" else attribute == "",
        "a turn names an attribute that is not there",
    )
    try:
        paid = parse_exact("epsilon", parse_fraction(amount))
    except (PrivetError, ValueError):
        raise Damaged("what a turn cost is no fraction above 0") from None
    return Turn(kind, party, paid, attribute)
