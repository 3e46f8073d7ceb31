"""The file of work that was begun: its key in the ledger, what work it is, and the random words of
structure that was drawn for it.

The words are those of tree structures and names of releases, which a model makes public: never
those of noise. Answers are in the ledger, not here.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from privet.curator import AnyCurator
from privet.errors import ParameterError
from privet.mechanisms.randomness import Bits, Words
from privet.model.document import canonical_json
from privet.model.file import read_sealed, seal, unseal, write_sealed
from privet.model.problem import require

_KIND, _VERSION = "unfinished fit", 1
_ENTRIES = {"privet", "version", "key", "work", "drawn"}


@dataclass
class Unfinished:
    """Work that was begun and is not finished."""

    path: Path
    key: str
    work: str
    drawn: bytes = b""
    #: How much of it is in the file.
    saved: int = field(default=-1, compare=False)

    @classmethod
    def begin(cls, path: Path, curator: AnyCurator, *facts: str) -> Unfinished:
        """Go on with the work in this file, if there is one; it must be the same work, as the
        curator and these facts tell.
        """
        work = hashlib.sha256(
            canonical_json({"who": curator.identity, "facts": list(facts)})
        ).hexdigest()
        if not path.exists():
            return cls(path, f"fit-{secrets.token_hex(16)}", work)
        found = cls.read(path)
        if not found._same(work):
            raise ParameterError(
                f"{path} belongs to a fit that was interrupted, of another table, learner or "
                "setting; finish that one with the "
                "options it had, or give it up with --anew (what it has cost is spent)"
            )
        return found

    @classmethod
    def read(cls, path: Path) -> Unfinished:
        """The work in this file."""
        return read_sealed(path, lambda data: cls._parse(path, data), _KIND)

    @classmethod
    def _parse(cls, path: Path, data: bytes) -> Unfinished:
        document = unseal(data, _KIND, _VERSION)
        require(
            set(document) == _ENTRIES
            and all(isinstance(document[name], str) for name in ("key", "work", "drawn")),
            "it is incomplete",
        )
        try:
            drawn = bytes.fromhex(document["drawn"])
        except ValueError:
            drawn = b"?"
        require(len(drawn) % 8 == 0, "its random words are damaged")
        return cls(path, document["key"], document["work"], drawn, len(drawn))

    def _same(self, work: str) -> bool:
        return self.work == work

    @property
    def was_begun(self) -> bool:
        """Whether the file is there."""
        return self.saved >= 0

    def save(self) -> None:
        """Write the file durably, where something was drawn since."""
        if self.saved < len(self.drawn):
            document = {
                "privet": _KIND,
                "version": _VERSION,
                "key": self.key,
                "work": self.work,
                "drawn": self.drawn.hex(),
            }
            write_sealed(seal(document), self.path, _KIND)
            self.saved = len(self.drawn)

    def finish(self) -> None:
        """The work is done."""
        self.path.unlink(missing_ok=True)


class KeptBits:
    """Words that come out the same when the work goes on."""

    def __init__(self, bits: Bits, unfinished: Unfinished) -> None:
        self._bits, self._unfinished, self._taken = bits, unfinished, 0

    @property
    def private(self) -> bool:
        """Whether nobody can know or repeat the words of noise, which come from elsewhere."""
        return self._bits.private

    def words(self, count: int) -> Words:
        """This many words."""
        start, self._taken = self._taken, self._taken + 8 * count
        missing = self._taken - len(self._unfinished.drawn)
        if missing > 0:
            self._unfinished.drawn += self._bits.words(-(-missing // 8)).tobytes()
        return np.frombuffer(self._unfinished.drawn[start : self._taken], dtype=np.uint64)
