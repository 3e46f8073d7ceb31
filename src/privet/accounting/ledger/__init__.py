"""Record who asked what, when and at what cost, before the data is touched.

- :mod:`~privet.accounting.ledger.base`: what every ledger does, and how a charge fits its caps
- :mod:`~privet.accounting.ledger.journal`: entries chained by their hashes, receipts, JSON
- :mod:`~privet.accounting.ledger.reservations`: amounts that are set aside for one fit
- :mod:`~privet.accounting.ledger.memory`: a ledger that lives as long as the process
- :mod:`~privet.accounting.ledger.sqlite`: a durable one in a file;
  :mod:`~privet.accounting.ledger.sqlite_files`: its tables and connections
- :mod:`~privet.accounting.ledger.postgres`: a durable one in a PostgreSQL server
- :mod:`~privet.accounting.ledger.verify`: check a ledger, also against a witness kept elsewhere
"""

from privet.accounting.ledger.base import Ledger, LedgerReader, account_digest, left
from privet.accounting.ledger.journal import Entry, JournalEntry, Receipt
from privet.accounting.ledger.memory import MemoryLedger
from privet.accounting.ledger.postgres import PostgresLedger
from privet.accounting.ledger.reservations import Reservation
from privet.accounting.ledger.sqlite import SQLiteLedger
from privet.accounting.ledger.verify import Witness, verify

__all__ = [
    "Entry",
    "JournalEntry",
    "Ledger",
    "LedgerReader",
    "MemoryLedger",
    "PostgresLedger",
    "Receipt",
    "Reservation",
    "SQLiteLedger",
    "Witness",
    "account_digest",
    "left",
    "verify",
]
