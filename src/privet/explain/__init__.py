"""What an epsilon means, in numbers. No row is read and nothing is charged.

- :mod:`~privet.explain.losses`: what a person loses: being in the table or not, and what their rows
  say
- :mod:`~privet.explain.posterior`: what an adversary may come to believe (Lee and Clifton 2011)
- :mod:`~privet.explain.attack`: how often an attack succeeds (He et al. 2015), and any test for
  membership
- :mod:`~privet.explain.noise`: the noise on a count
- :mod:`~privet.explain.rows_needed`: how many more rows the same accuracy needs (Vu and Slavkovic
  2009)
- :mod:`~privet.explain.participation`: the price of taking part (Hsu et al. 2014)
- :mod:`~privet.explain.expected`: how accurate our learners may be, going by public tables
- :mod:`~privet.explain.setting`: what the numbers depend on besides epsilon
- :mod:`~privet.explain.explanation`: ``explain``, all numbers for one epsilon
- :mod:`~privet.explain.choice`: ``choose``, which epsilon keeps what is wished for
- :mod:`~privet.explain.wording`: each number as the end of a sentence
- :mod:`~privet.explain.picture`: ``draw_epsilon``, all of it over epsilon
"""

from privet.explain.choice import Choice, Choices, Wishes, choose
from privet.explain.explanation import Explanation, explain
from privet.explain.picture import draw_epsilon
from privet.explain.rows_needed import Trial
from privet.explain.setting import Setting

__all__ = [
    "Choice",
    "Choices",
    "Explanation",
    "Setting",
    "Trial",
    "Wishes",
    "choose",
    "draw_epsilon",
    "explain",
]
