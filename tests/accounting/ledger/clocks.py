"""Ledgers whose clock a test sets."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from privet.accounting.ledger import MemoryLedger, PostgresLedger, SQLiteLedger, journal

START = datetime(2030, 1, 1, tzinfo=UTC)
KINDS = ("memory", "sqlite", "postgres")


class Clocked:
    """A ledger of one kind, and its clock. ``url`` is that of a fresh database."""

    def __init__(self, kind, folder, url, patch) -> None:
        self.kind, self._folder, self._url, self._patch = kind, folder, url, patch
        self.time = START
        self._set_python_clock()
        self.ledger = self._opened()
        self.set_clock(START)

    def _opened(self):
        if self.kind == "memory":
            return MemoryLedger()
        if self.kind == "sqlite":
            return SQLiteLedger(self._folder / "ledger.sqlite")
        return PostgresLedger(self._url)

    def reopen(self) -> None:
        """As after a crash: a new object on the same file or database."""
        if self.kind != "memory":
            self.close()
            self.ledger = self._opened()

    def close(self) -> None:
        getattr(self.ledger, "close", lambda: None)()

    @property
    def written(self) -> str:
        return self.time.isoformat(timespec="milliseconds")

    def set_clock(self, time: datetime) -> None:
        self.time = time
        if self.kind == "postgres":
            with self.ledger.transaction() as connection:
                connection.execute(
                    "CREATE OR REPLACE FUNCTION privet.now() RETURNS text LANGUAGE sql RETURN "
                    f"'{self.written}'"
                )

    def pass_time(self, **amount: float) -> None:
        self.set_clock(self.time + timedelta(**amount))

    def _set_python_clock(self) -> None:
        self._patch.setattr(journal, "now", lambda: self.written)
