"""Count rows on a Spark cluster.

- :mod:`~privet.tables.spark.table`: the table, and its exact counts
- :mod:`~privet.tables.spark.codes`: encode rows in Spark's SQL
- :mod:`~privet.tables.spark.sums`: sum integers over rows in the executors' Python
"""
