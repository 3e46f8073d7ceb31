"""From a valid input to one that nobody would write. All chance is that of one seeded generator, so
that a run can be repeated.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random
from typing import Any

from tests.fuzz.nasty import BYTES, NUMBERS, TEXTS, VALUES, written

#: An input grows no longer than this by itself.
MOST_BYTES = 1 << 18


def mutated_bytes(rng: Random, data: bytes, others: Sequence[bytes] = (b"",)) -> bytes:
    """Change bytes in a few places: flip, replace, insert, cut out, repeat, cut off, or cross with
    another input.
    """
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at = rng.randrange(len(changed) + 1)
        end = min(len(changed), at + rng.choice((1, 1, 2, 4, 16, 100, 1000)))
        what = rng.randrange(10)
        if what == 0 and at < len(changed):
            changed[at] ^= 1 << rng.randrange(8)
        elif what == 1 and at < len(changed):
            changed[at] = rng.randrange(256)
        elif what == 2:
            changed[at:at] = rng.choice(BYTES)
        elif what == 3:
            changed[at:end] = rng.choice(BYTES)
        elif what == 4:
            del changed[at:end]
        elif what == 5:
            changed[at:at] = changed[at:end] * rng.choice((1, 1, 2, 50))
        elif what == 6 and rng.random() < 0.3:
            del changed[at:]
        elif what == 7:
            changed[at:end] = bytes(end - at)
        elif what == 8:
            other = rng.choice(others)
            begin = rng.randrange(len(other) + 1)
            changed[at:end] = other[begin : begin + rng.choice((4, 16, 100, 1000))]
        elif what == 9 and at + 4 <= len(changed):  # a length or an offset, in either order
            changed[at : at + 4] = (
                rng.choice((0, 1, 2**31 - 1, 2**32 - 1, len(changed)))
            ).to_bytes(4, rng.choice(("little", "big")))
    return bytes(changed[:MOST_BYTES])


def mutated_json(rng: Random, data: bytes, others: Sequence[bytes] = (b"",)) -> bytes:
    """Change values, keys and structure of a JSON text; now and then its bytes."""
    if rng.random() < 0.1:
        return mutated_bytes(rng, data, others)
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return mutated_bytes(rng, data, others)
    if not isinstance(document, dict | list) or not document:
        return mutated_bytes(rng, rng.choice(others), others)
    try:
        for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
            document = mutated_value(rng, document)
        text = json.dumps(document, ensure_ascii=rng.random() < 0.7, separators=(",", ":"))
    except (ValueError, RecursionError):
        return data
    if len(text) > MOST_BYTES:
        return data
    text = written(text, rng.choice((5, 50, 400, 3000, 100_000)))
    if rng.random() < 0.03:
        text = _key_twice(rng, text)
    return text.encode("utf-8", "surrogatepass")


def mutated_value(rng: Random, document: Any) -> Any:
    """The document with one change, made in place where there is a place."""
    ways = _containers(document)
    if not ways:
        return _nasty(rng)
    box = rng.choice(ways)
    key = rng.choice(list(box)) if isinstance(box, dict) else rng.randrange(len(box))
    what = rng.randrange(10)
    if what < 4:
        box[key] = _like(rng, box[key])
    elif what == 4:
        del box[key]
    elif what == 5:
        box[key] = _copy(rng.choice((document, box)))  # a document within itself
    elif what == 6 and isinstance(box, dict):
        new = rng.choice(
            (
                rng.choice(TEXTS),
                key.upper(),
                key + " ",
                *(other for one in ways if isinstance(one, dict) for other in one),
            )
        )
        box[new] = box.pop(key) if rng.random() < 0.5 else _copy(box[key])
    elif what == 6:
        box[key:key] = [_copy(box[key]) for _ in range(rng.choice((1, 1, 2, 100)))]
    elif what == 7 and isinstance(box, list):
        rng.shuffle(box)
    elif what == 7:
        box[key] = [box[key]] if rng.random() < 0.5 else {"a": box[key]}
    elif what == 8:
        other = rng.choice(ways)
        source = list(other.values()) if isinstance(other, dict) else other
        if source:
            box[key] = _copy(rng.choice(source))
    else:
        box[key] = _nasty(rng)
    return document


def _like(rng: Random, value: Any) -> Any:
    """Another value of the same kind, near by or far off."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return rng.choice(
            (
                value + 1,
                value - 1,
                -value,
                2 * value,
                value // 3,
                f"{value:.3g}" if abs(value) < 1e300 else "",
                rng.choice(NUMBERS),
            )
        )
    if isinstance(value, float):
        return rng.choice((value * 2, -value, value / 3, str(value), rng.choice(NUMBERS)))
    if isinstance(value, str) and value:
        at = rng.randrange(len(value))
        return rng.choice(
            (
                value[:at],
                value[:at] + rng.choice(TEXTS) + value[at:],
                value * 2,
                value.swapcase(),
                rng.choice(TEXTS),
            )
        )
    return _nasty(rng)


def _nasty(rng: Random) -> Any:
    return _copy(rng.choice(VALUES))  # it may be changed further


def _containers(value: Any, depth: int = 0) -> list[Any]:
    """Every object and list in a document that holds something."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    below = [one for entry in inside for one in _containers(entry, depth + 1)] if depth < 60 else []
    return [value, *below] if inside else below


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(entry) for key, entry in value.items()}
    return [_copy(entry) for entry in value] if isinstance(value, list) else value


def _key_twice(rng: Random, text: str) -> str:
    """The first entry of some object, written again."""
    at = rng.choice([i for i, char in enumerate(text) if char == "{"] or [0])
    end = text.find(",", at)
    return text if end < 0 else text[: at + 1] + text[at + 1 : end] + "," + text[at + 1 :]


def mutated_lines(rng: Random, data: bytes, others: Sequence[bytes] = (b"",)) -> bytes:
    """Change a text of lines and fields: a field by a nasty one, a line taken out, repeated or
    moved; now and then its bytes.
    """
    if rng.random() < 0.35:
        return mutated_bytes(rng, data, others)
    lines = data.split(b"\n")
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(lines))
        fields = lines[at].split(b",")
        field = rng.randrange(len(fields))
        what = rng.randrange(8)
        if what < 3:
            fields[field] = rng.choice(TEXTS).encode("utf-8", "surrogatepass")
        elif what == 3:
            fields[field] = (
                b'"' + rng.choice(BYTES).replace(b'"', b'""') + rng.choice((b'"', b"", b'"x'))
            )
        elif what == 4:
            del fields[field]
        elif what == 5:
            fields.insert(field, rng.choice((b"", fields[field], rng.choice(BYTES))))
        elif what == 6:
            fields = fields * rng.choice((2, 2, 30))
        else:
            lines.insert(rng.randrange(len(lines) + 1), lines[at])
        lines[at] = rng.choice((b",", b",", b",", b";", b"\t")).join(fields)
    end = rng.choice((b"\n", b"\n", b"\n", b"\n", b"\r\n", b"\r"))
    return rng.choice((b"", b"", b"", b"", b"\xef\xbb\xbf")) + end.join(lines)[:MOST_BYTES]
