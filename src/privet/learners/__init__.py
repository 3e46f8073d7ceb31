"""The scikit-learn faces of the growers. All are trained through a curator.

- :mod:`~privet.learners.base`: what they share
- :mod:`~privet.learners.random_trees`: ``RandomTreesClassifier``, structures drawn before the data is seen
- :mod:`~privet.learners.greedy_tree`: ``GreedyTreeClassifier``, splits chosen privately
- :mod:`~privet.learners.noisy_id3`: ``NoisyID3Classifier``, the papers' counter-example
"""

from privet.learners.greedy_tree import GreedyTreeClassifier
from privet.learners.noisy_id3 import NoisyID3Classifier
from privet.learners.random_trees import RandomTreesClassifier

__all__ = ["GreedyTreeClassifier", "NoisyID3Classifier", "RandomTreesClassifier"]
