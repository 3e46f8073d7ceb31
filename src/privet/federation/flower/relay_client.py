"""The client app of a relay: one party, which Flower runs where the table is.

It answers two messages: for its card, and for its next turn.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from privet.errors import MissingDependency, PrivetError
from privet.federation.flower.relay_party import CARD, RECORD, REFUSED, TURN, RelayParty
from privet.federation.relay import RelayFile
from privet.model.document import canonical_json, schema_from
from privet.model.file import load_json, shorten_problem
from privet.model.structure import Damaged

try:
    from flwr.app import ConfigRecord, Context, Message, RecordDict
    from flwr.clientapp import ClientApp
except ImportError:
    raise MissingDependency("flwr", "flower", "a Flower client") from None

_log = logging.getLogger("privet.federation")

app = ClientApp()


@app.query(CARD.partition(".")[2])
def give_card(message: Message, context: Context) -> Message:
    """Answer with the party's card for the schema that the server sends."""

    def sign(party: RelayParty, schema: bytes) -> bytes:
        return canonical_json(party.sign_card(schema_from(load_json(schema))).to_json())

    return _reply(message, context, sign)


@app.train(TURN.partition(".")[2])
def take_turn(message: Message, context: Context) -> Message:
    """Answer with the relay after this party's next turn."""

    def take(party: RelayParty, relay: bytes) -> bytes:
        return party.take_turn(RelayFile.from_bytes(relay)).to_bytes()

    return _reply(message, context, take)


def _reply(
    message: Message, context: Context, answer: Callable[[RelayParty, bytes], bytes]
) -> Message:
    """Answer, or refuse: the owner reads why, unless an engine says it, which may quote rows.

    The server learns the kind only: messages name files and budgets.
    """
    try:
        asked = message.content.config_records[RECORD]["content"]
        if not isinstance(asked, bytes):
            raise TypeError("the content of a message must be bytes")
        record = {"content": answer(RelayParty.from_config(context.node_config), asked)}
    except Exception as error:  # noqa: BLE001
        kind = type(error).__name__
        ours = isinstance(error, PrivetError | Damaged)
        _log.warning("this party takes no part: %s", shorten_problem(error) if ours else kind)
        record = {REFUSED: kind.encode()}
    return Message(RecordDict({RECORD: ConfigRecord(dict(record))}), reply_to=message)
