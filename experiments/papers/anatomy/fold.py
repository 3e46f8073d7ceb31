"""All learners on one fold: the same rows, the same split, the same rows for pruning."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from experiments.papers.anatomy.client import plain_rows
from experiments.papers.anatomy.experiments import Experiment, L
from experiments.papers.anatomy.processes import Client, Server
from experiments.papers.anatomy.results import Line, lines
from privet.domain import Schema
from privet.errors import OutsourceError
from privet.outsource.cipher import KeyRing
from privet.outsource.files import write_halves
from privet.outsource.server.state import ServerState
from privet.outsource.split import split

PRUNING = 0.2
#: The clients of a fold, one after the other.
CLIENTS = (
    "cdbsl",
    "cdtl",
    "cnl",
    "traced",
    "threshold",
    "cdtl-tuples",
    "cnl-tuples",
    "cdtl-batches",
    "cnl-batches",
)
#: How they do what the first cdtl and cnl do.
_WAYS: dict[str, dict[str, Any]] = {
    "tuples": {"keep": "tuples"},
    "batches": {"at_once": 200},
}


def run_fold(
    experiment: Experiment,
    fold: int,
    train: Any,
    test: Any,
    schema: Schema,
    step: Callable[[str], None],
) -> list[Line]:
    """The lines of one fold. Keys, halves and homes are in a folder that is gone afterwards.
    ``step`` is told each client that is done.
    """
    with TemporaryDirectory(prefix="privet-reproduce-") as folder, ExitStack() as running:
        work = Path(folder)
        clients = {learner: running.enter_context(Client()) for learner in CLIENTS}
        ring = KeyRing.new("AES-128-GCM")  # the paper's AES-128
        ring.write(work / "key")
        made = split(train, schema, experiment.sensitive, L, ring, pruning=PRUNING)
        if len(made.withheld):
            raise OutsourceError(
                f"fold {fold + 1} of experiment {experiment.number} cannot be split without "
                "withholding rows"
            )
        write_halves(made.halves, work / "halves")
        state = ServerState.make(work / "home", work / "halves")
        server = running.enter_context(Server(work / "home", work))
        for client in clients.values():
            client.ready()
        request: dict[str, Any] = {
            "token": state.accounts.add_analyst("client"),
            "key": str(work / "key"),
            "url": server.url,
        }
        request |= {"splits": experiment.splits, "rows": plain_rows(test)}
        return lines(
            experiment, fold, len(train), len(test), _measured(clients, request, fold, step)
        )


def _measured(
    clients: dict[str, Client], request: dict[str, Any], fold: int, step: Callable[[str], None]
) -> dict[str, dict[str, Any]]:
    answers: dict[str, dict[str, Any]] = {}
    # Who comes second may find the server's files in memory; so they take turns.
    order = CLIENTS if fold % 2 == 0 else ("cdbsl", "cnl", "cdtl", *CLIENTS[3:])
    for learner in order:
        name, _, way = learner.partition("-")
        given = dict(_WAYS.get(way, {}))
        if name == "cdtl":
            # another than the first has a tree of its own, that nobody has refined
            tree = None if way else answers["cdbsl"]["tree"]
            given |= {"tree": tree, "outbox": f"{request['key']}.{learner}"}
        asked = {"learner": name, "given": given}
        answers[learner] = clients[learner].ask(request | asked)
        step(learner)
    one, other = answers["cdbsl"]["tree"], answers["traced"]["tree"]
    if (one["leaves"], one["largest"]) != (other["leaves"], other["largest"]):
        raise OutsourceError("the server grew two different base trees from the same rows")
    return answers
