"""Ask a curator that is a set of functions in a PostgreSQL database, as if it were in this process.

- :mod:`~privet.client.sql.curator`: ``SQLCurator``, and what it cannot answer
- :mod:`~privet.client.sql.session`: the functions, called with a login that can do nothing else
- :mod:`~privet.client.sql.walks`: queries as the arrays that the functions take
"""
