"""Seal texts: authenticated encryption, bound to the place that each text is for.

A sealed text is ``version (1) | key id (4) | nonce (12) | ciphertext | tag (16)``, AES-GCM with a
fresh random nonce (NIST SP 800-38D, which allows 2**32 sealings with one key). Every table and
purpose has a key of its own, derived by HKDF-SHA256 (RFC 5869), and the place (group and row, tree
and leaf) is authenticated with it. So what was sealed for one place opens at no other.

**Sequence numbers.** The sealed sequence number is the one link between a person and a sensitive
value. It is bound to the identifying row and to all sensitive entries of its group, which never
change once a group is made. So it opens beside exactly those, whichever of them is the row's own: a
server that changes a cell, moves a row, or sends other entries than the group's, to see whether the
client minds, is always refused and learns nothing from that. One that leaves rows out is not
noticed.

**Descriptions.** A client does what the description of a table says: it sends the identifying
columns and keeps the sensitive one to itself. A server that could say which is which would have the
sensitive values sent to it. So the owner seals the description, and clients check the seal before
they send anything.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from privet.errors import SealError
from privet.outsource.anatomy import Anatomy, CellText
from privet.outsource.cipher.keys import ID_BYTES, Key, KeyRing, need_cryptography

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM


Purpose = Literal["anatomy", "sequence", "subtree", "naive", "pending"]
#: What a place is made of.
Part = str | int | bool | None | Sequence["Part"]

_SEAL_VERSION = b"\x01"
_NONCE = 12
_TAG = 16
_HEAD = len(_SEAL_VERSION) + ID_BYTES + _NONCE
#: How much longer a sealed text is.
OVERHEAD = _HEAD + _TAG


class Sealer:
    """Seal and open what belongs to one outsourced table, and count how often."""

    def __init__(self, ring: KeyRing, table: str) -> None:
        need_cryptography()
        self._ring, self._table = ring, table
        self._by_id = {key.id: key for key in ring.keys}
        self._ciphers: dict[tuple[bytes, Purpose], AESGCM] = {}
        self.sealed = self.opened = 0

    def __repr__(self) -> str:
        return f"Sealer({self._table!r})"

    def seal(self, purpose: Purpose, place: Sequence[Part], text: bytes) -> bytes:
        """Encrypt for one place, with the current key."""
        nonce = secrets.token_bytes(_NONCE)
        key = self._ring.current
        self.sealed += 1
        return (
            _SEAL_VERSION
            + key.id
            + nonce
            + self._cipher(key, purpose).encrypt(nonce, text, _encode_place(place))
        )

    def open(self, purpose: Purpose, place: Sequence[Part], sealed: bytes) -> bytes:
        """Decrypt what was sealed for this place.

        There is one error for everything that can be wrong.
        """
        from cryptography.exceptions import InvalidTag

        key = self._by_id.get(sealed[1 : 1 + ID_BYTES])
        if len(sealed) < OVERHEAD or sealed[:1] != _SEAL_VERSION or key is None:
            raise SealError
        self.opened += 1
        try:
            nonce = sealed[_HEAD - _NONCE : _HEAD]
            return bytes(
                self._cipher(key, purpose).decrypt(nonce, sealed[_HEAD:], _encode_place(place))
            )
        except InvalidTag:
            raise SealError from None

    def is_current(self, sealed: bytes) -> bool:
        """Return whether the current key sealed it."""
        return sealed[1 : 1 + ID_BYTES] == self._ring.current.id

    def _cipher(self, key: Key, purpose: Purpose) -> AESGCM:
        if (cipher := self._ciphers.get((key.id, purpose))) is not None:
            return cipher
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF

        info = json.dumps(["privet outsource 1", self._table, purpose]).encode()
        made = AESGCM(HKDF(SHA256(), len(key.secret), None, info).derive(key.secret))
        return self._ciphers.setdefault((key.id, purpose), made)


#: Made once: to make one for every row takes longer than to use it.
_PLACES = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True)


def _encode_place(place: Sequence[Part]) -> bytes:
    """A place as bytes; two places are never the same bytes."""
    return _PLACES.encode(place).encode()


# The sealed sequence number, bound to its row and to all sensitive entries of its group.

_BYTES = 8
#: A sequence number and a value.
SequenceEntry = tuple[int, CellText]
SealedPlace = tuple[int, bool, list[CellText], list[list[int | CellText]]]


def place_of(
    gid: int, pruning: bool, cells: Sequence[CellText], entries: Iterable[SequenceEntry]
) -> SealedPlace:
    """Return what the number of a row is bound to.

    These are its group with all entries, its mark and its cells.
    """
    ordered = sorted(entries, key=lambda entry: entry[0])
    return gid, bool(pruning), list(cells), [[seq, value] for seq, value in ordered]


def seal_sequence(sealer: Sealer, seq: int, place: SealedPlace) -> bytes:
    """Seal the sequence number (ESEQ) of one row."""
    return sealer.seal("sequence", place, seq.to_bytes(_BYTES, "big"))


def open_true_entry(sealer: Sealer, eseq: bytes, place: SealedPlace) -> SequenceEntry:
    """Return the row's own entry out of its group's.

    Raises :class:`SealError` unless everything is as it was sealed.
    """
    seq = int.from_bytes(sealer.open("sequence", place, eseq), "big")
    values = [value for number, value in place[3] if number == seq]
    if len(values) != 1 or not (values[0] is None or isinstance(values[0], str)):
        raise SealError
    return seq, values[0]


# The owner's seal on the description of a table.


def seal_anatomy(sealer: Sealer, anatomy: Anatomy) -> bytes:
    """Return the owner's seal on a description."""
    return sealer.seal("anatomy", sealed_content(anatomy), b"")


def check_anatomy(sealer: Sealer, anatomy: Anatomy, seal: bytes) -> None:
    """Raise unless a holder of the key sealed exactly this description.

    The error is :class:`~privet.errors.SealError`.
    """
    sealer.open("anatomy", sealed_content(anatomy), seal)


def sealed_content(anatomy: Anatomy) -> tuple[str]:
    """Return what is sealed: all of it, in its order."""
    return (json.dumps(anatomy.to_json()),)
