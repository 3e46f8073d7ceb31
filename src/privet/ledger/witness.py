"""What was seen of a ledger, kept outside of it: a history that was cut short or restored from a
backup no longer reaches it.
"""

from __future__ import annotations

import re
import secrets
import threading
from os import PathLike
from pathlib import Path

from privet.errors import LedgerError
from privet.ledger.base import Ledger
from privet.ledger.journal import Entry, JournalEntry, Receipt


class Witness:
    """A small file with the last line that was seen of a ledger. It should lie on another disk than
    the ledger.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()

    def seen(self) -> Receipt | None:
        """The last line that was seen, if any was."""
        try:
            text = self.path.read_text(encoding="ascii")
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise LedgerError(f"cannot read the witness {self.path}: {error}") from None
        if not text:  # a power cut may leave it so; nobody gains by emptying what could be removed
            return None
        if not re.match(r"privet-receipt-1\.", text):
            raise LedgerError(f"the witness {self.path} is damaged")
        return Receipt.read(text)

    def note(self, ledger: Ledger, line: Entry | JournalEntry) -> None:
        """Remember a line, unless a later one was seen already. What was seen before must still be
        there, or it is not forgotten.

        Processes may lose each other's note: then an earlier line is kept.
        """
        with self._lock:
            before = self.seen()
            if before is not None:
                self._check(before, ledger)
                if before.number >= line.number:
                    return
            beside = self.path.with_name(f"{self.path.name}.{secrets.token_hex(4)}")
            try:
                beside.write_text(
                    f"{Receipt(ledger.identity, line.number, line.hash)}\n", encoding="ascii"
                )
                beside.replace(self.path)
            except OSError as error:
                beside.unlink(missing_ok=True)
                raise LedgerError(f"cannot write the witness {self.path}: {error}") from None

    def _check(self, before: Receipt, ledger: Ledger) -> None:
        there = ledger.line(before.number) if before.ledger == ledger.identity else None
        if there is None or there.hash != before.hash:
            raise LedgerError(
                f"the ledger is not the one that the witness {self.path} has seen: line "
                f"{before.number} is gone or another. "
                "It was cut or replaced, perhaps by a backup, while it was in use"
            )
