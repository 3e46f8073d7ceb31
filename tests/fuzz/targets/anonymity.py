"""Tables whose anonymity is measured."""

from __future__ import annotations

from pathlib import Path

from privet.anonymity import examine
from tests.fuzz.mutate import mutated_lines
from tests.fuzz.target import Target
from tests.fuzz.targets.tables import SharedDatabase


class AnonymityTables(Target):
    """Exact, for the owner: what is in a table may be shown, but nothing may break."""

    name = "anonymity"
    what = "CSV tables whose k, l and t are measured; k is at least 1, t within 0 and 1"
    smoke = 30
    mutate = staticmethod(mutated_lines)

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._database = SharedDatabase()

    def close(self) -> None:
        self._database.close()

    def corpus(self) -> list[bytes]:
        lines = [f"{i % 3},{'mf'[i % 2]},{('flu', 'gout', '')[i % 3]}" for i in range(12)]
        return ["\n".join(["age,sex,illness", *lines]).encode()]

    def run(self, data: bytes) -> None:
        path = self.folder / "input.csv"
        path.write_bytes(data)
        report = examine(str(path), ["age", "sex"], "illness")
        assert report.k >= 1
        assert 0 <= report.overall("t") <= 1 + 1e-9
        assert report.to_json()
