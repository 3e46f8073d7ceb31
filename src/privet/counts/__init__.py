"""Exact counts, behind the trust boundary.

- :mod:`~privet.counts.base`: what a table and a source of counts are
- :mod:`~privet.counts.memory`: data frames, encoded to a matrix of small integers
- :mod:`~privet.counts.duckdb`: CSV and Parquet files and DuckDB databases, read by DuckDB;
  :mod:`~privet.counts.kept`: their snapshots
- :mod:`~privet.counts.csv_lines`: CSV files, every line by itself
- :mod:`~privet.counts.postgres`, :mod:`~privet.counts.spark`: tables that are counted where they
  are
- :mod:`~privet.counts.sql`, :mod:`~privet.counts.cases`: quoting, encoding and counting in SQL
- :mod:`~privet.counts.counting`: a question, fed with blocks of codes;
  :mod:`~privet.counts.leaf_bits` and :mod:`~privet.counts.leaf_counts` for forests,
  :mod:`~privet.counts.histograms` and :mod:`~privet.counts.kernels` for the rest
- :mod:`~privet.counts.equivalence`: rows that agree in some columns, for the owner's own eyes
- :mod:`~privet.counts.open`: ``open_table``, which finds the right one
"""
