"""The server app of a relay: carry the model from party to party, one message for each turn.

The server sees what is released, and nothing else: it cannot forge a turn, nor make a party pay
twice. It keeps the relay file on its disk after every turn, so that a run that was ended goes on
where it was. A party whose node dies may come back as another node: the same turn is asked for
again, and what was paid for is answered from the party's ledger.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from privet._validate import check_integer
from privet.accounting.statement import People
from privet.domain import Schema
from privet.errors import MissingDependency, ParameterError, PrivacyError, PrivetError
from privet.federation.card import Card, share_schema
from privet.federation.flower.relay_party import CARD, RECORD, REFUSED, TURN
from privet.federation.flower.terms import read_timeout, require_key
from privet.federation.relay import RelayFile, Visit
from privet.learners.random_trees.batches import PEOPLE
from privet.learners.released import save
from privet.model import Model
from privet.model.document import canonical_json
from privet.model.file import load_json, shorten_problem
from privet.model.structure import Damaged, require

try:
    from flwr.app import ConfigRecord, Context, Message, RecordDict
    from flwr.serverapp import Grid, ServerApp
except ImportError:
    raise MissingDependency("flwr", "flower", "a Flower server") from None

#: Every turn sends the whole relay and checks all signatures, so work grows with the square.
MAX_PARTIES = 1000
#: How long to wait before looking again for replies and newcomers, in seconds.
PAUSE = 0.2

_log = logging.getLogger("privet.federation")


@dataclass(frozen=True)
class RelaySettings:
    """The settings in the run's configuration.

    Args:
        schema: the schema file that all parties share.
        people: ``"disjoint"`` if nobody is in the tables of two parties, otherwise
            ``"may-overlap"``.
        output: where the model goes.
        relay: where the relay file is kept; by default beside the model.
        parties: how many parties to wait for before the first turn; others may come late.
        timeout: how many seconds to wait for the parties at the start, and for each turn, before
            the others go on without one.
    """

    schema: Path
    people: People
    output: Path
    relay: Path
    parties: int
    timeout: float

    @classmethod
    def from_config(cls, config: Mapping[str, object]) -> RelaySettings:
        people = str(require_key(config, "people"))
        PEOPLE.check("people", people)
        output = Path(str(require_key(config, "output")))
        kept = str(config.get("relay") or output.with_suffix(".relay.json"))
        return cls(
            Path(str(require_key(config, "schema"))),
            cast("People", people),
            output,
            Path(kept),
            check_integer("parties", require_key(config, "parties"), 2, MAX_PARTIES),
            read_timeout(config, 300.0),
        )


@dataclass
class RelayRun:
    """A relay that a server carries on: which node is which party, and who was asked for what."""

    grid: Grid
    settings: RelaySettings
    schema: Schema
    relay: RelayFile | None = None
    #: The parties that have shown a card, by node. A card may be copied, so a party can have
    #: several; only the one with its key can take a turn.
    parties: dict[int, str] = field(default_factory=dict)
    _met: set[int] = field(default_factory=set)
    _asked: dict[str, int] = field(default_factory=dict)
    _cards: dict[str, Card] = field(default_factory=dict)

    def start(self) -> None:
        """Wait for the cards of as many parties as are expected, or go on with a relay that is kept
        on the disk.
        """
        until = time.monotonic() + self.settings.timeout
        if self.settings.relay.exists():
            self.relay = RelayFile.read(self.settings.relay)
            if self.relay.people != self.settings.people or (
                self.relay.schema.fingerprint != self.schema.fingerprint
            ):
                raise ParameterError(
                    f"{self.settings.relay} is a relay of another schema, or says something else "
                    "about people; name another file, or remove it"
                )
            return
        while len(self._cards) < self.settings.parties and time.monotonic() < until:
            self._meet()
            time.sleep(PAUSE)
        if len(self._cards) < self.settings.parties:
            raise ParameterError(
                f"{self.settings.parties} parties are expected, and {len(self._cards)} have sent a "
                "card; nothing was asked of their tables"
            )
        self._keep(RelayFile.start(self.schema, list(self._cards.values()), self.settings.people))

    def carry_on(self) -> Model:
        """Ask for all turns, one by one, and return the model."""
        while (relay := self._current).standing.rest:
            name = list(relay.cards)[relay.standing.rest[0].party]
            taken = self._ask_turn(name)
            if taken is None:
                _log.warning("%s takes no more turns; the others go on", name)
                taken = self._current.leave(name)
            self._keep(taken)
        return self._current.finish()

    @property
    def _current(self) -> RelayFile:
        assert self.relay is not None
        return self.relay

    def _keep(self, relay: RelayFile) -> None:
        """Keep a relay on the disk before anything follows from it."""
        relay.write(self.settings.relay)
        self.relay = relay

    def _ask_turn(self, name: str) -> RelayFile | None:
        """Return the relay after the next turn of a party, or nothing where it refuses or is gone.

        Nobody joins meanwhile: the turn is signed for the relay as it was sent.
        """
        until = time.monotonic() + self.settings.timeout
        relay, waiting = self._current, dict[str, int]()
        while time.monotonic() < until:
            self._meet()
            asked = set(waiting.values())
            for node in [one for one, party in self.parties.items() if party == name]:
                if node not in asked:
                    waiting[self._send(node, TURN, relay.to_bytes())] = node
            for message, node in list(waiting.items()):
                content, refused = self._receive(message)
                if content is None and not refused:
                    continue
                del waiting[message]
                if content is not None:
                    taken = _read_turn(relay, name, content)
                    if taken is not None:
                        return self._join_newcomers(taken)
                    refused = REFUSED
                # A node that was ended may come back; one that refused is asked no more.
                self.parties.pop(node, None)
                if refused != REFUSED:
                    self._met.discard(node)
                elif name not in self.parties.values():
                    return None
            time.sleep(PAUSE)
        return None

    def _meet(self) -> None:
        """Ask nodes that are new for their cards, and read what came."""
        there = set(self.grid.get_node_ids())
        shared = canonical_json(self.schema.to_json())
        for node in sorted(there - self._met):
            self._met.add(node)
            self._asked[self._send(node, CARD, shared)] = node
        for message, node in list(self._asked.items()):
            content, refused = self._receive(message)
            if content is None and not refused:
                continue
            del self._asked[message]
            if content is None:
                _log.warning("node %s sent no card (%s)", node, refused)
                continue
            try:
                self._welcome(node, Card.from_json(self.schema, load_json(content)))
            except (PrivetError, Damaged) as problem:
                _log.warning("the card of node %s is refused: %s", node, shorten_problem(problem))

    def _welcome(self, node: int, card: Card) -> None:
        known = {**self._cards, **({} if self.relay is None else self.relay.cards)}
        if card.name in known and known[card.name].key != card.key:
            raise ParameterError(f"{card.name!r} takes part already, with another key")
        if card.name not in known:
            if any(card.key == one.key for one in known.values()):
                raise ParameterError(f"the key of {card.name!r} is that of another party")
            self._cards[card.name] = card
        self.parties[node] = card.name

    def _join_newcomers(self, relay: RelayFile) -> RelayFile:
        for name, card in self._cards.items():
            if name not in relay.cards:
                _log.info("%s comes late", name)
                relay = relay.join(card)
        return relay

    def _send(self, node: int, kind: str, content: bytes) -> str:
        record = RecordDict({RECORD: ConfigRecord({"content": content})})
        (sent,) = self.grid.push_messages([Message(record, node, kind)])
        return sent

    def _receive(self, message: str) -> tuple[bytes | None, str]:
        """Return what came as a reply, or how it went wrong; neither where nothing came yet."""
        for reply in self.grid.pull_messages([message]):
            if reply.has_error():
                return None, "no reply"
            record = reply.content.config_records.get(RECORD, ConfigRecord())
            content = record.get("content")
            return (content, "") if isinstance(content, bytes) else (None, REFUSED)
        return None, ""


def _read_turn(relay: RelayFile, name: str, content: bytes) -> RelayFile | None:
    """Return a relay that came back, if it is this one and one more turn of this party."""
    try:
        taken = RelayFile.from_bytes(content)
        before = RelayFile(taken.schema, taken.people, taken.entries[:-1])
        require(
            before.digest == relay.digest
            and isinstance(taken.entries[-1], Visit)
            and taken.entries[-1].name == name,
            "it is not this relay and one more turn",
        )
        taken.check_plan()
    except (PrivetError, Damaged, IndexError) as problem:
        _log.warning("what %s sent is refused: %s", name, shorten_problem(problem))
        return None
    return taken


def run(grid: Grid, context: Context) -> Model:
    """Run everything: wait for the parties, carry the model from turn to turn, write it."""
    settings = RelaySettings.from_config(context.run_config)
    schema = share_schema(Schema.read(settings.schema))
    if schema.from_data:
        raise PrivacyError("the schema was read off the data, so that no turn with it is private")
    relay = RelayRun(grid, settings, schema)
    relay.start()
    model = relay.carry_on()
    save(model, settings.output)
    return model


app = ServerApp()


@app.main()
def main(grid: Grid, context: Context) -> None:
    run(grid, context)
