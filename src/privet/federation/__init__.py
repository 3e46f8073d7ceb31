"""Several tables, one classifier: batches that come later, parties with other rows, parties with
other attributes.

- :mod:`~privet.federation.plan`: the structures that parties agree on before they count, and their
  file
- :mod:`~privet.federation.merge`: one model from parties with the same attributes and different
  rows
- :mod:`~privet.federation.join`: one model from parties with different attributes of the same
  people
- :mod:`~privet.federation.flower`: a secure sum of several parties under Flower, with noise that
  they make together

No party sees another's rows: what travels is released models, and what a person loses is in their
privacy statements.
"""

from privet.federation.join import join
from privet.federation.merge import merge
from privet.federation.plan import draw_plan, read_plan, write_plan
from privet.trees.batches import contribution as contribute
from privet.trees.batches import update

__all__ = ["contribute", "draw_plan", "join", "merge", "read_plan", "update", "write_plan"]
