"""Answer SQL clients: functions in the PostgreSQL database that holds the ledger.

``privet.ask`` charges the ledger, counts behind the boundary and keeps the noisy answer.
``privet.answer`` and ``privet.counts`` return it, from a later transaction only, so that no
ROLLBACK can take back the charge of an answer that was seen.

- :mod:`~privet.service.sql.functions`: the data sets that can be asked, and who may ask
- :mod:`~privet.service.sql.installation`: install, upgrade and uninstall the functions
"""

from privet.service.sql.functions import SQLFunctions

__all__ = ["SQLFunctions"]
