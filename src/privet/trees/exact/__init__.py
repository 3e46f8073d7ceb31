"""Exact decision trees, for comparison: what could be learnt if privacy were no concern.

They look at encoded rows directly, pass no curator and charge no budget. Whatever is made of them
is ``private: false``.

- :mod:`~privet.trees.exact.c45`: ``grow_c45``, multiway or two-way splits, by gain ratio
- :mod:`~privet.trees.exact.pruning`: ``prune_reduced_error``, with rows kept aside

What they share: :mod:`~privet.trees.exact.growing` splits level by level,
:mod:`~privet.trees.exact.level` counts a whole level at once, :mod:`~privet.trees.exact.gain`
scores splits, :mod:`~privet.trees.exact.binary` lists two-way splits,
:mod:`~privet.trees.exact.rows` checks what comes in and :mod:`~privet.trees.exact.numbering`
numbers leaves.

Every tree is a :class:`privet.tree.Tree` with the exact class counts of each node. Only a leaf that
no training row reaches has borrowed counts, those of its parent, so that a prediction falls back on
what is known one test earlier.
"""

from privet.trees.exact.c45 import grow_c45
from privet.trees.exact.pruning import prune_reduced_error

__all__ = ["grow_c45", "prune_reduced_error"]
