"""Listening with Uvicorn: on loopback, with TLS, or behind something that does TLS."""

from __future__ import annotations

import signal
import socket
import sys
from collections.abc import Callable
from ipaddress import ip_address
from pathlib import Path

from starlette.types import ASGIApp

from privet.errors import ParameterError, PrivacyError


def listen(
    make_app: Callable[[], ASGIApp],
    what: str,
    host: str,
    port: int,
    cert: Path | None = None,
    key: Path | None = None,
    *,
    behind_tls: bool = False,
) -> None:
    """Serve until told to stop. Says what is served, and the address, on standard error once it
    listens.

    ``make_app`` opens what is served; it is called when all that can be wrong with the address has
    been looked at.
    """
    import uvicorn

    if (cert is None) != (key is None):
        raise ParameterError("give both cert and key, or neither")
    for name, path in (("cert", cert), ("key", key)):
        if path is not None and not path.is_file():
            raise ParameterError(f"{name} must be a file, got {path}")
    if cert is None and not behind_tls and not _is_loopback(host):
        raise PrivacyError(
            f"listening at {host} without TLS would let anybody on the way read tokens and "
            "answers; give --cert and --key, or --behind-tls where something in front does TLS"
        )
    app = make_app()
    try:
        listener = socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=512
        )
    except OSError as error:
        raise ParameterError(f"cannot listen at {host} port {port}: {error}") from None
    # else every answer waits for an acknowledgement, some 40 ms
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    config = uvicorn.Config(
        app,
        http="h11",  # one parser and one loop, whatever else is installed
        ws="none",
        loop="asyncio",
        log_level="warning",
        access_log=False,  # an address in a log could name a question
        server_header=False,
        ssl_certfile=cert,
        ssl_keyfile=key,
        timeout_graceful_shutdown=30,
        limit_concurrency=1000,
        proxy_headers=behind_tls,  # whoever is in front says who asks; nobody else may
    )
    at = f"[{host}]" if ":" in host else host
    sys.stderr.write(
        f"serving {what} at "
        f"{'http' if cert is None else 'https'}://{at}:{listener.getsockname()[1]} (Ctrl-C "
        "stops)\n"
    )
    sys.stderr.flush()
    # Uvicorn ends gracefully and then sends itself the signal again; to be told to stop is no
    # failure.
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        uvicorn.Server(config).run(sockets=[listener])
    finally:
        signal.signal(signal.SIGTERM, before)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
