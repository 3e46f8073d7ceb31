"""Estimate counts from randomised records, corrected for the randomisation.

:class:`SplitReports` holds records of which every value was randomised by itself.
:class:`SampledReports` holds records of which a randomly drawn set of attributes was reported,
together with the class, by one response.

A person who drew a set of attributes that includes those of a cell tells about the cell. These
people are a random sample of all, drawn without looking at anybody's values, so their counts are
scaled up. Reports of different sets have different noise. A person of set g counts a_g times, with
a_g inversely proportional to the variance of one report and the mean of a over all people being 1:
the estimate has no bias, since the a_g depend on public sizes alone. To the variance of
randomisation comes that of having drawn some people and not others,

    (mean of a^2 - 1) (c - c^2 / n)          for a count c of n people.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from privet._types import Bools, Floats
from privet.domain import Schema
from privet.errors import QuestionError
from privet.local.counts import Box, Estimate, Response, restricted_attributes


@dataclass(frozen=True)
class Group:
    """The people who drew one set of attributes: their reports, and the response that made them.

    ``places`` says who they are.
    """

    attributes: tuple[int, ...]
    codes: npt.NDArray[Any]
    classes: npt.NDArray[np.int64]
    response: Response
    places: npt.NDArray[np.intp]

    def inside(self, box: Box, without: int = -1) -> Bools:
        """Return whose report lies in a box, whatever it says about one attribute."""
        keep = np.ones(len(self.classes), dtype=bool)
        for line, a in zip(self.codes, self.attributes, strict=True):
            if a in box and a != without:
                keep &= box[a][line]
        return keep

    def points(self, box: Box, sizes: Sequence[int], without: int = -1) -> int:
        """Count the joint values of the set in a box.

        They are counted for one class and one value of the attribute that is left out.
        """
        return math.prod(
            int(box[a].sum()) if a in box else sizes[a] for a in self.attributes if a != without
        )


class SampledReports:
    """Reports by the set of attributes that was drawn; at most ``together`` of them."""

    def __init__(
        self, schema: Schema, groups: Mapping[tuple[int, ...], Group], together: int, n_reports: int
    ) -> None:
        self.schema, self.groups, self.together, self._n = schema, dict(groups), together, n_reports

    @property
    def n_reports(self) -> int:
        return self._n

    @cached_property
    def digest(self) -> str:
        text = hashlib.sha256()
        for drawn in sorted(self.groups):
            group = self.groups[drawn]
            text.update(repr((drawn, group.codes.tolist(), group.classes.tolist())).encode())
        return text.hexdigest()

    def answers(self, attributes: frozenset[int]) -> bool:
        return len(attributes) <= self.together

    def view(self, cell: Sequence[Box]) -> SampledView:
        return SampledView(self, cell)

    def some(self, chosen: npt.NDArray[np.intp]) -> SampledReports:
        kept = np.zeros(self._n, dtype=bool)
        kept[chosen] = True
        number = np.cumsum(kept) - 1
        groups = {}
        for drawn, group in self.groups.items():
            mine = kept[group.places]
            groups[drawn] = Group(
                drawn,
                group.codes[:, mine],
                group.classes[mine],
                group.response,
                number[group.places[mine]],
            )
        return SampledReports(self.schema, groups, self.together, len(chosen))

    def find_groups(self, attributes: frozenset[int]) -> list[Group]:
        """Return the groups whose sets hold these attributes, or raise where no set could."""
        if not self.answers(attributes):
            names = ", ".join(repr(self.schema.names[a]) for a in sorted(attributes))
            raise QuestionError(
                f"these records tell about at most {self.together} attribute(s) and the class "
                f"together, and this question is about {len(attributes)} ({names}); ask about "
                "fewer, or collect records with a larger 'together' or spread='split'"
            )
        return [
            group
            for group in self.groups.values()
            if attributes <= set(group.attributes) and len(group.classes)
        ]


class SampledView:
    """The reports about one cell."""

    def __init__(self, reports: SampledReports, cell: Sequence[Box]) -> None:
        self._reports, self._cell = reports, cell

    def totals(self) -> Estimate:
        estimate = self._histogram(restricted_attributes(self._cell), -1, 1).sets(
            np.ones((1, 1), dtype=bool)
        )
        return Estimate(estimate.counts[0], estimate.variances[0])

    def by(self, attribute: int) -> SampledHistogram:
        return self._histogram(
            restricted_attributes(self._cell) | {attribute},
            attribute,
            self._reports.schema.sizes[attribute],
        )

    def _histogram(self, attributes: frozenset[int], by: int, size: int) -> SampledHistogram:
        reports, n_classes = self._reports, self._reports.schema.n_classes
        parts = []
        for group in reports.find_groups(attributes):
            value = (
                group.codes[group.attributes.index(by)].astype(np.int64)
                if by >= 0
                else np.zeros(len(group.classes), dtype=np.int64)
            )
            boxes = []
            for box in self._cell:
                inside = group.inside(box, by)
                counts = np.bincount(
                    (value * n_classes + group.classes)[inside], minlength=size * n_classes
                ).reshape(size, n_classes)
                boxes.append(
                    (
                        counts,
                        group.points(box, reports.schema.sizes, by),
                        box.get(by, np.ones(size, dtype=bool)),
                    )
                )
            parts.append(_SampledPart(len(group.classes), group.response, tuple(boxes)))
        return SampledHistogram(parts, reports.n_reports, n_classes)


@dataclass(frozen=True)
class _SampledPart:
    """One group's reports by value and class, box by box, with the points that one entry has, and
    the values that the box allows.
    """

    n_reports: int
    response: Response
    boxes: tuple[tuple[npt.NDArray[np.int64], int, Bools], ...]

    @property
    def precision(self) -> float:
        """One over the variance of what one report says about an entry, where hardly anybody is in
        it.
        """
        chance = self.response.other * max((points for _, points, _ in self.boxes), default=1)
        return (self.response.kept - self.response.other) ** 2 / max(chance * (1 - chance), 1e-300)


class SampledHistogram:
    """The reports of all groups that tell about a cell and an attribute."""

    def __init__(self, parts: Sequence[_SampledPart], n_people: int, n_classes: int) -> None:
        self._parts, self._n_people, self._n_classes = parts, n_people, n_classes

    def sets(self, masks: Bools) -> Estimate:
        shape, n = (len(masks), self._n_classes), self._n_people
        counts, variances, squares = np.zeros(shape), np.zeros(shape), 0.0
        in_all = sum(part.n_reports * part.precision for part in self._parts)
        if not in_all:  # nobody told: anything is possible
            return Estimate(counts, np.full(shape, float(n) ** 2))
        for part in self._parts:
            times = n * part.precision / in_all
            squares += part.n_reports / n * times**2
            inside, points = np.zeros(shape), np.zeros((len(masks), 1))
            for table, points_of_one, allowed in part.boxes:
                chosen = (masks & allowed).astype(np.float64)
                inside += chosen @ table
                points += chosen.sum(axis=1, keepdims=True) * points_of_one
            yes, no = part.response.weights(points)
            said = np.where(points > 0, inside * yes + (part.n_reports - inside) * no, 0.0)
            second = np.where(points > 0, inside * yes**2 + (part.n_reports - inside) * no**2, 0.0)
            counts += times * said
            variances += times**2 * (second - said)
        drawn = max(squares - 1, 0.0) * np.clip(counts - counts**2 / n, 0.0, None)
        return Estimate(counts, np.maximum(variances, 0.0) + drawn)


# Every value randomised by itself.


class SplitReports:
    """Codes by attribute, classes, and the response that made each of them."""

    def __init__(
        self,
        codes: npt.NDArray[Any],
        classes: npt.NDArray[Any],
        responses: Sequence[Response],
        label: Response,
    ) -> None:
        self.codes, self.classes = codes, classes.astype(np.int64)
        self.responses, self.label = tuple(responses), label

    @property
    def n_reports(self) -> int:
        return len(self.classes)

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(
            np.vstack([*self.codes, self.classes]).astype(np.uint16).tobytes()
        ).hexdigest()

    def answers(self, attributes: frozenset[int]) -> bool:  # noqa: ARG002
        """Return True: any cell can be counted, if not always well."""
        return True

    def view(self, cell: Sequence[Box]) -> SplitView:
        return SplitView(self, cell)

    def some(self, chosen: npt.NDArray[np.intp]) -> SplitReports:
        return SplitReports(self.codes[:, chosen], self.classes[chosen], self.responses, self.label)


class SplitView:
    """The reports about one cell.

    What each says about it is a product over the attributes that the cell restricts.
    """

    def __init__(self, reports: SplitReports, cell: Sequence[Box]) -> None:
        self._reports, self._cell = reports, cell
        self._factors: dict[tuple[int, int], Floats] = {}

    def totals(self) -> Estimate:
        reports = self._reports
        weights = sum(
            (self._weights(number) for number in range(len(self._cell))),
            np.zeros(reports.n_reports),
        )
        n_classes = reports.label.size
        sums, squares = (
            _sum_by_place(reports.classes, what, (1, n_classes)) for what in (weights, weights**2)
        )
        counts, variances = _estimate_by_class(sums, squares, reports.label)
        return Estimate(counts[0], variances[0])

    def by(self, attribute: int) -> SplitHistogram:
        reports, n_classes = self._reports, self._reports.label.size
        place = reports.codes[attribute].astype(np.int64) * n_classes + reports.classes
        size = reports.responses[attribute].size
        # What a report says about boxes that allow the same values of the attribute is added up at
        # once.
        weights: dict[bytes, tuple[Bools, Floats]] = {}
        for number, box in enumerate(self._cell):
            allowed = box.get(attribute, np.ones(size, dtype=bool))
            before = weights.get(allowed.tobytes(), (allowed, np.zeros(reports.n_reports)))[1]
            weights[allowed.tobytes()] = allowed, before + self._weights(number, attribute)
        parts = tuple(
            _SplitPart(allowed, _sum_by_place(place, said, (size, n_classes)))
            for allowed, said in weights.values()
        )
        said = [said for _, said in weights.values()]
        products = {
            (i, j): _sum_by_place(place, said[i] * said[j], (size, n_classes))
            for i, j in combinations_with_replacement(range(len(said)), 2)
        }
        return SplitHistogram(parts, products, reports.responses[attribute], reports.label)

    def _weights(self, number: int, without: int = -1) -> Floats:
        """What each report says about a box, whatever it says about one attribute."""
        product = np.ones(self._reports.n_reports)
        for a in self._cell[number]:
            if a != without:
                product *= self._factor(number, a)
        return product

    def _factor(self, number: int, a: int) -> Floats:
        if (number, a) not in self._factors:
            allowed = self._cell[number][a]
            inside, outside = self._reports.responses[a].weights(int(allowed.sum()))
            self._factors[number, a] = np.where(allowed, inside, outside)[self._reports.codes[a]]
        return self._factors[number, a]


class _SplitPart(NamedTuple):
    """Boxes that allow the same values of an attribute: these, and sums of what reports say, by
    reported value and class.
    """

    allowed: Bools
    sums: Floats


class SplitHistogram:
    """Sums of what reports say about each part of a cell, by reported value and class.

    There are also the sums of the products for each two parts.

    One report tells about all parts, so the square of what it says about the cell has products of
    two parts in it.
    """

    def __init__(
        self,
        parts: Sequence[_SplitPart],
        products: Mapping[tuple[int, int], Floats],
        response: Response,
        label: Response,
    ) -> None:
        self._parts, self._products, self._response, self._label = parts, products, response, label

    def sets(self, masks: Bools) -> Estimate:
        shape = (len(masks), self._label.size)
        factors = [self._factors(masks & part.allowed) for part in self._parts]
        sums = sum(
            (factor @ part.sums for factor, part in zip(factors, self._parts, strict=True)),
            np.zeros(shape),
        )
        squares = np.zeros(shape)
        for (i, j), product in self._products.items():
            squares += (1 if i == j else 2) * (factors[i] * factors[j]) @ product
        return _estimate_by_class(sums, squares, self._label)

    def _factors(self, chosen: Bools) -> Floats:
        """What each reported value says about each set of values; nothing about a set of none."""
        inside, outside = self._response.weights(chosen.sum(axis=1, keepdims=True))
        return np.asarray(np.where(chosen, inside, outside))


def _sum_by_place(places: npt.NDArray[np.int64], weights: Floats, shape: tuple[int, int]) -> Floats:
    """The sums of weights by place."""
    return np.asarray(
        np.bincount(places, weights, minlength=shape[0] * shape[1]), dtype=np.float64
    ).reshape(shape)


def _estimate_by_class(sums: Floats, squares: Floats, label: Response) -> Estimate:
    """From sums over reported classes to counts of true ones, line by line."""
    inside, outside = label.weights(1)
    counts = inside * sums + outside * (sums.sum(axis=1, keepdims=True) - sums)
    second = inside**2 * squares + outside**2 * (squares.sum(axis=1, keepdims=True) - squares)
    return Estimate(counts, np.maximum(second - counts, 0.0))
