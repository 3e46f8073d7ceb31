"""Check the address and the token of a curator before anything is sent."""

from __future__ import annotations

import ipaddress
import math
import os
import re
import ssl
from os import PathLike, fspath
from urllib.parse import urlsplit

from privet.errors import ParameterError, PrivacyError

TOKEN = "PRIVET_TOKEN"  # noqa: S105 - the name of a variable


def check_address(url: str, insecure: bool) -> str:
    """Return the address without what does not belong to it, or raise."""
    try:
        parts = urlsplit(url.strip())
        host, _ = parts.hostname, parts.port
    except (ValueError, AttributeError):
        raise ParameterError(
            "url must be the address of a curator, such as https://curator.example:8000"
        ) from None
    if parts.username is not None or parts.password is not None:
        raise ParameterError("url must not hold a name or password; give the token on its own")
    # Only what all readers of addresses read alike: the host that is checked must be the host that
    # is asked.
    plain = re.fullmatch(r"[A-Za-z0-9._:\[\]-]+", parts.netloc) and re.fullmatch(
        r"[\x21-\x7e]*", parts.path
    )
    if (
        parts.scheme not in ("http", "https")
        or not host
        or not plain
        or parts.query
        or parts.fragment
    ):
        raise ParameterError(
            "url must be the address of a curator, such as https://curator.example:8000, got "
            f"{url!r}"
        )
    if parts.scheme == "http" and not insecure and not _is_this_machine(host):
        raise PrivacyError(
            f"plain HTTP to {host} would show the token and the answers to everybody in between; "
            "use https://, or pass insecure=True if the way there is protected"
        )
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def find_token(token: str | None) -> str:
    """Return the token that was given, or that of the environment."""
    found = os.environ.get(TOKEN, "") if token is None else token
    if token is None and not found:
        raise ParameterError(
            f"a token is needed: set {TOKEN}, or pass --token-file (in Python, token=...)"
        )
    return found


def check_token(token: str) -> str:
    """Return the token, fit for a header, or raise.

    What is wrong with one is not shown.
    """
    bare = token.strip() if isinstance(token, str) else ""
    if not bare or not bare.isascii() or not bare.isprintable() or " " in bare:
        raise ParameterError(
            "token must be a text of printable ASCII characters without spaces, as the owner gave "
            "it"
        )
    return bare


def check_seconds(name: str, value: float) -> float:
    """Return a time in seconds, or raise."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ParameterError(f"{name} must be a number of seconds, zero or more, got {value!r}")
    return float(value)


def make_tls_context(ca: str | PathLike[str]) -> ssl.SSLContext:
    """Make a TLS context that trusts the certificates of one file only."""
    try:
        return ssl.create_default_context(cafile=fspath(ca))
    except (OSError, TypeError):  # what is no certificate is an SSLError, which is an OSError
        raise ParameterError(f"ca must be a file with certificates (PEM), got {ca!r}") from None
