"""Run the service."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from privet.accounting.ledger import Witness
from privet.errors import MissingDependency, ParameterError
from privet.service.limits import Limits
from privet.service.settings import Settings
from privet.service.state import ServiceState

if TYPE_CHECKING:
    from fastapi import FastAPI


def with_witness_elsewhere(state: ServiceState, settings: Settings) -> ServiceState:
    """Return what the curator keeps with the second witness of the settings, if they name one."""
    if settings.witness is None:
        return state
    if not settings.witness.is_file():
        raise ParameterError(
            f"there is no witness file {settings.witness}; check its name, or begin it with "
            f"'privet curator verify --witness {settings.witness} --new-witness'"
        )
    return replace(state, elsewhere=Witness(settings.witness))


def run(state: ServiceState, settings: Settings, limits: Limits) -> None:
    """Serve until told to stop. Says the address on standard error once it listens."""
    try:
        import uvicorn  # noqa: F401 - whether it is there

        from privet.service.app import create_app
        from privet.service.http import listen
        from privet.service.operations import Operations
    except ModuleNotFoundError as error:
        raise MissingDependency(error.name or "fastapi", "curator", "serving a curator") from None
    settings.metrics_token()  # one that is none is told now
    state = with_witness_elsewhere(state, settings)
    check_standbys = getattr(state.ledger, "check_standbys", None)
    if check_standbys is not None:
        for warning in check_standbys():
            sys.stderr.write(f"warning: {warning}\n")
    operations = Operations(
        settings.metrics_token,
        ids_from_proxy=settings.behind_tls,
        log_requests=settings.log == "json",
        verify_every=settings.verify_every,
    )
    apps: list[FastAPI] = []

    def make_app() -> FastAPI:
        apps.append(create_app(state, limits, operations, settings.oidc))
        return apps[0]

    listen(
        make_app,
        limits,
        str(state.path),
        settings.host,
        settings.port,
        settings.cert,
        settings.key,
        behind_tls=settings.behind_tls,
        log=settings.log,
        inside=lambda: [apps[0].state.handlers.shared.listen()],
    )
