"""Learn one classifier from several tables.

Batches may come later, and parties may have other rows or other attributes. No party sees another's
rows: only released models travel, and their privacy statements say what a person gives away.

- :mod:`~privet.federation.plan`: the structures that parties agree on before they count
- :mod:`~privet.federation.merge`: one model from parties with other rows, or with other attributes
- :mod:`~privet.federation.flower`: a secure sum of several parties under Flower
"""

from privet.federation.merge import join, merge
from privet.federation.plan import draw_plan, read_plan, write_plan
from privet.learners.random_trees.batches import contribution as contribute
from privet.learners.random_trees.batches import update

__all__ = ["contribute", "draw_plan", "join", "merge", "read_plan", "update", "write_plan"]
