"""Count rows inside a PostgreSQL server.

- :mod:`~privet.tables.postgres.table`: the table, and its exact counts
- :mod:`~privet.tables.postgres.codes`: encode rows in PostgreSQL's SQL
- :mod:`~privet.tables.postgres.connections`: read-only connections whose errors say nothing of rows
"""
