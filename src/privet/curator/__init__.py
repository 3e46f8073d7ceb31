"""Guard the rows: every question about them goes through a curator, the trust boundary.

- :mod:`~privet.curator.base`: ``AnyCurator``, what every curator does, and short forms of queries
- :mod:`~privet.curator.curator`: the curator in this process: charge, read, release
- :mod:`~privet.curator.owner`: what only the owner may do: hand out curators, set budgets, shares
- :mod:`~privet.curator.account`: its account in the ledger
- :mod:`~privet.curator.recorded`: charge once, keep the answer, give it again
- :mod:`~privet.curator.resumed`: fits that go on after an interruption, without paying twice
- :mod:`~privet.curator.spending`: a learner's budget, and the privacy statement at its end
"""

from privet.curator.base import AnyCurator
from privet.curator.curator import Curator
from privet.curator.owner import Owner

__all__ = ["AnyCurator", "Curator", "Owner"]
