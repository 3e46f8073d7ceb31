"""The client app: one party of the federation, which Flower runs where the table is."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.errors import MissingDependency, PrivacyError, PrivetError
from privet.federation.flower import encoding
from privet.federation.flower.encoding import WEIGHT, Encoding
from privet.federation.flower.party import Party, Round, guard_message
from privet.federation.flower.terms import Terms
from privet.federation.plan import plan_from_bytes

try:
    from flwr.app import Context
    from flwr.client import Client, NumPyClient
    from flwr.clientapp import ClientApp
except ImportError:
    raise MissingDependency("flwr", "flower", "a Flower client") from None

_log = logging.getLogger("privet.federation")


class PartyClient(NumPyClient):
    """Count once per round.

    What it returns goes to Flower's SecAgg+ mod, in this process, and is masked there.
    """

    def __init__(self, context: Context) -> None:
        self._context = context

    def fit(
        self, parameters: list[npt.NDArray[Any]], config: dict[str, Any]
    ) -> tuple[list[npt.NDArray[np.float64]], int, dict[str, bool | bytes | float | int | str]]:
        try:
            vector = _make_contribution(self._context, config)
        except Exception as error:  # noqa: BLE001
            # The owner reads why, unless an engine says it, which may quote rows. The server learns
            # the kind only: messages name files and budgets.
            kind = type(error).__name__
            _log.warning(
                "this party does not contribute: %s",
                error if isinstance(error, PrivetError) else kind,
            )
        else:
            return [vector], WEIGHT, {}
        raise PrivacyError(f"this party does not contribute ({kind})")


def _make_contribution(context: Context, config: dict[str, Any]) -> npt.NDArray[np.float64]:
    round_ = Round.from_context(context)
    terms = Terms.from_config(config)
    if terms.contributions != round_.threshold:
        raise PrivacyError(
            f"the sum opens from {round_.threshold} contributions on, and the terms say "
            f"{terms.contributions}"
        )
    plan = plan_from_bytes(bytes(config.get("plan", b"")))
    return Party.from_config(context.node_config).contribution(
        plan, terms, Encoding(round_.parties)
    )


def client_app() -> ClientApp:
    """Make a party's app.

    Everything but SecAgg+ is refused, so that a share can never leave it unmasked.
    """
    encoding.install()
    return ClientApp(_make_party_client, mods=[guard_message])


def _make_party_client(context: Context) -> Client:
    return PartyClient(context).to_client()


app = client_app()
