"""Randomised records: the file of a randomizer, the reports that people send, and their records as
they come.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
import pandas as pd

from privet.domain.questions import Question
from privet.federation.plan import draw_plan
from privet.local import (
    LeafRandomizer,
    Randomizer,
    collect_leaves,
    local_curator,
    read_randomizer,
    write_randomizer,
)
from privet.local.randomizer_file import randomizer_to_bytes
from privet.local.records import header_line, records_of, report_line
from privet.tables.open import read_public
from tests.fuzz.mutate import mutated_json, mutated_lines
from tests.fuzz.target import Target, sealed, unsealed
from tests.fuzz.targets.plans import mutated_plan
from tests.fuzz.targets.tables import BY_COLOUR, QUESTION, SCHEMA, SharedDatabase

RANDOMIZERS = (
    Randomizer(SCHEMA, 4, "sample"),
    Randomizer(SCHEMA, 4, "split"),
    LeafRandomizer(draw_plan(SCHEMA, 2, height=1), 4),
)


def some_people(rows: int) -> pd.DataFrame:
    """So many rows."""
    colours, ill = ("red", "green", "blue"), ("no", "yes")
    return pd.DataFrame(
        {
            "colour": [colours[i % 3] for i in range(rows)],
            "age": [i % 80 for i in range(rows)],
            "ill": [ill[i % 2] for i in range(rows)],
        }
    )


def mutated_randomizer(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """A changed randomizer; the plan in it may be changed too, and is sealed again."""
    changed = mutated_json(rng, data, others)
    with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError):
        document = json.loads(changed)
        plan = json.dumps(
            {key: value for key, value in document["plan"].items() if key != "checksum"},
            ensure_ascii=False,
            separators=(",", ":"),
        )
        again = (
            mutated_plan(rng, plan.encode(), [plan.encode()])
            if rng.random() < 0.5
            else plan.encode()
        )
        document["plan"] = json.loads(sealed(again))
        return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    return changed


class RandomizerFiles(Target):
    """What a collector publishes."""

    name = "randomizer"
    what = (
        "files of randomizers, sealed anew after each change; what is taken randomises a record "
        "and is written again"
    )
    mutate = staticmethod(mutated_randomizer)

    def corpus(self) -> list[bytes]:
        return [unsealed(randomizer_to_bytes(one)) for one in RANDOMIZERS]

    def run(self, data: bytes) -> None:
        path = self.folder / "input.json"
        path.write_bytes(sealed(data))
        made = read_randomizer(path)
        report_line(made.one(dict.fromkeys([*made.schema.names, made.schema.target])))
        write_randomizer(made, self.out / "again.json")
        assert randomizer_to_bytes(read_randomizer(self.out / "again.json")) == randomizer_to_bytes(
            made
        )


class Reports(Target):
    """What many people sent. The first line of an input says by which randomizer."""

    name = "reports"
    what = "CSV files of randomised reports, collected and counted"
    smoke = 60
    mutate = staticmethod(mutated_lines)

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._database = SharedDatabase()

    def close(self) -> None:
        self._database.close()

    def corpus(self) -> list[bytes]:
        texts = []
        for number, randomizer in enumerate(RANDOMIZERS):
            reports = randomizer.many(some_people(12))
            lines = [
                report_line(dict(zip(reports.columns, values, strict=True)))
                for values in reports.itertuples(index=False, name=None)
            ]
            texts.append(f"{number}\n{header_line(randomizer.columns)}{''.join(lines)}".encode())
        return texts

    def run(self, data: bytes) -> None:
        first, _, text = data.partition(b"\n")
        randomizer = RANDOMIZERS[int(first) if first in (b"0", b"1", b"2") else 0]
        path = self.folder / "input.csv"
        path.write_bytes(text)
        reports = read_public(str(path))
        if isinstance(randomizer, LeafRandomizer):
            assert collect_leaves(reports, randomizer).trees
        else:
            question = QUESTION if randomizer.spread == "split" else Question.of(BY_COLOUR)
            counted = local_curator(reports, randomizer).count(question, epsilon=1)
            assert np.isfinite(counted.tables[0]).all()


class Records(Target):
    """Records as they come on standard input: whether there is a report must not depend on what a
    line holds.
    """

    name = "records"
    what = (
        "streams of records to be randomised; every line that is not empty gives one report, or is "
        "part of one"
    )
    mutate = staticmethod(mutated_lines)

    def corpus(self) -> list[bytes]:
        plain = some_people(6).to_csv(index=False, lineterminator="\n")
        return [
            plain.encode(),
            plain.replace("red", '"red\n"').encode(),
            plain.replace(",", "|").encode(),
        ]

    def run(self, data: bytes) -> None:
        lines = (
            data.splitlines(keepends=True)
            if b"\r" not in data
            else [line + b"\n" for line in data.split(b"\n")]
        )
        made = [
            report_line(RANDOMIZERS[0].one(record))
            for record in records_of(iter(lines), SCHEMA, "standard input", over_lines=True)
        ]
        assert len(made) < len(lines) or not made
        assert all(line.count("\n") == 1 for line in made)
