"""Hold the client's key, and seal with it. The server never imports this.

- :mod:`~privet.outsource.cipher.keys`: ``KeyRing``, its file, its passphrase, its rotation
- :mod:`~privet.outsource.cipher.sealing`: ``Sealer``, authenticated encryption bound to a place;
  sealed sequence numbers and descriptions
"""

from privet.outsource.cipher.keys import KeyRing
from privet.outsource.cipher.sealing import Sealer

__all__ = ["KeyRing", "Sealer"]
