"""Model files, with a checksum that fits."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from random import Random

import numpy as np

from privet.domain import Schema
from privet.errors import PrivetError
from privet.model.document import to_document
from privet.model.file import seal
from privet.report import card_html, card_markdown, read_model, tree_text, write_model
from tests.fuzz.mutate import mutated_json
from tests.fuzz.target import Target, sealed, unsealed
from tests.report.models import (
    SCHEMA,
    gaussian_model,
    merged_model,
    open_model,
    random_codes,
    small_model,
)
from tests.report.scored import scored_model


def mutated_model(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """A changed document; half of the time its fingerprint is that of the schema that it then
    has.
    """
    changed = mutated_json(rng, data, others)
    if rng.random() < 0.5:
        with contextlib.suppress(
            PrivetError, ValueError, KeyError, TypeError, RecursionError, OverflowError
        ):
            document = json.loads(changed)
            document["fingerprint"] = Schema.from_json(document["schema"]).fingerprint
            return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    return changed


class ModelFiles(Target):
    """A model that was read predicts, can be shown, and is written as it was read."""

    name = "model"
    what = (
        "model files, sealed anew after each change; what is taken predicts, makes a card and is "
        "written again"
    )
    seconds = 20
    mutate = staticmethod(mutated_model)

    def corpus(self) -> list[bytes]:
        declared = SCHEMA.declare(n_rows=9, person="id", rows_per_person=2, neighbours="replace")
        models = [
            small_model(),
            open_model(),
            scored_model(),
            merged_model(),
            merged_model("may-overlap"),
            gaussian_model(declared),
        ]
        return [unsealed(seal(to_document(model))) for model in models]

    def run(self, data: bytes) -> None:
        path = self.folder / "input.json"
        path.write_bytes(sealed(data))
        model = read_model(path)
        probabilities = model.probabilities(random_codes(0, model.schema, 20))
        assert np.all(probabilities >= 0)
        assert np.allclose(probabilities.sum(axis=1), 1)
        for shown in (card_markdown(model), card_html(model), tree_text(model.trees[0])):
            assert shown.encode()
        again = self.out / "again.json"
        write_model(model, again)
        first = again.read_bytes()
        write_model(read_model(again), again)
        assert again.read_bytes() == first
