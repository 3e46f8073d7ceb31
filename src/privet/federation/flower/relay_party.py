"""Decide, for one party of a relay under Flower, what it signs and which turns it takes.

The party decides, not the server: what its turns may cost stands in the configuration of its own
node, every question is paid for once in its own ledger, and what arrives is checked like any file
of a stranger (:mod:`privet.federation.relay`). So the server need not be trusted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from privet._validate import check_integer
from privet.accounting.cost import Budget, parse_epsilon
from privet.accounting.ledger import SQLiteLedger
from privet.curator import Curator
from privet.domain import Schema
from privet.errors import ParameterError, PrivacyError, QuestionError
from privet.federation.card import MAX_ROWS, Card
from privet.federation.flower.terms import require_key
from privet.federation.keys import SigningKey
from privet.federation.relay import RelayFile
from privet.learners.random_trees.batches import PEOPLE

_KEYS = (
    "party",
    "table",
    "schema",
    "rows",
    "epsilon",
    "key",
    "ledger",
    "budget",
    "dataset",
    "people",
)

# What messages are about, and the names of what they hold. A party whose node ends without a reply
# may come back; one that refuses does not want to.
CARD, TURN = "query.card", "train.turn"
RECORD, REFUSED = "relay", "refused"


@dataclass(frozen=True)
class RelayParty:
    """What the owner of a table wrote into the configuration of its node.

    Args:
        party: what it is called; published.
        table: what :func:`~privet.open_table` takes, such as ``duckdb:///clinic.db?table=people``.
        schema: the schema file of this table: the shared domain, and this table's own facts (whose
            row it is, rows per person).
        rows: about how many rows there are; published.
        epsilon: what all turns of one relay may cost, for one row added or removed.
        key: the file of the signing key.
        ledger: the file of the ledger that is charged.
        budget: the cap of the data set in epsilon, if the ledger does not have one yet.
        dataset: the name of the account in the ledger; by default the table's.
        people: what the relay must say about people; by default the owner agrees to anything.
    """

    party: str
    table: str
    schema: str
    rows: int
    epsilon: Fraction
    key: str
    ledger: str
    budget: Budget | None = None
    dataset: str | None = None
    people: str | None = None

    @classmethod
    def from_config(cls, config: Mapping[str, object]) -> RelayParty:
        """Read a party from the configuration of a Flower node.

        A misspelt setting is refused: it would be ignored in silence.
        """
        if unknown := sorted(set(config) - set(_KEYS)):
            raise ParameterError(
                f"the node's configuration has no {unknown[0]!r}; there are {', '.join(_KEYS)}"
            )
        party, table, schema, key, ledger = (
            str(require_key(config, name)) for name in ("party", "table", "schema", "key", "ledger")
        )
        people = str(config["people"]) if config.get("people") else None
        if people is not None:
            PEOPLE.check("people", people)
        return cls(
            party,
            table,
            schema,
            check_integer("rows", require_key(config, "rows"), 1, MAX_ROWS),
            parse_epsilon("epsilon", str(require_key(config, "epsilon"))),
            key,
            ledger,
            Budget(str(config["budget"])) if config.get("budget") else None,
            str(config["dataset"]) if config.get("dataset") else None,
            people,
        )

    def sign_card(self, shared: Schema) -> Card:
        """Return a signed card for one relay over this schema.

        Sees no rows and charges nothing.
        """
        self._check_schema(shared)
        key = SigningKey.read(self.key)
        return Card.sign(shared, self.party, self.rows, self.epsilon, key)

    def take_turn(self, relay: RelayFile) -> RelayFile:
        """Take the party's next turn with its own table, and return the relay with it, signed.

        The same relay again gets the recorded answers, and gives the same file. Cost: the amount
        of the turn, pure epsilon, charged before any row is read. Neighbours: one row added or
        removed.
        """
        own = self._check_schema(relay.schema)
        said = relay.card_of(self.party).epsilon
        if said > self.epsilon:
            raise PrivacyError(
                f"the turns of this party may cost {self.epsilon} in all, and the relay has an "
                f"older card of {said}"
            )
        if self.people not in (None, relay.people):
            raise PrivacyError(
                f"this party signs only that people are {self.people!r}, and the relay says "
                f"{relay.people!r}"
            )
        key = SigningKey.read(self.key)
        relay.check_key(self.party, key)
        relay.check_turn(self.party)
        ledger = SQLiteLedger(self.ledger)
        curator = Curator(self.table, own, self.budget, ledger=ledger, dataset=self.dataset)
        if not curator.private:
            raise PrivacyError(f"this party takes no turn that is not private: {curator.reason}")
        return relay.take_turns(self.party, curator, key, most=1)

    def _check_schema(self, shared: Schema) -> Schema:
        """Return the schema of this table, or raise where the relay has another domain."""
        own = Schema.read(Path(self.schema))
        if own.fingerprint != shared.fingerprint or own.neighbours != shared.neighbours:
            raise QuestionError(
                "the relay has another schema than this table: attributes, values, target, classes "
                "or neighbours differ"
            )
        return own
