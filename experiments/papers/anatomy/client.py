"""What runs in the process of a client: one learner on one fold, and what it took.

``python -m experiments.papers.anatomy.client`` reads a request from its input and writes what it
measured to its output, both JSON. Clocks start when the interpreter, the imports and the first use
of every function that learns, seals or encodes are behind.
"""

from __future__ import annotations

import json
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import asdict
from types import TracebackType
from typing import Any, Self

import numpy as np
import pandas as pd

from experiments.papers.anatomy.equation import PREDICTIONS
from privet._types import Splits
from privet.domain.encode.rows import encode
from privet.errors import PrivetError
from privet.outsource.anatomy import CellText, cells_of
from privet.outsource.cipher import KeyRing, Sealer
from privet.outsource.client import (
    Baseline,
    Collaborative,
    Naive,
    Outbox,
    OutsourcedTable,
    choose_leaf_size,
)
from privet.outsource.client.learners import Keep
from privet.outsource.client.replies import TreeSummary
from privet.outsource.client.subtrees import TrueRows, learn, predict_classes

READY = "ready"
#: The paper's way: every prediction is an exchange of its own.
AT_ONCE = 1
#: cdbsl costs a client nothing in the paper, so it is not timed like the others.
_BASELINE_AT_ONCE = 200
_WARM_UP_ROWS = 8
#: Rows that are predicted again, once their leaves are refined.
_AGAIN = 200
#: What a step of a learner took.
Step = dict[str, float]


class Stopwatch:
    """Seconds of the clock and of this process's processor, and what the table's meter counts,
    between two moments.
    """

    def __init__(self, table: OutsourcedTable) -> None:
        self._table = table
        self.step: Step = {}

    def __enter__(self) -> Self:
        self._table.rows_held = 0  # of this step alone
        self._meter, self._waited = self._table.meter, self._table.link.traffic.requests
        self._cpu, self._clock = time.process_time(), time.perf_counter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        seconds, cpu = time.perf_counter() - self._clock, time.process_time() - self._cpu
        waited = self._table.link.traffic.requests - self._waited  # what is not in the background
        spent = asdict(self._table.meter.since(self._meter))
        self.step = {"seconds": seconds, "cpu": cpu, "waited": waited, **spent}


