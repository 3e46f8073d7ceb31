"""Define what every curator does, wherever it stands. Learners ask for no more.

A curator answers queries: in this process, behind HTTP, in a fit that may be interrupted, or from
records that people randomised. Each of them says in :meth:`AnyCurator.ask` how; the named methods
are short forms, written once, here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

import numpy.typing as npt

from privet.accounting.cost import Cost, Number, Unit, explain_factor
from privet.accounting.ledger import Entry
from privet.accounting.statement import PrivacyStatement
from privet.domain import Schema
from privet.domain.cells import Cell, Cells, Split
from privet.domain.space import TreeSpace
from privet.domain.tree import Tree
from privet.errors import BudgetExceeded, ParameterError, PrivetError, ReservationClosed
from privet.mechanisms.randomness import Bits
from privet.mechanisms.selection import Selection
from privet.model import Model
from privet.queries import (
    Answer,
    ChooseModel,
    ChoosePartition,
    ChooseSplits,
    ChosenIndex,
    ChosenSplits,
    Confusion,
    Count,
    CountBy,
    Drawn,
    DrawTree,
    FindQuantile,
    Gradients,
    Numbers,
    Preview,
    Quantile,
    Query,
    RowScore,
    Size,
    Sums,
)
from privet.queries.count import Asked

if TYPE_CHECKING:
    from privet.curator.spending import Spending
    from privet.tables.counting.scoring import Clip

A = TypeVar("A", bound=Answer)

#: The public rules that learners follow now. A change of what an uninterrupted fit would ask adds
#: one, if a fit that was begun before can go on under the rules it had.
RULES = 3
SomeCells = Cells | Sequence[Cell | Mapping[str, Any]]


class AnyCurator(ABC):
    """Answers queries about a table, within a budget.

    Epsilon and rho of a query are for **one row added or removed**, and for the query as a whole:
    partitions share them evenly (sequential composition), cells within a partition do not (parallel
    composition). What is charged is the cost for the neighbours that the schema declares: times
    ``rows_per_person``, and times two under ``neighbours="replace"`` (rho: the square of that
    factor).
    """

    _schema: Schema
    _dataset: str

    @property
    def schema(self) -> Schema:
        """What is public about the table."""
        return self._schema

    @property
    def dataset(self) -> str:
        """The name of what is asked about."""
        return self._dataset

    @abstractmethod
    def ask(
        self, query: Query[A], epsilon: Number | None = None, *, rho: Number | None = None
    ) -> A:
        """Answer a query of :mod:`privet.queries`, for an epsilon or a rho.

        The charge is recorded before any row is read. Bad input charges nothing.

        Parameters
        ----------
        query
            What is asked, such as ``CountBy("safety")``.
        epsilon
            What it costs, for one row added or removed.
        rho
            The same in rho, instead.

        Returns
        -------
        Answer
            What is answered, with its cost; ``to_frame()`` has it with labels.

        Raises
        ------
        BudgetExceeded
            If it costs more than what is left; nothing is charged then.
        QuestionError
            If it cannot be asked about this table; nothing is charged then.

        Examples
        --------
        >>> import privet as pv
        >>> car = pv.datasets.load("car")
        >>> curator = pv.Curator(car.table, car.schema, pv.Budget(1))
        >>> from privet.queries import CountBy
        >>> curator.ask(CountBy("safety"), epsilon=0.5)
        <LabelledCounts: size 12, noise discrete-laplace, deviation 2.799, epsilon 0.5 (rho 0.125)>
        """

    @property
    @abstractmethod
    def account(self) -> str:
        """A digest of the account that is charged, for releases."""

    @property
    @abstractmethod
    def unit(self) -> Unit:
        """What the budget is counted in."""

    @property
    @abstractmethod
    def left(self) -> Fraction:
        """What can still be spent, in the unit of the budget and for the declared neighbours."""

    @property
    @abstractmethod
    def private(self) -> bool:
        """Whether answers are private."""

    @property
    @abstractmethod
    def reason(self) -> str:
        """Why answers are not private; empty where they are."""

    @property
    @abstractmethod
    def bits(self) -> Bits:
        """The source of randomness, for structure that is drawn and released."""

    def check_learner(self, name: str) -> None:  # noqa: B027
        """Raise, before anything is charged, where a learner asks what is not answered here."""

    def open_spending(
        self, epsilon: Number, what: str, *, delta: Number = 0, through: AnyCurator | None = None
    ) -> AbstractContextManager[Spending]:
        """Pay for some work on these rows, and see the same rows throughout it.

        Queries go ``through`` another curator that stands for this one, such as one that records
        answers.
        """
        from privet.curator.spending import Spending

        return Spending.charge(through or self, epsilon, what, delta=delta)

    def foresee_statement(self, epsilon: Number, what: str, name: str = "") -> PrivacyStatement:
        """Return what work of this epsilon would state, and charge nothing.

        Whoever puts releases together finds out with it whether they can be, before anything is
        paid for.
        """
        from privet.curator.spending import foresee_charged

        return foresee_charged(self, epsilon, what, name)

    @abstractmethod
    def snapshot(self) -> AbstractContextManager[None]:
        """Let all queries inside this block see the same rows, where the engine can."""

    @property
    def rules(self) -> int:
        """Which public rules a learner follows: the latest, or those that the fit began with."""
        return RULES

    @property
    def notes(self) -> Sequence[str]:
        """What a release should say about how its queries were answered; mostly nothing."""
        return ()

    @abstractmethod
    def preview(self, plan: Iterable[Cost]) -> Preview:
        """Return what a plan would cost, for the declared neighbours, without charging."""

    def require(self, plan: Iterable[Cost]) -> None:
        """Raise :class:`~privet.errors.BudgetExceeded` unless a plan fits, so that no part of it is
        paid for in vain. Charges nothing.
        """
        require(self.preview(plan), self.unit, f"data set {self.dataset!r}", self.schema)

    #: The key of the reservation that is charged; empty where none is.
    _reservation: str = ""

    @contextmanager
    def reserving(self, cost: Cost | None, what: str) -> Iterator[AnyCurator]:
        """Set a cost aside for the queries of this block, which are asked of the curator that it
        gives. What was not spent is free again at its end.

        None: nothing is set aside. Within a reservation, a part of it is.
        """
        if cost is None:
            yield self
            return
        if self._reservation:
            account = f"reservation of data set {self.dataset!r}"
            require(self.preview([cost]), self.unit, account, self.schema)
            yield self
            return
        within = self.reserve(cost, what)
        try:
            yield within
        except BaseException:
            with suppress(PrivetError):  # it expires by itself
                within.close_reservation("cancelled")
            raise
        with suppress(ReservationClosed):  # the owner may have ended it after the last query
            within.close_reservation()

    @property
    @abstractmethod
    def identity(self) -> list[Any]:
        """Everything that what is answered, charged and promised depends on, beside the rows."""

    @abstractmethod
    def ask_once(
        self,
        key: str,
        query: Query[A],
        epsilon: Number | None = None,
        *,
        rho: Number | None = None,
    ) -> A:
        """Answer a query under a key that pays once: asked again, it gets the recorded answer.

        Raises :class:`~privet.errors.KeyReused` where the key paid for something else.
        """

    @abstractmethod
    def keyed_charges(self, prefix: str) -> list[tuple[Entry, bool]]:
        """Return the charges under keys with this prefix, and whether each was answered."""

    @abstractmethod
    def reserve(self, cost: Cost, what: str, key: str = "") -> AnyCurator:
        """Set a cost aside, durably, and return a curator that charges it.

        With the key of a reservation that is there, for the same work, go on with that one.
        """

    @abstractmethod
    def close_reservation(self, why: str = "done") -> None:
        """End the reservation: what is left of it can be spent by others."""

    @abstractmethod
    def cancel_reservation(self, key: str) -> None:
        """End the reservation of this key, whoever in this process made it."""

    @abstractmethod
    def reservation_state(self, key: str) -> str:
        """Return whether the reservation of this key is ``open``, ``done``, ``cancelled`` or
        ``expired``; empty where there is none.
        """

    def claim(self, release: str) -> None:  # noqa: B027
        """Say which release was paid for, where a ledger can record it."""

    @abstractmethod
    def split_people(self, n_parts: int, epsilon: Number, key: str = "") -> Sequence[AnyCurator]:
        """Divide the people at random into disjoint parts, each with a curator of its own.

        Each has a budget of ``epsilon``, charged here once (parallel composition over disjoint
        people).
        """

    # -- short forms -------------------------------------------------------------------------------

    def count(
        self,
        question: Asked | None = None,
        epsilon: Number | None = None,
        *,
        by: str | Sequence[str] = (),
        where: Mapping[str, Any] | None = None,
        rho: Number | None = None,
    ) -> Numbers:
        """Return noisy class counts, by attributes or of cells.

        Parameters
        ----------
        question
            Cells to count (:class:`~privet.queries.Count`): a list of mappings from attribute to
            values, by label, or a :class:`~privet.Cells` or :class:`~privet.Question`.
        epsilon
            What it costs, for one row added or removed.
        by
            Instead of cells, the attributes to count by (:class:`~privet.queries.CountBy`); every
            combination of their values is counted.
        where
            With ``by``, which values count, by label.
        rho
            The same as ``epsilon`` in rho, instead.

        Returns
        -------
        Numbers
            Noisy counts. ``to_frame()`` has them with labels.

        Examples
        --------
        >>> import privet as pv
        >>> car = pv.datasets.load("car")
        >>> curator = pv.Curator(car.table, car.schema, pv.Budget(1))
        >>> counts = curator.count(by="safety", where={"persons": ["4", "more"]}, epsilon=0.5)
        >>> counts.to_frame().head(2)  # noisy counts differ from run to run
          safety  class  noisy count  deviation
        0    low  unacc          ...   2.799178
        1    low    acc          ...   2.799178
        >>> curator.count([{"safety": "low"}, {"safety": "high"}], epsilon=0.5).tables[0].shape
        (2, 4)
        """
        if question is None:
            return self.ask(CountBy(by, where or {}), epsilon, rho=rho)
        if by or where:
            raise ParameterError("give either cells to count, or by and where")
        return self.ask(Count(question), epsilon, rho=rho)

    def size(self, epsilon: Number | None = None, *, rho: Number | None = None) -> Numbers:
        """Return the noisy number of rows: :class:`~privet.queries.Size`.

        Parameters
        ----------
        epsilon
            What it costs, for one row added or removed.
        rho
            The same in rho, instead.

        Examples
        --------
        >>> import privet as pv
        >>> car = pv.datasets.load("car")
        >>> curator = pv.Curator(car.table, car.schema, pv.Budget(1))
        >>> curator.size(epsilon=0.5).to_frame().columns.tolist()
        ['cell', 'noisy count', 'deviation']
        """
        return self.ask(Size(), epsilon, rho=rho)

    def sums(
        self,
        cells: SomeCells,
        score: RowScore | Mapping[Any, int],
        epsilon: Number | None = None,
        *,
        rho: Number | None = None,
    ) -> Numbers:
        """Return the noisy sum of a score over each cell: :class:`~privet.queries.Sums`.

        Parameters
        ----------
        cells
            Disjoint cells: :class:`~privet.Cells`, or a list of mappings from attribute to values.
        score
            A :class:`~privet.RowScore`, or an integer for some classes, by label.
        epsilon
            What it costs, for one row added or removed.
        rho
            The same in rho, instead.

        Examples
        --------
        >>> import privet as pv
        >>> car = pv.datasets.load("car")
        >>> curator = pv.Curator(car.table, car.schema, pv.Budget(1))
        >>> answer = curator.sums([{"safety": "high"}], {"good": 1, "vgood": 2}, epsilon=0.5)
        >>> answer.to_frame().columns.tolist()
        ['cell', 'noisy sum', 'deviation']
        """
        if isinstance(score, Mapping):
            score = RowScore.of(self.schema, score)
        return self.ask(Sums(cells, score), epsilon, rho=rho)

    def choose(
        self,
        cells: SomeCells,
        candidates: Sequence[Split] | Sequence[Sequence[Split]],
        criterion: str,
        epsilon: Number | None = None,
        *,
        mechanism: Selection = "permute-and-flip",
    ) -> ChosenSplits:
        """Return a good split for each cell: :class:`~privet.queries.ChooseSplits`.

        Parameters
        ----------
        cells
            Disjoint cells: :class:`~privet.Cells`, or a list of mappings from attribute to values.
        candidates
            The splits to choose from: one list for all cells, or one per cell.
        criterion
            What makes a split good: ``"max"``, ``"gini"`` or ``"info_gain"``.
        epsilon
            What it costs, for one row added or removed.
        mechanism
            How the choice is drawn: ``"permute-and-flip"`` or ``"exponential"``.

        Examples
        --------
        >>> import privet as pv
        >>> car = pv.datasets.load("car")
        >>> curator = pv.Curator(car.table, car.schema, pv.Budget(1))
        >>> splits = [pv.Split.multiway(car.schema, name) for name in ("safety", "doors")]
        >>> curator.choose([{}], splits, "gini", epsilon=1).to_frame()["cell"].tolist()
        ['everything']
        """
        return self.ask(ChooseSplits(cells, candidates, criterion, mechanism), epsilon)

    def choose_partition(
        self,
        question: Asked,
        expected: Sequence[npt.ArrayLike],
        epsilon: Number | None = None,
        *,
        handicaps: Sequence[int] | None = None,
        mechanism: Selection = "exponential",
    ) -> ChosenIndex:
        """Return the number of a partition whose counts are about farthest from what is expected:
        :class:`~privet.queries.ChoosePartition`.
        """
        return self.ask(ChoosePartition(question, expected, handicaps, mechanism), epsilon)

    def quantile(
        self,
        attribute: str,
        q: Number,
        epsilon: Number | None = None,
        *,
        mechanism: Selection = "permute-and-flip",
    ) -> Quantile:
        """Return the bin that about holds a quantile: :class:`~privet.queries.FindQuantile`.

        Parameters
        ----------
        attribute
            A numeric attribute.
        q
            The share of the rows that lies below, from 0 to 1.
        epsilon
            What it costs, for one row added or removed.
        mechanism
            How the choice is drawn: ``"permute-and-flip"`` or ``"exponential"``.

        Examples
        --------
        >>> import pandas as pd
        >>> import privet as pv
        >>> table = pd.DataFrame({"age": range(100), "ill": ["no", "yes"] * 50})
        >>> schema = pv.Schema({"age": pv.Numeric(0, 100, bins=10)}, "ill", ["no", "yes"])
        >>> pv.Curator(table, schema, pv.Budget(50)).quantile("age", 0.75, epsilon=50).middle
        75.0
        """
        return self.ask(FindQuantile(attribute, q, mechanism), epsilon)

    def median(
        self,
        attribute: str,
        epsilon: Number | None = None,
        *,
        mechanism: Selection = "permute-and-flip",
    ) -> Quantile:
        """Return the :meth:`quantile` of 1/2.

        Parameters
        ----------
        attribute
            A numeric attribute.
        epsilon
            What it costs, for one row added or removed.
        mechanism
            How the choice is drawn: ``"permute-and-flip"`` or ``"exponential"``.

        Examples
        --------
        >>> import pandas as pd
        >>> import privet as pv
        >>> table = pd.DataFrame({"age": [31] * 60 + [78] * 40, "ill": ["no", "yes"] * 50})
        >>> schema = pv.Schema({"age": pv.Numeric(0, 120, bins=12)}, "ill", ["no", "yes"])
        >>> answer = pv.Curator(table, schema, pv.Budget(50)).median("age", epsilon=50)
        >>> answer.low, answer.high
        (30.0, 40.0)
        """
        return self.quantile(attribute, "1/2", epsilon, mechanism=mechanism)

    def confusion(
        self, model: Model, epsilon: Number | None = None, *, rho: Number | None = None
    ) -> Numbers:
        """Return the noisy confusion matrix of a model: :class:`~privet.queries.Confusion`.

        Parameters
        ----------
        model
            A released model, such as ``classifier.model_``.
        epsilon
            What it costs, for one row added or removed.
        rho
            The same in rho, instead.

        Examples
        --------
        >>> import privet as pv
        >>> car = pv.datasets.load("car")
        >>> curator = pv.Curator(car.table, car.schema, pv.Budget(1))
        >>> model = pv.GreedyTreeClassifier(epsilon=0.5).fit_from(curator).model_
        >>> curator.confusion(model, epsilon=0.5).tables[0].shape
        (4, 4)
        """
        return self.ask(Confusion(model), epsilon, rho=rho)

    def choose_model(
        self, models: Sequence[Model], epsilon: Number | None = None
    ) -> tuple[int, ChosenSplits]:
        """Return the number of a model that gets about the most rows right, and the answer:
        :class:`~privet.queries.ChooseModel`.
        """
        choice = self.ask(ChooseModel(models), epsilon)
        return choice.index, ChosenSplits(**choice.terms, splits=())  # as 0.1 has it

    def draw_tree(
        self, space: TreeSpace, epsilon: Number | None = None, *, weighting: Sequence[Tree] = ()
    ) -> Drawn:
        """Return a whole labelled tree: :class:`~privet.queries.DrawTree`.

        Parameters
        ----------
        space
            The trees to draw from.
        epsilon
            What it costs, for one row added or removed.
        weighting
            Released trees; rows that they classify well weigh less.

        Examples
        --------
        >>> import privet as pv
        >>> car = pv.datasets.load("car")
        >>> curator = pv.Curator(car.table, car.schema, pv.Budget(1))
        >>> drawn = curator.draw_tree(pv.TreeSpace(car.schema, depth=1), epsilon=1)
        >>> drawn.cells.n_cells == len(drawn.to_frame())
        True
        """
        return self.ask(DrawTree(space, weighting), epsilon)

    def gradients(
        self,
        cells: SomeCells,
        trees: Sequence[Tree],
        epsilon: Number | None = None,
        *,
        rho: Number | None = None,
        clip: Clip = "own",
    ) -> Numbers:
        """Return noisy derivatives of the log-likelihood: :class:`~privet.queries.Gradients`."""
        return self.ask(Gradients(cells, trees, clip), epsilon, rho=rho)


def require(preview: Preview, unit: Unit, account: str, schema: Schema) -> None:
    """Raise unless what was previewed fits."""
    asked = preview.cost.amount(unit)
    if asked is not None and not preview.fits:
        note = explain_factor(schema, asked, unit)
        raise BudgetExceeded(asked, preview.left, unit, account, note=note)
