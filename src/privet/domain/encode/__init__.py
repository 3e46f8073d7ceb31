"""Turn rows into small integers, one row at a time and whatever a table holds.

- :mod:`~privet.domain.encode.rows`: encode a table, and name what does not fit its schema
- :mod:`~privet.domain.encode.columns`: read a column of any kind of table in blocks
- :mod:`~privet.domain.encode.pandas_columns`, :mod:`~privet.domain.encode.arrow_columns`,
  :mod:`~privet.domain.encode.polars_columns`: columns of the three libraries
- :mod:`~privet.domain.encode.values`: encode single values
- :mod:`~privet.domain.encode.steps`: encode numbers, which is looking them up among sorted steps
- :mod:`~privet.domain.encode.loops`: the same, compiled
"""
