"""Explain what an epsilon means, in numbers. No row is read and nothing is charged.

- :mod:`~privet.epsilon.explanation`: ``explain``, all numbers for one epsilon
- :mod:`~privet.epsilon.choice`: ``choose``, the epsilon that keeps your limits
- :mod:`~privet.epsilon.adversary`: what an adversary can learn about a person, and its price
- :mod:`~privet.epsilon.noise_on_counts`: the noise on a count, and how many more rows make up for
  it
- :mod:`~privet.epsilon.expected`: how accurate learners may be, going by public tables
- :mod:`~privet.epsilon.wording`, :mod:`~privet.epsilon.picture`: the same in words and as a picture

Examples
--------
>>> import privet as pv
>>> meaning = pv.epsilon.explain(1)
>>> meaning.noise.margin  # a noisy count is this close, 19 times in 20
3
"""

from privet.epsilon.choice import Choice, Choices, Wishes, choose
from privet.epsilon.explanation import Explanation, Setting, explain
from privet.epsilon.noise_on_counts import Trial
from privet.epsilon.picture import draw_epsilon

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
