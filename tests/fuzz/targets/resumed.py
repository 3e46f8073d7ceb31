"""Work that was interrupted: its file, and the answers that its ledger recorded."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pandas as pd

from privet.accounting.cost import Budget
from privet.accounting.ledger import MemoryLedger
from privet.curator import Curator
from privet.curator.resumed import ResumableCurator, Unfinished
from tests.fuzz.mutate import mutated_json
from tests.fuzz.target import Target, sealed, unsealed
from tests.fuzz.targets.tables import QUESTION, SCHEMA

ROWS = pd.DataFrame({"colour": ["red", "blue"], "age": [30, 50], "ill": ["no", "yes"]})


class ResumeFiles(Target):
    """A damaged file, or a damaged answer, is refused; what was paid for is not paid for again."""

    name = "resume"
    what = (
        "files of interrupted fits, sealed anew after each change, and answers that were recorded "
        "for them; nothing is paid for twice"
    )
    mutate = staticmethod(mutated_json)

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._path = folder / "input.unfinished"
        self._ledger = MemoryLedger()
        self._ask()
        self._whole = unsealed(self._path.read_bytes())
        (entry,) = self._ledger.entries()
        self._answer = self._ledger.answer(entry.number)

    def _ask(self) -> None:
        """Two questions, the second of which does not fit."""
        curator = Curator(ROWS, SCHEMA, Budget(1), ledger=self._ledger, dataset="people")
        unfinished = Unfinished.begin(self._path, curator, "a fact")
        asked = ResumableCurator(curator, unfinished)
        asked.bits.words(3)
        asked.count(QUESTION, epsilon=1)

    def corpus(self) -> list[bytes]:
        answer = None if self._answer is None else base64.b64encode(self._answer).decode()
        told = json.loads(self._answer or b"{}")
        return (
            [
                json.dumps({"file": json.loads(self._whole)}).encode(),
                json.dumps({"answer": told}).encode(),
            ]
            if answer
            else []
        )

    def run(self, data: bytes) -> None:
        try:
            given = json.loads(data)
            file, answer = given.get("file"), given.get("answer")
        except (ValueError, AttributeError, RecursionError):
            file, answer = data.decode("latin-1"), None
        before = len(self._ledger.entries())
        text = (
            self._whole
            if file is None
            else json.dumps(file, separators=(",", ":"), ensure_ascii=False).encode(
                "utf-8", "surrogatepass"
            )
        )
        self._path.write_bytes(sealed(text))
        kept = dict(self._ledger._answers)
        if answer is not None:
            for number in kept:
                self._ledger._answers[number] = json.dumps(answer).encode()
        try:
            self._ask()
        finally:
            self._ledger._answers.clear()
            self._ledger._answers.update(kept)
            assert len(self._ledger.entries()) == before, "the same work was paid for twice"
