"""Keep the keys of a client, in a file that only its owner can read.

The first key seals; the others only open what they sealed, until a rotation has sealed everything
anew and they are retired.

A file without a passphrase has version 1, as in 0.1. One with a passphrase has version 2: keys and
table are sealed together, so that only who knows the passphrase can say which table they are for.
In version 1, the table stood beside the sealed keys. Such a file is read as it is, and written as
version 2 the next time.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any, Literal, get_args

from privet._atomic import flush_folder
from privet._validate import check_name
from privet.errors import MissingDependency, OutsourceError, ParameterError

Algorithm = Literal["AES-256-GCM", "AES-128-GCM"]
ID_BYTES = 4
_PLAIN_VERSION, _SEALED_VERSION = 1, 2
_BYTES: dict[str, int] = {"AES-256-GCM": 32, "AES-128-GCM": 16}
#: The cost of trying one passphrase: 128 MiB of memory and a few tenths of a second (RFC 7914; n =
#: 2**17, r = 8).
_SCRYPT = {"n": 1 << 17, "r": 8, "p": 1}
# of n r p, 16 times as much: a file must not be able to ask for all memory, or for minutes
_SCRYPT_MOST = 1 << 24
#: What is authenticated with sealed keys, by version: a file of one opens as no other.
_PURPOSES = {1: b"privet key file 1", 2: b"privet key file 2"}


@dataclass(frozen=True)
class Key:
    """One key. Its id stands before everything that it sealed."""

    id: bytes
    algorithm: Algorithm
    made: str
    secret: bytes = field(repr=False)

    @classmethod
    def new(cls, algorithm: Algorithm, taken: set[bytes] | None = None) -> Key:
        """Make a fresh key whose id no other key of the ring has."""
        check_name("algorithm", algorithm, get_args(Algorithm))
        identity = secrets.token_bytes(ID_BYTES)
        while identity in (taken or set()):
            identity = secrets.token_bytes(ID_BYTES)
        return cls(
            identity,
            algorithm,
            datetime.now(UTC).isoformat(timespec="seconds"),
            secrets.token_bytes(_BYTES[algorithm]),
        )


@dataclass(frozen=True)
class KeyRing:
    """The keys of a client. The first one seals.

    ``table`` is the id of the split that they belong to, None before it is made. Where one key
    opened two tables, a server could show one in place of the other.
    """

    keys: tuple[Key, ...]
    table: str | None = None

    @classmethod
    def new(cls, algorithm: Algorithm = "AES-256-GCM") -> KeyRing:
        """Make a ring with one fresh key."""
        return cls((Key.new(algorithm),))

    @property
    def current(self) -> Key:
        """The key that seals."""
        return self.keys[0]

    def add_fresh_key(self, algorithm: Algorithm | None = None) -> KeyRing:
        """Return the ring with a fresh key in front; those before still open."""
        return replace(
            self,
            keys=(
                Key.new(algorithm or self.current.algorithm, {key.id for key in self.keys}),
                *self.keys,
            ),
        )

    def retire_old_keys(self) -> KeyRing:
        """Return the ring with the current key alone.

        What older keys sealed cannot be opened any more.
        """
        return replace(self, keys=(self.current,))

    def bind_to_table(self, table: str) -> KeyRing:
        """Return the same keys, for one table only."""
        return replace(self, table=table)

    # -- the file ----------------------------------------------------------------------------------

    def write(
        self, path: str | PathLike[str], passphrase: str | None = None, *, over: bool = False
    ) -> None:
        """Write the key file with mode 0600, atomically, and sealed if there is a passphrase."""
        target = Path(path)
        if target.exists() and not over:
            raise ParameterError(
                f"{target} exists; a key that is overwritten is lost, and with it everything that "
                "it sealed"
            )
        content = {"table": self.table, "keys": [_key_to(key) for key in self.keys]}
        data: dict[str, Any] = {"privet": "key"}
        if passphrase is None:
            data |= {"version": _PLAIN_VERSION, **content}
        else:
            data |= {"version": _SEALED_VERSION, **_lock_content(content, passphrase)}
        partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
        try:
            handle = os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(json.dumps(data, indent=2) + "\n")
                file.flush()
                os.fsync(file.fileno())
            if over:
                partial.replace(target)
            else:
                os.link(partial, target)  # fails where another was faster
                partial.unlink()
            flush_folder(target.parent)
        except OSError as error:
            with suppress(OSError):
                partial.unlink(missing_ok=True)
            raise OutsourceError(f"cannot write the key file {target}: {error.strerror}") from None

    @classmethod
    def read(cls, path: str | PathLike[str], passphrase: str | None = None) -> KeyRing:
        """Read a key file that nobody else can read.

        With a passphrase, only a sealed one is taken: whoever can write to its folder could have
        put keys of their own in its place.
        """
        target = Path(path)
        try:
            mode = target.stat().st_mode
            if mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise OutsourceError(
                    f"the key file {target} can be read or written by others (mode "
                    f"{stat.S_IMODE(mode):o}): chmod 600 {target}"
                )
            data = json.loads(target.read_text(encoding="utf-8"))
        except OSError as error:
            raise OutsourceError(f"cannot read the key file {target}: {error.strerror}") from None
        except (ValueError, RecursionError):
            raise OutsourceError(f"{target} is no key file") from None
        if (
            not isinstance(data, Mapping)
            or data.get("privet") != "key"
            or data.get("version") not in tuple(_PURPOSES)
        ):
            raise OutsourceError(f"{target} is no key file of version 1 or 2")
        if "sealed" in data and passphrase is None:
            raise OutsourceError(
                f"the key file {target} has a passphrase; set PRIVET_PASSPHRASE, or give it when "
                "asked"
            )
        if "sealed" not in data and passphrase is not None:
            raise OutsourceError(
                f"the key file {target} has no passphrase, although one was given: somebody may "
                "have replaced it; if it is yours, unset PRIVET_PASSPHRASE"
            )
        try:
            sealed = "sealed" in data
            if not sealed and data["version"] != _PLAIN_VERSION:
                raise ValueError
            content = _unlock_content(data, passphrase) if sealed else data
            table = content.get("table")
            if table is not None and not isinstance(table, str):
                raise ValueError
            return cls(_keys_from(content["keys"]), table)
        except _WrongPassphrase:
            raise OutsourceError(f"the passphrase does not open the key file {target}") from None
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError):
            raise OutsourceError(f"the key file {target} is damaged") from None

    @staticmethod
    def needs_passphrase(path: str | PathLike[str]) -> bool:
        """Return whether a key file is sealed.

        False for what cannot be read; reading it says why.
        """
        try:
            return "sealed" in json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError, TypeError, RecursionError):
            return False


class _WrongPassphrase(Exception):
    """The passphrase, or the file, is another."""


def need_cryptography() -> None:
    """Raise with the install command where the package is missing."""
    try:
        import cryptography  # noqa: F401
    except ImportError:
        raise MissingDependency(
            "cryptography", "outsource", "sealing what a server must not read"
        ) from None


def _key_to(key: Key) -> dict[str, str]:
    return {
        "id": key.id.hex(),
        "algorithm": key.algorithm,
        "made": key.made,
        "secret": base64.b64encode(key.secret).decode(),
    }


def _keys_from(listed: Any) -> tuple[Key, ...]:
    keys = tuple(
        Key(
            bytes.fromhex(entry["id"]),
            entry["algorithm"],
            str(entry["made"]),
            _decode_base64(entry["secret"]),
        )
        for entry in listed
    )
    fit = all(
        key.algorithm in _BYTES
        and len(key.secret) == _BYTES[key.algorithm]
        and len(key.id) == ID_BYTES
        for key in keys
    )
    if not keys or not fit or len({key.id for key in keys}) < len(keys):
        raise ValueError
    return keys


def _decode_base64(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


def _lock_content(content: Mapping[str, Any], passphrase: str) -> dict[str, Any]:
    need_cryptography()
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    if not passphrase:
        raise ParameterError("a passphrase must not be empty")
    salt, nonce = secrets.token_bytes(16), secrets.token_bytes(12)
    sealed = nonce + AESGCM(_stretch_passphrase(passphrase, salt, _SCRYPT)).encrypt(
        nonce, json.dumps(content).encode(), _PURPOSES[_SEALED_VERSION]
    )
    return {
        "scrypt": {"salt": base64.b64encode(salt).decode(), **_SCRYPT},
        "sealed": base64.b64encode(sealed).decode(),
    }


def _unlock_content(data: Mapping[str, Any], passphrase: str | None) -> Any:
    """Return the table and the keys of a sealed file."""
    need_cryptography()
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    cost = {name: int(data["scrypt"][name]) for name in _SCRYPT}
    if min(cost.values()) < 1 or cost["n"] * cost["r"] * cost["p"] > _SCRYPT_MOST:
        raise ValueError
    sealed = _decode_base64(data["sealed"])
    try:
        opened = AESGCM(
            _stretch_passphrase(passphrase or "", _decode_base64(data["scrypt"]["salt"]), cost)
        ).decrypt(sealed[:12], sealed[12:], _PURPOSES[data["version"]])
    except InvalidTag:
        raise _WrongPassphrase from None
    content = json.loads(opened)
    return content if data["version"] == 2 else {"table": data.get("table"), "keys": content}


def _stretch_passphrase(passphrase: str, salt: bytes, cost: Mapping[str, int]) -> bytes:
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    return bytes(
        Scrypt(salt=salt, length=32, **cost).derive(passphrase.encode("utf-8", "surrogatepass"))
    )
