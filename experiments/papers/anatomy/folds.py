"""Folds of whole groups.

Groups are drawn once on the whole table. A training part that is made of whole groups is 2-diverse
as a whole, so it can be split anew and not one row more has to be withheld: all learners see the
same rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.papers.anatomy.experiments import Experiment, L
from experiments.papers.files import read_json, write_json
from privet._types import Ints
from privet.domain import Schema
from privet.domain.encode.rows import encode
from privet.errors import OutsourceError, ParameterError
from privet.outsource.split import draw_groups

FOLDS = 10
_VERSION = 1
_SEED = 2014


@dataclass(frozen=True, eq=False)
class Assignment:
    """The group and the fold of every row, -1 for both where a row is withheld."""

    group: Ints
    fold: Ints

    @property
    def withheld(self) -> int:
        """How many rows are in no fold."""
        return int((self.fold < 0).sum())

    def parts(self, fold: int) -> tuple[Ints, Ints]:
        """The rows to learn from, and those to predict."""
        return np.flatnonzero((self.fold >= 0) & (self.fold != fold)), np.flatnonzero(
            self.fold == fold
        )


def draw(experiment: Experiment, table: Any, schema: Schema) -> Assignment:
    """Fresh groups, dealt to folds. :class:`OutsourceError` where not as many rows are withheld as
    there should be.
    """
    encoded = encode(schema, table)
    assert encoded.classes is not None
    if not encoded.known(schema).all():
        raise OutsourceError(f"a row of {experiment.data!r} does not fit its schema")
    group = draw_groups(
        np.asarray(encoded.codes[schema.index(experiment.sensitive)], dtype=np.int64), L
    ).group
    made = Assignment(group, deal(group, np.asarray(encoded.classes, dtype=np.int64)))
    if experiment.sample is None and made.withheld != experiment.withheld:
        raise OutsourceError(
            f"experiment {experiment.number} withholds {experiment.withheld} rows, but here it is "
            f"{made.withheld}"
        )
    return made


def deal(group: Ints, classes: Ints, folds: int = FOLDS) -> Ints:
    """The fold of every row. Groups of the same classes are spread over all folds evenly, so folds
    are nearly stratified.
    """
    members: dict[int, list[int]] = {}
    for row, number in enumerate(group.tolist()):
        if number >= 0:
            members.setdefault(number, []).append(row)
    if len(members) < folds:
        raise ParameterError(f"{folds} folds need as many groups, but there are {len(members)}")
    order = np.random.default_rng(_SEED).permutation(sorted(members)).tolist()
    # stable: drawn order within the same classes
    order.sort(key=lambda number: sorted(classes[members[number]].tolist()))
    fold = np.full(len(group), -1, dtype=np.int64)
    for position, number in enumerate(order):
        fold[members[number]] = position % folds
    return fold


def kept(path: Path, experiment: Experiment, table: Any, schema: Schema) -> Assignment:
    """The assignment of an earlier run in this file, or a fresh one that is written there."""
    facts = {
        "privet": "folds",
        "version": _VERSION,
        "experiment": experiment.number,
        "sample": experiment.sample,
        "rows": len(table),
    }
    if not path.exists():
        made = draw(experiment, table, schema)
        write_json(path, facts | {"group": made.group.tolist(), "fold": made.fold.tolist()})
        return made
    told = read_json(path, dict)
    if {name: told.get(name) for name in facts} != facts:
        raise ParameterError(
            f"{path} is of another run: another sample, table or version; choose another folder"
        )
    try:
        found = Assignment(
            np.array(told["group"], dtype=np.int64), np.array(told["fold"], dtype=np.int64)
        )
    except (KeyError, TypeError, ValueError):
        raise ParameterError(f"cannot read {path}; remove the folder to begin anew") from None
    if not found.group.shape == found.fold.shape == (len(table),):
        raise ParameterError(f"{path} must have a group and a fold for each of {len(table)} rows")
    return found
