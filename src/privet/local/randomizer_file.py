"""Read and write the public file of a randomizer, by which all people randomise alike."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from os import PathLike
from typing import Any

from privet.errors import ModelError, PrivetError
from privet.federation.plan import plan_from_bytes, plan_to_bytes
from privet.local.leaf_randomizer import LeafRandomizer
from privet.local.randomizer import Randomizer
from privet.model.document import canonical_json, schema_from
from privet.model.file import read_sealed, seal, unseal, write_sealed
from privet.model.structure import Damaged, require

VERSION = 1
_COMMON = {"privet", "version", "schema", "epsilon", "spread"}
_MORE = {"split": {"class_share"}, "sample": {"together"}, "leaves": {"plan"}}
_FRACTION = re.compile(r"[0-9]{1,120}(/[1-9][0-9]{0,119})?")


def write_randomizer(randomizer: Randomizer | LeafRandomizer, path: str | PathLike[str]) -> None:
    """Write the public file, atomically."""
    write_sealed(randomizer_to_bytes(randomizer), path, "randomizer")


def read_randomizer(path: str | PathLike[str]) -> Randomizer | LeafRandomizer:
    """Read a public file, or raise :class:`~privet.errors.ModelError`."""
    return read_sealed(path, _parse, "randomizer")


def randomizer_to_bytes(randomizer: Randomizer | LeafRandomizer) -> bytes:
    """Return the bytes of a public file."""
    leaves = isinstance(randomizer, LeafRandomizer)
    document: dict[str, Any] = {
        "privet": "randomizer",
        "version": VERSION,
        "schema": randomizer.schema.to_json(),
        "epsilon": str(randomizer.epsilon),
        "spread": "leaves" if leaves else randomizer.spread,  # type: ignore[union-attr]
    }
    if isinstance(randomizer, LeafRandomizer):
        document["plan"] = json.loads(plan_to_bytes(randomizer.plan))
    elif randomizer.spread == "split":
        document["class_share"] = str(randomizer.class_share)
    else:
        document["together"] = randomizer.together
    return seal(document)


def _parse(data: bytes) -> Randomizer | LeafRandomizer:
    document = unseal(data, "randomizer", VERSION)
    spread = document.get("spread")
    require(
        isinstance(spread, str) and spread in _MORE, f"spread must be one of {', '.join(_MORE)}"
    )
    wanted = _COMMON | _MORE[spread]  # type: ignore[index]
    require(
        set(document) == wanted,
        f"a randomizer of this spread must have exactly {', '.join(sorted(wanted))}",
    )
    schema, epsilon = (
        schema_from(document["schema"]),
        _parse_fraction("epsilon", document["epsilon"]),
    )
    try:
        if spread == "leaves":
            return LeafRandomizer(
                plan_from_bytes(canonical_json(document["plan"])), epsilon, schema=schema
            )
        if spread == "split":
            return Randomizer(
                schema,
                epsilon,
                "split",
                class_share=_parse_fraction("class_share", document["class_share"]),
            )
        require(type(document["together"]) is int, "together must be an integer")
        return Randomizer(schema, epsilon, "sample", document["together"])
    except ModelError as error:
        raise Damaged(f"its plan is not one: {error}") from None
    except Damaged:
        raise
    except PrivetError as error:
        raise Damaged(str(error)) from None


def _parse_fraction(name: str, text: Any) -> Fraction:
    require(
        isinstance(text, str) and _FRACTION.fullmatch(text) is not None,
        f"{name} must be a fraction, such as '1/2'",
    )
    return Fraction(text)
