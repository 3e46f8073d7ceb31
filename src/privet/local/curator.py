"""Answer queries from records that people randomised themselves.

The records are private already. Nothing has to be kept from anybody, and no answer costs anything
more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from privet._types import Floats
from privet._validate import check_integer
from privet.accounting.cost import NOTHING, Cost, Number, Unit
from privet.accounting.ledger import Entry
from privet.accounting.statement import PrivacyStatement
from privet.curator.base import AnyCurator
from privet.curator.spending import FORESEEN, Spending, state_randomised
from privet.domain import Schema
from privet.domain.cells import Cells
from privet.domain.questions import Partition, Question
from privet.errors import ParameterError
from privet.local.counts import Estimate, LocalCounts, boxes_of_cells, boxes_of_nodes, round_counts
from privet.local.gains import best_split
from privet.local.spending import RandomisedSpending
from privet.mechanisms.criteria import criterion_named
from privet.mechanisms.randomness import Bits, SystemBits, uniform_below
from privet.queries import (
    Answer,
    ChooseModel,
    ChoosePartition,
    ChooseSplits,
    ChosenIndex,
    ChosenSplits,
    Confusion,
    Count,
    DrawTree,
    FindQuantile,
    FindQuantiles,
    Gradients,
    Numbers,
    Preview,
    Quantile,
    Quantiles,
    Query,
    Size,
    Sums,
    check_query,
)
from privet.queries.checks import check_cells, check_question
from privet.queries.choose_model import ModelChoice
from privet.queries.quantile import bin_scores, find_ordered
from privet.queries.quantiles import count_bins
from privet.queries.release_kinds import Price

A = TypeVar("A", bound=Answer)
_LEARNERS = (
    "AdditiveClassifier, GreedyTreeClassifier, ForestClassifier and RandomTreesClassifier learn "
    "from such records"
)


class LocalCurator(AnyCurator):
    """Answer queries from randomised records, as :class:`~privet.Curator` does from a table.

    The records paid when they were randomised (``paid``, for one row replaced by another);
    whatever is computed from them is post-processing. So ``epsilon`` and ``rho`` of a query are
    not looked at, nothing is charged, and answers are as good as the records allow: unbiased counts
    with known deviations. How many records there are is public.

    Parameters
    ----------
    source
        The records.
    schema
        What they are about. Owner-side facts that local privacy has by itself are filled
        in: the number of rows is that of the records, and neighbours differ in one row (or
        person) that is replaced.
    paid
        What each record has paid.
    bits
        For structure that is drawn and released.
    reason
        Why the records are not private; empty where they are.
    """

    def __init__(
        self,
        source: LocalCounts,
        schema: Schema,
        paid: Cost,
        *,
        bits: Bits | None = None,
        reason: str = "",
    ) -> None:
        self._source, self._paid, self._bits = source, paid, bits or SystemBits()
        self._schema = schema.declare(n_rows=source.n_reports, neighbours="replace")
        self._dataset = "randomised records"
        reasons = [reason] if reason else []
        self._reason = "; ".join(
            reasons + (["the schema was read off the data"] if schema.from_data else [])
        )

    @property
    def account(self) -> str:
        """A digest of the records: two releases from the same ones are about the same people.

        Nobody sees it where one table was randomised *twice*, or was also asked through a curator
        of its own: these are other reports of the same people, and have other accounts. Whoever
        merges such releases must know, and say ``people="may-overlap"``.
        """
        return self._source.digest

    @property
    def unit(self) -> Unit:
        """The unit of the budget: records are randomised for an epsilon."""
        return "epsilon"

    @property
    def reason(self) -> str:
        return self._reason

    @property
    def private(self) -> bool:
        """Whether the records were randomised so that nobody can undo it, under a schema that was
        not read off the data.
        """
        return not self._reason

    @property
    def bits(self) -> Bits:
        return self._bits

    @property
    def paid(self) -> Cost:
        """What each record paid when it was randomised, for one row replaced by another."""
        return self._paid

    def open_spending(
        self,
        epsilon: Number,  # noqa: ARG002 - the records have paid
        what: str,  # noqa: ARG002
        *,
        delta: Number = 0,  # noqa: ARG002
        through: AnyCurator | None = None,
    ) -> AbstractContextManager[Spending]:
        return RandomisedSpending.open(through or self, self._paid)

    def foresee_statement(self, epsilon: Number, what: str, name: str = "") -> PrivacyStatement:  # noqa: ARG002
        return state_randomised(
            self.schema, self._paid, id=FORESEEN, name=name, account=self.account
        )

    @property
    def left(self) -> Fraction:
        """What is left: nothing can be spent, and nothing has to be."""
        return Fraction(0)

    def preview(self, plan: Iterable[Cost]) -> Preview:  # noqa: ARG002
        """Preview a plan: every plan fits, and costs nothing."""
        return Preview(NOTHING, Fraction(0), True)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        yield  # records never change

    # -- nothing is charged, so nothing is set aside or recorded -----------------------------------

    @property
    def identity(self) -> list[Any]:
        return [self.account, self.schema.to_json(), self.private]

    def ask_once(
        self,
        key: str,  # noqa: ARG002
        query: Query[A],
        epsilon: Number | None = None,
        *,
        rho: Number | None = None,
    ) -> A:
        return self.ask(query, epsilon, rho=rho)

    def keyed_charges(self, prefix: str) -> list[tuple[Entry, bool]]:  # noqa: ARG002
        return []

    def reserve(self, cost: Cost, what: str, key: str = "") -> LocalCurator:  # noqa: ARG002
        return self

    def close_reservation(self, why: str = "done") -> None:
        """Do nothing: there are no reservations."""

    def cancel_reservation(self, key: str) -> None:
        """Do nothing: there are no reservations."""

    def reservation_state(self, key: str) -> str:  # noqa: ARG002
        return ""

    # -- queries -----------------------------------------------------------------------------------

    def ask(
        self,
        query: Query[A],
        epsilon: Number | None = None,  # noqa: ARG002
        *,
        rho: Number | None = None,  # noqa: ARG002
    ) -> A:
        """Answer a query as far as the records tell, and refuse what they cannot tell."""
        asked = check_query(query, self.schema)
        estimate = _ESTIMATES.get(type(asked))
        if estimate is None:
            cannot = _CANNOT.get(type(asked), f"{asked.name} cannot be answered")
            raise ParameterError(f"{cannot} from randomised records; {_LEARNERS}")
        return replace(estimate(self, asked), asked=asked)  # type: ignore[no-any-return]

    def _count(self, query: Count) -> Numbers:
        """Unbiased class counts of every cell of every partition."""
        partitions = check_question(self.schema, query.question).partitions
        counted = [count_partition(self._source, partition) for partition in partitions]
        return self._estimates(
            [estimate for estimate, _ in counted], tuple(nodes for _, nodes in counted)
        )

    def _size(self, _: Size) -> Numbers:
        """The number of records, exactly: it is public."""
        table = np.array([self._source.n_reports], dtype=np.int64)
        return Numbers(**self._terms, tables=(table,), noise="none", spread=Fraction(0))

    def _sums(self, query: Sums) -> Numbers:
        """Unbiased sums of a score over each cell. Deviations are those of independent counts,
        which is about right.
        """
        cells, score = check_cells(self.schema, query.cells), query.score
        counts, variances = count_partition(self._source, Partition(cells, by=score.by))[0]
        axes = tuple(range(1, counts.ndim))
        return self._estimates(
            [
                Estimate(
                    (counts * score.table).sum(axis=axes),
                    (variances * score.table.astype(float) ** 2).sum(axis=axes),
                )
            ]
        )

    def _choose(self, query: ChooseSplits) -> ChosenSplits:
        """The best split for each cell among those that are above the noise; a cell that has none
        is declined.

        A split is above the noise if its drop in Gini impurity is one that noise alone would give
        to the best of as many candidates in one cell out of ten. Splits that the records cannot
        tell about are passed over.
        """
        cells = check_cells(self.schema, query.cells)
        lists = query.lists
        quality = criterion_named(query.criterion, self.schema.n_rows)
        judged = None if query.criterion == "gini" else quality
        counted = [
            best_split(self.schema, self._source, boxes, splits, judged)
            for boxes, splits in zip(boxes_of_cells(cells), lists, strict=True)
        ]
        chosen = tuple(
            splits[0] if best is None else best for best, splits in zip(counted, lists, strict=True)
        )
        declined = frozenset(cell for cell, best in enumerate(counted) if best is None)
        return ChosenSplits(**self._terms, splits=chosen, declined=declined)

    def _choose_partition(self, query: ChoosePartition) -> ChosenIndex:
        """The partition whose counts are farthest from what is expected, beyond what noise alone
        would make of it, less its handicap.
        """
        assert query.handicaps is not None
        answer = self._count(Count(query.question))
        far = [
            float(np.abs(table - np.asarray(about)).sum())
            - float(deviations.sum()) * np.sqrt(2 / np.pi)
            - handicap
            for table, deviations, about, handicap in zip(
                answer.tables, answer.deviations, query.expected, query.handicaps, strict=True
            )
        ]
        return ChosenIndex(**self._terms, index=int(np.argmax(far)))

    def _quantile(self, query: FindQuantile) -> Quantile:
        """The bin of an ordered attribute that holds its ``q``-quantile, as far as the records
        tell.
        """
        assert isinstance(query.q, Fraction)
        ordered = find_ordered(self.schema, query.attribute)
        question = Question.level(Cells.everything(self.schema), [query.attribute])
        counts = self._count(Count(question)).tables[0]
        scores = bin_scores(round_counts(np.maximum(counts, 0.0)), ordered.bins, query.q)
        index = scores.index(max(scores))
        return Quantile.of(Answer(**self._terms), index, query.attribute, query.q, ordered)

    def _quantiles(self, query: FindQuantiles) -> Quantiles:
        """The cuts that divide an ordered attribute evenly, as far as the records tell."""
        question = Question.level(Cells.everything(self.schema), [query.attribute])
        counts = round_counts(np.maximum(self._count(Count(question)).tables[0], 0.0))
        bins = count_bins(counts, find_ordered(self.schema, query.attribute).bins)
        cuts = query.kind.release([bins], Price(Fraction(1), exactly=True), self.bits)
        return query.answer(cuts, Answer(**self._terms))

    def _confusion(self, query: Confusion) -> Numbers:
        """The unbiased confusion matrix of a model of one tree: true classes in rows, predicted
        ones in columns.
        """
        model = query.model
        if len(model.trees) > 1:
            raise ParameterError(
                "randomised records tell how good one tree is, not several together; evaluate on "
                "other rows"
            )
        cells, n_classes = model.trees[0].cells, self.schema.n_classes
        labels = model.decide(model.share_sums(model.contributions(model.trees[0])))
        predicted = Cells(
            self.schema,
            cells.attribute,
            cells.offset,
            cells.branch,
            np.where(cells.attribute < 0, labels, -1),
            n_classes,
        )
        counts, variances = count_partition(self._source, Partition(predicted))[0]
        return self._estimates([Estimate(counts.T, variances.T)])

    def _choose_model(self, query: ChooseModel) -> ModelChoice:
        """The number of the model of one tree that gets most rows right, as far as the records
        tell.
        """
        right = [
            float(np.trace(self._confusion(Confusion(model)).tables[0])) for model in query.models
        ]
        return ModelChoice(**self._terms, index=int(np.argmax(right)))

    def split_people(
        self,
        n_parts: int,
        epsilon: Number | None = None,  # noqa: ARG002
        key: str = "",  # noqa: ARG002
    ) -> list[LocalCurator]:
        """Divide the records into disjoint random parts, with a curator of each."""
        n_parts = check_integer("n_parts", n_parts, 1, 10_000)
        part = uniform_below(self._bits, np.full(self._source.n_reports, n_parts, dtype=np.uint64))
        sources = [self._source.some(np.flatnonzero(part == number)) for number in range(n_parts)]
        return [
            LocalCurator(source, self.schema, self.paid, bits=self._bits, reason=self.reason)
            for source in sources
        ]

    # -- how it is done ----------------------------------------------------------------------------

    @property
    def _terms(self) -> dict[str, Any]:
        return Answer(NOTHING, NOTHING, self.private, None).terms

    def _estimates(
        self, estimates: Sequence[Estimate], node_deviations: tuple[Floats | None, ...] = ()
    ) -> Numbers:
        return Numbers(
            **self._terms,
            tables=tuple(estimate.counts for estimate in estimates),  # type: ignore[misc]
            noise="randomized-response",
            spread=Fraction(0),
            own_deviations=tuple(np.sqrt(estimate.variances) for estimate in estimates),
            node_deviations=node_deviations,
        )


#: The queries that randomised records can answer.
_ESTIMATES: dict[type[Query[Any]], Callable[[LocalCurator, Any], Any]] = {
    Count: LocalCurator._count,
    Size: LocalCurator._size,
    Sums: LocalCurator._sums,
    ChooseSplits: LocalCurator._choose,
    ChoosePartition: LocalCurator._choose_partition,
    FindQuantile: LocalCurator._quantile,
    FindQuantiles: LocalCurator._quantiles,
    Confusion: LocalCurator._confusion,
    ChooseModel: LocalCurator._choose_model,
}

_CANNOT: dict[type[Query[Any]], str] = {
    DrawTree: "a whole tree cannot be drawn",
    Gradients: "derivatives of a likelihood cannot be summed",
}


# Counts of a partition, corrected for the randomisation.


def count_partition(source: LocalCounts, partition: Partition) -> tuple[Estimate, Floats | None]:
    """Count a partition, with the standard deviation of each node where it is not split further.

    The nodes are those of its structure.
    """
    cells, schema, boxes = partition.cells, partition.cells.schema, boxes_of_cells(partition.cells)
    if partition.by is not None:
        a = schema.index(partition.by)
        values = np.eye(schema.sizes[a], dtype=bool)
        return _stack_estimates(
            [source.view(cell).by(a).sets(values) for cell in boxes], partition.shape
        ), None
    nodes = _stack_estimates(
        [source.view([box]).totals() for box in boxes_of_nodes(cells)],
        (len(cells.attribute), schema.n_classes),
    )
    leaves = [np.flatnonzero(cells.cell == c) for c in range(len(cells))]
    listed = [
        Estimate(nodes.counts[at[0]], nodes.variances[at[0]])
        if len(at) == 1 and len(cell) == 1
        else source.view(cell).totals()
        for at, cell in zip(leaves, boxes, strict=True)
    ]
    return _stack_estimates(listed, partition.shape), np.sqrt(nodes.variances.mean(axis=1))


def _stack_estimates(estimates: Sequence[Estimate], shape: tuple[int, ...]) -> Estimate:
    counts, variances = (np.array(part).reshape(shape) for part in zip(*estimates, strict=True))
    return Estimate(counts, variances)
