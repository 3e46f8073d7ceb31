"""Federation: plans, what a server sends to a party, and models that are put together."""

from __future__ import annotations

import base64
import contextlib
import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd

from privet.accounting.cost import Budget
from privet.accounting.ledger import MemoryLedger
from privet.curator import Curator
from privet.errors import PrivetError
from privet.federation.flower.encoding import MODULUS, WEIGHT, Encoding
from privet.federation.flower.party import Party, check_round, check_unmasking
from privet.federation.flower.terms import Terms
from privet.federation.merge import join, merge
from privet.federation.plan import draw_plan, plan_from_bytes, plan_to_bytes, read_plan, write_plan
from privet.learners.random_trees.batches import contribution
from privet.model import Model
from privet.model.document import schema_from, to_document
from privet.model.file import parse, seal, write_model
from privet.model.leaf_vectors import structure_fingerprint
from privet.model.structure import Damaged, structure_from
from tests.fuzz.mutate import mutated_json
from tests.fuzz.target import Target, sealed, unsealed
from tests.fuzz.targets.model_files import mutated_model
from tests.report.models import SCHEMA, merged_model, random_codes, small_model, statement
from tests.report.scored import scored_model

ROWS = pd.DataFrame(
    {
        "form": ["foster", "complete"],
        "age": [30, 50],
        "income": [1.0, 99.0],
        "colour": ["red", "blue"],
        "advice": ["no", "yes"],
    }
)


