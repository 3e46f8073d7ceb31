"""Learn trees through a curator. All learners are scikit-learn estimators.

- :mod:`~privet.learners.default`: ``PrivetClassifier``; :mod:`~privet.learners.default_recipe`: the
  public rule by which it spends epsilon
- :mod:`~privet.learners.gibbs`: whole trees drawn at once, one of them or several
- :mod:`~privet.learners.boosting`, :mod:`~privet.learners.terms`: what they are made of
- :mod:`~privet.learners.greedy`, :mod:`~privet.learners.forest`: private splits, level by level
- :mod:`~privet.learners.random_trees`: structures drawn before the data is seen
- :mod:`~privet.learners.additive`: one score per value of each attribute
- :mod:`~privet.learners.noisy_id3`: ID3 on noisy counts
- :mod:`~privet.learners.evaluation`, :mod:`~privet.learners.tuning`: paid tests and choices
- :mod:`~privet.learners.released`: save and load
- :mod:`~privet.learners.baselines`: exact trees, for comparison on public data
- :mod:`~privet.learners.base`: what all of them share
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from privet.learners.additive import AdditiveClassifier as AdditiveClassifier
    from privet.learners.default import PrivetClassifier as PrivetClassifier
    from privet.learners.forest import ForestClassifier as ForestClassifier
    from privet.learners.gibbs import GibbsBoostClassifier as GibbsBoostClassifier
    from privet.learners.gibbs import GibbsTreeClassifier as GibbsTreeClassifier
    from privet.learners.greedy import GreedyTreeClassifier as GreedyTreeClassifier
    from privet.learners.noisy_id3 import NoisyID3Classifier as NoisyID3Classifier
    from privet.learners.random_trees.classifier import (
        RandomTreesClassifier as RandomTreesClassifier,
    )
    from privet.learners.tuning import tune as tune

# Where each learner lives. It is imported when it is first used, so that reading a model or growing
# a baseline does not load scikit-learn.
_HOMES = {
    "AdditiveClassifier": "privet.learners.additive",
    "ForestClassifier": "privet.learners.forest",
    "GibbsBoostClassifier": "privet.learners.gibbs",
    "GibbsTreeClassifier": "privet.learners.gibbs",
    "GreedyTreeClassifier": "privet.learners.greedy",
    "NoisyID3Classifier": "privet.learners.noisy_id3",
    "PrivetClassifier": "privet.learners.default",
    "RandomTreesClassifier": "privet.learners.random_trees.classifier",
    "tune": "privet.learners.tuning",
}

__all__ = [*_HOMES]  # noqa: PLE0604 - the keys are strings


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'privet.learners' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
