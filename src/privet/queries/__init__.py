"""Queries: what can be asked about a table, one file for each.

A query states its sensitivity, neighbours and cost, and is answered by one of four kinds of
release (:mod:`~privet.queries.release_kinds`). ``curator.ask(query, epsilon=...)`` asks any of
them; the named methods of a curator are short forms.

- numbers with noise: :mod:`~privet.queries.count`, :mod:`~privet.queries.count_by`,
  :mod:`~privet.queries.count_values`, :mod:`~privet.queries.size`,
  :mod:`~privet.queries.sums`, :mod:`~privet.queries.confusion`, :mod:`~privet.queries.scores`,
  :mod:`~privet.queries.gradients`,
  and :mod:`~privet.queries.share` for secure aggregation
- private selection: :mod:`~privet.queries.choose`, :mod:`~privet.queries.choose_partition`,
  :mod:`~privet.queries.choose_model`, :mod:`~privet.queries.quantile`,
  :mod:`~privet.queries.quantiles`
- a tree by the exponential mechanism: :mod:`~privet.queries.draw_tree`

To add one, write a module with a class like theirs under :func:`~privet.queries.base.register`.
"""

from privet.domain.questions import RowScore
from privet.queries.answers import (
    Answer,
    ChosenIndex,
    ChosenSplits,
    Drawn,
    Numbers,
    Preview,
    Quantile,
    Quantiles,
    Share,
)
from privet.queries.base import Load, Query, check_query, queries, register
from privet.queries.choose import ChooseSplits
from privet.queries.choose_model import ChooseModel
from privet.queries.choose_partition import ChoosePartition
from privet.queries.confusion import Confusion
from privet.queries.count import Count
from privet.queries.count_by import CountBy, LabelledCounts
from privet.queries.count_values import CountValues
from privet.queries.draw_tree import DrawTree
from privet.queries.gradients import Gradients
from privet.queries.quantile import FindQuantile
from privet.queries.quantiles import FindQuantiles
from privet.queries.release_kinds import Price
from privet.queries.scores import Scores
from privet.queries.share import ShareCounts
from privet.queries.size import Size
from privet.queries.sums import Sums

__all__ = [
    "Answer",
    "ChooseModel",
    "ChoosePartition",
    "ChooseSplits",
    "ChosenIndex",
    "ChosenSplits",
    "Confusion",
    "Count",
    "CountBy",
    "CountValues",
    "DrawTree",
    "Drawn",
    "FindQuantile",
    "FindQuantiles",
    "Gradients",
    "LabelledCounts",
    "Load",
    "Numbers",
    "Preview",
    "Price",
    "Quantile",
    "Quantiles",
    "Query",
    "RowScore",
    "Scores",
    "Share",
    "ShareCounts",
    "Size",
    "Sums",
    "check_query",
    "queries",
    "register",
]
