"""Serve the web page at ``/``: the owner sees every budget, an analyst their own.

It is made on the server, loads nothing and runs no script.

- :mod:`~privet.service.page.site`: routes, sessions and templates
- :mod:`~privet.service.page.provider`: signing in at a provider of OpenID Connect
- :mod:`~privet.service.page.owner`, :mod:`~privet.service.page.analyst`: what the two views show
- :mod:`~privet.service.page.listing`: charges, filtered and paged
- :mod:`~privet.service.amounts`: amounts in few digits, and as bars
"""

from fastapi import APIRouter

from privet.service.handlers import RequestHandlers
from privet.service.page import provider, site

__all__ = ["routes"]


def routes(handlers: RequestHandlers) -> APIRouter:
    """Make the routes of the page."""
    sessions = site.Sessions(handlers.directory, handlers.shared)
    router = site.routes(handlers, sessions)
    if handlers.directory.provider is not None:
        router.include_router(provider.routes(handlers, sessions))
    return router
