"""Learn one classifier from several tables.

Batches may come later, and parties may have other rows or other attributes. No party sees another's
rows: only released models travel, and their privacy statements say what a person gives away.

- :mod:`~privet.federation.plan`: the structures that parties agree on before they count
- :mod:`~privet.federation.merge`: one model from parties with other rows, or with other attributes
- :mod:`~privet.federation.card`: what a party brings to a relay, signed
- :mod:`~privet.federation.relay`: a model that travels, on which parties take turns
- :mod:`~privet.federation.keys`: the keys that parties sign their turns with
- :mod:`~privet.federation.flower`: a secure sum, or a relay, of several parties under Flower

Examples
--------
>>> import privet as pv
>>> car = pv.datasets.load("car")
>>> learner = pv.GreedyTreeClassifier(epsilon=1, schema=car.schema)
>>> models = [learner.fit(rows).model_ for rows in (car.table[::2], car.table[1::2])]
>>> print(pv.federation.merge(models, people="disjoint").privacy)
1-differentially private with one row added or removed, provided that nobody is in two of the 2 \
batches
"""

from privet.federation.merge import join, merge
from privet.federation.plan import draw_plan, read_plan, write_plan
from privet.learners.random_trees.batches import contribution as contribute
from privet.learners.updates import update

__all__ = ["contribute", "draw_plan", "join", "merge", "read_plan", "update", "write_plan"]
