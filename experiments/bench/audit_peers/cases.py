"""What is audited: a peer with its settings, two neighbouring worlds, and the epsilon that is
promised for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from privet.audit import Pair, pair_of


@dataclass(frozen=True)
class Case:
    """A promise of a peer. ``release`` is a function of :mod:`~experiments.bench.audit_peers.fits`;
    everything public is in the settings.

    ``runs`` is how many there are in each world: a few thousand where an event has no counterpart,
    more for a bound that is tight.
    """

    name: str
    peer: str
    release: str
    pair: Pair
    epsilon: float = 1.0
    delta: float = 0.0
    settings: Mapping[str, Any] = field(default_factory=dict)
    runs: int = 2000

    @property
    def neighbours(self) -> str:
        """For whom the promise is."""
        return str(self.pair.schema.neighbours)


#: Ten rows with the same value, of alternating classes; then one more at the end.
_LAST = pair_of([[0.5]] * 10, [0, 1] * 5, [0.5], 0, name="a row is appended to ten")
#: A row that disagrees with the only other one.
_OPPOSED = pair_of([[0.5]], [0], [0.5], 1, name="a row comes to one of the other class")
_OPPOSED_INSTEAD = pair_of(
    [[0.5]], [0], [0.5], 1, instead=([0.5], 0), name="one of two rows is of the other class"
)

_MANY = [["x"], ["y"]] * 50
_CLASSES = ["no", "yes", "yes", "no"] * 25
_LONE_VALUE = pair_of(
    _MANY,
    _CLASSES,
    ["z"],
    "yes",
    instead=(["x"], "yes"),
    name="one of 101 has a value that nobody else has",
)
_LONE_CLASS = pair_of(
    _MANY,
    ["no"] * 100,
    ["x"],
    "yes",
    instead=(["x"], "no"),
    name="one of 101 has a class that nobody else has",
)
_ONE_MORE = pair_of(
    _MANY, _CLASSES, ["x"], "yes", name="a row comes to a hundred, with values that many have"
)

_BETWEEN = pair_of(
    [[0.0]] * 4 + [[1.0]] * 4,
    [0] * 4 + [1] * 4,
    [0.5],
    1,
    name="a row comes to eight, with a value between theirs",
)

_DIFFPRIVLIB, _DP_EBM, _DISTRIBUTED = "diffprivlib", "interpret-core", "distributed-random-forest"
#: Every value that there may be is declared, in the one way that the interface has for it. What is
#: looked at does not depend on the number of rounds, and ten are quicker than three hundred.
_EBM = {"feature_types": [["x", "y", "z"]], "max_rounds": 10}

CASES: tuple[Case, ...] = (
    Case("forest-position", _DIFFPRIVLIB, "forest", _LAST, settings={"n_estimators": 10}),
    Case("forest-seed", _DIFFPRIVLIB, "forest_and_seed", _OPPOSED, settings={"n_estimators": 1}),
    Case("forest-replaced", _DIFFPRIVLIB, "forest", _OPPOSED_INSTEAD, settings={"n_estimators": 1}),
    Case("ebm-value", _DP_EBM, "boosting", _LONE_VALUE, delta=1e-5, settings=_EBM),
    Case("ebm-class", _DP_EBM, "boosting", _LONE_CLASS, delta=1e-5, settings=_EBM),
    Case("ebm-rows", _DP_EBM, "boosting", _ONE_MORE, delta=1e-5, settings=_EBM),
    Case(
        "distributed-thresholds",
        _DISTRIBUTED,
        "distributed_forest",
        _BETWEEN,
        settings={"n_estimators": 10},
    ),
    Case(
        "forest-one-tree", _DIFFPRIVLIB, "forest", _OPPOSED, settings={"n_estimators": 1}, runs=6000
    ),
    Case(
        "forest-shuffled",
        _DIFFPRIVLIB,
        "forest",
        _LAST,
        settings={"n_estimators": 10, "shuffle": True},
    ),
    Case(
        "ebm-common-values",
        _DP_EBM,
        "boosting",
        _ONE_MORE,
        epsilon=4.0,
        delta=1e-5,
        settings={
            "feature_types": [["x", "y"]],
            "max_rounds": 1,
            "bin_budget_frac": 0.9,
            "hidden": ["bag_weights_"],
        },
        runs=4000,
    ),
)
