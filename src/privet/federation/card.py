"""Say what a party brings to a relay: a card that it signs."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, replace
from fractions import Fraction
from os import PathLike
from typing import Any, Self

from privet.accounting.cost import Number, parse_epsilon, parse_fraction
from privet.domain import Schema
from privet.errors import ParameterError, PrivetError
from privet.federation.keys import SigningKey, verify
from privet.learners.relay import Party
from privet.model.document import canonical_json
from privet.model.file import read_sealed, seal, unseal, write_sealed
from privet.model.structure import Damaged, require

VERSION = 1
MAX_ROWS = 10**12
HEX = set("0123456789abcdef")
_CARD = "relay card"


@dataclass(frozen=True)
class Card:
    """What a party says about itself when it joins one relay, signed.

    Its name, its rows, what it will pay for one row added or removed, its public key, and a random
    ``nonce`` that tells its cards apart.
    """

    name: str
    rows: int
    epsilon: Fraction
    key: str
    nonce: str
    signature: str

    @classmethod
    def sign(cls, schema: Schema, name: str, rows: int, epsilon: Number, key: SigningKey) -> Self:
        """Return the card of a party for relays over this schema."""
        nonce = secrets.token_hex(16)
        card = cls(name, rows, parse_epsilon("epsilon", epsilon), key.public, nonce, "")
        card.check()
        return replace(card, signature=key.sign(card._signed(schema)))

    def check(self) -> None:
        """Raise unless its facts are in range."""
        if not self.name or len(self.name) > 100 or not self.name.isprintable():
            raise ParameterError(f"name must be 1 to 100 printable characters, got {self.name!r}")
        if type(self.rows) is not int or not 1 <= self.rows <= MAX_ROWS:
            raise ParameterError(f"rows must be from 1 to {MAX_ROWS}, got {self.rows!r}")
        parse_epsilon("epsilon", self.epsilon)
        for what, text, digits in (("key", self.key, 64), ("nonce", self.nonce, 32)):
            if len(text) != digits or not set(text) <= HEX:
                raise ParameterError(f"{what} must be {digits} hexadecimal digits in lower case")

    def _signed(self, schema: Schema) -> bytes:
        about = [schema.fingerprint, schema.neighbours]
        facts = [*about, self.name, self.rows, str(self.epsilon), self.key, self.nonce]
        return b"privet relay card " + canonical_json(facts)

    def ledger_key(self, schema: Schema) -> str:
        """Return what the questions of this party's turns are called in its ledger."""
        return f"relay-{hashlib.sha256(self._signed(schema)).hexdigest()[:32]}"

    def is_signed(self, schema: Schema) -> bool:
        """Return whether the holder of its key signed it, for relays over this schema."""
        return verify(self.key, self.signature, self._signed(schema))

    @property
    def party(self) -> Party:
        """What the plan knows about it."""
        return Party(self.name, self.rows, self.epsilon)

    def to_json(self) -> dict[str, Any]:
        """Return the card as JSON."""
        return {
            "name": self.name,
            "rows": self.rows,
            "epsilon": str(self.epsilon),
            "key": self.key,
            "nonce": self.nonce,
            "signature": self.signature,
        }

    @classmethod
    def from_json(cls, schema: Schema, data: Any) -> Self:
        """Return the card of an entry, or raise :class:`~privet.model.structure.Damaged`."""
        names = {"name", "rows", "epsilon", "key", "nonce", "signature"}
        require(
            isinstance(data, dict) and set(data) == names,
            f"a card must have exactly {', '.join(sorted(names))}",
        )
        texts = names - {"rows"}
        require(all(isinstance(data[name], str) for name in texts), "a card holds no text")
        try:
            epsilon = parse_fraction(data["epsilon"])
            texts_of = (data[name] for name in ("key", "nonce", "signature"))
            card = cls(data["name"], data["rows"], epsilon, *texts_of)
            card.check()
        except (PrivetError, ValueError) as problem:
            raise Damaged(f"a card is wrong: {problem}") from None
        require(
            set(card.signature) <= HEX and card.is_signed(schema),
            f"the card of {card.name!r} is not signed by its key, or is for another schema",
        )
        return card

    def write(self, schema: Schema, path: str | PathLike[str]) -> None:
        """Write the card to a file, for whoever starts the relay."""
        document = {"privet": _CARD, "version": VERSION, "schema": schema.fingerprint}
        write_sealed(seal({**document, "card": self.to_json()}), path, _CARD)

    @classmethod
    def read(cls, schema: Schema, path: str | PathLike[str]) -> Card:
        """Read the card of a party for relays over this schema."""

        def parse(data: bytes) -> Card:
            document = unseal(data, _CARD, VERSION)
            require(
                document.get("schema") == schema.fingerprint,
                "it is for another schema: attributes, values, target or classes differ",
            )
            return cls.from_json(schema, document.get("card"))

        return read_sealed(path, parse, _CARD)


def share_schema(schema: Schema) -> Schema:
    """Return what all parties share of a schema.

    Whose row it is, and how many rows somebody has, each party says about its own table.
    """
    return schema.declare(n_rows=None, person=None, rows_per_person=1)
