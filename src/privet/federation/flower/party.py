"""Decide, for one party, what it accepts: its table, its ledger, and every stage of SecAgg+.

The party decides, not the server. At every stage it checks that nothing leaves it unmasked, and
that no sum of too few contributions is unmasked. The mod :func:`guard_message` wraps Flower's own
SecAgg+ mod, so that one cannot be used without the other. It notes the parameters of the round in
the node's state; the client counts only where it finds them there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from privet._validate import check_integer
from privet.accounting.cost import Budget, parse_epsilon
from privet.accounting.ledger import SQLiteLedger
from privet.curator import Owner
from privet.domain import Schema
from privet.domain.questions import Question
from privet.errors import MissingDependency, ParameterError, PrivacyError, QuestionError
from privet.federation.flower.encoding import MAX_PARTIES, MODULUS, WEIGHT, Encoding, flatten_tables
from privet.federation.flower.terms import Terms, require_key
from privet.learners.random_trees.batches import check_same_domain
from privet.learners.random_trees.drawing import Plan

if TYPE_CHECKING:
    from flwr.app import Context, Message
    from flwr.clientapp.typing import ClientAppCallable


_KEYS = {"table", "schema", "ledger", "epsilon", "colluding", "honest", "budget", "dataset", "plan"}


@dataclass(frozen=True)
class Party:
    """What the owner of a table wrote into the configuration of its node.

    Args:
        table: what :func:`~privet.open_table` takes, such as ``duckdb:///clinic.db?table=people``.
        schema: the schema file of this table: the plan's domain, and this table's own facts (whose
            row it is, rows per person).
        ledger: the file of the ledger that is charged.
        epsilon: the most that one round may cost, for one row added or removed.
        colluding: from how many other parties, together with the server, this one wants to be
            protected.
        honest: on how many honest contributions the promise may rest at most; by default on any
            number.
        budget: the cap of the data set in epsilon, if the ledger does not have one yet.
        dataset: the name of the account in the ledger; by default the table's.
        plan: the beginning of the fingerprint of the only plan that is accepted; by default any of
            the right domain.
    """

    table: str
    schema: str
    ledger: str
    epsilon: Fraction
    colluding: int
    honest: int = MAX_PARTIES
    budget: Budget | None = None
    dataset: str | None = None
    plan: str = ""

    @classmethod
    def from_config(cls, config: Mapping[str, object]) -> Party:
        """Read a party from the configuration of a Flower node.

        A misspelt setting is refused: it would be ignored in silence.
        """
        if unknown := sorted(set(config) - _KEYS):
            raise ParameterError(
                f"the node's configuration has no {unknown[0]!r}; there are "
                f"{', '.join(sorted(_KEYS))}"
            )
        texts = {key: str(config[key]) for key in ("dataset", "plan") if config.get(key)}
        return cls(
            str(require_key(config, "table")),
            str(require_key(config, "schema")),
            str(require_key(config, "ledger")),
            parse_epsilon("epsilon", str(require_key(config, "epsilon"))),
            check_integer("colluding", require_key(config, "colluding"), 1, MAX_PARTIES),
            check_integer("honest", config.get("honest", MAX_PARTIES), 1, MAX_PARTIES),
            Budget(str(config["budget"])) if config.get("budget") else None,
            **texts,
        )

    def accept(self, plan: Plan, terms: Terms) -> Schema:
        """Return the schema to count with, or raise an error that says what is not acceptable.

        Nothing is opened and nothing charged.
        """
        if not plan.fingerprint.startswith(self.plan.lower()):
            raise QuestionError(
                f"this party takes part in the plan {self.plan} only, not in "
                f"{plan.fingerprint[:12]}"
            )
        own = Schema.read(Path(self.schema))
        check_same_domain(plan, own)
        if own.neighbours != plan.schema.neighbours or own.rows_per_person > terms.rows_per_person:
            raise QuestionError(
                "the model would promise less than this table: neighbours must be the plan's, and "
                "rows_per_person at most that of the "
                f"terms, {terms.rows_per_person}; the table has {own.rows_per_person}"
            )
        if terms.epsilon > self.epsilon:
            raise PrivacyError(
                f"epsilon must be at most {self.epsilon} for this party, the server asks for "
                f"{terms.epsilon}"
            )
        if terms.colluding < self.colluding:
            raise PrivacyError(
                f"colluding must be at least {self.colluding} for this party, the server allows "
                f"for {terms.colluding}"
            )
        if terms.honest > self.honest:
            raise PrivacyError(
                f"honest must be at most {self.honest} for this party, the server relies on "
                f"{terms.honest}"
            )
        return own

    def contribution(self, plan: Plan, terms: Terms, encoding: Encoding) -> npt.NDArray[np.float64]:
        """Return the party's share of the leaf counts, encoded.

        Charged first; it must not leave unmasked.

        Sensitivity: a row is in one leaf of each of the N trees, so N in L1. Neighbours: one row
        added or removed. Cost: pure epsilon, for the sum of at least ``terms.honest`` honest
        contributions.
        """
        schema = self.accept(plan, terms)
        entries = sum(cells.n_cells for cells in plan.forest) * schema.n_classes
        encoding.check_noise(Fraction(len(plan.forest)) / terms.epsilon, entries)
        ledger = SQLiteLedger(self.ledger)
        owner = Owner(self.table, schema, self.budget, ledger=ledger, dataset=self.dataset)
        if not owner.private:
            raise PrivacyError(
                f"this party contributes nothing that is not private: {owner.reason}"
            )
        share = owner.share(
            Question.forest(plan.forest),
            terms.epsilon,
            parties=terms.contributions,
            honest=terms.honest,
        )
        return encoding.encode(encoding.clip(flatten_tables(share.tables)))


# What a party checks at every stage of SecAgg+.

CONFIGS = "secaggplus_configs"  # where Flower's server writes what a stage needs
_STATE = "privet"


@dataclass(frozen=True)
class Round:
    """The parameters of a round that a party agreed to at its first stage."""

    parties: int
    threshold: int

    @classmethod
    def from_context(cls, context: Context) -> Round:
        """Return the round that this node is in the middle of, or raise where it is in none."""
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
    """Let a message through only as part of SecAgg+.

    This is a Flower mod.
    """
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
    """Return the round that the server's parameters make, or raise.

    Integers must pass through it exactly, and everybody must share keys with everybody.
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
    """Raise rather than open a sum of too few, or give both keys of anybody."""
    active, dead = list(configs.get("active_nids", [])), list(configs.get("dead_nids", []))
    if len({*active, *dead}) != len(active) + len(dead):
        raise PrivacyError("the server asks for both keys of a party, or for one twice")
    if len(active) < round_.threshold:
        raise PrivacyError(
            f"{len(active)} contributions are in the sum, and it may be opened from "
            f"{round_.threshold} on"
        )
