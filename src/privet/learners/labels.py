"""Match the labels that scikit-learn passes with the classes of a schema.

Who calls ``fit(X, y)`` compares predictions with ``y``. So predictions are of the type that the
labels in ``y`` have, and ``classes_`` is sorted, as scikit-learn's scorers expect: of two classes,
they take the last one as the positive one.

Labels that differ from the classes by their type only ("1" and 1, True and "True") are the same.
Integers where all classes are text are refused: nobody can tell which class each of them means.
Meta-estimators are the exception. Some number the classes before they train clones of the learner;
what a clone predicts must then be numbers, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.domain import Schema, text_of
from privet.domain.attributes.listed import is_canonical_number
from privet.domain.encode.columns import kind_of
from privet.domain.encode.encoding import ValueKind
from privet.errors import SchemaMismatch
from privet.text import join_some

_TRUTHS = {"true": True, "false": False}


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels that a classifier predicts, and which class of the schema each of them is."""

    classes: npt.NDArray[Any]
    order: npt.NDArray[np.intp]

    @property
    def by_class(self) -> npt.NDArray[Any]:
        """The label of each class of the schema."""
        return self.classes[np.argsort(self.order)]

    @classmethod
    def of_schema(cls, schema: Schema) -> Labels:
        """Return the classes as the schema lists them."""
        return cls(_label_array(list(schema.classes)), np.arange(schema.n_classes))

    @classmethod
    def like(cls, schema: Schema, y: Any) -> Labels:
        """Return the classes as labels of the type of ``y``, sorted where they can be.

        Looks at types only.
        """
        labels = _convert(schema, _type_of_labels(y))
        try:
            order = sorted(range(len(labels)), key=labels.__getitem__)
        except TypeError:  # text and numbers side by side
            order = list(range(len(labels)))
        return cls(_label_array([labels[place] for place in order]), np.array(order))


def match_numbered(schema: Schema, y: Any, *, cloned: bool) -> Schema:
    """Return the schema that goes with labels: with numbered classes for a clone that gets
    integers where the classes are text.

    Raises for integers, booleans and numbers otherwise, as no class is one.
    """
    kind = _kind_of_labels(y)
    if kind is None or schema.label.can_hold(kind):
        return schema
    if cloned and kind == "integer":
        return schema.number_classes()
    holds = {"integer": "integers", "bool": "booleans", "date": "dates"}.get(kind, "numbers")
    names = join_some([repr(label) for label in schema.label.labels], ", ", 10)
    first = schema.label.labels[0]
    raise SchemaMismatch(
        [
            f"y holds {holds}, and the classes of {schema.target!r} are text: {names}. Nobody can "
            f"tell which is which: translate y, such as y.map({{0: {first!r}, ...}}), or list in "
            "the schema the classes that y holds"
        ]
    )


def _kind_of_labels(y: Any) -> ValueKind | None:
    """Return what labels are by their type; None where only entries could tell."""
    if isinstance(y, list | tuple):
        y = np.array(y, dtype=object) if any(isinstance(one, str) for one in y) else np.asarray(y)
    kind = kind_of(y) if hasattr(y, "dtype") else None
    return None if kind == "text" else kind


def _type_of_labels(y: Any) -> ValueKind | None:
    """Return what all labels of ``y`` are; None where they are of several types, or unknown."""
    import pandas as pd

    inferred = pd.api.types.infer_dtype(np.asarray(y, dtype=object).reshape(-1), skipna=True)
    kinds: dict[str, ValueKind] = {
        "string": "text",
        "integer": "integer",
        "boolean": "bool",
        "floating": "number",
        "mixed-integer-float": "number",
    }
    return kinds.get(inferred)


def _convert(schema: Schema, kind: ValueKind | None) -> list[Any]:
    """Return the classes as labels of a kind, where all of them can be."""
    texts = [text_of(value) for value in schema.classes]
    if kind == "text":
        # as the schema spells them: only other types are written as text
        return [v if isinstance(v, str) else _spell(v) for v in schema.classes]
    if kind == "bool" and {text.lower() for text in texts} <= set(_TRUTHS):
        return [_TRUTHS[text.lower()] for text in texts]
    if kind in ("integer", "number") and all(map(is_canonical_number, texts)):
        numbers = [float(text) for text in texts]
        return [int(n) if n.is_integer() else n for n in numbers]
    return list(schema.classes)


def _spell(value: Any) -> str:
    return str(value) if isinstance(value, bool) else text_of(value)


def _label_array(labels: list[Any]) -> npt.NDArray[Any]:
    """Return an array of labels; mixed ones stay what they are."""
    return np.array(labels, dtype=object if len({type(label) for label in labels}) > 1 else None)