class Client:
    """One learner's client."""

    def __init__(self, table: OutsourcedTable, ring: KeyRing, rows: Any, splits: Splits) -> None:
        self._table, self._rows, self._splits = table, rows, splits
        self._warm_up(ring)

    # -- the learners ------------------------------------------------------------------------------

    def cdbsl(self) -> dict[str, Any]:
        """Let the server grow the base tree, and ask it."""
        self._warm_up_server()
        with Stopwatch(self._table) as growing:
            tree = self._table.grow(self._splits)
        with Stopwatch(self._table) as predicting:
            said = Baseline(self._table, tree).predict(self._rows, _BASELINE_AT_ONCE)
        return {
            "grow": growing.step,
            "predict": predicting.step,
            "tree": asdict(tree),
            "right": self._right(said),
        }

    def cdtl(
        self,
        tree: dict[str, Any] | None,
        outbox: str,
        keep: Keep = "counts",
        at_once: int = AT_ONCE,
    ) -> dict[str, Any]:
        """Refine the leaves of a base tree that predictions reach.

        Sub-trees are sent in the background; the last step ends when all of them are there.
        """
        tree = asdict(self._table.grow(self._splits)) if tree is None else tree
        said: list[str] = []
        parts, most_held = [], 0.0
        ends = [n for n in (*PREDICTIONS, len(self._rows)) if n <= len(self._rows)]
        outgoing = Outbox(self._table, outbox)
        learner = Collaborative(self._table, TreeSummary(**tree), keep=keep, outbox=outgoing)
        with Stopwatch(self._table) as predicting:
            for end in sorted(set(ends)):
                with Stopwatch(self._table) as some:
                    said += learner.predict(self._rows[len(said) : end], at_once)
                    if end == len(self._rows):
                        outgoing.close()
                parts.append({"upto": end, "step": some.step})
                most_held = max(most_held, some.step["rows_held"])
        predicting.step["rows_held"] = most_held
        with Stopwatch(self._table) as again:
            learner = Collaborative(self._table, TreeSummary(**tree), keep=keep)
            learner.predict(self._rows[:_AGAIN], at_once)
        return {
            "predict": predicting.step,
            "parts": parts,
            "again": again.step,
            "tree": tree,
            "right": self._right(said),
        }

    def cnl(self, keep: Keep = "counts", at_once: int = AT_ONCE) -> dict[str, Any]:
        """Read everything, learn, leave the tree with the server, and fetch it for every
        prediction.
        """
        learner = Naive(self._table, self._splits, keep)
        with Stopwatch(self._table) as learning:
            learner.learn(again=True)
        with Stopwatch(self._table) as predicting:
            said = learner.predict(self._rows, at_once)
        return {"learn": learning.step, "predict": predicting.step, "right": self._right(said)}

    def threshold(self) -> dict[str, Any]:
        """Choose a threshold on the leaves of the base tree, then predict as cdtl does."""
        with Stopwatch(self._table) as choosing:
            best, _ = choose_leaf_size(self._table, self._splits)
        with Stopwatch(self._table) as predicting:
            said = Collaborative(self._table, best.tree).predict(self._rows, AT_ONCE)
        return {
            "learn": choosing.step,
            "predict": predicting.step,
            "tree": asdict(best.tree),
            "right": self._right(said),
        }

    # -- memory, which is measured apart because measuring takes time ------------------------------

    def traced(self) -> dict[str, Any]:
        """The most memory that cdtl and cnl take, beyond what was there before.

        cdtl gets a base tree of its own that nobody has refined, and one row for each leaf that
        rows reach: refining a leaf takes the memory. cnl does the same for every row.
        """
        tree = self._table.grow(self._splits)
        leaves = self._table.reach(tree.id, _cells(self._table, self._rows)).leaves
        one_each = self._rows.iloc[np.unique(leaves, return_index=True)[1]]
        ours = _traced(lambda: Collaborative(self._table, tree).predict(one_each, AT_ONCE))
        self._table.drop(tree.id)
        learner = Naive(self._table, self._splits)

        def all_of_it() -> None:
            learner.learn(again=True)
            learner.predict(self._rows.head(_WARM_UP_ROWS), AT_ONCE)

        naive = _traced(all_of_it)
        return {"cdtl": ours, "cnl": naive, "tree": asdict(tree)}

    # -- so that the first use of a function is not counted ----------------------------------------

    def _warm_up(self, ring: KeyRing) -> None:
        anatomy = self._table.anatomy
        sealer = Sealer(ring, anatomy.id)  # of its own, so that the meter does not count
        encoded = encode(anatomy.schema, self._rows.head(_WARM_UP_ROWS))
        assert encoded.classes is not None
        aside = np.arange(len(encoded.classes)) % 2 == 1
        tree = learn(
            anatomy.schema, TrueRows(0, encoded.codes, encoded.classes, aside), self._splits
        )
        predict_classes(tree, encoded.codes)
        sealer.open("naive", (), sealer.seal("naive", (), bytes(_WARM_UP_ROWS)))

    def _warm_up_server(self) -> None:
        tree = self._table.grow(self._splits)
        Collaborative(self._table, tree).predict(self._rows.head(1), AT_ONCE)
        next(self._table.rows())
        self._table.drop(tree.id)

    def _right(self, said: list[str]) -> int:
        label = self._table.anatomy.schema.label
        true = self._rows[self._table.anatomy.schema.target]
        return sum(
            label.code_of_text[one] == label.code_of_text[str(each)]
            for one, each in zip(said, true, strict=True)
        )


def run(request: dict[str, Any]) -> dict[str, Any]:
    """Do what a request asks for."""
    ring = KeyRing.read(request["key"])
    with OutsourcedTable(request["url"], request["token"], ring, retry_for=5.0) as table:
        client = Client(table, ring, pd.DataFrame(request["rows"]), request["splits"])
        asked: Callable[..., dict[str, Any]] = getattr(client, request["learner"])
        return asked(**request.get("given", {}))


def _cells(table: OutsourcedTable, rows: Any) -> list[list[CellText]]:
    return [list(row) for row in zip(*cells_of(rows, table.anatomy.identifying.names), strict=True)]


def plain_rows(table: Any) -> dict[str, list[Any]]:
    """A data frame as a request carries it: entries by column, None for a missing number."""
    return {
        name: [None if entry != entry else entry for entry in table[name].tolist()]
        for name in table.columns
    }


def _traced(work: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def main() -> None:
    """Say that all is imported, wait for a request, and answer it."""
    sys.stdout.write(f"{READY}\n")
    sys.stdout.flush()
    try:
        answer = run(json.load(sys.stdin))
    except PrivetError as error:
        sys.exit(str(error))
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
