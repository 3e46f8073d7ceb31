"""Extract what can be seen of anybody's fitted estimator, by the conventions of scikit-learn.

This is what it predicts, and what it keeps in public.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from privet.audit.worlds import World
from privet.errors import ParameterError

#: All that is public, or predictions alone, or what a function of the fitted estimator gives back.
Look = Literal["all", "predictions"] | Callable[[Any], Any]
#: Of an ensemble so many members are looked at.
MEMBERS = 8
_ASKED = ("predict_proba", "decision_function", "predict")


@dataclass(frozen=True)
class Fitted:
    """A fitted estimator, how its rows are given to it, and what is looked at."""

    estimator: Any
    as_frame: bool = False
    look: Look = "all"

    def parts(self, probed: World) -> dict[str, Any]:
        """Return everything that is seen, by name: numbers, words, arrays."""
        X = probed.X if self.as_frame else probed.numbers[0]  # noqa: N806
        parts = observe_predictions(self.estimator, X)
        if callable(self.look):
            return parts | {"seen": self.look(self.estimator)}
        parts |= observe_fitted_state(self.estimator, X) if self.look == "all" else {}
        if not parts:  # an audit that sees nothing finds nothing
            raise ParameterError(
                f"nothing can be seen of a fitted {type(self.estimator).__name__}: it predicts "
                "nothing, and keeps no numbers or words in attributes that end in an underscore; "
                "give look a function of it that gives them back"
            )
        return parts


@dataclass(frozen=True)
class EstimatorRun:
    """A run that fits a fresh estimator to a world.

    It can be sent to another process if what makes the estimator can.
    """

    make: Any
    as_frame: bool = False
    look: Look = "all"

    def __call__(self, world: World) -> Fitted:
        estimator = self.make_estimator()
        X, y = (world.X, world.y) if self.as_frame else world.numbers  # noqa: N806
        fitted = estimator.fit(X, y)
        return Fitted(estimator if fitted is None else fitted, self.as_frame, self.look)

    def make_estimator(self) -> Any:
        """Return an estimator that was not fitted yet."""
        made = (
            _make_estimator(self.make)
            if isinstance(self.make, type) or not hasattr(self.make, "fit")
            else _copy_estimator(self.make)
        )
        if getattr(made, "random_state", None) is not None:
            raise ParameterError(
                "random_state must be None: with a seed all runs would be the same, and an audit "
                "would find that"
            )
        return made


def _make_estimator(make: Callable[[], Any]) -> Any:
    try:
        return make()
    except TypeError as error:
        raise ParameterError(
            "estimator must be made without arguments, such as lambda: Estimator(epsilon=1): "
            f"{error}"
        ) from error


def _copy_estimator(estimator: Any) -> Any:
    """A copy, unless it would have the state of the estimator's own generator of random numbers:
    all runs would begin with it.
    """
    if hasattr(estimator, "get_params"):
        from sklearn.base import clone

        made = clone(estimator)
    else:
        made = copy.deepcopy(estimator)
    for name, value in vars(made).items() if hasattr(made, "__dict__") else ():
        if name != "random_state" and _has_random_state(value):
            raise ParameterError(
                f"the estimator keeps a generator of random numbers in {name!r}, and every run "
                "would begin with its state; "
                "give a class or a function that makes a new estimator each time"
            )
    return made


def _has_random_state(value: Any) -> bool:
    """Whether it is a generator with a state, or holds one."""
    if isinstance(value, Mapping):
        return any(map(_has_random_state, value.values()))
    if isinstance(value, list | tuple | set):
        return any(map(_has_random_state, value))
    if isinstance(value, np.random.Generator | np.random.RandomState | np.random.BitGenerator):
        return True
    if isinstance(value, random.Random):
        return not isinstance(value, random.SystemRandom)
    return (
        hasattr(value, "fit")
        and not isinstance(value, type)
        and any(map(_has_random_state, getattr(value, "__dict__", {}).values()))
    )


def observe_predictions(estimator: Any, X: Any) -> dict[str, Any]:  # noqa: N803
    """Return what the estimator says about these rows."""
    return {
        name: np.asarray(getattr(estimator, name)(X.copy()))
        for name in _ASKED
        if hasattr(estimator, name)
    }


def observe_fitted_state(estimator: Any, X: Any) -> dict[str, Any]:  # noqa: N803
    """Return the attributes that end in an underscore, leaves of these rows, and ensemble members.

    Of an ensemble, the first members are looked at.
    """
    parts: dict[str, Any] = {}
    for name, value in vars(estimator).items() if hasattr(estimator, "__dict__") else ():
        if not name.endswith("_") or name.startswith("_"):
            continue
        if name == "estimators_":
            for m, member in enumerate(np.ravel(np.asarray(value, dtype=object))[:MEMBERS]):
                parts |= {
                    f"member {m}: {key}": part
                    for key, part in {
                        **observe_predictions(member, X),
                        **observe_fitted_state(member, X),
                    }.items()
                }
        elif hasattr(value, "children_left") and hasattr(estimator, "apply"):
            parts |= _observe_sklearn_tree(value, np.asarray(estimator.apply(X)))
        elif _is_observable(value):
            parts[name] = value
    return parts


def _observe_sklearn_tree(tree: Any, leaves: npt.NDArray[Any]) -> dict[str, Any]:
    """A tree of scikit-learn's: its tests as a word, what it has in the leaves of the rows, and in
    all.
    """
    tests = [
        f"{feature}<{threshold:.4g}"
        for feature, threshold in zip(tree.feature, tree.threshold, strict=True)
        if feature >= 0
    ]
    return {
        "tests": " ".join(tests) or "none",
        "nodes": len(tree.feature),
        "values at the root": np.asarray(tree.value[0]),
        "values where the row falls": np.asarray(tree.value[leaves]),
    }


def _is_observable(value: Any) -> bool:
    """Whether it is made of numbers and words alone."""
    if isinstance(value, Mapping):
        return all(_is_observable(part) for part in value.values())
    if isinstance(value, list | tuple):
        return all(_is_observable(part) for part in value)
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "biufUS" or (
            value.dtype.kind == "O" and all(_is_observable(part) for part in value.flat)
        )
    return isinstance(value, str | int | float | np.number)
