"""Ask curators from SQL, in a DuckDB connection of your own.

:func:`register` puts two functions into a connection: ``privet_count``, a noisy number, and
``privet_counts``, a table with a noisy number for each combination of some attributes' values. Both
charge the curator that they ask. :func:`open_table` opens a table of the connection for a curator.

It is a convenience for one process: whoever holds the connection can read the rows without asking.
For analysts whom you do not trust, see :mod:`privet.service.sql`.

Examples
--------
>>> import warnings
>>> import duckdb
>>> import privet as pv
>>> car = pv.datasets.load("car")
>>> connection = duckdb.connect()
>>> curator = pv.Curator(car.table, car.schema, pv.Budget(1))
>>> with warnings.catch_warnings(action="ignore"):
...     pv.sql.register(connection, {"car": curator})
>>> connection.execute("SELECT privet_count('car', epsilon := 0.1)").fetchone()
(...,)
"""

from privet.sql.functions import open_table, register

__all__ = ["open_table", "register"]
