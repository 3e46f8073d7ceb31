"""What is tried: a thing that reads bytes, with valid inputs to begin from."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

from tests.fuzz.mutate import mutated_json

_SEALED = re.compile(rb',"checksum":"[^"]*"}\Z')
Mutate = Callable[[Random, bytes, Sequence[bytes]], bytes]


class Target:
    """One kind of input.

    ``run`` takes the input (returns), or refuses it (raises a :class:`~privet.errors.PrivetError`).
    It writes what it is asked to write into ``self.out``, where nothing may be left of an input
    that was refused, and nothing half-written ever. It checks by itself what else must hold, with
    ``assert``.
    """

    #: As it is called on the command line.
    name: str
    #: What is read, and what must hold besides, for the table.
    what: str
    #: Inputs of the slice in ``make test``.
    smoke: int = 150
    #: CPU seconds that one input may take. The largest inputs have a quarter of a megabyte.
    seconds: float = 10.0
    mutate: Mutate = staticmethod(mutated_json)

    def __init__(self, folder: Path) -> None:
        self.folder, self.out = folder, folder / "out"
        self.out.mkdir()

    def corpus(self) -> list[bytes]:
        """Valid inputs. Each of them must be taken."""
        raise NotImplementedError

    def extra(self) -> list[bytes]:
        """Inputs to begin from that may be refused: valid in form."""
        return []

    def run(self, data: bytes) -> None:
        """Take the input, or refuse it."""
        raise NotImplementedError

    def close(self) -> None:
        """Let everything go."""


def sealed(data: bytes) -> bytes:
    """A file as Privet seals it: with the checksum that fits, whatever it holds. What has a
    checksum already is left as it is.
    """
    if _SEALED.search(data) or not data.endswith(b"}"):
        return data
    return data[:-1] + b',"checksum":"' + hashlib.sha256(data).hexdigest().encode() + b'"}'


def unsealed(data: bytes) -> bytes:
    """A sealed file without its checksum, so that it can be changed and sealed again."""
    return data[: data.rindex(b',"checksum":"')] + b"}"
