"""Say which provider is trusted, and who its people are here: ``[oidc]`` of the settings.

A person of the provider is an account by the claim ``name_claim``. Nobody gets an account by
signing in: an analyst must be there, and has the grants that the owner gave. Who is an owner or an
auditor is said by claims that must be there.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from privet._secret_files import read_secret
from privet._validate import suggest
from privet.accounting.ledger.base import check_name
from privet.errors import AccessError, ParameterError, PrivetError
from privet.service.audit_log.events import Person

Claims = Mapping[str, Any]
#: Signatures that are accepted: by private keys only, which no reader of a public key can make.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA")


class ProviderUnavailable(PrivetError):
    """The provider cannot be asked, or says what no provider says."""


@dataclass(frozen=True)
class OidcSettings:
    """A provider, and the rule from its claims to accounts.

    ``audience`` is what access tokens for programs must be made for; without it, programs send
    tokens of Privet. It is not ``client_id``, or what proves a sign-in would be a key, too.
    """

    issuer: str
    client_id: str
    client_secret_file: Path | None = None
    client_secret: str = field(default="", repr=False)
    audience: str = ""
    name_claim: str = "sub"
    require: Mapping[str, str] = field(default_factory=dict)
    owner: Mapping[str, str] = field(default_factory=dict)
    auditor: Mapping[str, str] = field(default_factory=dict)
    scope: str = "openid profile"
    skew: int = 60

    def secret(self) -> str:
        """Return the client's secret as it is now; empty for a public client."""
        if self.client_secret_file is None:
            return self.client_secret
        return read_secret("oidc.client_secret_file", self.client_secret_file)

    def person_of(self, claims: Claims) -> Person:
        """Return who somebody with these verified claims is here, or raise."""
        if not _has(claims, self.require):
            raise AccessError("your account at the provider may not use this curator")
        name = claims.get(self.name_claim)
        if self.name_claim == "email" and claims.get("email_verified") is not True:
            raise AccessError("the provider has not verified your e-mail address")
        if not isinstance(name, str):
            raise AccessError(f"the provider does not say {self.name_claim!r} of you")
        try:
            check_name("name", name)
        except ParameterError:
            raise AccessError(f"{self.name_claim!r} of you is no name of an account") from None
        if self.owner and _has(claims, self.owner):
            return Person(name, "owner")
        if self.auditor and _has(claims, self.auditor):
            return Person(name, "auditor")
        return Person(name, "analyst")


def _has(claims: Claims, wanted: Mapping[str, str]) -> bool:
    """Whether each claim is, or holds, the text that it must."""
    for name, text in wanted.items():
        said = claims.get(name)
        if said != text and not (isinstance(said, list) and text in said):
            return False
    return True


def read_oidc(table: Any, where: str, secret: str = "") -> OidcSettings:
    """Read the table ``[oidc]``, or raise with all that is wrong."""
    if not isinstance(table, dict):
        raise ParameterError(f"{where}oidc must be a table: [oidc]")
    known = {one.name: one for one in fields(OidcSettings) if one.name != "client_secret"}
    problems = []
    for name, value in table.items():
        if name not in known:
            meant = suggest(name, list(known))
            problems.append(
                f"{where}oidc.{name}: there is no such setting; there are {', '.join(known)}"
                + (f"; {meant}" if meant else "")
            )
        elif not _is_of(str(known[name].type), value):
            problems.append(f"{where}oidc.{name} must be {_KINDS[str(known[name].type)]}")
    for name, one in known.items():
        if one.default is MISSING and one.default_factory is MISSING and name not in table:
            problems.append(f"{where}oidc.{name} is missing")
    if not problems:
        problems += [f"{where}oidc.{problem}" for problem in _check(table)]
    if problems:
        raise ParameterError("\n".join(problems))
    given = dict(table)
    if "client_secret_file" in given:
        given["client_secret_file"] = Path(given["client_secret_file"])
    return OidcSettings(**given, client_secret=secret)


_KINDS = {
    "str": "a text",
    "int": "an integer from 0 to 600",
    "Path | None": "the path of a file",
    "Mapping[str, str]": 'a table of claims and texts, such as { groups = "privet" }',
}


def _is_of(kind: str, value: Any) -> bool:
    if kind == "int":
        return type(value) is int and 0 <= value <= 600
    if kind == "Mapping[str, str]":
        return isinstance(value, dict) and all(isinstance(one, str) for one in value.values())
    return isinstance(value, str) and value != "" and value.isprintable()


def _check(table: Mapping[str, Any]) -> list[str]:
    problems = []
    if not is_safe(table["issuer"]):
        problems.append("issuer must be an https:// address; http:// is for this machine")
    if table.get("audience") == table["client_id"]:
        problems.append("audience must not be client_id: say what access tokens are made for")
    if "openid" not in table.get("scope", "openid").split():
        problems.append("scope must have openid in it")
    return problems


def is_safe(url: str) -> bool:
    """Return whether nobody in between can read or change what goes to this address."""
    parts = urlsplit(url)
    if parts.scheme == "https":
        return bool(parts.hostname)
    try:
        local = ipaddress.ip_address(parts.hostname or "").is_loopback
    except ValueError:
        local = parts.hostname == "localhost"
    return parts.scheme == "http" and local
