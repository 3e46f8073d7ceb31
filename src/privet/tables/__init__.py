"""Open tables and count their rows exactly, behind the trust boundary.

- :mod:`~privet.tables.open`: ``open_table`` finds the right kind of table
- :mod:`~privet.tables.sources`: which kinds there are, and those of other packages
- :mod:`~privet.tables.base`: what every table and every source of counts can do
- :mod:`~privet.tables.memory`: data frames
- :mod:`~privet.tables.duckdb`: CSV and Parquet files and DuckDB databases
- :mod:`~privet.tables.sqlite`: SQLite files
- :mod:`~privet.tables.postgres`, :mod:`~privet.tables.spark`: count where the rows are
- :mod:`~privet.tables.kept_rows`, :mod:`~privet.tables.snapshot_scores`: what a snapshot keeps
- :mod:`~privet.tables.csv_lines`: read CSV files so that no line changes how another is read
- :mod:`~privet.tables.dialect`, :mod:`~privet.tables.grouping`: encode and count in SQL
- :mod:`~privet.tables.counting`: count blocks of encoded rows with compiled loops
- :mod:`~privet.tables.equivalence`: group rows that agree in some columns, for the owner only
"""
