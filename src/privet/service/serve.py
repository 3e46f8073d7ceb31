"""Run the service."""

from __future__ import annotations

from pathlib import Path

from privet.errors import MissingDependency
from privet.service.limits import Limits
from privet.service.state import ServiceState


def run(
    state: ServiceState,
    limits: Limits,
    host: str,
    port: int,
    cert: Path | None = None,
    key: Path | None = None,
    *,
    behind_tls: bool = False,
) -> None:
    """Serve until told to stop. Says the address on standard error once it listens."""
    try:
        import uvicorn  # noqa: F401 - whether it is there

        from privet.service.app import create_app
        from privet.service.http import listen
    except ModuleNotFoundError as error:
        raise MissingDependency(error.name or "fastapi", "curator", "serving a curator") from None
    listen(
        lambda: create_app(state, limits),
        limits,
        str(state.path),
        host,
        port,
        cert,
        key,
        behind_tls=behind_tls,
    )
