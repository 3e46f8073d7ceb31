"""Who asked what, when, at what cost. Append-only; a charge is recorded before the data is touched.

- :mod:`~privet.ledger.base`: what every ledger does, and how a charge fits into its caps
- :mod:`~privet.ledger.journal`: the lines of a ledger, chained by their hashes, and the receipt of
  one
- :mod:`~privet.ledger.reservations`: amounts that are set aside for one fit
- :mod:`~privet.ledger.memory`: a ledger that lives as long as the process
- :mod:`~privet.ledger.sqlite`: a durable one in a file
- :mod:`~privet.ledger.postgres`: a durable one in a PostgreSQL server
- :mod:`~privet.ledger.verify`: whether a ledger is still what it was
- :mod:`~privet.ledger.witness`: what was seen of a ledger, kept outside of it
"""

from privet.ledger.base import Ledger, account_digest, left
from privet.ledger.journal import Entry, JournalEntry, Receipt
from privet.ledger.memory import MemoryLedger
from privet.ledger.postgres import PostgresLedger
from privet.ledger.reservations import Reservation
from privet.ledger.sqlite import SQLiteLedger
from privet.ledger.verify import verify
from privet.ledger.witness import Witness

__all__ = [
    "Entry",
    "JournalEntry",
    "Ledger",
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
