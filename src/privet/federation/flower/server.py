"""The server app: send a plan and its terms, add up the counts by SecAgg+, and write the model."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from privet._validate import check_integer
from privet.accounting.cost import Cost
from privet.curator.spending import state_secure_sum
from privet.errors import MissingDependency, ParameterError, PrivacyError
from privet.federation.flower import encoding
from privet.federation.flower import terms as trust
from privet.federation.flower.encoding import MAX_PARTIES, MODULUS, WEIGHT, Encoding
from privet.federation.flower.terms import Terms, read_timeout, require_key
from privet.federation.plan import plan_to_bytes, read_plan
from privet.learners.random_trees.batches import PEOPLE, make_batch_model
from privet.learners.random_trees.drawing import Plan
from privet.learners.released import save
from privet.mechanisms.shares import deviation_of_shares
from privet.model import Model
from privet.model.leaf_vectors import Batch

try:
    from flwr.app import Context
    from flwr.common import FitIns, Parameters, parameters_to_ndarrays
    from flwr.server import ClientManager, Grid, LegacyContext, ServerConfig
    from flwr.server.strategy import Strategy
    from flwr.server.workflow import DefaultWorkflow, SecAggPlusWorkflow
    from flwr.serverapp import ServerApp
except ImportError:
    raise MissingDependency("flwr", "flower", "a Flower server") from None


@dataclass(frozen=True)
class RunSettings:
    """The settings in the run's configuration.

    Args:
        plan: the plan file that ``privet federation plan`` wrote.
        terms: epsilon, honest, colluding, rows_per_person.
        parties: how many parties there are.
        output: where the model goes.
        people: ``"disjoint"`` if nobody is in the tables of two parties, otherwise
            ``"may-overlap"``.
        timeout: how many seconds to wait for the parties at each stage.
    """

    plan: Path
    terms: Terms
    parties: int
    output: Path
    people: str
    timeout: float

    @classmethod
    def from_config(cls, config: Mapping[str, object]) -> RunSettings:
        terms = Terms.from_config(config)
        parties = check_integer("parties", require_key(config, "parties"), 2, MAX_PARTIES)
        if parties < terms.contributions:
            raise ParameterError(
                f"parties must be at least honest + colluding = {terms.contributions}, got "
                f"{parties}"
            )
        people = str(require_key(config, "people"))
        PEOPLE.check("people", people)
        return cls(
            Path(str(require_key(config, "plan"))),
            terms,
            parties,
            Path(str(require_key(config, "output"))),
            people,
            read_timeout(config, 60.0),
        )


@dataclass(frozen=True)
class Sum:
    """What the server saw: the sum of all vectors, and how many there were."""

    vector: npt.NDArray[np.int64]
    contributions: int


class AskOnce(Strategy):
    """Ask all parties once, with the plan and its terms, and keep the sum."""

    def __init__(self, plan: Plan, settings: RunSettings) -> None:
        self._config = {**settings.terms.to_config(), "plan": plan_to_bytes(plan)}
        self._settings, self._encoding = settings, Encoding(settings.parties)
        self.sum: Sum | None = None

    def initialize_parameters(self, client_manager: ClientManager) -> Parameters:
        return Parameters([], "numpy.ndarray")

    def configure_fit(
        self, server_round: int, parameters: Parameters, client_manager: ClientManager
    ) -> list[Any]:
        until = time.monotonic() + self._settings.timeout
        while (
            there := client_manager.num_available()
        ) < self._settings.parties and time.monotonic() < until:
            time.sleep(0.2)
        if there != self._settings.parties:
            raise ParameterError(
                f"parties must be as many as are connected: {self._settings.parties} are expected, "
                f"{there} are there"
            )
        return [
            (proxy, FitIns(parameters, dict(self._config)))
            for proxy in client_manager.all().values()
        ]

    def aggregate_fit(
        self, server_round: int, results: list[Any], failures: list[Any]
    ) -> tuple[None, dict[str, Any]]:
        (mean,) = parameters_to_ndarrays(results[0][1].parameters)
        self.sum = Sum(self._encoding.decode(mean, len(results)), len(results))
        return None, {}

    def configure_evaluate(
        self, server_round: int, parameters: Parameters, client_manager: ClientManager
    ) -> list[Any]:
        return []

    def aggregate_evaluate(
        self, server_round: int, results: list[Any], failures: list[Any]
    ) -> tuple[None, dict[str, Any]]:
        return None, {}

    def evaluate(self, server_round: int, parameters: Parameters) -> None:
        return None


def secure_sum(grid: Grid, context: Context, plan: Plan, settings: RunSettings) -> Sum:
    """Run one round of SecAgg+, everybody sharing keys with everybody."""
    encoding.install()
    limit = Encoding(settings.parties).limit
    workflow = SecAggPlusWorkflow(
        num_shares=1.0,
        reconstruction_threshold=settings.terms.contributions,
        max_weight=float(WEIGHT),
        clipping_range=float(limit),
        quantization_range=2 * limit,
        modulus_range=MODULUS,
        timeout=settings.timeout,
    )
    strategy = AskOnce(plan, settings)
    DefaultWorkflow(fit_workflow=workflow)(
        grid, LegacyContext(context, ServerConfig(num_rounds=1), strategy)
    )
    if strategy.sum is None or strategy.sum.contributions < settings.terms.contributions:
        terms = settings.terms
        raise PrivacyError(
            f"fewer than {terms.contributions} of {settings.parties} parties contributed (honest "
            f"{terms.honest} and colluding {terms.colluding}), or one left before the counting "
            "began: nothing was unmasked and no model is written; what parties charged stands"
        )
    return strategy.sum


def model_of(plan: Plan, settings: RunSettings, total: Sum) -> Model:
    """Make the model of a sum, with the trust model in its privacy statement.

    Cost: pure epsilon if nobody is in two tables, otherwise epsilon times the contributions.
    Neighbours: one row added or removed, in each of them.
    """
    shapes = [(cells.n_cells, plan.schema.n_classes) for cells in plan.forest]
    tables = np.split(total.vector, np.cumsum([rows * classes for rows, classes in shapes])[:-1])
    scale = Fraction(len(plan.forest)) / settings.terms.epsilon
    deviation = deviation_of_shares(scale, settings.terms.honest, total.contributions)
    # Somebody in all tables moves one noise by so many rows: group privacy, for which rho grows
    # with the square.
    tables_of_a_person = 1 if settings.people == "disjoint" else total.contributions
    schema = plan.schema.declare(rows_per_person=settings.terms.rows_per_person)
    statement = state_secure_sum(
        schema,
        f"leaf counts of {len(plan.forest)} trees, in a secure sum",
        Cost.pure(settings.terms.epsilon * tables_of_a_person),
        notes=trust.describe_trust(
            settings.terms, settings.parties, total.contributions, settings.people
        ),
        assumes=trust.describe_assumption(settings.terms, total.contributions, settings.people),
    )
    batch = Batch(
        tuple(table.reshape(shape) for table, shape in zip(tables, shapes, strict=True)), deviation
    )
    return make_batch_model(plan, batch, statement, schema)


def run(grid: Grid, context: Context) -> Model:
    """Run everything: read the plan, ask, add up, write."""
    settings = RunSettings.from_config(context.run_config)
    plan = read_plan(settings.plan)
    if plan.schema.from_data:
        raise PrivacyError(
            "the plan's schema was read off the data, so that nothing counted with it is private"
        )
    model = model_of(plan, settings, secure_sum(grid, context, plan, settings))
    save(model, settings.output)
    return model


app = ServerApp()


@app.main()
def main(grid: Grid, context: Context) -> None:
    run(grid, context)
