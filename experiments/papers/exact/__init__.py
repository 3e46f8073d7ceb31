"""Exact trees that only papers and tests compare with; others are in
:mod:`privet.learners.baselines`.

- :mod:`~experiments.papers.exact.id3`: ``grow_id3``, one child per value, by information gain
- :mod:`~experiments.papers.exact.random_trees`: ``grow_random``, random structures without the
  nodes that no row reaches
"""

from experiments.papers.exact.id3 import grow_id3
from experiments.papers.exact.random_trees import grow_random

__all__ = ["grow_id3", "grow_random"]
