"""Go to the provider and come back: state, nonce and PKCE, kept by the browser in the meantime.

The three are in a cookie that only this host can set and no script can read, so any process of the
service can take whoever comes back.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from privet.errors import AccessError
from privet.service.oidc.settings import Claims, ProviderUnavailable

if TYPE_CHECKING:
    from privet.service.oidc.provider import Provider

#: Where the provider sends people back to.
CALLBACK = "/oidc/callback"


@dataclass(frozen=True)
class Journey:
    """One way to the provider and back."""

    state: str
    nonce: str
    verifier: str

    @classmethod
    def begin(cls) -> Journey:
        """Draw what nobody else can know."""
        return cls(*(secrets.token_urlsafe(32) for _ in range(3)))

    @classmethod
    def read(cls, cookie: str | None) -> Journey:
        """Read what the browser kept, or raise."""
        parts = (cookie or "").split(".")
        if len(parts) != 3 or not all(parts):
            raise AccessError("this sign-in was not begun here, or took too long; sign in again")
        return cls(*parts)

    def __str__(self) -> str:
        return f"{self.state}.{self.nonce}.{self.verifier}"

    def address(self, provider: Provider, redirect: str) -> str:
        """Return where the browser has to go."""
        challenge = base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest())
        query = {
            "response_type": "code",
            "client_id": provider.settings.client_id,
            "redirect_uri": redirect,
            "scope": provider.settings.scope,
            "state": self.state,
            "nonce": self.nonce,
            "code_challenge": challenge.decode().rstrip("="),
            "code_challenge_method": "S256",
        }
        return f"{provider.address('authorization_endpoint')}?{urlencode(query)}"

    def finish(self, provider: Provider, sent: dict[str, str], redirect: str) -> Claims:
        """Return the verified claims of whoever came back."""
        if not hmac.compare_digest(sent.get("state", "").encode(), self.state.encode()):
            raise AccessError("this sign-in was not begun here; sign in again")
        if sent.get("iss", provider.settings.issuer) != provider.settings.issuer:
            raise AccessError("another provider answered; sign in again")
        if "code" not in sent:
            raise AccessError("the provider did not sign you in")
        return provider.redeem(sent["code"], self.verifier, redirect, self.nonce)


def make_sign_out_address(provider: Provider, back: str) -> str:
    """Return where to sign out at the provider, too; empty where it says no such address."""
    try:
        at = provider.address("end_session_endpoint")
    except ProviderUnavailable:  # whoever signs out is out here in any case
        return ""
    query = {"client_id": provider.settings.client_id, "post_logout_redirect_uri": back}
    return f"{at}?{urlencode(query)}" if at else ""
