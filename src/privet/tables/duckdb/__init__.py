"""Read CSV and Parquet files and DuckDB databases with DuckDB.

- :mod:`~privet.tables.duckdb.table`: the table, and its exact counts
- :mod:`~privet.tables.duckdb.codes`: connections, and statements that encode rows
"""
