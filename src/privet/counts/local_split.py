"""Counts from records of which every value was randomised by itself."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from privet.counts.local import Box, Estimate, Response
from privet.typed import Bools, Floats


class SplitReports:
    """A line of codes per attribute, classes, and the response that made each of them."""

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
        """Any cell can be counted; how well is another matter."""
        return True

    def view(self, cell: Sequence[Box]) -> SplitView:
        return SplitView(self, cell)

    def some(self, chosen: npt.NDArray[np.intp]) -> SplitReports:
        return SplitReports(self.codes[:, chosen], self.classes[chosen], self.responses, self.label)


class SplitView:
    """The reports about one cell: what each says about it is a product over the attributes that the
    cell restricts.
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
    """Sums of what reports say about each part of a cell, and of the products for each two parts,
    by reported value and class.

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
