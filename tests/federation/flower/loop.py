"""Flower's own server workflow and client apps in one process: messages go round without a network,
and parties can drop out.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from types import SimpleNamespace

import numpy as np
from flwr.app import Context, Error, Message, RecordDict
from flwr.client import NumPyClient
from flwr.client.mod import secaggplus_mod
from flwr.clientapp import ClientApp
from flwr.common import FitIns, Parameters, parameters_to_ndarrays
from flwr.server import Grid, LegacyContext, ServerConfig
from flwr.server.strategy import Strategy
from flwr.server.workflow import DefaultWorkflow, SecAggPlusWorkflow
from flwr.supercore.task_identity import TaskIdentity

from privet.federation.flower import encoding as masks
from privet.federation.flower.encoding import MODULUS, WEIGHT, Encoding

masks.install()
# A message asks the process who it is, which a SuperLink or SuperNode would have said.
TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = 1, 1, 1


class LoopGrid(Grid):
    """Hands each message to its client at once. ``drops`` says at which stage a node falls silent;
    ``seen`` keeps all replies.
    """

    def __init__(
        self,
        apps: Mapping[int, ClientApp],
        contexts: Mapping[int, Context],
        drops: Mapping[int, str] | None = None,
    ) -> None:
        self.apps, self.contexts, self.drops = apps, contexts, dict(drops or {})
        self.seen: list[tuple[str, Message]] = []
        self.dead: set[int] = set()
        self.waiting: dict[str, Message | None] = {}

    def send_and_receive(
        self, messages: Iterable[Message], *, timeout: float | None = None
    ) -> list[Message]:
        return [reply for message in messages if (reply := self._reply(message)) is not None]

    def _reply(self, message: Message) -> Message | None:
        node = message.metadata.dst_node_id
        configs = message.content.config_records.get("secaggplus_configs")
        stage = message.metadata.message_type if configs is None else str(configs["stage"])
        if self.drops.get(node) == stage:
            self.dead.add(node)
        if node in self.dead:
            return None
        try:  # as a SuperNode does: the client gets its own copy, and every error becomes a message
            own = Message(
                copy.deepcopy(message.content),
                node,
                message.metadata.message_type,
                group_id=message.metadata.group_id,
            )
            reply = self.apps[node](own, self.contexts[node])
        except Exception as error:  # noqa: BLE001
            reply = Message(Error(code=1, reason=f"{type(error)}:<'{error}'>"), reply_to=message)
        self.seen.append((stage, reply))
        return reply

    def get_node_ids(self) -> list[int]:
        return [node for node in self.apps if node not in self.dead]

    @property
    def run(self):
        return SimpleNamespace(run_id=1)

    def set_run(self, run) -> None: ...
    def create_message(self, *args, **kwargs): ...

    def push_messages(self, messages: Iterable[Message]) -> list[str]:
        names = []
        for message in messages:
            names.append(f"message {len(self.waiting)}")
            self.waiting[names[-1]] = self._reply(message)
        return names

    def pull_messages(self, message_ids: Iterable[str]) -> list[Message]:
        replies = [(name, self.waiting[name]) for name in message_ids]
        return [reply for _, reply in replies if reply is not None]


def a_context(
    node: int = 0,
    node_config: Mapping[str, object] | None = None,
    run_config: Mapping[str, object] | None = None,
) -> Context:
    return Context(
        run_id=1,
        node_id=node,
        node_config=dict(node_config or {}),
        state=RecordDict(),
        run_config=dict(run_config or {}),
    )


class Giver(NumPyClient):
    """A client that returns one vector."""

    def __init__(self, vector: np.ndarray) -> None:
        self.vector = vector

    def fit(self, parameters, config):
        return [self.vector], WEIGHT, {}


def giving(vector: np.ndarray) -> ClientApp:
    return ClientApp(lambda _context: Giver(vector).to_client(), mods=[secaggplus_mod])


class Keep(Strategy):
    """Asks everybody once and keeps what came out."""

    def __init__(self) -> None:
        self.mean: np.ndarray | None = None
        self.contributions = 0

    def initialize_parameters(self, client_manager):
        return Parameters([], "numpy.ndarray")

    def configure_fit(self, server_round, parameters, client_manager):
        return [(proxy, FitIns(parameters, {})) for proxy in client_manager.all().values()]

    def aggregate_fit(self, server_round, results, failures):
        self.contributions = len(results)
        self.mean = parameters_to_ndarrays(results[0][1].parameters)[0]
        return None, {}

    def configure_evaluate(self, server_round, parameters, client_manager):
        return []

    def aggregate_evaluate(self, server_round, results, failures):
        return None, {}

    def evaluate(self, server_round, parameters):
        return None


def secure_sum(
    vectors: Sequence[np.ndarray],
    encoding: Encoding,
    threshold: int,
    drops: Mapping[int, str] | None = None,
) -> tuple[np.ndarray | None, int, LoopGrid]:
    """The mean of the vectors of those who did not drop out, through SecAgg+ with the parameters of
    an encoding.
    """
    nodes = {100 + 7 * i: vector for i, vector in enumerate(vectors)}
    apps = {node: giving(vector) for node, vector in nodes.items()}
    grid = LoopGrid(
        apps,
        {node: a_context(node) for node in nodes},
        {list(nodes)[i]: stage for i, stage in (drops or {}).items()},
    )
    kept = Keep()
    workflow = SecAggPlusWorkflow(
        1.0,
        threshold,
        max_weight=float(WEIGHT),
        clipping_range=float(encoding.limit),
        quantization_range=2 * encoding.limit,
        modulus_range=MODULUS,
    )
    DefaultWorkflow(fit_workflow=workflow)(
        grid, LegacyContext(a_context(), ServerConfig(num_rounds=1), kept)
    )
    return kept.mean, kept.contributions, grid
