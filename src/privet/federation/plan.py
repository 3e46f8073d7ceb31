"""Draw, write and read the plan of a federation.

It holds random structures, drawn once and published, in whose leaves every party counts its own
rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

from privet._validate import check_integer
from privet.domain import Schema
from privet.domain.tree import MAX_HEIGHT
from privet.errors import ModelError, ParameterError
from privet.learners.random_trees.drawing import COMBINES, Plan, draw_forest, height_for
from privet.mechanisms.randomness import Bits, SystemBits
from privet.model.document import schema_from
from privet.model.file import read_sealed, seal, unseal, write_sealed
from privet.model.leaf_vectors import STRENGTH
from privet.model.structure import Damaged, require, short_number, structure_from, structure_to

VERSION = 1
MAX_TREES = 10_000

_KEYS = {"privet", "version", "schema", "structure", "combine", "shrink", "settings", "trees"}


def draw_plan(
    schema: Schema,
    n_trees: int = 10,
    *,
    rows: int | None = None,
    height: int | None = None,
    combine: str = "probabilities",
    shrink: float = STRENGTH,
    bits: Bits | None = None,
) -> Plan:
    """Draw the structures of a forest.

    It sees no data and costs nothing.

    Parameters
    ----------
    schema
        The public domain that all parties share, and whether a person is added or replaced.
        What it declares about rows and people is left out: every party says that of its own
        table.
    n_trees
        How many trees. Each party's epsilon is shared among them.
    rows
        About how many rows all parties have together, if that is public; sets the height of
        the trees.
    height
        The depth of every leaf, instead of ``rows``.
    combine, shrink
        See :class:`~privet.RandomTreesClassifier`.
    bits
        The source of randomness; tests pass a seeded one.
    """
    n_trees = check_integer("n_trees", n_trees, 1, MAX_TREES)
    if (rows is None) == (height is None):
        raise ParameterError(
            "give either rows (about how many all parties have together) or height"
        )
    if height is None:
        height = height_for(schema, float(check_integer("rows", rows, 1)))
    height = check_integer("height", height, 1, MAX_HEIGHT)
    # Whose row it is, and how many somebody has, is for each party to say about its own table.
    schema = schema.declare(n_rows=None, person=None, rows_per_person=1)
    forest = draw_forest(schema, n_trees, height, SystemBits() if bits is None else bits)
    settings = {
        "n_trees": n_trees,
        "combine": combine,
        "shrink": shrink,
        "height": height,
    }
    return Plan(schema, tuple(forest), combine, shrink, settings)


def write_plan(plan: Plan, path: str | PathLike[str]) -> None:
    """Write a plan file, atomically.

    What could not be read back is not written.
    """
    try:
        data = plan_to_bytes(plan)
        _parse(data)
    except Damaged as problem:
        raise ModelError(path, f"this plan cannot be written: {problem}", "plan") from None
    write_sealed(data, path, "plan")


def read_plan(path: str | PathLike[str]) -> Plan:
    """Read a plan file, or raise :class:`~privet.errors.ModelError`."""
    return read_sealed(path, _parse, "plan")


def plan_to_bytes(plan: Plan) -> bytes:
    """Return the bytes of a plan file."""
    return seal(
        {
            "privet": "plan",
            "version": VERSION,
            "schema": plan.schema.to_json(),
            "structure": plan.fingerprint,
            "combine": plan.combine,
            "shrink": short_number(float(plan.shrink)),
            "settings": dict(plan.settings),
            "trees": [structure_to(cells) for cells in plan.forest],
        }
    )


def plan_from_bytes(data: bytes) -> Plan:
    """Parse the bytes of a plan file that came over a wire."""
    try:
        return _parse(data)
    except Damaged as problem:
        raise ModelError("received", str(problem), "plan") from None


def _parse(data: bytes) -> Plan:
    document = unseal(data, "plan", VERSION)
    require(set(document) == _KEYS, f"a plan must have exactly {', '.join(sorted(_KEYS))}")
    schema, trees = schema_from(document["schema"]), document["trees"]
    combine, shrink, settings = document["combine"], document["shrink"], document["settings"]
    require(combine in COMBINES, f"combine must be one of {', '.join(COMBINES)}")
    require(
        type(shrink) in (int, float) and 0 <= shrink < 10**6,
        "shrink must be a number of at least 0",
    )
    require(_is_plain_settings(settings), "settings must be an object of texts and numbers")
    require(
        isinstance(trees, list) and 1 <= len(trees) <= MAX_TREES,
        f"trees must be a list of 1 to {MAX_TREES}",
    )
    forest = tuple(structure_from(schema, tree, number) for number, tree in enumerate(trees))
    plan = Plan(schema, forest, combine, float(shrink), settings)
    require(
        plan.fingerprint == document["structure"], "its fingerprint is not that of its structures"
    )
    return plan


def _is_plain_settings(settings: Any) -> bool:
    return (
        isinstance(settings, Mapping)
        and len(settings) <= 20
        and all(isinstance(value, str | int | float) for value in settings.values())
    )
