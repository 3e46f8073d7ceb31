"""Check what the parties of a relay did against the plan, which everybody computes alike.

A signature tells who took a turn. It does not tell that the turn was due, nor that what came of it
is of the size that the recipe gives: a party could sign the turns of others, hundreds of its own,
or one tree that outvotes all others.

Everything here follows from public cards and released trees. It costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from privet.accounting.cost import Unit
from privet.domain import Schema
from privet.domain.tree import Tree
from privet.errors import ParameterError
from privet.learners.boosting import FIRST, starts_rare
from privet.learners.relay import Party, Relay, Turn
from privet.learners.terms import FARTHEST_STEP

#: Scores are computed in floating point, and shares are rounded.
ROUNDING = 1e-6
#: The logarithm of the least share that as many rows as a card may name can tell.
LEAST_LOG = -30.0


class ForeseenTurns:
    """The turns that a plan foresees, while parties come, leave and take theirs.

    A plan is made anew where parties, or the recipe, change. Turns that are taken change neither
    those that are left nor what they cost.
    """

    def __init__(self, schema: Schema, unit: Unit) -> None:
        self._plan = Relay(schema, unit, ())
        self._taken: list[Turn] = []
        self._rest: list[Turn] | None = None

    def join(self, party: Party) -> None:
        """Go on with one more party."""
        self._change(parties=(*self._plan.parties, party))

    def leave(self, party: int) -> None:
        """Go on without a party."""
        self._change(gone=self._plan.gone | {party})

    def take(self, party: int, turns: Sequence[Turn], trees: Sequence[Tree]) -> None:
        """Go on after these turns, or raise :class:`~privet.errors.ParameterError`."""
        added = list(trees)
        for turn in turns:
            if turn != self._find_next(party):
                raise ParameterError("took a turn that was not due")
            self._taken.append(turn)
            self._list_rest().remove(turn)
            if turn.kind == "classes":
                starts = added[:1] if added[0].kind == "constant" else []
                self._check_start(starts)
                self._change(trees=tuple(starts))
                del added[: len(starts)]
            else:
                self._check_size(turn, added.pop(0))

    def _change(self, **facts: Any) -> None:
        self._plan = replace(self._plan, taken=tuple(self._taken), **facts)
        self._rest = None

    def _list_rest(self) -> list[Turn]:
        if self._rest is None:
            self._rest = list(self._plan.rest)
        return self._rest

    def _find_next(self, party: int) -> Turn | None:
        rest = self._list_rest()
        own = (turn for turn in rest if turn.party == party and turn.kind == rest[0].kind)
        return next(own, None)

    def _check_start(self, starts: Sequence[Tree]) -> None:
        for tree in starts:
            scores = tree.counts[0]
            fits = scores.min() >= LEAST_LOG and scores.max() <= 0 and starts_rare([tree])
            if not fits or abs(float(np.exp(scores).sum()) - 1) > ROUNDING:
                raise ParameterError("says that classes are as frequent as no rows are")

    def _check_size(self, turn: Turn, tree: Tree) -> None:
        most, depth, kind = FARTHEST_STEP, 1, "term"
        if turn.kind == "tree":
            recipe = self._plan.recipe
            most = recipe.strength * FIRST + (FARTHEST_STEP if recipe.leaves else 0)
            depth, kind = recipe.space.depth, "scores" if recipe.leaves else "drawn"
            if recipe.calibration:
                most, kind = -LEAST_LOG, "calibrated"
        if tree.kind != kind or int(tree.cells.depths.max()) > depth:
            raise ParameterError("added a tree that is none of the recipe's")
        if float(np.abs(tree.counts).max()) > most * (1 + ROUNDING):
            raise ParameterError("added scores that are larger than the recipe's")
