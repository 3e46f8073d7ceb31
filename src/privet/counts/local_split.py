"""Counts from records of which every value was randomised by itself."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.counts.local import Box, Estimate, Floats, Mask, Response


class SplitReports:
    """A line of codes per attribute, classes, and the response that made each of them."""

    def __init__(self, codes: npt.NDArray[Any], classes: npt.NDArray[Any], responses: Sequence[Response], label: Response) -> None:
        self.codes, self.classes = codes, classes.astype(np.int64)
        self.responses, self.label = tuple(responses), label

    @property
    def n_reports(self) -> int:
        return len(self.classes)

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(np.vstack([*self.codes, self.classes]).astype(np.uint16).tobytes()).hexdigest()

    def answers(self, attributes: frozenset[int]) -> bool:  # noqa: ARG002
        """Any cell can be counted; how well is another matter."""
        return True

    def view(self, cell: Sequence[Box]) -> SplitView:
        return SplitView(self, cell)

    def some(self, chosen: npt.NDArray[np.intp]) -> SplitReports:
        return SplitReports(self.codes[:, chosen], self.classes[chosen], self.responses, self.label)


class SplitView:
    """The reports about one cell: what each says about it is a product over the attributes that the cell restricts."""

    def __init__(self, reports: SplitReports, cell: Sequence[Box]) -> None:
        self._reports, self._cell = reports, cell
        self._factors: dict[tuple[int, int], Floats] = {}

    def totals(self) -> Estimate:
        reports = self._reports
        weights = sum((self._weights(number) for number in range(len(self._cell))), np.zeros(reports.n_reports))
        n_classes = reports.label.size
        sums, squares = (_summed(reports.classes, what, (1, n_classes)) for what in (weights, weights**2))
        counts, variances = _by_class(sums, squares, reports.label)
        return Estimate(counts[0], variances[0])

    def by(self, attribute: int) -> SplitHistogram:
        reports, n_classes = self._reports, self._reports.label.size
        place = reports.codes[attribute].astype(np.int64) * n_classes + reports.classes
        size = reports.responses[attribute].size
        parts = []
        for number, box in enumerate(self._cell):
            weights = self._weights(number, attribute)
            sums, squares = (_summed(place, what, (size, n_classes)) for what in (weights, weights**2))
            parts.append((sums, squares, box.get(attribute, np.ones(size, dtype=bool))))
        return SplitHistogram(parts, reports.responses[attribute], reports.label)

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


class SplitHistogram:
    """Sums of what reports say, and of its square, by reported value and class: one pair per box, with the values that it allows."""

    def __init__(self, parts: Sequence[tuple[Floats, Floats, Mask]], response: Response, label: Response) -> None:
        self._parts, self._response, self._label = parts, response, label

    def sets(self, masks: Mask) -> Estimate:
        shape = (len(masks), self._label.size)
        counts, variances = np.zeros(shape), np.zeros(shape)
        for sums, squares, allowed in self._parts:
            chosen = (masks & allowed).astype(np.float64)
            inside, outside = self._response.weights(chosen.sum(axis=1, keepdims=True))
            in_set, squares_in_set = chosen @ sums, chosen @ squares
            of_sets = inside * in_set + outside * (sums.sum(axis=0) - in_set)
            squares_of_sets = inside**2 * squares_in_set + outside**2 * (squares.sum(axis=0) - squares_in_set)
            found = _by_class(of_sets, squares_of_sets, self._label)
            possible = chosen.any(axis=1, keepdims=True)  # nobody is where no value is, and that is certain
            counts += np.where(possible, found.counts, 0.0)
            variances += np.where(possible, found.variances, 0.0)
        return Estimate(counts, variances)


def _summed(places: npt.NDArray[np.int64], weights: Floats, shape: tuple[int, int]) -> Floats:
    """The sums of weights by place."""
    return np.asarray(np.bincount(places, weights, minlength=shape[0] * shape[1]), dtype=np.float64).reshape(shape)


def _by_class(sums: Floats, squares: Floats, label: Response) -> Estimate:
    """From sums over reported classes to counts of true ones, line by line."""
    inside, outside = label.weights(1)
    counts = inside * sums + outside * (sums.sum(axis=1, keepdims=True) - sums)
    second = inside**2 * squares + outside**2 * (squares.sum(axis=1, keepdims=True) - squares)
    return Estimate(counts, np.maximum(second - counts, 0.0))
