"""Save a trained classifier to a file, and load it again.

A classifier that was read from a file predicts, and cannot be trained.
"""

from __future__ import annotations

from os import PathLike
from typing import Any, ClassVar, Self

from privet.curator import AnyCurator
from privet.curator.spending import Spending
from privet.errors import ParameterError
from privet.learners.base import Growth, PrivateClassifier
from privet.model import Model, model_of
from privet.model.file import read_model, write_model


def save(model: PrivateClassifier | Model, path: str | PathLike[str]) -> None:
    """Write a trained classifier to a file.

    The file is versioned JSON with its schema, trees, released counts and privacy statement.

    Parameters
    ----------
    model
        A trained classifier, or its :class:`~privet.Model`.
    path
        The file to write; an existing one is replaced as a whole or not at all.

    Examples
    --------
    >>> import privet as pv
    >>> car = pv.datasets.load("car")
    >>> model = pv.GreedyTreeClassifier(epsilon=1, schema=car.schema).fit(car.table)
    >>> pv.save(model, "model.json")
    >>> bool((pv.load("model.json").predict(car.X) == model.predict(car.X)).all())
    True
    """
    write_model(model_of(model, "save"), path)


def load(path: str | PathLike[str]) -> ReleasedClassifier:
    """Read a classifier from a file.

    Data only, never code; it predicts without the table it was trained on.

    Parameters
    ----------
    path
        A model file.

    Returns
    -------
    ReleasedClassifier
        A classifier that predicts.

    Raises
    ------
    ModelError
        If the file is damaged, or no model file.

    Examples
    --------
    >>> import privet as pv
    >>> car = pv.datasets.load("car")
    >>> model = pv.GreedyTreeClassifier(epsilon=1, schema=car.schema).fit(car.table)
    >>> pv.save(model, "model.json")
    >>> bool((pv.load("model.json").predict(car.X) == model.predict(car.X)).all())
    True
    """
    return ReleasedClassifier(read_model(path))


class ReleasedClassifier(PrivateClassifier):
    """A released model as an estimator of scikit-learn. It needs no data, and holds none.

    Parameters
    ----------
    model
        The released model.

    Examples
    --------
    >>> import privet as pv
    >>> car = pv.datasets.load("car")
    >>> tree = pv.GreedyTreeClassifier(epsilon=1, schema=car.schema).fit(car.table)
    >>> pv.ReleasedClassifier(tree.model_).predict(car.X.head(1)).shape
    (1,)
    """

    _name: ClassVar[str] = "released"

    def __init__(self, model: Model) -> None:
        self.model = model
        self.random_state = None
        self._positional = False
        self._adopt(model)

    def fit(self, X: Any, y: Any = None, **_: Any) -> Self:  # noqa: ARG002, N803
        """Refuse: a released model cannot be trained."""
        raise ParameterError("a released model cannot be trained; train the learner it came from")

    def fit_from(self, curator: AnyCurator) -> Self:  # noqa: ARG002
        """Refuse: a released model cannot be trained."""
        raise ParameterError("a released model cannot be trained; train the learner it came from")

    def _grow(self, curator: AnyCurator, spending: Spending) -> Growth:  # noqa: ARG002
        raise ParameterError("a released model cannot be trained; train the learner it came from")
