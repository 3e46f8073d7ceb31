"""Read what is written about a table's columns; no row is read.

- :mod:`~privet.tables.catalog.read`: names, types, labels, keys and rules of any source
- :mod:`~privet.tables.catalog.rules`: values and bounds in CHECK constraints
"""
