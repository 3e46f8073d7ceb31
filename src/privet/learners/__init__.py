"""Learn trees through a curator. All learners are scikit-learn estimators.

- :mod:`~privet.learners.default`: ``PrivetClassifier``; :mod:`~privet.learners.recipe`: the public
  rule by which it spends epsilon
- :mod:`~privet.learners.gibbs`: whole trees drawn at once, boosted, with additive terms
- :mod:`~privet.learners.greedy`, :mod:`~privet.learners.forest`: private splits, level by level
- :mod:`~privet.learners.random_trees`: structures drawn before the data is seen
- :mod:`~privet.learners.additive`: one score per value of each attribute
- :mod:`~privet.learners.noisy_id3`: ID3 on noisy counts
- :mod:`~privet.learners.evaluation`, :mod:`~privet.learners.tuning`: paid tests and choices
- :mod:`~privet.learners.released`: save and load
- :mod:`~privet.learners.baselines`: exact trees, for comparison on public data
- :mod:`~privet.learners.base`: what all of them share
"""

from privet.learners.additive import AdditiveClassifier
from privet.learners.default import PrivetClassifier
from privet.learners.forest import ForestClassifier
from privet.learners.gibbs import GibbsBoostClassifier, GibbsTreeClassifier
from privet.learners.greedy import GreedyTreeClassifier
from privet.learners.noisy_id3 import NoisyID3Classifier
from privet.learners.random_trees.classifier import RandomTreesClassifier
from privet.learners.tuning import tune

__all__ = [
    "AdditiveClassifier",
    "ForestClassifier",
    "GibbsBoostClassifier",
    "GibbsTreeClassifier",
    "GreedyTreeClassifier",
    "NoisyID3Classifier",
    "PrivetClassifier",
    "RandomTreesClassifier",
    "tune",
]
