"""The trust boundary.

- :mod:`~privet.curator.base`: what every curator does
- :mod:`~privet.curator.curator`: the curator in this process: charge, count, answer through a
  mechanism
- :mod:`~privet.curator.accounting`: its money side
- :mod:`~privet.curator.plain`: what may be asked about
- :mod:`~privet.curator.exact`: exact tables, inside the boundary
- :mod:`~privet.curator.answers`: what it answers
- :mod:`~privet.curator.quantile`: order statistics on public bins
- :mod:`~privet.curator.score`: bounded scores of rows, for sums
- :mod:`~privet.curator.local`: a curator of randomised records, which charges nothing (with
  ``corrected``, ``debiased``, ``gains``)
"""

from privet.curator.answers import Answer, Choice, Choices, Drawn, Numbers, Preview, Quantile, Share
from privet.curator.base import AnyCurator
from privet.curator.curator import Curator
from privet.curator.score import RowScore

__all__ = [
    "Answer",
    "AnyCurator",
    "Choice",
    "Choices",
    "Curator",
    "Drawn",
    "Numbers",
    "Preview",
    "Quantile",
    "RowScore",
    "Share",
]
