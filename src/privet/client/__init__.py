"""Ask a curator over HTTP or SQL as if it were in this process.

- :mod:`~privet.client.curator`: ``connect`` and ``RemoteCurator``
- :mod:`~privet.client.elsewhere`: what is kept elsewhere of an account
- :mod:`~privet.client.sql`: a curator that is a set of functions in a database
- :mod:`~privet.client.session`: one data set at a curator, and the replies it gives
- :mod:`~privet.client.transport`: HTTP to one server, and its problems as errors
- :mod:`~privet.client.address`: check addresses and tokens before anything is sent
"""
