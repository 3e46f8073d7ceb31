"""Count the rows of a table in an SQLite file, with Python's own ``sqlite3``.

- :mod:`~privet.tables.sqlite.table`: the table, and its exact counts
- :mod:`~privet.tables.sqlite.codes`: statements that encode rows
- :mod:`~privet.tables.sqlite.functions`: what statements call in Python
- :mod:`~privet.tables.sqlite.connections`: read-only connections, silent about rows
"""
