"""The trust boundary.

- :mod:`~privet.curator.base`: ``AnyCurator``, what every curator does, and the short forms
- :mod:`~privet.curator.curator`: the curator in this process: charge, read, answer through a
  mechanism
- :mod:`~privet.curator.accounting`: its account in the ledger
- :mod:`~privet.curator.recorded`: charge once, keep the answer, give it again
- :mod:`~privet.curator.local`: a curator of randomised records, which charges nothing (with
  ``corrected``, ``gains``)
"""

from privet.curator.base import AnyCurator
from privet.curator.curator import Curator

__all__ = ["AnyCurator", "Curator"]
