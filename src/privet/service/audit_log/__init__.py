"""Keep the audit log: every change of rights, caps, data sets, tokens, roles and limits, and every
refused sign-in and question.

- :mod:`~privet.service.audit_log.events`: events, chained by their hashes as a ledger's lines are
- :mod:`~privet.service.audit_log.store`: the log in an SQLite file, or beside a ledger in
  PostgreSQL
- :mod:`~privet.service.audit_log.words`: a refused request in words
- :mod:`~privet.service.audit_log.refusals`: refused attempts, so many for each span at most
"""

from privet.service.audit_log.events import Event, Person, verify_log
from privet.service.audit_log.refusals import Refusals
from privet.service.audit_log.store import AuditLog, PostgresAuditLog, SQLiteAuditLog

__all__ = [
    "AuditLog",
    "Event",
    "Person",
    "PostgresAuditLog",
    "Refusals",
    "SQLiteAuditLog",
    "verify_log",
]