def mutated_plan(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """A changed plan; half of the time its fingerprint is that of the structures that it then
    has.
    """
    changed = mutated_json(rng, data, others)
    if rng.random() < 0.5:
        with contextlib.suppress(
            PrivetError,
            Damaged,
            ValueError,
            KeyError,
            IndexError,
            TypeError,
            RecursionError,
            OverflowError,
        ):
            document = json.loads(changed)
            schema = schema_from(document["schema"])
            document["structure"] = structure_fingerprint(
                [structure_from(schema, tree, 0) for tree in document["trees"]]
            )
            return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    return changed


class Plans(Target):
    """A plan that was read can be counted in."""

    name = "plan"
    what = (
        "plan files of a federation, sealed anew after each change; what is taken is written "
        "again, and counted in"
    )
    mutate = staticmethod(mutated_plan)

    def corpus(self) -> list[bytes]:
        return [
            unsealed(plan_to_bytes(draw_plan(SCHEMA, trees, height=height)))
            for trees, height in ((1, 1), (3, 2))
        ]

    def run(self, data: bytes) -> None:
        path = self.folder / "input.json"
        path.write_bytes(sealed(data))
        plan = read_plan(path)
        write_plan(plan, self.out / "plan.json")
        assert read_plan(self.out / "plan.json").fingerprint == plan.fingerprint
        if plan.schema.fingerprint == SCHEMA.fingerprint:
            ledger = MemoryLedger()
            model = contribution(
                plan, Curator(ROWS, SCHEMA, Budget(1), ledger=ledger, dataset="people"), 1
            )
            assert len(ledger.entries()) == 1
            assert len(model.trees) == len(plan.forest)


class Merges(Target):
    """Models of others, put together with one's own."""

    name = "merge"
    what = (
        "contributions of other parties, merged and joined with one's own; what comes out is "
        "written and predicts"
    )
    seconds = 20
    mutate = staticmethod(mutated_model)

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        plan = draw_plan(SCHEMA, 2, height=1)

        def party(name: str) -> Model:
            return contribution(
                plan, Curator(ROWS, SCHEMA, Budget(1), ledger=MemoryLedger(), dataset=name), 1, name
            )

        named = {"id": "1" * 32, "account": "2" * 32}
        self._own = [
            party("north"),
            small_model(privacy=statement(**named)),
            scored_model(privacy=statement(**named)),
        ]
        others = {"id": "3" * 32, "account": "4" * 32}
        self._others = [
            party("south"),
            small_model(privacy=statement(**others)),
            scored_model(privacy=statement(**others)),
        ]

    def corpus(self) -> list[bytes]:
        return [unsealed(seal(to_document(model))) for model in self._others]

    def extra(self) -> list[bytes]:
        return [unsealed(seal(to_document(model))) for model in (merged_model(), small_model())]

    def run(self, data: bytes) -> None:
        try:
            model = parse(sealed(data))
        except Damaged as problem:
            raise PrivetError(str(problem)) from None
        refused: list[PrivetError] = []
        together_with = 0
        for own in self._own:
            for together in (
                lambda own=own: merge([own, model], "may-overlap"),
                lambda own=own: merge([model, own], "disjoint"),
                lambda own=own: join([own, model]),
            ):
                try:
                    made = together()
                    write_model(made, self.out / "merged.json")
                except PrivetError as error:
                    refused.append(error)
                else:
                    probabilities = made.probabilities(random_codes(0, made.schema, 5))
                    assert np.allclose(probabilities.sum(axis=1), 1)
                    assert made.privacy.epsilon >= model.privacy.epsilon or not made.privacy.private
                    together_with += 1
        if not together_with:
            raise refused[0]


def _mutated_message(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Now and then the plan in it."""
    if rng.random() < 0.4:
        message = json.loads(others[0])
        plan = mutated_plan(rng, base64.b64decode(message["config"]["plan"]), [b"{}"])
        message["config"]["plan"] = base64.b64encode(plan).decode()
        return json.dumps(message).encode()
    return mutated_json(rng, data, others)


class Messages(Target):
    """What a Flower server sends to a party: the parameters of the secure sum, the terms, the plan,
    and who is to be unmasked.
    """

    name = "federation"
    what = (
        "messages of a Flower server to a party, and sums that come back; a party that refuses "
        "charges nothing"
    )
    mutate = staticmethod(_mutated_message)

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        SCHEMA.write(folder / "schema.json")
        self._party = Party(
            "no-table.csv", str(folder / "schema.json"), "no-ledger", Budget(1).amount, 1
        )

    def corpus(self) -> list[bytes]:
        plan = unsealed(plan_to_bytes(draw_plan(SCHEMA, 2, height=1)))
        secure = {
            "sample_num": 3,
            "threshold": 3,
            "share_num": 3,
            "clipping_range": float(Encoding(3).limit),
        }
        secure |= {
            "target_range": 2 * Encoding(3).limit,
            "mod_range": MODULUS,
            "max_weight": float(WEIGHT),
            "active_nids": [1, 2, 3],
            "dead_nids": [],
        }
        config = {
            "epsilon": "1/2",
            "honest": 2,
            "colluding": 1,
            "rows_per_person": 1,
            "plan": base64.b64encode(plan).decode(),
        }
        node = {
            "table": "people.csv",
            "schema": "s.json",
            "ledger": "l.sqlite",
            "epsilon": "1",
            "colluding": 1,
            "honest": 5,
            "budget": "3",
            "plan": "ab",
        }
        return [
            json.dumps(
                {
                    "secure": secure,
                    "config": config,
                    "node": node,
                    "means": [1.0, -2.0, 3.5],
                    "contributions": 2,
                }
            ).encode()
        ]

    def run(self, data: bytes) -> None:
        try:
            message = json.loads(data)
            # Flower hands over records
            secure, config, node = ({**message[name]} for name in ("secure", "config", "node"))
            means, contributions = (
                np.array(message["means"], dtype=np.float64),
                int(message["contributions"]),
            )
            config["plan"] = base64.b64decode(config.get("plan", b""))
        except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
            return  # Flower would not have sent it
        refused: list[PrivetError] = []
        for step in (
            lambda: self._round(secure, config),
            lambda: Party.from_config(node),
            lambda: Encoding(3).decode(means, contributions),
        ):
            try:
                step()
            except PrivetError as error:
                refused.append(error)
        if refused:
            raise refused[0]

    def _round(self, secure: dict[str, Any], config: dict[str, Any]) -> None:
        if _hashable(secure):
            check_unmasking(secure, check_round(secure))
        terms = Terms.from_config(config)
        self._party.accept(plan_from_bytes(sealed(config["plan"])), terms)


def _hashable(record: dict[str, Any]) -> bool:
    """Values of Flower's records are numbers, texts and lists of one kind of them."""
    lists = [one for one in record.values() if isinstance(one, list)]
    return all(len({type(entry) for entry in one} - {int}) == 0 for one in lists) and all(
        isinstance(record.get(name, []), list) for name in ("active_nids", "dead_nids")
    )
