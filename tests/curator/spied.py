"""A table that looks at the ledger at the moment its rows are asked for."""

from __future__ import annotations

from privet.counts.memory import MemoryTable


class SpiedRows:
    name = "spied"

    def __init__(self, ledger, table):
        self._table, self._ledger = MemoryTable(table), ledger
        self.fail: Exception | None = None
        self.entries_seen: list[int] = []

    def check_structure(self, schema):
        self._table.check_structure(schema)

    def source(self, schema):
        self._source = self._table.source(schema)
        return self

    def snapshot(self):
        return self._source.snapshot()

    def rows(self):
        self.entries_seen.append(len(self._ledger.entries()))
        if self.fail:
            raise self.fail
        return self._source.rows()
