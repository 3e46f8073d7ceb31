"""Serve an outsourced table: both halves, and never the key.

The server grows trees from what identifies people, says which leaf a row reaches, hands out the
rows of a leaf with the sensitive values of their groups, and keeps what clients seal. It cannot say
whose value is whose.

- :mod:`~privet.outsource.server.app`: the routes; :mod:`~privet.outsource.server.serve`: run them
- :mod:`~privet.outsource.server.handlers`: what they do
- :mod:`~privet.outsource.server.requests`: what may be sent, and errors as problem+json
- :mod:`~privet.outsource.server.state`: the folder that a server keeps, and its limits
- :mod:`~privet.outsource.server.page`: the page at ``/``
"""
