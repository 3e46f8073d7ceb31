"""Write and read the model file: compact JSON that ends with a checksum. Data only, never code.

The checksum is the SHA-256 of the object without its last entry, byte for byte as it stands in the
file, so that every changed byte is noticed whatever wrote the file. It guards against damage, not
against forgery: it is no signature.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from privet._atomic import write_atomically
from privet.errors import ModelError
from privet.model.document import VERSIONS, canonical_json, from_document, to_document
from privet.model.model import Model
from privet.model.structure import Damaged, require
from privet.text import advise_swap, escape_invisible

#: A file of more bytes is not read, nor written.
MAX_BYTES = 1 << 28

Parsed = TypeVar("Parsed")

_SEAL = b',"checksum":"'
_SEALED = len(_SEAL) + 64 + len(b'"}')


def write_model(model: Model, path: str | PathLike[str]) -> None:
    """Write a model file atomically: an existing file is replaced as a whole or not at all.

    The same model gives the same bytes. What could not be read back is not written.
    """
    try:
        data = seal(to_document(model))
        parse(data)
    except Damaged as problem:
        raise ModelError(
            path, f"this model cannot be written: {shorten_problem(problem)}"
        ) from None
    write_sealed(data, path)


def read_model(path: str | PathLike[str]) -> Model:
    """Read a model file, or raise :class:`ModelError`.

    It needs no data, and it runs nothing from the file.
    """
    return read_sealed(path, parse)


def parse(data: bytes) -> Model:
    """Return the model in these bytes, or raise :class:`Damaged`."""
    try:
        return from_document(unseal(data, "model", *VERSIONS))
    except RecursionError:
        raise Damaged("it is nested too deeply") from None


def write_sealed(
    data: bytes, path: str | PathLike[str], kind: str = "model", *, private: bool = False
) -> None:
    """Write a sealed file, as a whole or not at all."""
    try:
        write_atomically(path, data, private=private)
    except (OSError, ValueError) as error:
        raise ModelError(path, f"it cannot be written: {_explain_error(error)}", kind) from None


def read_sealed(
    path: str | PathLike[str], parsed: Callable[[bytes], Parsed], kind: str = "model"
) -> Parsed:
    """Return what a parser makes of a sealed file, or raise :class:`ModelError`."""
    try:
        with Path(path).open("rb") as handle:
            data = handle.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise ModelError(path, f"it cannot be read: {_explain_error(error)}", kind) from None
    try:
        return parsed(data)
    except Damaged as problem:
        advice = advise_swap(str(path), kind)
        raise ModelError(path, shorten_problem(problem) + advice, kind) from None


def seal(document: dict[str, Any]) -> bytes:
    """Return the bytes of the file: the document with its checksum as the last entry."""
    body = canonical_json(document)
    return body[:-1] + _SEAL + hashlib.sha256(body).hexdigest().encode() + b'"}'


def unseal(data: bytes, kind: str, *versions: int) -> dict[str, Any]:
    """Return the document in these bytes, without its checksum; or raise :class:`Damaged`."""
    require(len(data) <= MAX_BYTES, f"it has more than {MAX_BYTES} bytes")
    document = load_json(data)
    require(
        isinstance(document, dict) and document.get("privet") == kind,
        f'it is no Privet {kind} ("privet": "{kind}" is missing)',
    )
    version = document.get("version")
    if type(version) is not int or version not in versions:
        *others, last = map(str, versions)
        read = f"versions {', '.join(others)} and {last}" if others else f"version {last}"
        raise Damaged(
            f"its version is {version!r}, this Privet reads {read}; a newer Privet may read it"
        )
    whole = hashlib.sha256(data[:-_SEALED] + b"}").hexdigest()
    sealed = data[-_SEALED:] == _SEAL + whole.encode() + b'"}'
    require(sealed, "its checksum does not fit: it was changed or damaged after it was written")
    del document["checksum"]
    return dict(document)


def load_json(data: bytes) -> Any:
    """Return what JSON text of a stranger holds, or raise :class:`Damaged`."""
    try:
        return json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_refuse_repeated_keys,
            parse_constant=_refuse_constant,
        )
    except UnicodeDecodeError:
        raise Damaged("it is not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise Damaged(f"it is damaged or cut off: no JSON at byte {error.pos}") from None
    except RecursionError:
        raise Damaged("it is nested too deeply") from None
    except Damaged:
        raise
    except ValueError:  # an integer of more digits than Python converts
        raise Damaged("it holds a number that is too long") from None


def _refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    require(len(entries) == len(pairs), "a key stands twice")
    return entries


def _refuse_constant(name: str) -> NoReturn:
    raise Damaged(f"it holds {name}, which is no number")


def _explain_error(error: OSError | ValueError) -> str:
    """Return what went wrong, in words.

    A path with a NUL in it is a ValueError.
    """
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def shorten_problem(problem: Exception) -> str:
    """Return what is wrong with a stranger's document, as a log or a terminal may show it."""
    text = escape_invisible(str(problem))
    return text if len(text) <= 200 else text[:199] + "…"
