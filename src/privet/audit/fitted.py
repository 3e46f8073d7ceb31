"""Extract what can be seen of anybody's fitted estimator: what it predicts, and all that it keeps
in public.

Public is every attribute, slot and property whose name does not begin with an underscore, and what
these hold: mappings, lists, arrays, frames, and objects with public attributes of their own.
"""

from __future__ import annotations

import copy
import hashlib
import random
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from privet.audit.worlds import World
from privet.domain import Schema
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
        X = self._rows_of(probed)  # noqa: N806
        parts = observe_predictions(self.estimator, X)
        for name, line in probed.lines.items():
            parts |= {
                f"{method} along {name}": said
                for method, said in observe_predictions(self.estimator, self._rows_of(line)).items()
            }
        if callable(self.look):
            return parts | {"seen": self.look(self.estimator)}
        parts |= observe_fitted_state(self.estimator, X) if self.look == "all" else {}
        if not parts:  # an audit that sees nothing finds nothing
            raise ParameterError(
                f"nothing can be seen of a fitted {type(self.estimator).__name__}: it predicts "
                "nothing, and keeps no numbers or words in public attributes; give look a function "
                "of it that gives them back"
            )
        return parts

    def _rows_of(self, world: World) -> Any:
        return world.X if self.as_frame else world.numbers[0]


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
    """Return all that is public of a fitted object, leaves of these rows, and ensemble members.

    Of an ensemble, the first members are looked at.
    """
    parts: dict[str, Any] = {}
    for name, value in list_public_attributes(estimator):
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
        else:
            parts |= dict(_flatten_state(name, value, ()))
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


# All that is public of an object.

#: Of objects within objects so many levels are looked at, and of a list so many members.
LEVELS, LISTED = 4, 64
#: What these modules define is no state of a model: code, generators of random numbers, locks.
_NO_STATE = ("builtins", "types", "functools", "random", "numpy", "threading", "logging")


def list_public_attributes(owner: Any) -> Iterator[tuple[str, Any]]:
    """Yield the public attributes of an object that hold something: its own, slots and properties.

    A property that raises is seen by the name of its error, since whether it does may depend on a
    row; one that says that it is not there is not.
    """
    names = dict.fromkeys(getattr(owner, "__dict__", {}))
    for kind in type(owner).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        names |= dict.fromkeys((slots,) if isinstance(slots, str) else slots)
        names |= dict.fromkeys(
            name
            for name, one in vars(kind).items()
            if not callable(one) and hasattr(one, "__get__")
        )
    for name in names:
        if name.startswith("_"):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # such as that a name is deprecated
                value = getattr(owner, name)
        except AttributeError:
            continue
        except Exception as error:  # noqa: BLE001 - whatever it is, it is seen
            value = f"raises {type(error).__name__}"
        if not callable(value):
            yield name, value


def _flatten_state(name: str, value: Any, within: tuple[int, ...]) -> Iterator[tuple[str, Any]]:
    """Yield the numbers, words and arrays of a value, whatever it is made of."""
    if isinstance(value, Schema) or id(value) in within or len(within) > LEVELS:
        return  # what is public anyway, or seen already
    within = (*within, id(value))
    if value is None or isinstance(value, str | int | float | np.number):
        yield name, value
    elif isinstance(value, bytes | bytearray):
        yield name, bytes(value).hex()
    elif isinstance(value, Mapping):
        yield f"{name}: size", len(value)
        for key in list(value)[:LISTED]:
            yield from _flatten_state(f"{name}: {key}", value[key], within)
    elif isinstance(value, set | frozenset):
        yield from _flatten_state(name, sorted(map(str, value)), within)
    elif hasattr(value, "__array__"):
        yield from _flatten_array(name, np.asarray(value), within)
    elif isinstance(value, list | tuple):
        yield from _flatten_list(name, value, within)
    elif type(value).__module__.partition(".")[0] not in _NO_STATE and not callable(value):
        for inner, part in list_public_attributes(value):
            yield from _flatten_state(f"{name}.{inner}", part, within)


def _flatten_list(
    name: str, values: list[Any] | tuple[Any, ...], within: tuple[int, ...]
) -> Iterator[tuple[str, Any]]:
    """A list of numbers, or of equal lists of them, is an array; else its members one by one."""
    try:
        table = np.asarray(values)
    except ValueError:  # lists of unequal lengths
        table = np.empty(0, dtype=object)
    if table.dtype.kind in "biufUS":
        yield from _flatten_array(name, table, within)
        return
    yield f"{name}: size", len(values)
    for i, part in enumerate(values[:LISTED]):
        yield from _flatten_state(f"{name}: {i}", part, within)


def _flatten_array(
    name: str, values: npt.NDArray[Any], within: tuple[int, ...]
) -> Iterator[tuple[str, Any]]:
    yield f"{name}: shape", str(values.shape)
    if values.dtype.kind == "O":
        yield from _flatten_list(name, values.ravel().tolist(), within)
    elif values.dtype.kind in "biufUSM":
        yield name, values if values.dtype.kind != "M" else values.astype(str)
        # Where an array is too large to look at every entry, equal ones are still equal.
        yield f"{name}: digest", hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()
