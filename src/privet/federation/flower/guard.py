"""What a party checks at every stage of SecAgg+, so that nothing leaves it unmasked and nothing is
unmasked that is too thin.

The mod below wraps Flower's own SecAgg+ mod, so that one cannot be used without the other. It notes
the parameters of the round in the node's state; the client counts only where it finds them there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from privet.errors import MissingDependency, PrivacyError
from privet.federation.flower.encoding import MAX_PARTIES, MODULUS, WEIGHT, Encoding

if TYPE_CHECKING:
    from flwr.app import Context, Message
    from flwr.clientapp.typing import ClientAppCallable

CONFIGS = "secaggplus_configs"  # where Flower's server writes what a stage needs
_STATE = "privet"


@dataclass(frozen=True)
class Round:
    """The parameters of a round that a party agreed to at its first stage."""

    parties: int
    threshold: int

    @classmethod
    def from_context(cls, context: Context) -> Round:
        """The round that this node is in the middle of; an error where it is in none."""
        noted = context.state.config_records.get(_STATE)
        if noted is None:
            raise PrivacyError(
                "this party counts inside secure aggregation only, and that has not begun"
            )
        return cls(int(noted["parties"]), int(noted["threshold"]))  # type: ignore[arg-type]

    def note(self, context: Context) -> None:
        from flwr.app import ConfigRecord

        context.state.config_records[_STATE] = ConfigRecord(
            {"parties": self.parties, "threshold": self.threshold}
        )


def guard_message(message: Message, context: Context, call_next: ClientAppCallable) -> Message:
    """A Flower mod: SecAgg+ or nothing."""
    try:
        from flwr.app import MessageType
        from flwr.client.mod import secaggplus_mod
    except ImportError:
        raise MissingDependency("flwr", "flower", "a Flower client") from None
    configs = message.content.config_records.get(CONFIGS) if message.has_content() else None
    if message.metadata.message_type != MessageType.TRAIN or configs is None:
        raise PrivacyError("this party answers inside secure aggregation only")
    stage = configs.get("stage")
    if stage == "setup":
        check_round(configs).note(context)
    elif stage == "unmask":
        check_unmasking(configs, Round.from_context(context))
    reply = secaggplus_mod(message, context, call_next)
    if stage == "unmask":
        del context.state.config_records[_STATE]
    if any(len(record) for record in reply.content.array_records.values()):
        raise PrivacyError("Flower's secure aggregation left numbers unmasked; nothing is sent")
    return reply


def check_round(configs: Any) -> Round:
    """The round that the server's parameters make, if whole numbers pass through it exactly and
    everybody shares keys with everybody.
    """
    parties, threshold = configs.get("sample_num"), configs.get("threshold")
    if (
        type(parties) is not int
        or type(threshold) is not int
        or not 2 <= threshold <= parties <= MAX_PARTIES
    ):
        raise PrivacyError(
            f"a secure sum needs 2 to {MAX_PARTIES} parties and a threshold within them, got "
            f"{parties!r} and {threshold!r}"
        )
    wanted = {
        "share_num": parties,
        "clipping_range": float(Encoding(parties).limit),
        "target_range": 2 * Encoding(parties).limit,
        "mod_range": MODULUS,
        "max_weight": float(WEIGHT),
    }
    for name, value in wanted.items():
        if configs.get(name) != value:
            raise PrivacyError(
                f"{name} of the secure sum must be {value} for {parties} parties, got "
                f"{configs.get(name)!r}"
            )
    return Round(parties, threshold)


def check_unmasking(configs: Any, round_: Round) -> None:
    """Refuse to open a sum of too few, or to give both keys of anybody."""
    active, dead = list(configs.get("active_nids", [])), list(configs.get("dead_nids", []))
    if len({*active, *dead}) != len(active) + len(dead):
        raise PrivacyError("the server asks for both keys of a party, or for one twice")
    if len(active) < round_.threshold:
        raise PrivacyError(
            f"{len(active)} contributions are in the sum, and it may be opened from "
            f"{round_.threshold} on"
        )
