"""The sealed sequence number: the one link between a person and a sensitive value.

Sealed together with a digest of the value and bound to the group and to the whole identifying row. So a server that changes a cell,
moves a row to another group or exchanges sensitive values is found out when the row is joined. One that leaves rows out is not.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence

from privet.errors import SealError
from privet.outsource.cells import Cell
from privet.outsource.cipher import Sealer

_SEQ, _DIGEST = 8, 16


def seal_sequence(sealer: Sealer, seq: int, value: Cell, cells: Sequence[Cell], pruning: bool, gid: int) -> bytes:
    """ESEQ of one row."""
    return sealer.seal("sequence", (gid, bool(pruning), list(cells)), seq.to_bytes(_SEQ, "big") + _digest(value))


def true_value(
    sealer: Sealer, eseq: bytes, cells: Sequence[Cell], pruning: bool, gid: int, candidates: Iterable[tuple[int, Cell]]
) -> tuple[int, Cell]:
    """The sequence number and value of a row, out of its group's. :class:`SealError` unless everything is as it was sealed."""
    opened = sealer.open("sequence", (gid, bool(pruning), list(cells)), eseq)
    seq = int.from_bytes(opened[:_SEQ], "big")
    found = [value for number, value in candidates if number == seq]
    if len(found) != 1 or _digest(found[0]) != opened[_SEQ:]:
        raise SealError
    return seq, found[0]


def _digest(value: Cell) -> bytes:
    return hashlib.sha256(json.dumps(value).encode()).digest()[:_DIGEST]
