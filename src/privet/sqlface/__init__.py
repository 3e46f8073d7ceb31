"""Noisy counts for any SQL client: functions in the PostgreSQL database that holds the ledger.

``privet.ask`` charges the ledger, counts behind the boundary and keeps the noisy answer;
``privet.answer`` gives it, from a later transaction only, so that no ROLLBACK can take back the
charge of an answer that was seen.

- :mod:`~privet.sqlface.functions`: installs the functions, and says which data sets, roles and
  grants there are
- :mod:`~privet.sqlface.counting`: the statement that counts a data set, with every name quoted and
  every value bound
"""

from privet.sqlface.functions import SQLFunctions

__all__ = ["SQLFunctions"]
