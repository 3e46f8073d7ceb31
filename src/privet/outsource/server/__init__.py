"""The server of an outsourced table: it holds both halves and never the key.

It grows trees from what identifies people, answers which leaf a row reaches, hands out the rows of
a leaf with the sensitive values of their groups, and keeps what clients seal. What it cannot do is
say whose value is whose.

- :mod:`~privet.outsource.server.home`: what a server keeps
- :mod:`~privet.outsource.server.counter`: all that it does, without HTTP
- :mod:`~privet.outsource.server.growing`: trees, one at a time
- :mod:`~privet.outsource.server.app`: the routes, :mod:`~privet.outsource.server.requests` what may
  be sent to them
- :mod:`~privet.outsource.server.limits`, :mod:`~privet.outsource.server.problems`,
  :mod:`~privet.outsource.server.page`
- :mod:`~privet.outsource.server.serve`: running it
"""
