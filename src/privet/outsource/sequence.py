"""The sealed sequence number: the one link between a person and a sensitive value.

It is bound to the identifying row and to all sensitive entries of its group, which never change
once a group is made. So it opens beside exactly those, whichever of them is the row's own: a server
that changes a cell, moves a row, or sends other entries than the group's, to see whether the client
minds, is always refused and learns nothing from that. One that leaves rows out is not noticed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from privet.errors import SealError
from privet.outsource.cells import CellText
from privet.outsource.cipher import Sealer

_BYTES = 8
#: A sequence number and a value.
SequenceEntry = tuple[int, CellText]
SealedPlace = tuple[int, bool, list[CellText], list[list[int | CellText]]]


def place_of(
    gid: int, pruning: bool, cells: Sequence[CellText], entries: Iterable[SequenceEntry]
) -> SealedPlace:
    """What the number of a row is bound to: its group with all entries, its mark and its cells."""
    ordered = sorted(entries, key=lambda entry: entry[0])
    return gid, bool(pruning), list(cells), [[seq, value] for seq, value in ordered]


def seal_sequence(sealer: Sealer, seq: int, place: SealedPlace) -> bytes:
    """ESEQ of one row."""
    return sealer.seal("sequence", place, seq.to_bytes(_BYTES, "big"))


def open_true_entry(sealer: Sealer, eseq: bytes, place: SealedPlace) -> SequenceEntry:
    """The row's own entry out of its group's. :class:`SealError` unless everything is as it was
    sealed.
    """
    seq = int.from_bytes(sealer.open("sequence", place, eseq), "big")
    found = [value for number, value in place[3] if number == seq]
    if len(found) != 1 or not (found[0] is None or isinstance(found[0], str)):
        raise SealError
    return seq, found[0]
