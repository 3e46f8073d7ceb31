"""That a description of a table is the owner's.

A client does what the description says: it sends the identifying columns and keeps the sensitive
one to itself. A server that could say which is which would have the sensitive values sent to it. So
the owner seals the description, and clients look before they send anything.
"""

from __future__ import annotations

import json

from privet.outsource.anatomy import Anatomy
from privet.outsource.cipher import Sealer


def seal_anatomy(sealer: Sealer, anatomy: Anatomy) -> bytes:
    """The owner's seal on a description."""
    return sealer.seal("anatomy", sealed_content(anatomy), b"")


def check_anatomy(sealer: Sealer, anatomy: Anatomy, seal: bytes) -> None:
    """Raise :class:`~privet.errors.SealError` unless a holder of the key sealed exactly this
    description.
    """
    sealer.open("anatomy", sealed_content(anatomy), seal)


def sealed_content(anatomy: Anatomy) -> tuple[str]:
    """What is sealed: all of it, in its order."""
    return (json.dumps(anatomy.to_json()),)
