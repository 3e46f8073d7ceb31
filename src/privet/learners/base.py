"""Define what all estimators share: scikit-learn's contract on one side, a curator on the other."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from os import PathLike
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from privet._types import Floats
from privet._validate import ParameterCheck, check_integer, check_parameters
from privet.accounting.cost import Budget, Cost, Number, is_infinite, parse_epsilon, parse_exact
from privet.accounting.ledger import Ledger
from privet.accounting.statement import PrivacyStatement
from privet.curator import AnyCurator, Curator
from privet.curator.spending import Spending, cost_of
from privet.domain import Schema
from privet.domain.draft import schema_from_data
from privet.domain.encode.rows import encode
from privet.domain.tree import Tree
from privet.errors import (
    AbsentWarning,
    ParameterError,
    PrivacyWarning,
    SchemaError,
)
from privet.learners.evaluation import Evaluation, evaluate
from privet.learners.in_memory import (
    explain_missing_schema,
    note_spent,
    open_rows,
    open_with_ledger,
    promise_of,
    read_schema,
    refuse_sparse,
    refuse_swapped,
    require_labels,
    warn_of_repetition,
)
from privet.learners.labels import Labels, match_numbered
from privet.learners.plausibility import list_doubts, warn_of
from privet.learners.remembered import Before, remember_fit
from privet.mechanisms.randomness import (
    SeededBits,
    SystemBits,
    are_test_seeds_unlocked,
    unlock_test_seeds,
)
from privet.model import Combine, Model
from privet.model.costs import Costs
from privet.model.explanations.explanation import Explanation
from privet.model.explanations.people import People
from privet.model.leaf_vectors import Evidence
from privet.model.population import Population

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


def _has_two_classes(classifier: Any) -> bool:
    """Return whether a classifier decides between two classes; True before anybody knows."""
    if hasattr(classifier, "classes_"):
        return len(classifier.classes_) == 2
    schema = getattr(classifier, "schema", None)
    return not isinstance(schema, Schema) or schema.n_classes == 2


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
        The public schema, or the path of its file. ``None`` is an error that explains itself;
        ``"from-data"`` reads the domain off the rows, for public data, and marks the model
        ``private: false``.
    random_state
        A test seed: the model is then marked as not private, and :meth:`fit_from` refuses. Where
        no schema is given, it is read off the rows. Never stored in a model.
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

    def fit(
        self,
        X: Any,  # noqa: N803
        y: Any = None,
        *,
        ledger: Ledger | str | PathLike[str] | None = None,
        budget: Budget | Number | None = None,
    ) -> Self:
        """Train on a table in memory, through a curator of its own with ``epsilon`` as its budget.

        Without a ledger, every call has an account that ends with it, and states its own epsilon.
        Several fits of the same rows (a cell that is run again, a grid search) add up: a
        ``RepeatedFitWarning`` says what they cost together in this process, and so do the notes of
        ``privacy_``. A ledger counts them in all processes, and refuses what exceeds its budget.
        ``y`` may be left out where ``X`` holds the class column that the schema names.

        Parameters
        ----------
        X
            The rows: a data frame with the attributes of the schema, an array with its columns in
            that order, or where the table is, as :func:`~privet.open_table` takes it.
        y
            The class of each row; None where ``X`` has the class column. Predictions are of the
            type of these labels.
        ledger
            Where the charge is recorded: the path of a ledger file, which is made if there is none,
            or a ledger. One file is for one table.
        budget
            What all fits with this ledger may cost together; needed the first time.

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
        self.check_parameters()
        schema, X, y = self._check_table(X, y)  # noqa: N806
        self._labels = None if y is None else Labels.like(schema, y)
        if ledger is None and budget is not None:
            raise ParameterError("budget goes with a ledger; say ledger='people.ledger.sqlite'")
        if ledger is None:
            curator = self._own_curator(schema, X, y)
            before = self._remember(schema, X, y)
            self._fit_from(curator, PURE_IS_BETTER)
            self._say_spent(before, curator)
        else:
            self._refuse_promise_of_nothing()
            curator = open_with_ledger(schema, X, y, ledger, budget)
            self._fit_from(curator, PURE_IS_BETTER)
            self._spent_note = f"The ledger has {curator.spent} for {curator.dataset!r} so far."
        return self

    def _remember(self, schema: Schema, X: Any, y: Any) -> Before | None:  # noqa: N803
        """Remember a fit that promises something; return what was spent on the rows before."""
        if self.random_state is not None or is_infinite(self.epsilon) or schema.from_data:
            return None
        columns = [*schema.find_columns(list(getattr(X, "columns", []))).values(), schema.target]
        return remember_fit(columns, X, y, promise_of(self.epsilon, schema))

    def _refuse_promise_of_nothing(self) -> None:
        if self.random_state is not None or is_infinite(self.epsilon):
            what = "random_state" if self.random_state is not None else "an infinite epsilon"
            raise ParameterError(
                f"{what} promises nothing, and goes without a ledger: leave one of them out"
            )

    def _say_spent(self, before: Before | None, curator: Curator) -> None:
        """Keep in memory what the fits of these rows cost together, and warn of it."""
        self._spent_note = ""
        if before is not None and before.fits:
            spent = Before(
                before.fits + 1, before.epsilon + promise_of(self.epsilon, curator.schema)
            )
            self._spent_note = note_spent(spent)
            warn_of_repetition(spent, stacklevel=4)

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
        bits = SystemBits() if self.random_state is None else self._seeded_bits(batch)
        if delta is None:
            delta = 0 if self._prefers_pure(schema) else self.delta
        cost = cost_of(self.epsilon, delta)
        promised = Cost.pure(1) if cost is None else cost.promised(schema)
        budget = Budget(rho=promised.rho) if promised.epsilon is None else Budget(promised.epsilon)
        return Curator(open_rows(X, y), schema, budget, public=cost is None, bits=bits)

    def _seeded_bits(self, batch: int) -> SeededBits:
        """Return a source that anybody can repeat, and say what that means."""
        seed = self.random_state
        if isinstance(seed, np.random.RandomState | np.random.Generator):
            raise ParameterError(
                f"{type(self).__name__}: random_state must be an integer or None, got a "
                f"{type(seed).__name__}; leave it out for a private model"
            )
        if not are_test_seeds_unlocked():
            warnings.warn(
                f"random_state={seed!r}: whoever knows a seed can take the noise off again, so "
                "this model is marked NOT PRIVATE. Leave random_state out for a private model",
                PrivacyWarning,
                stacklevel=4,
            )
        with unlock_test_seeds():
            # batches of one seed differ; what is no integer is refused
            return SeededBits(seed if batch == 0 else int(seed or 0) + (batch << 64))  # type: ignore[arg-type]

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
        self.check_parameters()
        self._refuse_seed()
        self._labels, self._spent_note = None, ""
        asked = check_curator(curator)
        asked.check_learner(self._name)
        self._fit_from(asked)
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
            model = self._model(curator, growth, spending.statement(notes))
        doubts = list_doubts(curator.schema, spending.rows_seen, model)
        self._adopt(model.with_notes([f"{doubt.text}." for doubt in doubts]))
        warn_of(doubts, stacklevel=3)

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
        self._named_classes = self._labels or Labels.of_schema(model.schema)
        self.classes_ = self._named_classes.classes
        self.n_features_in_ = len(model.schema.names)
        if self._has_names:
            self.feature_names_in_ = np.array(model.schema.names, dtype=object)

    #: What the fits of these rows cost together; in memory only.
    _spent_note: str = ""
    #: The labels that ``fit`` was given; None where there were none, as for a curator.
    _labels: Labels | None = None
    #: Whether columns are known by their names, and not by their positions.
    _has_names: bool = True
    #: Whether scikit-learn made this learner from another, as its meta-estimators do.
    _cloned: bool = False

    def __sklearn_clone__(self) -> Self:
        other: Self = super().__sklearn_clone__()
        other._cloned = True
        return other

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
        return np.asarray(self._shares(X)[:, self._named_classes.order])

    def predict_log_proba(self, X: Any) -> npt.NDArray[np.float64]:  # noqa: N803
        """Return the logarithm of the probability of each class.

        Parameters
        ----------
        X
            Rows with the attributes of the schema; other columns are not looked at.

        Examples
        --------
        >>> import privet as pv
        >>> car = pv.datasets.load("car")
        >>> model = pv.GreedyTreeClassifier(epsilon=1, schema=car.schema).fit(car.table)
        >>> bool((model.predict_log_proba(car.X.head(2)) <= 0).all())
        True
        """
        check_is_fitted(self, "model_")
        with np.errstate(divide="ignore"):  # a probability of 0
            return np.log(self._shares(X)[:, self._named_classes.order])

    @available_if(_has_two_classes)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:  # noqa: N803
        """Return how far each row is from the decision between two classes: above 0, it is the
        second of ``classes_``.

        The logarithm of the odds; where mistakes have costs, of the expected costs. A classifier of
        more classes has no such function.

        Parameters
        ----------
        X
            Rows with the attributes of the schema; other columns are not looked at.

        Examples
        --------
        >>> import privet as pv
        >>> titanic = pv.datasets.load("nursery")
        >>> two = titanic.schema.number_classes(2)
        >>> model = pv.GreedyTreeClassifier(1, two).fit(titanic.X, titanic.y == "not_recom")
        >>> model.decision_function(titanic.X.head(3)).shape
        (3,)
        """
        check_is_fitted(self, "model_")
        second, first = self._named_classes.order[[1, 0]]
        for_second, for_first = self._shares(X)[:, [second, first]].T
        costs = self.model_.costs
        if costs is not None:
            for_second = for_second * max(costs[second, first] - costs[second, second], 0.0)
            for_first = for_first * max(costs[first, second] - costs[first, first], 0.0)
        least = np.finfo(np.float64).tiny
        odds = np.log(np.maximum(for_second, least)) - np.log(np.maximum(for_first, least))
        return np.asarray(odds)

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
        return np.asarray(self._named_classes.by_class[model.decide(self._shares(X))])

    def _shares(self, X: Any) -> npt.NDArray[np.float64]:  # noqa: N803
        """Return the probability of each class, in the order of the schema."""
        return self.model_.probabilities(self._codes(X))

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
        """Measure privately how well it does: accuracy, AUROC, recall, precision, calibration and
        log loss, with 95% intervals for sampling error and noise.

        All of it comes from one noisy histogram through a curator, charged to its ledger. Test on
        rows that were not trained on: :func:`privet.split_table` keeps some apart.

        Parameters
        ----------
        curator
            A curator of the rows to test on.
        epsilon
            What the evaluation costs, for one row added or removed.

        Returns
        -------
        Evaluation
            ``measures()``, ``by_class()``, ``calibration()`` and the noisy confusion matrix.

        Examples
        --------
        >>> import privet as pv
        >>> car = pv.datasets.load("car")
        >>> curator = pv.Curator(car.table, car.schema, pv.Budget(2))
        >>> model = pv.GreedyTreeClassifier(epsilon=1).fit_from(curator)
        >>> evaluation = model.score_from(curator, epsilon=0.5)
        >>> 0 <= evaluation.accuracy <= 1
        True
        >>> list(evaluation.measures())
        ['accuracy', 'balanced accuracy', 'AUROC', 'log loss']
        >>> evaluation.to_frame().shape  # true classes in rows, predicted ones in columns
        (4, 4)
        """
        check_is_fitted(self, "model_")
        return evaluate(self.model_, curator, epsilon)

    @property
    def privacy_(self) -> PrivacyStatement:
        """What the model gives away, and a note of what all fits of these rows gave away together.

        The note is about this process or this ledger, and not in the model or its file.
        """
        check_is_fitted(self, "model_")
        noted = self.model_.with_notes([self._spent_note] if self._spent_note else [])
        return noted.privacy

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_spent_note", None)  # whether rows were the same is for this process to know
        return state

    @property
    def feature_importances_(self) -> npt.NDArray[np.float64]:
        """How much each attribute explains; adds up to 1 (see :meth:`privet.Model.importances`).

        The drop in Gini impurity, from released counts. Models of scores have none: there it is
        the variance of the scores over the noisy population of the model, or over the public
        domain where the model has no population.
        """
        check_is_fitted(self, "model_")
        return self.model_.importances()

    def explain(
        self,
        X: Any = None,  # noqa: N803
        *,
        people: Any = None,
        repeats: int | None = None,
    ) -> Explanation:
        """Explain the whole model: what matters, what each value does, why rows get their score.

        It costs no privacy and reads no private row: see :meth:`privet.Model.explain`. To say what
        cannot be told from noise, the fit is repeated on synthetic rows that are drawn from the
        model, at the same epsilon.

        Parameters
        ----------
        X
            Rows to explain one by one, the first 100; by default none.
        people
            Synthetic rows to average over; by default those that the model has released.
        repeats
            How many fits are repeated; 0 leaves the noise unmeasured. By default 8, or none where
            the fit cannot be repeated.

        Returns
        -------
        Explanation
            A notebook shows it; ``save`` writes a page.

        Examples
        --------
        >>> import privet as pv
        >>> car = pv.datasets.load("car")
        >>> model = pv.GreedyTreeClassifier(epsilon=5, schema=car.schema).fit(car.table)
        >>> said = model.explain(car.X.head(1), repeats=2)
        >>> sorted(said.effects) == sorted(car.schema.names)
        True
        """
        from privet.learners.repeats import REPEATS, explain_no_repeats, repeat_fits

        check_is_fitted(self, "model_")
        model = self.model_
        if repeats is None:
            repeats = 0 if explain_no_repeats(model) else REPEATS
        check_integer("repeats", repeats, 0, 1000, owner=f"{type(self).__name__}.explain")
        again = repeat_fits(model, People.of(model, people), repeats) if repeats else []
        return model.explain(X, people=people, repeats=again)

    def _codes(self, X: Any) -> list[npt.NDArray[Any]]:  # noqa: N803
        refuse_sparse(X)
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

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """Show a trained classifier in a notebook as its model, others as scikit-learn does."""
        if not hasattr(self, "model_"):
            return super()._repr_mimebundle_(**options)  # type: ignore[no-any-return]
        return {"text/plain": repr(self), "text/html": self.model_._repr_html_()}

    # -- parameters --------------------------------------------------------------------------------

    def check_parameters(self) -> None:
        """Raise unless every declared parameter is what it may be."""
        owner = type(self).__name__
        if isinstance(self.epsilon, Schema):
            raise ParameterError(
                f"{owner}: epsilon must be a number, got a Schema; were epsilon and schema "
                f"swapped? Write {owner}(epsilon, schema)"
            )
        if not is_infinite(self.epsilon):
            try:
                parse_epsilon("epsilon", self.epsilon)
            except ParameterError as error:
                raise ParameterError(
                    f"{owner}: {error}; write a number or a fraction, such as 1, 0.1 or '1/3'"
                ) from None
        check_parameters(owner, self._parameters, self.get_params(deep=False))

    def _check_against(self, schema: Schema) -> None:
        """Raise unless the parameters fit the schema; runs before anything is charged."""

    def _check_table(self, X: Any, y: Any) -> tuple[Schema, Any, Any]:  # noqa: N803
        """Return the schema, and the table that goes with it."""
        self._positional = False
        refuse_sparse(X)
        schema = read_schema(type(self).__name__, self.schema)
        if schema is None and self._may_read_schema(X):
            schema = "from-data"
        if schema == "from-data":
            if y is None:
                raise ValueError(
                    f"{type(self).__name__} requires y to be passed, but the target y is None"
                )
            X, y = validate_data(self, X, y, dtype=None, ensure_all_finite=False)  # noqa: N806
            check_classification_targets(y)
            self._positional, self._has_names = True, False
            return schema_from_data(X, y), X, y
        if y is not None:
            refuse_swapped(X, y)
            check_classification_targets(column_or_1d(y, dtype=None))
        if schema is None:
            raise SchemaError(explain_missing_schema(type(self).__name__))
        self._has_names = not isinstance(X, np.ndarray | list | tuple)
        if not self._has_names and hasattr(self, "feature_names_in_"):
            del self.feature_names_in_  # of an earlier fit
        if y is not None:
            schema = match_numbered(schema, y, cloned=self._cloned)
        else:
            require_labels(schema, X)
        return schema, X, y

    def _may_read_schema(self, X: Any) -> bool:  # noqa: N803
        """Return whether a schema that nobody gave is read off the rows; says so where it is.

        Only where nothing is promised anyway, for a seed, and for a clone that is trained on an
        array, as scikit-learn's own checks do. The model is marked as not private.
        """
        if self.random_state is not None:
            return True
        if not (self._cloned and isinstance(X, np.ndarray)):
            return False
        warnings.warn(
            "no schema was given, so it is read off the rows, and the model is marked NOT PRIVATE. "
            "Give the learner a schema for a private model",
            PrivacyWarning,
            stacklevel=4,
        )
        return True

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
        # a few hundred rows teach little where there is noise
        tags.classifier_tags.poor_score = getattr(self, "epsilon", 1) != math.inf
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
    spending.notice_counts(answer.tables, answer.deviation)
    return max(float(answer.tables[0][0]), 1.0)
