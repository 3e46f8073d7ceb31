"""Work that goes on where it was interrupted, without paying twice.

- :mod:`~privet.resume.unfinished`: the file that says which work it is
- :mod:`~privet.resume.curator`: a curator whose answers are recorded in the ledger, each under a
  key of that work
"""

from privet.resume.curator import ResumableCurator
from privet.resume.unfinished import Unfinished

__all__ = ["ResumableCurator", "Unfinished"]
