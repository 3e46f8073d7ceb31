"""What the kinds of trees promise about their numbers, and what files of 0.1 do not say.

Whoever makes a tree states its kind (:data:`~privet.tree.TreeKind`). A model checks the statement,
so that a card or a picture can rely on it; a file could state anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from privet.errors import QuestionError
from privet.tree import Tree, TreeKind


def check_kinds(trees: Sequence[Tree], *, scores: bool) -> None:
    """Raise unless every tree is what it states, in a model that adds up scores or does not."""
    for number, tree in enumerate(trees, 1):
        if scores and tree.kind == "counts":
            raise QuestionError(
                f"tree {number} holds counts, but the model adds up scores; state its kind: "
                f"{', '.join(map(repr, _PROMISES))}"
            )
        if not scores and tree.kind != "counts":
            raise QuestionError(
                f"tree {number} holds scores (its kind is {tree.kind!r}), but the model adds up "
                'counts; combine="scores" adds up scores'
            )
        if tree.kind != "counts":
            keeps, promise = _PROMISES[tree.kind]
            if not keeps(tree):
                raise QuestionError(f"tree {number} is no {tree.kind!r} tree: {promise}")


def infer_kinds_of_0_1(trees: Sequence[Tree]) -> tuple[TreeKind, ...]:
    """Guess the kinds of trees of scores from their numbers: files of 0.1 do not say.

    This is how 0.1 told the parts of a model apart. It can be wrong: a calibrated tree that never
    splits looks like a constant. Nothing else in Privet guesses.
    """
    return tuple(
        next(kind for kind, (keeps, _) in _PROMISES.items() if keeps(tree)) for tree in trees
    )


def _is_term(tree: Tree) -> bool:
    attribute = int(tree.cells.attribute[0])
    return bool(
        attribute >= 0
        and tree.n_nodes == 1 + tree.schema.sizes[attribute]
        and (tree.cells.attribute[1:] < 0).all()
        and not tree.counts[0].any()
    )


def _is_drawn(tree: Tree) -> bool:
    amount = tree.counts[0].max()
    one_class = (np.count_nonzero(tree.counts, axis=1) == 1).all()
    return bool(amount > 0 and one_class and (tree.counts.max(axis=1) == amount).all())


def _is_constant(tree: Tree) -> bool:
    return tree.n_nodes == 1


def _is_calibrated(tree: Tree) -> bool:
    largest = tree.counts.max(axis=1, keepdims=True)
    one_class = ((tree.counts == largest).sum(axis=1) == 1).all()
    classes = np.unique(tree.counts.argmax(axis=1))
    return bool(one_class and len(np.unique(tree.counts, axis=0)) == len(classes))


def _is_any(tree: Tree) -> bool:  # noqa: ARG001
    return True


#: What each kind of score tree promises, in the order in which 0.1 told them apart.
_PROMISES: dict[TreeKind, tuple[Callable[[Tree], bool], str]] = {
    "term": (
        _is_term,
        "a term has one split with a child for each value, and nothing at the root",
    ),
    "drawn": (_is_drawn, "each of its nodes must add the same positive amount to one class"),
    "constant": (_is_constant, "a constant has a single node"),
    "calibrated": (
        _is_calibrated,
        "each of its nodes must say one class, and the same scores wherever it says the same",
    ),
    "scores": (_is_any, "it may hold any scores"),
}
