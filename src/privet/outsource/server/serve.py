"""Run the server."""

from __future__ import annotations

import pathlib

from privet.errors import MissingDependency
from privet.outsource.server.state import ServerLimits, ServerState


def run(
    state: ServerState,
    limits: ServerLimits,
    host: str,
    port: int,
    cert: pathlib.Path | None = None,
    key: pathlib.Path | None = None,
    *,
    behind_tls: bool = False,
) -> None:
    """Serve until told to stop. Says the address on standard error once it listens."""
    try:
        import uvicorn  # noqa: F401 - whether it is there

        from privet.outsource.server.app import create_app
        from privet.service.http import listen
    except ModuleNotFoundError as error:
        raise MissingDependency(
            error.name or "fastapi", "curator", "serving an outsourced table"
        ) from None
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
