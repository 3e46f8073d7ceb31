"""The client's key and what is sealed with it. The server must never import this (checked by
import-linter).

- :mod:`~privet.outsource.cipher.keys`: ``KeyRing``, its file, its passphrase, its rotation
- :mod:`~privet.outsource.cipher.sealing`: ``Sealer``, authenticated encryption bound to a place
"""

from privet.outsource.cipher.keys import KeyRing
from privet.outsource.cipher.sealing import Sealer

__all__ = ["KeyRing", "Sealer"]
