"""Find out who somebody is: by a token of the accounts, or by what a provider says of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from privet.errors import AccessError
from privet.service.accounts import Accounts
from privet.service.audit_log.events import Person
from privet.service.oidc.settings import Claims

if TYPE_CHECKING:
    from privet.service.oidc.provider import Provider

_JWT = re.compile(r"[\w-]+\.[\w-]+\.[\w-]+")


class Directory:
    """The people of a curator."""

    def __init__(self, accounts: Accounts, provider: Provider | None = None) -> None:
        self.accounts, self.provider = accounts, provider

    def analyst_of(self, token: str) -> str:
        """Return whose token this is: of Privet, or an access token of the provider."""
        provider = self.provider
        if provider is None or not provider.settings.audience or not _JWT.fullmatch(token):
            return self.accounts.analyst_of(token)
        person = self.person_with(provider.verify(token, provider.settings.audience))
        if person.role != "analyst":
            raise AccessError(f"{person} is no analyst, and asks nothing")
        return person.name

    def person_of(self, token: str) -> Person:
        """Return whose token of Privet this is."""
        return self.accounts.person_of(token)

    def person_with(self, claims: Claims) -> Person:
        """Return who has these verified claims, if they may come in."""
        assert self.provider is not None
        person = self.provider.settings.person_of(claims)
        if not self.knows(person):
            raise AccessError(
                "you have no account here; ask the owner for one with the name that your provider "
                "gives you"
            )
        return person

    def knows(self, person: Person) -> bool:
        """Return whether somebody from the provider may (still) come in, by the settings of now.

        Analysts need an account; owners and auditors are those of the rule, while there is one.
        """
        if self.provider is None:
            return False
        settings = self.provider.settings
        if person.role == "analyst":
            return person.name in self.accounts.analysts()
        return bool(settings.owner if person.role == "owner" else settings.auditor)
