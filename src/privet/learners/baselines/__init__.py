"""Exact decision trees, for comparison: what could be learnt without privacy.

- :mod:`~privet.learners.baselines.c45`: C4.5 with gain ratio
- :mod:`~privet.learners.baselines.growing`: grow level by level, and prune
"""

from privet.learners.baselines.c45 import grow_c45
from privet.learners.baselines.growing import prune_reduced_error

__all__ = ["grow_c45", "prune_reduced_error"]
