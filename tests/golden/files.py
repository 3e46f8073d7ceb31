"""Where golden files are, and JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).parent / "v0.1"


def read_json(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def write_json(path: Path, value: Any) -> None:
    """Write one line for each entry of an object or a list."""
    if isinstance(value, dict):
        lines = [f"{_line(key)}: {_line(entry)}" for key, entry in value.items()]
        text = "{\n" + ",\n".join(lines) + "\n}\n"
    else:
        text = "[\n" + ",\n".join(map(_line, value)) + "\n]\n"
    path.write_text(text, "utf-8")


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def expected(part: str) -> Any:
    """What the files of a part must turn out to hold."""
    return read_json(GOLDEN / part / "expected.json")


def states(text: str, facts: dict[str, Any]) -> bool:
    """Whether a text for people holds the privacy statement of a model."""
    flat = " ".join(text.split())
    if facts["private"]:
        return facts["statement"] in flat
    return "NOT PRIVATE" in flat and facts["reason"] in flat
