"""Pack answers that hold rows, so that their length tells whoever watches the line little.

The server knows all that it packs: identifying cells, and the values of groups. Somebody who reads
the line sees lengths alone, even with TLS. The length of a packed text tells how alike its parts
are, and somebody who can choose one part (a row of their own) could find out whether it resembles
another. So packed answers are padded (Padmé: Nikitin and others 2019, *Reducing Metadata Leakage
from Encrypted Files and Communication with PURBs*, section 4), which takes at most 12% more.

Requests are never packed, nor are answers without rows: what is sealed would not get shorter.
"""

from __future__ import annotations

import gzip

#: Quick rather than short: most of what is packed are random numbers.
_LEVEL = 1


def pack(body: bytes) -> bytes:
    """Return gzip of a body, padded with zeros, which those who unpack it leave alone."""
    packed = gzip.compress(body, _LEVEL, mtime=0)
    return packed.ljust(padded_length(len(packed)), b"\0")


def padded_length(length: int) -> int:
    """Return the next length of which few bits say something."""
    if length < 2:
        return length
    exponent = length.bit_length() - 1
    step = 1 << max(0, exponent - exponent.bit_length())
    return -(-length // step) * step
