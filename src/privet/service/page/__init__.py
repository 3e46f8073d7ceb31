"""Serve the web page at ``/``: the owner sees every budget, an analyst their own.

It is made on the server, loads nothing and runs no script.

- :mod:`~privet.service.page.site`: routes, sessions and templates
- :mod:`~privet.service.page.owner`, :mod:`~privet.service.page.analyst`: what the two views show
- :mod:`~privet.service.page.listing`: charges, filtered and paged
- :mod:`~privet.service.page.amounts`: amounts in few digits, and as bars
"""

from privet.service.page.site import routes

__all__ = ["routes"]
