"""The curator: the trust boundary. It charges first, then counts, and answers only through a
mechanism.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from privet.budget import NOTHING, Budget, Cost, Number, exact, exact_epsilon, is_infinite
from privet.cells import Cell, Cells, Split
from privet.counts.base import CountSource, Rows, Table
from privet.counts.open import open_table
from privet.curator.accounting import Accounting
from privet.curator.answers import Choice, Choices, Drawn, Noise, Numbers, Quantile, Share
from privet.curator.exact import children, confusion, distances, perturbed, scored
from privet.curator.plain import (
    candidate_lists,
    checked_mechanism,
    checked_model,
    expected_tables,
    plain_question,
    same_domain,
    whole_handicaps,
)
from privet.curator.quantile import bin_range, bin_scores, exact_share, numeric_attribute
from privet.curator.score import RowScore
from privet.errors import ParameterError, PrivetError, QuestionError, TableError
from privet.ledger import Entry, Ledger, MemoryLedger
from privet.mechanisms.criteria import criterion_named
from privet.mechanisms.gaussian import add_gaussian
from privet.mechanisms.laplace import add_laplace
from privet.mechanisms.randomness import Bits, SystemBits
from privet.mechanisms.selection import Selection, select, selection_cost
from privet.mechanisms.shares import add_laplace_share, check_shares
from privet.model import Model
from privet.question import Partition, Question
from privet.schema import Schema
from privet.schema.problems import raise_if_any
from privet.space import TreeSpace
from privet.tree import Tree

Answered = TypeVar("Answered")
# a draw with epsilon = inf from a public table: a row outweighs what the prior prefers
_PUBLIC_EPSILON = Fraction(1000)
# a Laplace scale or Gaussian deviation beyond this could overflow 64-bit counts
_MAX_SPREAD = 1 << 40


class Curator(Accounting):
    """Answers questions about a table, within a budget.

    Epsilon and rho of a question are for **one row added or removed**, and for the question as a
    whole: partitions share them evenly (sequential composition), cells within a partition do not
    (parallel composition). What is charged is the cost for the neighbours that the schema declares:
    times ``rows_per_person``, and times two under ``neighbours="replace"`` (rho: the square of that
    factor).

    Args:
        table: what :func:`~privet.open_table` takes or returns.
        schema: what is public about the table.
        budget: the cap of the data set, if the ledger does not have one yet.
        ledger: where charges are recorded; by default one that lives as long as the process.
        dataset, analyst: the names of the accounts that are charged.
        public: declares the table public: ``epsilon=math.inf`` then gives exact counts, marked
            ``private: false``.
        strict: check every value first and raise where one does not fit the schema. For the owner:
            the error depends on the rows.
        bits: the source of randomness; tests pass a seeded one.
    """

    _table: Table | None = None  # where this curator opened it

    def __init__(
        self,
        table: object,
        schema: Schema,
        budget: Budget | None = None,
        *,
        ledger: Ledger | None = None,
        dataset: str | None = None,
        analyst: str = "analyst",
        public: bool = False,
        strict: bool = False,
        bits: Bits | None = None,
    ) -> None:
        opened: Table = open_table(table)
        opened.check_structure(schema)
        if strict:
            raise_if_any(opened.problems(schema))
        self._public, self._table = public, opened
        self._set_up(
            opened.source(schema),
            schema,
            ledger or MemoryLedger(),
            dataset or opened.name,
            analyst,
            bits or SystemBits(),
        )
        self._open_account(budget)

    @classmethod
    def over(
        cls,
        source: CountSource,
        schema: Schema,
        budget: Budget | None = None,
        *,
        ledger: Ledger,
        dataset: str,
        analyst: str,
        bits: Bits | None = None,
    ) -> Curator:
        """A curator of a source that is open already, and never public."""
        curator = cls.__new__(cls)
        curator._public = False
        curator._set_up(source, schema, ledger, dataset, analyst, bits or SystemBits())
        curator._open_account(budget)
        return curator

    def _set_up(
        self,
        source: CountSource,
        schema: Schema,
        ledger: Ledger,
        dataset: str,
        analyst: str,
        bits: Bits,
    ) -> None:
        self._source, self._bits, self._account = source, bits, ""
        self.schema, self.ledger, self.dataset, self.analyst = schema, ledger, dataset, analyst

    def _charge(self, cost: Cost, what: str) -> Entry:
        """Nothing is charged for a table that cannot be reached, which does not depend on its
        rows.
        """
        if self._table is not None:
            self._table.check_reachable()
        return super()._charge(cost, what)

    # -- questions ---------------------------------------------------------------------------------

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Inside this block all questions see the same rows, where the engine can."""
        with self._source.snapshot():
            yield

    def count(
        self,
        question: Question | Cells | Sequence[Cell],
        epsilon: Number | None = None,
        *,
        rho: Number | None = None,
    ) -> Numbers:
        """Noisy class counts of every cell of every partition.

        Sensitivity: one row is in one entry of each of the P partitions, so P in L1 and P in
        squared L2. Noise: with ``epsilon``, discrete Laplace of scale P/epsilon (cost: pure
        epsilon); with ``rho``, discrete Gaussian of variance P/(2 rho) (cost: rho-zCDP).
        Neighbours: one row added or removed.
        """
        asked = plain_question(self.schema, question)
        return self._noisy(asked, [1] * len(asked.partitions), None, epsilon, rho, asked.describe())

    def share(
        self, question: Question | Cells | Sequence[Cell], epsilon: Number, *, parties: int
    ) -> Share:
        """Class counts with one of ``parties`` shares of the noise of :meth:`count`, to leave this
        process inside secure aggregation only.

        For the party itself, never for an analyst: a share alone promises nothing. Sensitivity: P
        in L1 for P partitions. Noise: shares that make discrete Laplace of scale P/epsilon
        together. Neighbours: one row added or removed. Cost: pure epsilon, charged in full, for the
        sum of the shares of at least ``parties`` honest parties.
        """
        asked = plain_question(self.schema, question)
        check_shares("parties", parties)
        amount, sensitivity = exact_epsilon("epsilon", epsilon), len(asked.partitions)
        cost, spread = Cost.pure(amount), Fraction(sensitivity) / amount
        _check_spread("epsilon", spread, _MAX_SPREAD)
        what = (
            f"share of class counts for secure aggregation, noise of {parties} honest parties "
            f"together: {asked.describe()}"
        )
        entry = self._charge(cost, what)
        noisy = perturbed(
            self._exact(asked),
            lambda flat: add_laplace_share(
                self._bits, flat, amount, sensitivity=sensitivity, shares=parties
            )[0],
        )
        return Share(cost.promised(self.schema), cost, False, entry, noisy, parties, spread)

    def size(self, epsilon: Number | None = None, *, rho: Number | None = None) -> Numbers:
        """The noisy number of rows, as a table of one number. Sensitivity 1; cost and neighbours as
        in :meth:`count`.
        """
        everyone = RowScore(self.schema, np.ones(self.schema.n_classes, dtype=np.int64))
        question = Question.of(Cells.everything(self.schema))
        return self._noisy(question, [1], everyone, epsilon, rho, "number of rows")

    def sums(
        self,
        cells: Cells | Sequence[Cell],
        score: RowScore,
        epsilon: Number | None = None,
        *,
        rho: Number | None = None,
    ) -> Numbers:
        """The noisy sum over each cell of a bounded whole-number score of the rows.

        Sensitivity: the score's bound, in L1 and L2 (cells are disjoint). Noise: discrete Laplace
        of scale bound/epsilon, or discrete Gaussian of variance bound**2/(2 rho). Neighbours: one
        row added or removed.
        """
        asked = self._one_partition(cells)
        if type(score) is not RowScore:
            raise ParameterError(f"a row score must be a RowScore, got {type(score).__name__}")
        if score.schema.fingerprint != self.schema.fingerprint:
            raise QuestionError("the row score is for another schema")
        question = Question((Partition(asked, by=score.by),))
        by = "" if score.by is None else f" by {score.by}"
        return self._noisy(
            question,
            [score.bound],
            score,
            epsilon,
            rho,
            f"sums of a row score{by}: {len(asked)} cells",
        )

    def choose(
        self,
        cells: Cells | Sequence[Cell],
        candidates: Sequence[Split] | Sequence[Sequence[Split]],
        criterion: str,
        epsilon: Number,
        *,
        mechanism: Selection = "permute-and-flip",
    ) -> Choices:
        """A good split for each cell, out of ``candidates`` (one list for all cells, or one list
        per cell).

        Sensitivity: the criterion's range. A row is in one cell, so all cells together cost epsilon
        once. Cost: pure epsilon; with ``mechanism="exponential"`` only epsilon**2/8 in zCDP.
        Neighbours: one row added or removed.
        """
        asked = self._one_partition(cells)
        lists = candidate_lists(self.schema, candidates, len(asked))
        checked_mechanism(mechanism)
        quality = criterion_named(criterion, self.schema.n_rows)
        exactly = self._public and is_infinite(epsilon)
        amount = Fraction(1) if exactly else exact_epsilon("epsilon", epsilon)
        distinct = list(dict.fromkeys(split for splits in lists for split in splits))
        question = Question.level(asked, dict.fromkeys(split.attribute for split in distinct))
        cost = NOTHING if exactly else selection_cost(amount, mechanism)
        entry = (
            None
            if exactly
            else self._charge(
                cost, f"private selection: {len(asked)} cells, {len(distinct)} candidates"
            )
        )
        tables = dict(zip((p.by for p in question.partitions), self._exact(question), strict=True))
        scores = {
            split: quality.scores(children(tables[split.attribute], split)).tolist()
            for split in distinct
        }
        chosen = []
        for c, splits in enumerate(lists):
            of_cell = [scores[split][c] for split in splits]
            best = of_cell.index(max(of_cell))
            chosen.append(
                splits[
                    best
                    if exactly
                    else select(self._bits, of_cell, amount, quality.score_range, mechanism)
                ]
            )
        return Choices(
            cost.promised(self.schema), cost, self.private and not exactly, entry, tuple(chosen)
        )

    def choose_partition(
        self,
        question: Question | Cells | Sequence[Cell],
        expected: Sequence[npt.ArrayLike],
        epsilon: Number,
        *,
        handicaps: Sequence[int] | None = None,
        mechanism: Selection = "exponential",
    ) -> Choice:
        """The number of a partition whose class counts are (about) farthest from what is expected
        of them.

        The score of a partition is the sum of abs(count - expected) over its table, less its
        handicap: a whole number, by default 0, such as the noise that asking for it would bring.
        ``expected`` is public: one table of whole numbers per partition, of its shape. Sensitivity:
        a row is in at most one entry of each table, so it moves each score by at most 1, one up and
        another down: range 2. Neighbours: one row added or removed. Cost: pure epsilon, and
        epsilon**2/8 in zCDP with ``mechanism="exponential"``.
        """
        asked = plain_question(self.schema, question)
        public, less = expected_tables(asked, expected), whole_handicaps(asked, handicaps)
        what = f"private selection among {len(public)} partitions: {asked.describe()}"
        return self._pick(
            lambda: distances(self._source.count(asked), public, less), 2, epsilon, mechanism, what
        )

    def quantile(
        self,
        attribute: str,
        q: Number,
        epsilon: Number,
        *,
        mechanism: Selection = "permute-and-flip",
    ) -> Quantile:
        """A bin of a numeric attribute that (about) holds its ``q``-quantile: a share ``q`` (0 to
        1) of the values lies below.

        Rows without a value are left out; numbers beyond the bounds are in the outermost bins, or
        left out under ``on_unknown="drop"``. The score of a bin is how many rows it is off, in
        parts of q = a/b. Sensitivity: range 2 max(a, b - a), proved in
        :mod:`privet.curator.quantile`; one row off weighs 1/2 to 1 times epsilon. Neighbours: one
        row added or removed. Cost: pure epsilon, and epsilon**2/8 in zCDP with
        ``mechanism="exponential"``.
        """
        share, numeric = exact_share(q), numeric_attribute(self.schema, attribute)
        question = Question.level(Cells.everything(self.schema), [attribute])
        what = (
            f"private selection of a quantile: {attribute}, q {float(share):.6g}, {numeric.bins} "
            "bins"
        )

        def scores() -> list[int]:
            return bin_scores(self._source.count(question)[0], numeric.bins, share)

        return Quantile.of(
            self._pick(scores, bin_range(share), epsilon, mechanism, what),
            attribute,
            share,
            numeric.cuts,
        )

    def median(
        self, attribute: str, epsilon: Number, *, mechanism: Selection = "permute-and-flip"
    ) -> Quantile:
        """The :meth:`quantile` of 1/2."""
        return self.quantile(attribute, "1/2", epsilon, mechanism=mechanism)

    def confusion(
        self, model: Model, epsilon: Number | None = None, *, rho: Number | None = None
    ) -> Numbers:
        """The noisy confusion matrix of a released model: true classes in lines, predicted ones in
        columns.

        Sensitivity: a row is in one entry, so 1. Noise, cost and neighbours as in :meth:`count`.
        """
        checked_model(self.schema, model)
        return self._measure(
            lambda: [confusion(model, self._rows())],
            [1],
            epsilon,
            rho,
            "confusion matrix of a model",
        )

    def choose_model(self, models: Sequence[Model], epsilon: Number) -> tuple[int, Choices]:
        """The index of a released model that gets (about) the most rows right.

        By permute-and-flip on the number of correct rows. Sensitivity: a row adds 0 or 1 to each
        score: range 1. Cost: pure ``epsilon``. Neighbours: one row added or removed.
        """
        if not models:
            raise ParameterError("give at least one model to choose from")
        for model in models:
            checked_model(self.schema, model)

        def correct() -> list[int]:
            return [int(np.trace(confusion(model, self._rows()))) for model in models]

        choice = self._pick(
            correct, 1, epsilon, "permute-and-flip", f"private selection among {len(models)} models"
        )
        return choice.index, Choices(choice.cost, choice.row_cost, choice.private, choice.entry, ())

    def draw_tree(
        self, space: TreeSpace, epsilon: Number, *, weighting: Sequence[Tree] = ()
    ) -> Drawn:
        """A whole labelled tree, drawn with probability proportional to prior x exp(epsilon x
        weight of the rows it classifies correctly).

        The exponential mechanism over all trees of the space, sampled exactly
        (docs/concepts/gibbs.md). A row weighs 1, or, where earlier released trees are given, min(1,
        (1 - p) T/(T - 1)) with the chance p that their summed scores give to its class.
        Sensitivity: a row adds between 0 and 1 to the score of every tree, so the range is 1.
        Neighbours: one row added or removed. Cost: pure epsilon, and epsilon**2/8 in zCDP (bounded
        range); what floating point could add is taken off before.
        """
        # Numba takes a while to load, and most questions do without.
        from privet.counts.marginals import Marginals
        from privet.counts.scoring import UNIT, Scoring
        from privet.mechanisms.gibbs.draw import Gibbs
        from privet.mechanisms.gibbs.plan import plan_of
        from privet.mechanisms.gibbs.slack import epsilon_per_unit

        if type(space) is not TreeSpace:
            raise ParameterError(
                f"a space of trees must be a TreeSpace, got {type(space).__name__}"
            )
        if not same_domain(space.schema, self.schema):
            raise QuestionError("the space of trees is about another schema")
        space.check_size()
        scoring = Scoring(self.schema, weighting)
        exactly = self._public and is_infinite(epsilon)
        amount = _PUBLIC_EPSILON if exactly else exact_epsilon("epsilon", epsilon)
        unit = epsilon_per_unit(space, amount, UNIT)
        plan = plan_of(space)
        cost = NOTHING if exactly else Cost.bounded_range(amount)
        entry = (
            None
            if exactly
            else self._charge(
                cost, f"{space.describe()}{', rows weighed by released trees' * (len(scoring) > 0)}"
            )
        )

        def draw() -> Drawn:
            tables = Marginals(plan.sets, self.schema.sizes, self.schema.n_classes)
            for codes, classes, times in self._rows():
                weights = scoring.weights(codes, classes)
                tables.add(codes, classes, weights * times if len(times) else weights)
            drawn = Gibbs(plan, tables.flat, tables.base, unit).draw(self._bits)
            return Drawn(
                cost.promised(self.schema),
                cost,
                self.private and not exactly,
                entry,
                drawn.cells,
                drawn.labels,
            )

        return self._inside(draw)

    def gradients(
        self,
        cells: Cells | Sequence[Cell],
        trees: Sequence[Tree],
        epsilon: Number | None = None,
        *,
        rho: Number | None = None,
    ) -> Numbers:
        """Noisy sums over each cell of the derivatives of the rows' log-likelihood by the class
        scores that released trees give them.

        The table is (cells, 2, numbers): first and second derivatives in units of 1/65536, one
        number for two classes, otherwise one per class. Sensitivity: a row is in one cell and
        scaled down to 3/4 (two classes) or 1 in L1, hence in L2. Noise, cost and neighbours as in
        :meth:`sums`.
        """
        from privet.counts.scoring import Scoring, cells_of, clip_of, own_cells

        asked = own_cells(self.schema, self._one_partition(cells))
        scoring = Scoring(self.schema, trees)
        n_classes = self.schema.n_classes
        shape = (len(asked), 2, 1 if n_classes == 2 else n_classes)

        def measure() -> list[npt.NDArray[np.int64]]:
            table = np.zeros(shape, dtype=np.int64)
            for codes, classes, times in self._rows():
                scoring.add_derivatives(codes, classes, times, cells_of(asked, codes), table)
            return [table]

        return self._measure(
            measure,
            [clip_of(n_classes)],
            epsilon,
            rho,
            f"derivatives of the log-likelihood: {len(asked)} cells",
        )

    def split_people(self, n_parts: int, epsilon: Number) -> list[Curator]:
        """Curators of disjoint random parts of the people, each with a budget of ``epsilon`` of its
        own, charged here once.

        People are drawn independently at random (all rows of a person together, where the schema
        names one), never by position or content. Cost: ``epsilon`` once (parallel composition over
        disjoint people). They are asked within :meth:`snapshot`.
        """
        if isinstance(n_parts, bool) or not isinstance(n_parts, int) or not 1 <= n_parts <= 10_000:
            raise ParameterError(f"n_parts must be a whole number from 1 to 10000, got {n_parts!r}")
        amount = exact_epsilon("epsilon", epsilon)
        budget = Budget(Cost.pure(amount).promised(self.schema).epsilon)
        # divides when it is first asked
        sources = self._source.parts(n_parts, self._bits.words(4).tobytes())
        self._charge(Cost.pure(amount), f"{n_parts} disjoint groups of people")
        names = [f"{self.dataset} (part {number + 1} of {n_parts})" for number in range(n_parts)]
        parts = [
            Curator.over(
                source,
                self.schema,
                budget,
                ledger=MemoryLedger(),
                dataset=name,
                analyst=self.analyst,
                bits=self._bits,
            )
            for source, name in zip(sources, names, strict=True)
        ]
        for part in parts:
            part._account = self.account  # whatever is released about them is about this table
        return parts

    # -- how it is done ----------------------------------------------------------------------------

    def _exact(self, question: Question) -> list[npt.NDArray[np.int64]]:
        """The exact counts."""
        return self._inside(lambda: self._source.count(question))

    def _rows(self) -> Iterator[Rows]:
        return self._source.rows()

    def _inside(self, work: Callable[[], Answered]) -> Answered:
        """Do work on rows. What an engine says about a failure may tell of rows, so it is not
        passed on.
        """
        try:
            return work()
        except PrivetError:
            raise
        except Exception as error:  # noqa: BLE001
            kind = type(error).__name__
        raise TableError(f"{self.dataset!r} could not be counted ({kind}); the charge stands")

    def _one_partition(self, asked: Cells | Sequence[Cell]) -> Cells:
        if isinstance(asked, Question):
            raise QuestionError(
                "this question is asked about the cells of one partition: give Cells, not a "
                "Question"
            )
        return plain_question(self.schema, asked).partitions[0].cells

    def _pick(
        self,
        measure: Callable[[], list[int]],
        score_range: int,
        epsilon: Number,
        mechanism: Selection,
        what: str,
    ) -> Choice:
        """Charge, score, select."""
        checked_mechanism(mechanism)
        exactly = self._public and is_infinite(epsilon)
        amount = Fraction(1) if exactly else exact_epsilon("epsilon", epsilon)
        cost = NOTHING if exactly else selection_cost(amount, mechanism)
        entry = None if exactly else self._charge(cost, what)
        scores = self._inside(measure)
        index = (
            scores.index(max(scores))
            if exactly
            else select(self._bits, scores, amount, score_range, mechanism)
        )
        return Choice(cost.promised(self.schema), cost, self.private and not exactly, entry, index)

    def _noisy(
        self,
        question: Question,
        bounds: list[int],
        score: RowScore | None,
        epsilon: Number | None,
        rho: Number | None,
        what: str,
    ) -> Numbers:
        """Charge, count, add noise. ``bounds`` is the sensitivity of each partition's table."""
        return self._measure(
            lambda: [scored(table, score) for table in self._exact(question)],
            bounds,
            epsilon,
            rho,
            what,
        )

    def _measure(
        self,
        measure: Callable[[], list[npt.NDArray[np.int64]]],
        bounds: list[int],
        epsilon: Number | None,
        rho: Number | None,
        what: str,
    ) -> Numbers:
        """Charge, measure, add noise."""
        if (epsilon is None) == (rho is None):
            raise ParameterError("give either epsilon or rho")
        if self._public and is_infinite(epsilon):
            tables = self._inside(measure)
            return Numbers(NOTHING, NOTHING, False, None, tuple(tables), "none", Fraction(0))
        if epsilon is not None:
            amount = exact_epsilon("epsilon", epsilon)
            cost = Cost.pure(amount)
            spread = Fraction(sum(bounds)) / amount
        else:
            assert rho is not None
            amount = exact("rho", rho)
            cost = Cost.concentrated(amount)
            spread = Fraction(sum(bound**2 for bound in bounds)) / (2 * amount)
        _check_spread(
            "rho" if epsilon is None else "epsilon",
            spread,
            _MAX_SPREAD**2 if epsilon is None else _MAX_SPREAD,
        )
        entry = self._charge(cost, what)
        tables = self._inside(measure)
        noise: Noise
        if epsilon is not None:
            noise = "discrete-laplace"
            noisy = perturbed(
                tables,
                lambda flat: add_laplace(self._bits, flat, amount, sensitivity=sum(bounds))[0],
            )
        else:
            noise = "discrete-gaussian"
            squared = sum(bound**2 for bound in bounds)
            noisy = perturbed(
                tables,
                lambda flat: add_gaussian(self._bits, flat, amount, squared_sensitivity=squared)[0],
            )
        return Numbers(cost.promised(self.schema), cost, self.private, entry, noisy, noise, spread)


def _check_spread(name: str, spread: Fraction, most: int) -> None:
    if spread > most:
        raise ParameterError(f"{name} is so small that the noise does not fit into 64 bits")
