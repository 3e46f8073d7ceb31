"""Use an outsourced table with the key, and little memory.

- :mod:`~privet.outsource.client.table`: ``OutsourcedTable``, the routes of a server, and its costs
- :mod:`~privet.outsource.client.learners`: ``Baseline`` (cdbsl), ``Naive`` (cnl) and
  ``Collaborative`` (cdtl), and the size of their leaves
- :mod:`~privet.outsource.client.subtrees`: join true rows; seal trees so that lengths say little
- :mod:`~privet.outsource.client.updates`: insert and delete people
- :mod:`~privet.outsource.client.rotation`: seal everything with a fresh key; export the table
"""

from privet.outsource.client.learners import Baseline, Collaborative, Naive, choose_leaf_size
from privet.outsource.client.table import Meter, OutsourcedTable

__all__ = ["Baseline", "Collaborative", "Meter", "Naive", "OutsourcedTable", "choose_leaf_size"]
