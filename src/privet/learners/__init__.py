"""The scikit-learn faces of the growers. All are trained through a curator.

- :mod:`~privet.learners.base`: what they share
- :mod:`~privet.learners.default`: ``PrivetClassifier``, the one to start with
- :mod:`~privet.learners.gibbs`: ``GibbsTreeClassifier`` and ``GibbsBoostClassifier``, trees drawn
  whole
- :mod:`~privet.learners.recipe`: the public rule by which these choose
- :mod:`~privet.learners.random_trees`: ``RandomTreesClassifier``, structures drawn before the data
  is seen
- :mod:`~privet.learners.released`: ``ReleasedClassifier``, the face of a model that was read or put
  together
- :mod:`~privet.learners.greedy_tree`: ``GreedyTreeClassifier``, splits chosen privately
- :mod:`~privet.learners.forest`: ``ForestClassifier``, greedy trees that share the budget or the
  people
- :mod:`~privet.learners.additive`: ``AdditiveClassifier``, every attribute by itself
- :mod:`~privet.learners.tuning`: ``tune``, the paid choice among settings
- :mod:`~privet.learners.noisy_id3`: ``NoisyID3Classifier``, the papers' counter-example
"""

from privet.learners.additive import AdditiveClassifier
from privet.learners.default import PrivetClassifier
from privet.learners.forest import ForestClassifier
from privet.learners.gibbs import GibbsBoostClassifier, GibbsTreeClassifier
from privet.learners.greedy_tree import GreedyTreeClassifier
from privet.learners.noisy_id3 import NoisyID3Classifier
from privet.learners.random_trees import RandomTreesClassifier
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
