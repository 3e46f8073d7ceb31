"""Compare a synthetic table with held-out rows, privately, and say what the comparison costs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from privet._types import Floats
from privet.accounting.cost import Cost, Number, compose_sequentially, parse_epsilon
from privet.accounting.statement import format_rounded_up
from privet.curator import AnyCurator
from privet.curator.spending import Spending
from privet.domain import Schema
from privet.domain.cells import Cells, Split
from privet.domain.questions import Partition, Question
from privet.errors import ParameterError
from privet.learners import PrivetClassifier
from privet.learners.evaluation import Evaluation, evaluate
from privet.model import Model
from privet.report.plots import draw_shares
from privet.synthetic.check_plan import count_public, label_parts, plan_check
from privet.synthetic.groups import sum_by_group

if TYPE_CHECKING:
    from matplotlib.figure import Figure


#: What the classifier that is trained on the synthetic rows is called in a report.
SYNTHETIC = "trained on the synthetic rows"


@dataclass(frozen=True, eq=False)
class Marginal:
    """The shares of each (part of the values, class) of an attribute, in synthetic and (noisy)
    held-out rows.
    """

    name: str
    synthetic: Floats
    held_out: Floats
    #: The deviation of the noise of a held-out share.
    deviation: float
    #: What each row of the tables is: a value, or values that were counted together.
    labels: tuple[str, ...] = ()

    @property
    def distance(self) -> float:
        """The share of rows that would have to change (total variation), as far as noise shows."""
        return min(float(np.abs(self.synthetic - self.held_out).sum()) / 2, 1.0)

    @property
    def floor(self) -> float:
        """The approximate distance that noise alone would show between equal tables.

        Laplace noise is deviation/sqrt(2) in size on average.
        """
        return self.deviation / math.sqrt(2) * self.synthetic.size / 2


@dataclass(frozen=True, eq=False)
class Check:
    """The result of a comparison, and its cost for one row of the held-out table.

    The cost is given as asked and for the declared neighbours.
    """

    schema: Schema
    marginals: tuple[Marginal, ...]
    models: Mapping[str, Evaluation]
    most_frequent: float
    row_cost: Cost
    cost: Cost
    private: bool


def check_synthetic(
    rows: Any, held_out: AnyCurator, epsilon: Number, *, against: Mapping[str, Model] | None = None
) -> Check:
    """Compare synthetic rows with a held-out table.

    Compared are the shares of values by class, and how right classifiers are.

    The default learner is trained on the synthetic rows, without noise: they are public.
    ``against`` names models that were trained otherwise, such as on the real rows, to be compared
    with it. Half of epsilon pays for the class counts of the values of every attribute, of which as
    many are counted together as :func:`~privet.synthetic.check_plan.plan_check` says; half for the
    confusion matrices of the models. Sensitivity: k for the counts, 1 for each matrix.
    Neighbours: one row of the held-out table added or removed. Cost: pure ``epsilon``.
    """
    schema = held_out.schema
    amount = parse_epsilon("epsilon", epsilon)
    others = dict(against or {})
    if SYNTHETIC in others:
        raise ParameterError(f"a model must not be called {SYNTHETIC!r}")
    for name, model in others.items():
        if model.schema.fingerprint != schema.fingerprint:
            raise ParameterError(
                f"the model {name!r} is for another schema: attributes, values, target or classes "
                "differ"
            )
    held_out.require([Cost.pure(amount)])  # before a classifier is trained for nothing
    public = schema.declare(n_rows=len(rows), person=None, rows_per_person=1)
    # What it is trained on has its price already: that of the synthetic table.
    tables = _compute_shares(public, rows)
    plan = plan_check(rows, schema, amount, models=1 + len(others))
    own = PrivetClassifier(math.inf, schema=public).fit(rows).model_
    models = {SYNTHETIC: own, **others}
    everything = Cells.everything(schema)
    parts = [
        Partition(everything.refine({0: Split(name, tuple(plan.parts[name].tolist()))}))
        for name in schema.names
    ]
    each = amount / 2 / len(models)
    with Spending.reserve(held_out, amount, "check of a synthetic table") as spending:
        answer = spending.curator.count(Question(tuple(parts)), amount / 2)
        evaluations = {
            name: evaluate(model, spending.curator, each) for name, model in models.items()
        }
    real = [table.astype(np.float64) for table in answer.tables]
    total = max(float(np.mean([table.sum() for table in real])), 1.0)
    marginals = tuple(
        Marginal(
            name,
            sum_by_group(synthetic, plan.parts[name]),
            counts / total,
            answer.deviation / total,
            label_parts(schema.attributes[name], plan.parts[name]),
        )
        for name, synthetic, counts in zip(schema.names, tables, real, strict=True)
    )
    answers = [answer, *(evaluation.answer for evaluation in evaluations.values())]
    classes = np.mean([table.sum(axis=0) for table in real], axis=0)
    return Check(
        schema,
        marginals,
        evaluations,
        float(np.clip(classes.max() / total, 0.0, 1.0)),
        compose_sequentially(one.row_cost for one in answers),
        compose_sequentially(one.cost for one in answers),
        held_out.private,
    )


def _compute_shares(schema: Schema, rows: Any) -> list[Floats]:
    """The shares of each (value, class) in public rows."""
    tables = count_public(schema, rows)
    return [table / table.sum() for table in tables]


# The picture: shares of values in the synthetic rows and in the held-out ones.

#: More attributes are not drawn: those that differ most are.
MOST_PANELS = 24


def draw_check(check: Check) -> Figure:
    """Draw a panel for each attribute."""
    worst = sorted(check.marginals, key=lambda one: one.floor - one.distance)[:MOST_PANELS]
    drawn = [one for one in check.marginals if one in worst]
    n_classes = check.schema.n_classes
    panels = {
        one.name: (
            one.labels or check.schema.attributes[one.name].labels,
            one.synthetic.sum(axis=1),
            one.held_out.sum(axis=1),
            one.deviation * math.sqrt(n_classes),
        )
        for one in drawn
    }
    cost = format_rounded_up(float(check.cost.epsilon or 0))
    caption = (
        "Whiskers: how far noise moves a held-out share, 19 times in 20, where that can be seen. "
        f"Showing this cost the held-out rows epsilon = {cost}."
    )
    return draw_shares(
        panels, names=("synthetic", "held out, noisy"), title="Shares of values", caption=caption
    )
