"""Run a curator as a service: the owner's tables on one side, analysts on the other.

- :mod:`~privet.service.app`: the HTTP routes; :mod:`~privet.service.serve`: run them
- :mod:`~privet.service.admission`: whose token a request has, and whether they have to wait
- :mod:`~privet.service.handlers`: answer a request: who asks, may they, charge, answer, record
- :mod:`~privet.service.requests`: the bodies of requests
- :mod:`~privet.service.accounts`: data sets, analysts, tokens and grants
- :mod:`~privet.service.state`: the folder that the service keeps all of it in
- :mod:`~privet.service.snapshots`: queries of one analyst that see the same rows
- :mod:`~privet.service.limits`: sizes, rates, times and memory, and the file that sets them
- :mod:`~privet.service.connections`: how many connections there are, and how long they may wait
- :mod:`~privet.service.workers`: threads for questions, shared among data sets and analysts
- :mod:`~privet.service.http`: middleware, strict JSON and listening, for servers of outsourced
  tables too
- :mod:`~privet.service.problems`: errors as problem+json
- :mod:`~privet.service.page`: the web page
- :mod:`~privet.service.sql`: noisy counts for SQL clients
"""
