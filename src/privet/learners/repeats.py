"""Repeat a fit on synthetic rows, to see how far noise alone moves what a model shows.

A released model says who its people are (its population) and how likely each class is. Rows that
are drawn from both, as many as the model was trained on, make a table about nobody. The same
learner with the same epsilon on such tables gives models that differ by the noise of the mechanism
and of sampling, and by nothing else: the parametric bootstrap. No private row is read, and no
ledger but that of the synthetic rows is charged.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from privet import learners
from privet._types import Codes, Floats
from privet.accounting.conversion import epsilon_for
from privet.accounting.cost import Budget
from privet.curator import Curator
from privet.errors import ParameterError
from privet.mechanisms.randomness import SystemBits
from privet.model import Model
from privet.model.explanations.people import People

if TYPE_CHECKING:
    from privet.learners.base import PrivateClassifier

#: How many fits are repeated by default.
REPEATS = 8
#: Of larger tables, so many rows stand for all, at an epsilon that is larger by as much: the noise
#: is as large in proportion, and so are fits as fast.
MAX_ROWS = 100_000
#: Fewer rows than this say nothing.
MIN_ROWS = 10


def repeat_fits(
    model: Model,
    people: People,
    repeats: int = REPEATS,
    tell: Callable[[float], object] = lambda _: None,
) -> list[Model]:
    """Return models of the same fit, repeated on synthetic rows of these people.

    Reads nothing but the model: no charge. ``tell`` is told which part is done.
    """
    learner, n_rows = _find_learner(model), _find_rows(model)
    kept = min(n_rows, MAX_ROWS)
    cost = model.privacy.charged
    schema = model.schema.declare(person=None, rows_per_person=1, neighbours="add-remove")
    schema = schema.declare(n_rows=kept) if schema.n_rows is not None else schema
    parameters: dict[str, Any] = {
        name: value
        for name, value in model.settings.items()
        if name in inspect.signature(learner).parameters
        and (name != "class_weight" or value == "balanced")  # other weights move decisions only
    }
    if cost.epsilon is None:
        parameters["delta"] = delta = model.privacy.delta or Fraction(1, 10**6)
        epsilon: Any = epsilon_for(cost.rho, delta) * n_rows / kept
        budget = Budget(rho=2 * cost.rho * Fraction(n_rows, kept) ** 2)  # room for rounding
    else:
        epsilon = cost.epsilon * Fraction(n_rows, kept)
        budget = Budget(epsilon)
    found = []
    for number in range(repeats):
        table = _draw_table(model, people, kept)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the user knows what was said about the model itself
            fitted = learner(epsilon, **parameters).fit_from(Curator(table, schema, budget))
        found.append(fitted.model_)
        tell((number + 1) / repeats)
    return found


def explain_no_repeats(model: Model) -> str:
    """Return why the fit of a model cannot be repeated, or an empty string."""
    try:
        _find_learner(model)
        _find_rows(model)
    except ParameterError as error:
        return str(error)
    return ""


def _find_learner(model: Model) -> type[PrivateClassifier]:
    if not model.privacy.private:
        raise ParameterError("no noise was added, so that there is none to measure")
    if model.privacy.parts or model.privacy.local:
        raise ParameterError(
            "the fit cannot be repeated: the model was made from several tables, or from "
            "randomised records"
        )
    for name in learners.__all__:
        learner = getattr(learners, name)
        if getattr(learner, "_name", None) == model.learner:
            return learner  # type: ignore[no-any-return]
    raise ParameterError(f"the fit cannot be repeated: no learner is called {model.learner!r}")


def _find_rows(model: Model) -> int:
    """Return about how many rows a model was trained on, from what it has released."""
    told = model.settings.get("rows")
    n_rows: float = 0.0
    if model.schema.n_rows is not None:
        n_rows = model.schema.n_rows
    elif isinstance(told, Mapping) and told:
        n_rows = sum(told.values())
    elif model.combine != "scores":
        n_rows = float(model.trees[0].counts[0].sum())
    if n_rows < MIN_ROWS:
        raise ParameterError(
            "the fit cannot be repeated: the model does not say how many rows it was trained on; "
            "declare n_rows in the schema"
        )
    return round(n_rows)


def _draw_table(model: Model, people: People, n_rows: int) -> dict[str, npt.NDArray[Any]]:
    """Draw rows of these people, each with a class as likely as the model says."""
    codes = _draw_people(people, n_rows)
    shares = np.cumsum(model.probabilities(codes), axis=1)
    classes = (shares[:, :-1] <= _draw_uniforms(n_rows)[:, None]).sum(axis=1)
    schema = model.schema
    columns = {
        attribute.column or name: np.array(attribute.list_examples(), dtype=object)[column]
        for (name, attribute), column in zip(schema.attributes.items(), codes, strict=True)
    }
    columns[schema.target] = np.array(schema.classes, dtype=object)[classes]
    return columns


def _draw_people(people: People, n_rows: int) -> list[Codes]:
    if people.codes is not None:
        rows = (_draw_uniforms(n_rows) * len(people.codes[0])).astype(np.int64)
        return [column[rows] for column in people.codes]
    return [
        np.searchsorted(np.cumsum(shares)[:-1], _draw_uniforms(n_rows), side="right")
        for shares in people.shares
    ]


def _draw_uniforms(count: int) -> Floats:
    """Draw numbers in [0, 1), of the system's source as everything that is drawn."""
    return np.asarray((SystemBits().words(count) >> np.uint64(11)) * 2.0**-53)
