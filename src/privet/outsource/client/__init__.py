"""The client's side: it has the key, and little memory.

- :mod:`~privet.outsource.client.table`: ``OutsourcedTable``, the routes of a server and what may
  come back
- :mod:`~privet.outsource.client.joining`: the true rows, out of all candidates
- :mod:`~privet.outsource.client.subtrees`: trees as sealed texts whose length says little
- :mod:`~privet.outsource.client.learners`: ``Baseline`` (cdbsl), ``Naive`` (cnl) and
  ``Collaborative`` (cdtl)
- :mod:`~privet.outsource.client.leaf_size`: a threshold on the leaves of the base tree, chosen on
  the pruning rows
- :mod:`~privet.outsource.client.waiting`: rows that wait for a group, with a sealed plan
- :mod:`~privet.outsource.client.updates`: inserting and deleting people
- :mod:`~privet.outsource.client.exporting`: getting the table back
- :mod:`~privet.outsource.client.rotation`: sealing everything anew with a fresh key
- :mod:`~privet.outsource.client.again`: beginning again where somebody else was faster
- :mod:`~privet.outsource.client.meter`: what all this costs
"""

from privet.outsource.client.leaf_size import choose_leaf_size
from privet.outsource.client.learners import Baseline, Collaborative, Naive
from privet.outsource.client.meter import Meter
from privet.outsource.client.table import OutsourcedTable

__all__ = ["Baseline", "Collaborative", "Meter", "Naive", "OutsourcedTable", "choose_leaf_size"]
