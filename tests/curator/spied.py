"""A table that looks at the ledger at the moment its rows are asked for."""

from __future__ import annotations

from privet.tables.memory import MemoryTable


class Spy:
    name = "spied"

    def __init__(self, ledger, table):
        self._table, self._ledger = MemoryTable(table), ledger
        self.fail: Exception | None = None
        self.entries_seen: list[int] = []

    def check_structure(self, schema):
        self._table.check_structure(schema)

    def check_reachable(self):
        self._table.check_reachable()

    def source(self, schema):
        self._source = self._table.source(schema)
        return self

    def snapshot(self):
        return self._source.snapshot()

    def rows(self):
        self._look()
        return self._source.rows()

    def count(self, question):
        self._look()
        return self._source.count(question)

    def _look(self):
        self.entries_seen.append(len(self._ledger.entries()))
        if self.fail:
            raise self.fail
