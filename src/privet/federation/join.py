"""One model from tables with different attributes of the same people (vertical partitions).

Each party trains on its own attributes and the shared class; the union of their trees answers
(Jagannathan, Pillaipakkamnatt and Wright 2012, section 5.3). Their claim that the union keeps
epsilon is wrong: every ensemble sees the same people and the same labels, so one person changes all
of them, and what a person loses is the **sum** (sequential composition).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from privet.cells import Cells
from privet.errors import ParameterError, QuestionError
from privet.federation.merge import check_model, unite_models
from privet.model import Model
from privet.privacy import PrivacyStatement
from privet.schema import Attribute, Schema


def join(models: Sequence[Model]) -> Model:
    """The union ensemble of models with different attributes and the same classes. Post-processing:
    it sees no row, and pays nothing.

    It classifies rows with all attributes. Where some are missing, a tree answers from the last
    node that it could reach, and trees that cannot answer their first test leave the answer to the
    others. Cost, for one person: the sum of the models' epsilons.
    """
    models = [check_model(model) for model in models]
    if len(models) < 2:
        raise ParameterError(f"join needs at least two models, got {len(models)}")
    statement = PrivacyStatement.together([model.privacy for model in models], "same")
    schema = _union_attributes([model.schema for model in models])
    return unite_models(
        models,
        [[_move_cells(tree.cells, schema) for tree in model.trees] for model in models],
        statement,
        vertical=True,
    )


def _union_attributes(schemas: Sequence[Schema]) -> Schema:
    """The attributes of all tables, in the order given."""
    first = schemas[0]
    found: dict[str, Attribute] = {}
    for schema in schemas:
        if (schema.target, schema.classes) != (first.target, first.classes):
            raise QuestionError(
                f"the models predict different things: {first.target!r} ({_format_classes(first)}) and "
                f"{schema.target!r} ({_format_classes(schema)}); "
                "target and classes must be the same, in the same order"
            )
        for name, attribute in schema.attributes.items():
            if found.setdefault(name, attribute) != attribute:
                raise QuestionError(
                    f"attribute {name!r} has different values in two of the models; rename one, or "
                    "agree on its values"
                )
    joined = replace(
        first,
        attributes=found,
        n_rows=None,
        person=None,
        rows_per_person=max(s.rows_per_person for s in schemas),
    )
    return replace(joined, from_data=any(schema.from_data for schema in schemas))


def _format_classes(schema: Schema) -> str:
    return ", ".join(schema.label.labels[:5]) + (", ..." if schema.n_classes > 5 else "")


def _move_cells(cells: Cells, schema: Schema) -> Cells:
    """The same structure over a schema with more attributes."""
    place = np.array([*(schema.index(name) for name in cells.schema.names), -1])
    return replace(cells, schema=schema, attribute=place[cells.attribute])
