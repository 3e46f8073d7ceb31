"""Define what all estimators share: scikit-learn's contract on one side, a curator on the other."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from privet._types import Floats
from privet._validate import ParameterCheck, check_parameters
from privet.accounting.cost import Budget, Cost, Number, is_infinite, parse_exact
from privet.accounting.statement import PrivacyStatement
from privet.curator import AnyCurator, Curator
from privet.curator.spending import Spending, cost_of
from privet.domain import Schema
from privet.domain.draft import schema_from_data
from privet.domain.encode.rows import encode
from privet.domain.tree import Tree
from privet.errors import AbsentWarning, ParameterError, PrivacyWarning, SchemaError
from privet.learners.evaluation import Evaluation, evaluate
from privet.mechanisms.randomness import SeededBits, SystemBits
from privet.model import Combine, Model
from privet.model.costs import Costs
from privet.model.leaf_vectors import Evidence
from privet.model.population import Population
from privet.tables.memory import MemoryTable

#: Why a delta that was given is not used.
COUNTS_EPSILON = "the budget of the curator counts epsilon"
PURE_IS_BETTER = "with so little evidence, pure epsilon is expected to be more accurate"
#: The share of epsilon that pays for the number of rows where it is not declared.
SIZE_SHARE = Fraction(1, 20)


class Growth(NamedTuple):
    """What a learner has grown: trees, how they combine, public settings, the deviation of each
    leaf count's noise, leaf vectors, what mistakes cost, and who the people are.
    """

    trees: tuple[Tree, ...]
    combine: Combine
    settings: dict[str, Any]
    noise: float
    evidence: Evidence | None = None
    costs: Floats | None = None
    population: Population | None = None


class PrivateClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that is trained through a curator and never holds rows.

    Subclasses store their parameters in ``__init__``, declare in ``_parameters`` what each may be,
    and say in :meth:`_grow` how a model is grown.
    Parameters that all have:

    Parameters
    ----------
    epsilon
        What the fit may cost, for one row added or removed. ``math.inf`` is the
        non-private baseline, and says so.
    schema
        The public schema. ``None`` is an error that explains itself; ``"from-data"`` reads
        the domain off the rows, for public data, and marks the model ``private: false``.
    random_state
        A test seed; refused unless unlocked with
        :func:`privet.testing.unlock_test_seeds`. Never stored in a model.
    """

    _name: ClassVar[str]
    #: What each parameter may be, besides epsilon, delta, schema and random_state, which all
    #: learners share. Checked before anything is charged.
    _parameters: ClassVar[Mapping[str, ParameterCheck]] = {}
    #: Parameters that came after 0.1. They tell fits apart only where they are not at their
    #: default, so that a fit that was begun without them goes on.
    _later: ClassVar[frozenset[str]] = frozenset()

    epsilon: Number
    schema: Schema | str | None
    random_state: int | None
    #: Learners that compose in zCDP have a parameter for it: above 0, epsilon and delta together
    #: are what a fit may cost.
    delta: Number = 0

    # -- fitting -----------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: N803
        """Train on a table in memory, through a curator of its own with ``epsilon`` as its budget.

        Every call has a ledger of its own that ends with it: several fits of one table (a grid
        search, cross-validation) add up without anybody noticing. :meth:`fit_from` with one curator
        counts them all. ``y`` may be left out where ``X`` holds the class column that the schema
        names.

        Parameters
        ----------
        X
            The rows: a data frame with the attributes of the schema.
        y
            The class of each row; None where ``X`` has the class column.
        sample_weight
            Refused: a weighted row would cost more than the guarantee says.

        Returns
        -------
        self
            The trained classifier.

        Examples
        --------
        >>> import privet as pv
        >>> car = pv.datasets.load("car")
        >>> model = pv.GreedyTreeClassifier(epsilon=1, schema=car.schema).fit(car.X, car.y)
        >>> print(model.privacy_)
        1-differentially private with one row added or removed
        """
        self._check_parameters()
        self._refuse_weights(sample_weight)
        schema, X, y = self._check_table(X, y)  # noqa: N806
        self._fit_from(self._own_curator(schema, X, y), PURE_IS_BETTER)
        return self

    def _own_curator(
        self,
        schema: Schema,
        X: Any,  # noqa: N803
        y: Any,
        batch: int = 0,
        delta: Number | None = None,
    ) -> Curator:
        """Return a curator of a table in memory with the epsilon of a fit as its budget.

        Batches of one test seed differ. ``delta`` is that of the learner unless pure epsilon is
        expected to be better.
        """
        bits = (
            SystemBits()
            if self.random_state is None
            else SeededBits(
                self.random_state if batch == 0 else int(self.random_state) + (batch << 64)
            )
        )
        if delta is None:
            delta = 0 if self._prefers_pure(schema) else self.delta
        cost = cost_of(self.epsilon, delta)
        promised = Cost.pure(1) if cost is None else cost.promised(schema)
        budget = Budget(rho=promised.rho) if promised.epsilon is None else Budget(promised.epsilon)
        return Curator(MemoryTable(X, y), schema, budget, public=cost is None, bits=bits)

    def fit_from(self, curator: AnyCurator) -> Self:
        """Train through a curator, which charges ``epsilon`` to its ledger.

        Any curator: memory, files, databases, randomised records.

        Records that people randomised have paid already: ``epsilon`` is not looked at then, and the
        statement has theirs.

        Parameters
        ----------
        curator
            Who answers the learner's queries: :class:`~privet.Curator`, or what
            :func:`~privet.connect` returns.

        Returns
        -------
        self
            The trained classifier.

        Raises
        ------
        BudgetExceeded
            If ``epsilon`` is more than what is left; nothing is charged then.

        Examples
        --------
        >>> import privet as pv
        >>> car = pv.datasets.load("car")
        >>> curator = pv.Curator(car.table, car.schema, pv.Budget(2))
        >>> model = pv.GreedyTreeClassifier(epsilon="1/2").fit_from(curator)
        >>> curator.left
        Fraction(3, 2)
        """
        self._check_parameters()
        self._refuse_seed()
        self._fit_from(check_curator(curator))
        return self

    def list_settings(self) -> list[str]:
        """Return the settings that an interrupted fit is recognised by, such as ``n_trees=10``."""
        settings, defaults = self.get_params(deep=False), type(self)().get_params(deep=False)
        return [
            f"{name}={value}"
            for name, value in sorted(settings.items())
            # by what they say: a matrix of costs has no one answer to "=="
            if name not in self._later or repr(value) != repr(defaults[name])
        ]

    def _refuse_seed(self) -> None:
        if self.random_state is not None:
            raise ParameterError(
                "random_state goes with fit; a curator has a source of randomness of its own"
            )

    def _refuse_weights(self, sample_weight: Any) -> None:
        if sample_weight is not None:
            raise ParameterError(
                "sample_weight is refused: a row of weight w would change counts by w, and the "
                "noise is scaled for 1. Repeat or leave out rows instead, and account for a "
                "person's rows with rows_per_person"
            )

    def _prefers_pure(self, schema: Schema) -> bool:  # noqa: ARG002
        """Return whether pure epsilon is expected to be better than epsilon and delta.

        From public quantities alone: nothing has been paid for yet.
        """
        return False

    def _fit_from(self, curator: AnyCurator, why_pure: str = COUNTS_EPSILON) -> None:
        """Train through a curator.

        Records that people randomised have paid: the learner's own ``epsilon`` and ``delta`` are
        not looked at then. Where the budget counts epsilon, delta is not used: pure epsilon keeps
        every (epsilon, delta).
        """
        self._check_against(curator.schema)
        what = f"fit of {self._name}"
        delta = parse_exact("delta", self.delta, zero=True)
        unused = delta > 0 and curator.unit == "epsilon" and not is_infinite(self.epsilon)
        with Spending.reserve(
            curator, self.epsilon, what, delta=0 if unused else delta
        ) as spending:
            growth = self._grow(spending.curator, spending)
            why = growth.settings.get("why")
            notes = [f"Chosen from public quantities: {why}."] if why else []
            notes += [f"The delta of {float(delta):g} was not used: {why_pure}."] if unused else []
            statement = spending.statement(notes)
        self._adopt(self._model(curator, growth, statement))

    def _model(self, curator: AnyCurator, growth: Growth, statement: PrivacyStatement) -> Model:
        settings = {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in self.get_params(deep=False).items()
            if name in self._public_settings
        }
        settings |= growth.settings
        return Model(
            self._name,
            curator.schema,
            growth.trees,
            growth.combine,
            statement,
            settings,
            growth.noise,
            growth.evidence,
            growth.costs,
            growth.population,
        )

    @abstractmethod
    def _grow(self, curator: AnyCurator, spending: Spending) -> Growth:
        """Grow trees through the curator, paying from what is reserved."""

    _public_settings: ClassVar[tuple[str, ...]] = ()

    def _adopt(self, model: Model) -> None:
        """Take over the public attributes of a model."""
        self.model_ = model
        self.classes_ = np.array(model.schema.classes, dtype=_label_type(model.schema))
        self.n_features_in_ = len(model.schema.names)
        if not getattr(self, "_positional", False):
            self.feature_names_in_ = np.array(model.schema.names, dtype=object)

    # -- predicting --------------------------------------------------------------------------------

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:  # noqa: N803
        """Return the probability of each class, from released counts only.

        Parameters
        ----------
        X
            Rows with the attributes of the schema; other columns are not looked at.

        Returns
        -------
        numpy.ndarray
            One line per row and one column per class, in the order of ``classes_``.

        Examples
        --------
        >>> import privet as pv
        >>> car = pv.datasets.load("car")
        >>> model = pv.GreedyTreeClassifier(epsilon=1, schema=car.schema).fit(car.table)
        >>> model.predict_proba(car.X.head(2)).sum(axis=1).round(6).tolist()
        [1.0, 1.0]
        """
        check_is_fitted(self, "model_")
        return self.model_.probabilities(self._codes(X))

    def predict(self, X: Any, costs: Costs | None = None) -> npt.NDArray[Any]:  # noqa: N803
        """Return a class for each row, as the schema lists it: the most likely one.

        Where mistakes have costs, it is the class with the smallest expected cost.

        Parameters
        ----------
        X
            Rows with the attributes of the schema; other columns are not looked at.
        costs
            What mistakes cost, as ``{(true class, predicted class): cost}`` or as a matrix with
            true classes in rows. Pairs that are left out cost 1, and right answers nothing. By
            default those that the model was trained with, if any.

        Examples
        --------
        >>> import privet as pv
        >>> car = pv.datasets.load("car")
        >>> model = pv.GreedyTreeClassifier(epsilon=1, schema=car.schema).fit(car.table)
        >>> set(model.predict(car.X)) <= set(car.schema.classes)
        True
        """
        check_is_fitted(self, "model_")
        model = self.model_ if costs is None else self.model_.with_costs(costs)
        return np.asarray(self.classes_[model.decide(self.predict_proba(X))])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:  # noqa: N803
        """Return the exact accuracy on these rows: fine for public rows, a leak for private ones.

        Warns where the model is private, because tuning on exact scores of private rows (as a grid
        search does) spends privacy that no ledger sees. A search with a ``scoring`` of its own does
        the same without passing here, and without a warning. :meth:`score_from` and
        :func:`privet.tune` are the paid ways.
        """
        if self.privacy_.private:
            warnings.warn(
                "an exact score of private rows is not covered by the guarantee: tuning on it "
                "spends privacy that no ledger sees; "
                "use score_from(curator, epsilon) or privet.tune, or score public rows only",
                PrivacyWarning,
                stacklevel=2,
            )
        return float(super().score(X, y, sample_weight))

    def score_from(self, curator: AnyCurator, epsilon: Number) -> Evaluation:
        """Measure the accuracy privately: a noisy confusion matrix through a curator, with
        intervals.

        Charged to its ledger.

        Parameters
        ----------
        curator
            A curator of the rows to test on.
        epsilon
            What the evaluation costs, for one row added or removed.

        Returns
        -------
        Evaluation
            The noisy confusion matrix, the accuracy and an interval around it.

        Examples
        --------
        >>> import privet as pv
        >>> car = pv.datasets.load("car")
        >>> curator = pv.Curator(car.table, car.schema, pv.Budget(2))
        >>> model = pv.GreedyTreeClassifier(epsilon=1).fit_from(curator)
        >>> evaluation = model.score_from(curator, epsilon=0.5)
        >>> 0 <= evaluation.accuracy <= 1
        True
        >>> evaluation.to_frame().shape  # true classes in rows, predicted ones in columns
        (4, 4)
        """
        check_is_fitted(self, "model_")
        return evaluate(self.model_, curator, epsilon)

    @property
    def privacy_(self) -> PrivacyStatement:
        """What the model gives away."""
        check_is_fitted(self, "model_")
        return self.model_.privacy

    @property
    def feature_importances_(self) -> npt.NDArray[np.float64]:
        """How much each attribute explains; adds up to 1 (see :meth:`privet.Model.importances`).

        The drop in Gini impurity, from released counts. Models of scores have none: there it is
        the variance of the scores over the noisy population of the model, or over the public
        domain where the model has no population.
        """
        check_is_fitted(self, "model_")
        return self.model_.importances()

    def _codes(self, X: Any) -> list[npt.NDArray[Any]]:  # noqa: N803
        if getattr(self, "_positional", False):
            X = validate_data(self, X, reset=False, dtype=None, ensure_all_finite=False)  # noqa: N806
            X = {name: X[:, i] for i, name in enumerate(self.model_.schema.names)}  # noqa: N806
        elif isinstance(X, np.ndarray | list):
            validate_data(
                self, X, reset=False, dtype=None, ensure_all_finite=False, skip_check_array=True
            )
        encoded = encode(self.model_.schema, X, target=False, partial=self.model_.privacy.vertical)
        if encoded.absent:
            names = ", ".join(encoded.absent)
            warnings.warn(
                f"not in the table, and taken as unknown: {names}", AbsentWarning, stacklevel=4
            )
        return encoded.codes

    # -- parameters --------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        """Raise unless every declared parameter is what it may be."""
        check_parameters(type(self).__name__, self._parameters, self.get_params(deep=False))

    def _check_against(self, schema: Schema) -> None:
        """Raise unless the parameters fit the schema; runs before anything is charged."""

    def _check_table(self, X: Any, y: Any) -> tuple[Schema, Any, Any]:  # noqa: N803
        """Return the schema, and the table that goes with it."""
        if isinstance(self.schema, Schema):
            self._positional = False
            return self.schema, X, y
        if self.schema == "from-data":
            if y is None:
                raise ValueError(
                    f"{type(self).__name__} requires y to be passed, but the target y is None"
                )
            X, y = validate_data(self, X, y, dtype=None, ensure_all_finite=False)  # noqa: N806
            check_classification_targets(y)
            self._positional = True
            return schema_from_data(X, y), X, y
        if self.schema is None:
            raise SchemaError(
                f"{type(self).__name__} needs a schema: the values, bounds and classes that are "
                "public about the table. Write one with "
                "pv.Schema(attributes=..., target=..., classes=...), or draft one from a public "
                "sample with 'privet schema draft'. "
                'For public data, schema="from-data" reads it off the rows; the model is then '
                "marked as not private"
            )
        raise SchemaError(f'schema must be a Schema, "from-data" or None, got {self.schema!r}')

    def _align_columns(self, X: Any, y: Any) -> tuple[Any, Any]:  # noqa: N803
        """Return more rows in the columns that the first ones had."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        X, y = validate_data(self, X, y, reset=False, dtype=None, ensure_all_finite=False)  # noqa: N806
        check_classification_targets(y)
        return X, y

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.non_deterministic = True
        return tags


def check_curator(curator: object) -> AnyCurator:
    """Return a curator; raise for anything else."""
    if isinstance(curator, AnyCurator):
        return curator
    several = isinstance(curator, list | tuple)
    raise ParameterError(
        f"fit_from needs a curator, got {type(curator).__name__}; "
        + ("PrivetClassifier takes several" if several else "for rows in memory, use fit")
    )


def measure_rows(curator: AnyCurator, spending: Spending) -> float:
    """Return the number of rows: declared public, or paid for and noisy."""
    if curator.schema.n_rows is not None:
        return curator.schema.n_rows
    answer = curator.size(**{spending.unit: spending.take(SIZE_SHARE)})
    spending.record_charge("number of rows", answer.row_cost)
    return max(float(answer.tables[0][0]), 1.0)


def _label_type(schema: Schema) -> type | None:
    """Return the type of an array of labels: object for mixed ones, which stay what they are."""
    return object if len({type(label) for label in schema.classes}) > 1 else None
