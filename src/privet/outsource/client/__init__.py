"""Use an outsourced table with the key, and little memory.

- :mod:`~privet.outsource.client.table`: ``OutsourcedTable``, the routes of a server, and its costs
- :mod:`~privet.outsource.client.replies`: what a server may answer;
  :mod:`~privet.outsource.client.meter`: what a client spends
- :mod:`~privet.outsource.client.leaves`: many leaves at once, in pages
- :mod:`~privet.outsource.client.outbox`: ``Outbox``, where sealed sub-trees wait for the server
- :mod:`~privet.outsource.client.learners`: ``Baseline`` (cdbsl), ``Naive`` (cnl) and
  ``Collaborative`` (cdtl), and the size of their leaves
- :mod:`~privet.outsource.client.subtrees`: join true rows; seal trees so that lengths say little
- :mod:`~privet.outsource.client.updates`: insert and delete people
- :mod:`~privet.outsource.client.rotation`: seal everything with a fresh key; export the table
"""

from privet.outsource.client.learners import Baseline, Collaborative, Naive, choose_leaf_size
from privet.outsource.client.meter import Meter
from privet.outsource.client.outbox import Outbox
from privet.outsource.client.table import OutsourcedTable

__all__ = [
    "Baseline",
    "Collaborative",
    "Meter",
    "Naive",
    "Outbox",
    "OutsourcedTable",
    "choose_leaf_size",
]
