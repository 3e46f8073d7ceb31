"""``save`` and ``load``: between a trained classifier and its file."""

from __future__ import annotations

from os import PathLike

from privet.errors import ParameterError
from privet.learners.base import PrivateClassifier
from privet.learners.released import ReleasedClassifier
from privet.model import Model
from privet.model.file import read_model, write_model


def save(model: PrivateClassifier | Model, path: str | PathLike[str]) -> None:
    """Write a trained classifier to a file: versioned JSON with its schema, trees, released counts
    and privacy statement.
    """
    released = getattr(model, "model_", model)
    if not isinstance(released, Model):
        raise ParameterError(
            f"save needs a trained classifier or a model, got {type(model).__name__}"
        )
    write_model(released, path)


def load(path: str | PathLike[str]) -> ReleasedClassifier:
    """Read a classifier from a file. Data only, never code; it predicts without the table it was
    trained on.
    """
    return ReleasedClassifier(read_model(path))
