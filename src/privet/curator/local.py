"""A curator of records that people randomised themselves: nothing has to be kept from anybody, and
no answer costs anything more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from privet.budget import NOTHING, Cost, Number, Unit
from privet.cells import Cell, Cells, Split
from privet.counts.local import Estimate, LocalCounts, boxes_of_cells, whole_counts
from privet.curator.answers import Choice, Drawn, Numbers, Preview, Quantile
from privet.curator.corrected import counted
from privet.curator.debiased import Debiased, Floats, Judged
from privet.curator.gains import best_split
from privet.curator.plain import (
    candidate_lists,
    checked_model,
    expected_tables,
    plain_question,
    whole_handicaps,
)
from privet.curator.quantile import bin_scores, exact_share, numeric_attribute
from privet.curator.score import RowScore
from privet.errors import ParameterError, QuestionError
from privet.mechanisms.criteria import criterion_named
from privet.mechanisms.randomness import Bits, SystemBits, uniform_below
from privet.mechanisms.selection import Selection
from privet.model import Model
from privet.question import Partition, Question
from privet.schema import Schema
from privet.space import TreeSpace
from privet.tree import Tree

if TYPE_CHECKING:
    from privet.curator.base import AnyCurator

_LEARNERS = (
    "AdditiveClassifier, GreedyTreeClassifier, ForestClassifier and RandomTreesClassifier learn "
    "from such records"
)


class LocalCurator:
    """Answers from randomised records, as :class:`~privet.Curator` answers from a table.

    The records paid when they were randomised (``prepaid``, for one row replaced by another);
    whatever is computed from them is post-processing. So ``epsilon`` and ``rho`` of a question are
    not looked at, nothing is charged, and answers are as good as the records allow: unbiased counts
    with known deviations. How many records there are is public.

    Args:
        source: the records.
        schema: what they are about. Owner-side facts that local privacy has by itself are filled
            in: the number of rows is that of the records, and neighbours differ in one row (or
            person) that is replaced.
        prepaid: what each record has paid.
        bits: for structure that is drawn and released.
        reason: why the records are not private; empty where they are.
    """

    unit: Unit = "epsilon"
    dataset = "randomised records"

    def __init__(
        self,
        source: LocalCounts,
        schema: Schema,
        prepaid: Cost,
        *,
        bits: Bits | None = None,
        reason: str = "",
    ) -> None:
        self._source, self.prepaid, self._bits = source, prepaid, bits or SystemBits()
        self.schema = schema.declare(n_rows=source.n_reports, neighbours="replace")
        reasons = [reason] if reason else []
        self.reason = "; ".join(
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
    def private(self) -> bool:
        """Whether the records were randomised so that nobody can undo it, under a schema that was
        not read off the data.
        """
        return not self.reason

    @property
    def bits(self) -> Bits:
        return self._bits

    @property
    def left(self) -> Fraction:
        """Nothing can be spent, and nothing has to be."""
        return Fraction(0)

    def preview(self, plan: Iterable[Cost]) -> Preview:  # noqa: ARG002
        """Every plan fits, and costs nothing."""
        return Preview(NOTHING, Fraction(0), True)

    def require(self, plan: Iterable[Cost]) -> None:
        """Every plan fits."""

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        yield  # records never change

    # -- questions ---------------------------------------------------------------------------------

    def count(
        self,
        question: Question | Cells | Sequence[Cell],
        epsilon: Number | None = None,  # noqa: ARG002
        *,
        rho: Number | None = None,  # noqa: ARG002
    ) -> Debiased:
        """Unbiased class counts of every cell of every partition. Cost: nothing more than the
        records have paid.
        """
        found = [
            counted(self._source, partition)
            for partition in plain_question(self.schema, question).partitions
        ]
        return self._debiased(
            [estimate for estimate, _ in found], tuple(nodes for _, nodes in found)
        )

    def size(self, epsilon: Number | None = None, *, rho: Number | None = None) -> Numbers:  # noqa: ARG002
        """The number of records, exactly: it is public."""
        table = np.array([self._source.n_reports], dtype=np.int64)
        return Numbers(NOTHING, NOTHING, self.private, None, (table,), "none", Fraction(0))

    def sums(
        self,
        cells: Cells | Sequence[Cell],
        score: RowScore,
        epsilon: Number | None = None,  # noqa: ARG002
        *,
        rho: Number | None = None,  # noqa: ARG002
    ) -> Debiased:
        """Unbiased sums of a score over each cell. Deviations are those of independent counts,
        which is about right.
        """
        asked = self._one_partition(cells)
        if score.schema.fingerprint != self.schema.fingerprint:
            raise QuestionError("the row score is for another schema")
        counts, variances = counted(self._source, Partition(asked, by=score.by))[0]
        axes = tuple(range(1, counts.ndim))
        return self._debiased(
            [
                Estimate(
                    (counts * score.table).sum(axis=axes),
                    (variances * score.table.astype(float) ** 2).sum(axis=axes),
                )
            ]
        )

    def choose(
        self,
        cells: Cells | Sequence[Cell],
        candidates: Sequence[Split] | Sequence[Sequence[Split]],
        criterion: str,
        epsilon: Number | None = None,  # noqa: ARG002
        *,
        mechanism: Selection = "permute-and-flip",  # noqa: ARG002
    ) -> Judged:
        """The best split for each cell among those that are above the noise; a cell that has none
        is declined.

        A split is above the noise if its drop in Gini impurity is one that noise alone would give
        to the best of as many candidates in one cell out of ten. Splits that the records cannot
        tell about are passed over.
        """
        asked = self._one_partition(cells)
        lists = candidate_lists(self.schema, candidates, len(asked))
        quality = criterion_named(criterion, self.schema.n_rows)
        found = [
            best_split(
                self.schema, self._source, boxes, splits, quality if criterion != "gini" else None
            )
            for boxes, splits in zip(boxes_of_cells(asked), lists, strict=True)
        ]
        chosen = tuple(
            splits[0] if best is None else best for best, splits in zip(found, lists, strict=True)
        )
        declined = frozenset(cell for cell, best in enumerate(found) if best is None)
        return Judged(NOTHING, NOTHING, self.private, None, chosen, declined)

    def choose_partition(
        self,
        question: Question | Cells | Sequence[Cell],
        expected: Sequence[npt.ArrayLike],
        epsilon: Number | None = None,  # noqa: ARG002
        *,
        handicaps: Sequence[int] | None = None,
        mechanism: Selection = "exponential",  # noqa: ARG002
    ) -> Choice:
        """The partition whose counts are farthest from what is expected, beyond what noise alone
        would make of it, less its handicap.
        """
        asked = plain_question(self.schema, question)
        public, less = expected_tables(asked, expected), whole_handicaps(asked, handicaps)
        answer = self.count(asked)
        far = [
            float(np.abs(table - about).sum())
            - float(deviations.sum()) * np.sqrt(2 / np.pi)
            - handicap
            for table, deviations, about, handicap in zip(
                answer.tables, answer.deviations, public, less, strict=True
            )
        ]
        return Choice(NOTHING, NOTHING, self.private, None, int(np.argmax(far)))

    def quantile(
        self,
        attribute: str,
        q: Number,
        epsilon: Number | None = None,  # noqa: ARG002
        *,
        mechanism: Selection = "permute-and-flip",  # noqa: ARG002
    ) -> Quantile:
        """The bin of a numeric attribute that holds its ``q``-quantile, as far as the records
        tell.
        """
        share, numeric = exact_share(q), numeric_attribute(self.schema, attribute)
        counts = self.count(Question.level(Cells.everything(self.schema), [attribute])).tables[0]
        scores = bin_scores(whole_counts(np.maximum(counts, 0.0)), numeric.bins, share)
        choice = Choice(NOTHING, NOTHING, self.private, None, scores.index(max(scores)))
        return Quantile.of(choice, attribute, share, numeric.cuts)

    def median(
        self,
        attribute: str,
        epsilon: Number | None = None,
        *,
        mechanism: Selection = "permute-and-flip",
    ) -> Quantile:
        """The :meth:`quantile` of 1/2."""
        return self.quantile(attribute, "1/2", epsilon, mechanism=mechanism)

    def confusion(
        self,
        model: Model,
        epsilon: Number | None = None,  # noqa: ARG002
        *,
        rho: Number | None = None,  # noqa: ARG002
    ) -> Debiased:
        """The unbiased confusion matrix of a model of one tree: true classes in lines, predicted
        ones in columns.
        """
        checked_model(self.schema, model)
        if len(model.trees) > 1:
            raise ParameterError(
                "randomised records tell how good one tree is, not several together; evaluate "
                "on "
                "other rows"
            )
        cells, n_classes = model.trees[0].cells, self.schema.n_classes
        labels = model.contributions(model.trees[0]).argmax(axis=1)
        predicted = Cells(
            self.schema,
            cells.attribute,
            cells.offset,
            cells.branch,
            np.where(cells.attribute < 0, labels, -1),
            n_classes,
        )
        counts, variances = counted(self._source, Partition(predicted))[0]
        return self._debiased([Estimate(counts.T, variances.T)])

    def choose_model(
        self,
        models: Sequence[Model],
        epsilon: Number | None = None,  # noqa: ARG002
    ) -> tuple[int, Judged]:
        """The number of the model of one tree that gets most rows right, as far as the records
        tell.
        """
        if not models:
            raise ParameterError("give at least one model to choose from")
        right = [float(np.trace(self.confusion(model).tables[0])) for model in models]
        return int(np.argmax(right)), Judged(NOTHING, NOTHING, self.private, None, (), frozenset())

    def split_people(self, n_parts: int, epsilon: Number | None = None) -> list[LocalCurator]:  # noqa: ARG002
        """Curators of disjoint random parts of the records."""
        if isinstance(n_parts, bool) or not isinstance(n_parts, int) or not 1 <= n_parts <= 10_000:
            raise ParameterError(f"n_parts must be a whole number from 1 to 10000, got {n_parts!r}")
        part = uniform_below(self._bits, np.full(self._source.n_reports, n_parts, dtype=np.uint64))
        sources = [self._source.some(np.flatnonzero(part == number)) for number in range(n_parts)]
        return [
            LocalCurator(source, self.schema, self.prepaid, bits=self._bits, reason=self.reason)
            for source in sources
        ]

    def draw_tree(
        self,
        space: TreeSpace,  # noqa: ARG002
        epsilon: Number,  # noqa: ARG002
        *,
        weighting: Sequence[Tree] = (),  # noqa: ARG002
    ) -> Drawn:
        """Not from randomised records."""
        raise self._cannot("a whole tree cannot be drawn")

    def gradients(
        self,
        cells: Cells | Sequence[Cell],  # noqa: ARG002
        trees: Sequence[Tree],  # noqa: ARG002
        epsilon: Number | None = None,  # noqa: ARG002
        *,
        rho: Number | None = None,  # noqa: ARG002
    ) -> Numbers:
        """Not from randomised records."""
        raise self._cannot("derivatives of a likelihood cannot be summed")

    # -- how it is done ----------------------------------------------------------------------------

    @staticmethod
    def _cannot(what: str) -> ParameterError:
        return ParameterError(f"{what} from randomised records; {_LEARNERS}")

    def _one_partition(self, asked: Cells | Sequence[Cell]) -> Cells:
        if isinstance(asked, Question):
            raise QuestionError(
                "this question is asked about the cells of one partition: give Cells, not a "
                "Question"
            )
        return plain_question(self.schema, asked).partitions[0].cells

    def _debiased(
        self, estimates: Sequence[Estimate], of_nodes: tuple[Floats | None, ...] = ()
    ) -> Debiased:
        tables = tuple(estimate.counts for estimate in estimates)
        deviations = tuple(np.sqrt(estimate.variances) for estimate in estimates)
        common = (NOTHING, NOTHING, self.private, None)
        return Debiased(*common, tables, "randomized-response", Fraction(0), deviations, of_nodes)  # type: ignore[arg-type]


def prepaid(curator: object) -> Cost | None:
    """What the people behind a curator have paid before it was asked anything, for one row
    replaced; None where questions are charged.
    """
    return curator.prepaid if isinstance(curator, LocalCurator) else None


if TYPE_CHECKING:
    _curators: tuple[type[AnyCurator], ...] = (LocalCurator,)
