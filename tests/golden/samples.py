"""Small made-up tables and schemas. Their rows follow from row numbers: no chance, no people."""

from __future__ import annotations

from typing import Any

import pandas as pd

import privet as pv

COLOURS = ["red", "green", "blue"]
PLAIN = pv.Schema(
    {
        "colour": pv.Categorical(COLOURS),
        "age": pv.Numeric(0, 80, bins=4),
        "smokes": pv.Categorical(["no", "yes"]),
    },
    "ill",
    ["no", "yes"],
)
RICH = pv.Schema(
    {
        "colour": pv.Categorical(COLOURS, other="another", missing="?"),
        "rooms": pv.Categorical([1, 2, 3], on_unknown="drop"),
        "insured": pv.Categorical([True, False]),
        "age": pv.Numeric(17, 90, bins=6, spacing="linear", missing="not told"),
        "income": pv.Numeric(0, 1_000_000, bins=5, spacing="log", on_unknown="clip"),
        "height": pv.Numeric(edges=[100, 150, 160, 170, 180, 220], on_unknown="drop"),
    },
    "ill",
    ["no", "maybe", "yes"],
    n_rows=240,
    person="who",
    rows_per_person=2,
    neighbours="replace",
)
LEFT = pv.Schema({"colour": PLAIN.attributes["colour"]}, "ill", ["no", "yes"])
RIGHT = pv.Schema(
    {name: PLAIN.attributes[name] for name in ("age", "smokes")}, "ill", ["no", "yes"]
)


def plain(rows: int = 400, turn: int = 0) -> pd.DataFrame:
    """Rows of PLAIN, whose class follows from the attributes most of the time."""
    lines: list[dict[str, Any]] = []
    for i in range(turn, turn + rows):
        colour, age, smokes = COLOURS[i % 3], float(i * 7 % 80), ["no", "yes"][i // 5 % 2]
        ill = (colour == "red" and age >= 40) or (smokes == "yes" and age >= 60)
        told = "yes" if ill != (i % 11 == 0) else "no"
        line = {"who": f"p{i // 2}", "colour": colour, "age": age, "smokes": smokes, "ill": told}
        lines.append(line)
    return pd.DataFrame(lines)


def rich(rows: int = 240) -> pd.DataFrame:
    """Rows of RICH, some of which hold what the schema does not list."""
    lines: list[dict[str, Any]] = []
    for i in range(rows):
        age = 17 + i * 5 % 73
        line: dict[str, Any] = {
            "who": f"p{i // 3}",
            "colour": [*COLOURS, "violet", None][i % 5],
            "rooms": 1 + i % 4,
            "insured": i % 3 == 0,
            "age": None if i % 17 == 0 else float(age),
            "income": float(i * 4177 % 1_100_000),
            "height": 140.0 + i * 3 % 90,
            "ill": "maybe" if i % 7 == 0 else "yes" if age > 50 else "no",
        }
        lines.append(line)
    return pd.DataFrame(lines)
