"""The curator as a running service: an owner's tables on one side, analysts on the other, HTTP
between.

- :mod:`~privet.service.home`: the folder of a curator: who may ask about what, and where the ledger
  is
- :mod:`~privet.service.accounts`: data sets, analysts, tokens and grants
- :mod:`~privet.service.requests`: what may be asked, typed and bounded
- :mod:`~privet.service.admission`: whose token it is, and whether they have to wait
- :mod:`~privet.service.door`: who comes in is known before anything they send is read
- :mod:`~privet.service.desk`: from a request to a recorded answer: charge once, answer once
- :mod:`~privet.service.requests`: the bodies of requests, and how large they may be
- :mod:`~privet.service.snapshots`: questions that see the same rows
- :mod:`~privet.service.limits`: sizes, rates and times
- :mod:`~privet.service.problems`: errors as problem+json
- :mod:`~privet.service.strict_json`: JSON without the extras of Python
- :mod:`~privet.service.app`: the routes
- :mod:`~privet.service.listening`: on loopback, with TLS or behind it
- :mod:`~privet.service.serve`: running it
- :mod:`~privet.service.page`: the page at ``/``
"""
