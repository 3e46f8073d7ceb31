"""Do what an owner does: the same functions for the command line, the HTTP API and the page.

- :mod:`~privet.service.owner.desk`: who does it, and its record in the audit log
- :mod:`~privet.service.owner.datasets`: add, test, update, pause and remove data sets
- :mod:`~privet.service.owner.rights`: caps, grants and reservations
- :mod:`~privet.service.owner.people`: analysts, owners and auditors, and their tokens
- :mod:`~privet.service.owner.places`: which places may be named over HTTP
"""
