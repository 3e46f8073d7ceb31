"""Sign what a party has done, with a key that only it holds (Ed25519)."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from privet._atomic import write_atomically
from privet.errors import MissingDependency, ModelError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_KIND = "signing key"
_NEW = "privet relay card makes a key where --key names no file"
_MOST_BYTES = 1 << 16


@dataclass(frozen=True)
class SigningKey:
    """The key of a party: who holds it can sign turns in its name."""

    _private: Ed25519PrivateKey

    @classmethod
    def new(cls) -> Self:
        """Return a new key."""
        return cls(_load().Ed25519PrivateKey.generate())

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Self:
        """Read a key from its file, or raise :class:`~privet.errors.ModelError`."""
        _load()
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        try:
            with Path(path).open("rb") as handle:
                key = load_pem_private_key(handle.read(_MOST_BYTES), password=None)
        except TypeError:
            locked = f"it has a passphrase, which is not asked for; {_NEW}"
            raise ModelError(path, locked, _KIND) from None
        except (OSError, ValueError, UnsupportedAlgorithm) as error:
            why = error.strerror if isinstance(error, OSError) else f"it is no key in PEM; {_NEW}"
            raise ModelError(path, f"it cannot be read: {why}", _KIND) from None
        if not isinstance(key, Ed25519PrivateKey):
            raise ModelError(path, f"it is no Ed25519 key; {_NEW}", _KIND)
        return cls(key)

    def write(self, path: str | PathLike[str]) -> None:
        """Write the key to a file that only its owner can read; raise where the file is there."""
        from cryptography.hazmat.primitives.serialization import (
            Encoding,
            NoEncryption,
            PrivateFormat,
        )

        if Path(path).exists():
            raise ModelError(path, "it is there already; a lost key cannot be made again", _KIND)
        pem = self._private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        try:
            write_atomically(path, pem, private=True)
        except OSError as error:
            raise ModelError(path, f"it cannot be written: {error.strerror}", _KIND) from None

    @property
    def public(self) -> str:
        """The public key, in hexadecimal digits."""
        return self._private.public_key().public_bytes_raw().hex()

    def sign(self, data: bytes) -> str:
        """Return a signature, in hexadecimal digits."""
        return self._private.sign(data).hex()


def verify(public: str, signature: str, data: bytes) -> bool:
    """Return whether the holder of a public key signed these bytes."""
    from cryptography.exceptions import InvalidSignature

    try:
        key = _load().Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
        key.verify(bytes.fromhex(signature), data)
    except (InvalidSignature, ValueError):
        return False
    return True


def _load() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise MissingDependency("cryptography", "relay", "a signed relay") from None
    return ed25519
