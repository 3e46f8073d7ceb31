"""Ask a provider for its addresses, its keys and its tokens, and verify what it signed.

Keys are fetched when a token names one that is not known, so that a provider can change them at any
time, and at most every few seconds, so that strangers who make up names of keys cause no traffic.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx2
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from privet.errors import AccessError
from privet.service.oidc.settings import (
    ALGORITHMS,
    Claims,
    OidcSettings,
    ProviderUnavailable,
    is_safe,
)

_SECONDS = 5.0
#: Seconds between two fetches of what the provider publishes, and for which it is kept.
_PAUSE, _KEPT = 5.0, 3600.0
_LARGEST = 1 << 20


@dataclass(frozen=True)
class _Published:
    """What a provider publishes: its addresses and its keys."""

    addresses: Mapping[str, Any]
    keys: KeySet
    at: float


class Provider:
    """A provider of OpenID Connect."""

    def __init__(self, settings: OidcSettings) -> None:
        self.settings = settings
        self._published: _Published | None = None
        self._tried = -_PAUSE
        self._lock = threading.Lock()

    def address(self, name: str) -> str:
        """Return one of the provider's addresses; empty where it has none of this name."""
        return str(self._get().addresses.get(name, ""))

    def redeem(self, code: str, verifier: str, redirect: str, nonce: str) -> Claims:
        """Return the verified claims of whoever came back with this code."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect,
            "code_verifier": verifier,
            "client_id": self.settings.client_id,
        }
        secret = self.settings.secret()
        basic = httpx2.BasicAuth(self.settings.client_id, secret) if secret else None
        told = self._fetch("POST", self.address("token_endpoint"), data=form, auth=basic)
        claims = self.verify(str(told.get("id_token", "")), self.settings.client_id)
        if claims.get("nonce") != nonce:
            raise AccessError("the provider answered another sign-in than this one; sign in again")
        several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if claims.get("azp", self.settings.client_id) != self.settings.client_id or (
            several and "azp" not in claims
        ):
            raise AccessError("this sign-in was made for another application")
        return claims

    def verify(self, token: str, audience: str) -> Claims:
        """Return the claims of a token that the provider signed for this audience, or raise."""
        try:
            claims = self._decode(token)
            registry = jwt.JWTClaimsRegistry(
                now=lambda: int(time.time()),
                leeway=self.settings.skew,
                iss={"essential": True, "value": self.settings.issuer},
                aud={"essential": True, "value": audience},
                exp={"essential": True},
                iat={"essential": True},
                sub={"essential": True},
            )
            registry.validate(claims)
        except (JoseError, ValueError, TypeError, KeyError) as error:
            # what it says may repeat the token
            raise AccessError(f"this token is not accepted ({type(error).__name__})") from None
        return claims

    def _decode(self, token: str) -> dict[str, Any]:
        """Verify a signature, with new keys where the known ones do not have it."""
        published = self._get()
        for last in (False, True):
            try:
                return dict(jwt.decode(token, published.keys, algorithms=list(ALGORITHMS)).claims)
            except (JoseError, ValueError):
                renewed = published if last else self._get(after=published)
                if renewed is published:
                    raise
                published = renewed
        raise AssertionError

    def _get(self, after: _Published | None = None) -> _Published:
        """Return what the provider publishes; ``after`` is what turned out to be too old."""
        with self._lock:
            known, now = self._published, time.monotonic()
            if known is not None and known is not after and now - known.at < _KEPT:
                return known
            if known is not None and now - self._tried < _PAUSE:
                return known
            self._tried = now
            try:
                self._published = self._read()
            except ProviderUnavailable:
                if known is None:
                    raise
                return known  # what was good a moment ago is better than nothing
            return self._published

    def _read(self) -> _Published:
        issuer = self.settings.issuer
        found = self._fetch("GET", f"{issuer.rstrip('/')}/.well-known/openid-configuration")
        if found.get("issuer") != issuer:
            raise ProviderUnavailable(f"the provider at {issuer} says that it is another")
        for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
            if not is_safe(str(found.get(name, ""))):
                raise ProviderUnavailable(f"the provider at {issuer} has no safe {name}")
        listed = self._fetch("GET", found["jwks_uri"])
        try:
            usable = [key for key in listed["keys"] if key.get("kty") in ("RSA", "EC", "OKP")]
            keys = KeySet.import_key_set({"keys": usable})
        except (JoseError, ValueError, KeyError, TypeError, AttributeError):
            raise ProviderUnavailable(f"the provider at {issuer} has no usable keys") from None
        return _Published(found, keys, time.monotonic())

    def _fetch(self, method: str, url: str, **more: Any) -> dict[str, Any]:
        try:
            with httpx2.Client(timeout=_SECONDS, follow_redirects=False) as client:
                response = client.request(method, url, **more)
            told = response.json() if len(response.content) <= _LARGEST else None
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
            raise ProviderUnavailable(
                f"the provider at {self.settings.issuer} cannot be asked ({type(error).__name__})"
            ) from None
        if method == "POST" and response.status_code in (400, 401):  # a code that is none
            raise AccessError("the provider does not confirm this sign-in; sign in again")
        if response.status_code != 200 or not isinstance(told, dict):
            raise ProviderUnavailable(
                f"the provider at {self.settings.issuer} answered with status "
                f"{response.status_code}"
            )
        return told
