"""The page at ``/``, for people: the owner sees every budget and the ledger, an analyst sees their
own part.

It is made on the server, loads nothing and runs no script.

- :mod:`~privet.service.page.site`: the routes
- :mod:`~privet.service.page.sessions`: who has signed in
- :mod:`~privet.service.page.browser`: what is asked of browsers, and what they are told: origins,
  cookies, headers
- :mod:`~privet.service.page.owner`, :mod:`~privet.service.page.analyst`: what the two views show
- :mod:`~privet.service.page.listing`: charges, filtered and paged
- :mod:`~privet.service.page.plan`: what a plan would cost
- :mod:`~privet.service.page.bars`, :mod:`~privet.service.page.chart`: pictures
- :mod:`~privet.service.page.amounts`: amounts in few digits
- :mod:`~privet.service.page.render`: from a view to HTML
"""

from privet.service.page.site import routes

__all__ = ["routes"]
