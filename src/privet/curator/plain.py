"""What may be asked about: plain types of the same domain only. A subclass could look at rows, or change after it was checked."""

from __future__ import annotations

from collections.abc import Sequence

from privet.cells import Cells, Split, check_split
from privet.errors import ParameterError, QuestionError
from privet.model import Model
from privet.privacy import PrivacyStatement
from privet.schema import Schema
from privet.tree import Tree


def same_domain(theirs: Schema, ours: Schema) -> bool:
    """Whether a plain schema has our domain. Sizes are compared by themselves: compiled loops step by them."""
    return type(theirs) is Schema and (theirs.sizes, theirs.n_classes, theirs.fingerprint) == (ours.sizes, ours.n_classes, ours.fingerprint)


def checked_model(schema: Schema, model: Model) -> None:
    # A subclass could look at the rows it is asked about.
    plain = type(model) is Model and _plain_statement(model.privacy)
    plain = plain and all(type(tree) is Tree and type(tree.cells) is Cells for tree in model.trees)
    if not plain:
        raise ParameterError(f"a model must be a released Model of plain trees, got {type(model).__name__}")
    if any(known.fingerprint != schema.fingerprint for known in (model.schema, *(tree.schema for tree in model.trees))):
        raise QuestionError("the model is for another schema")


def candidate_lists(schema: Schema, candidates: Sequence[Split] | Sequence[Sequence[Split]], n_cells: int) -> list[Sequence[Split]]:
    shared = [split for split in candidates if isinstance(split, Split)]
    if shared and len(shared) != len(candidates):
        raise QuestionError("candidates must be splits, or one list of splits per cell")
    lists: list[Sequence[Split]] = [shared] * n_cells if shared else list(candidates)  # type: ignore[arg-type]
    if len(lists) != n_cells:
        raise QuestionError(f"give one list of candidates per cell ({n_cells}), got {len(lists)}")
    for c, splits in enumerate(lists):
        if not splits:
            raise QuestionError(f"cell {c} has no candidate")
        for split in splits:
            check_split(schema, split)
    return lists


def _plain_statement(statement: object) -> bool:
    return type(statement) is PrivacyStatement and all(map(_plain_statement, statement.parts))
