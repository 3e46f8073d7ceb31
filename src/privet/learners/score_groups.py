"""Cut a model's probabilities into a few public groups, from what it has released.

A row falls into the group (what the model says, bin of the probability that it gives to that). What
a group stands for is the mean of the model's probabilities over public points that fall into it:
points spread evenly over the model's released population, or over the public domain where it has
none. No row is looked at.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privet._types import Floats
from privet.domain import Schema
from privet.model import Model
from privet.queries.scores import place_in_bins

#: Public points, which take a fraction of a second to classify.
POINTS = 4096


@dataclass(frozen=True, eq=False)
class ScoreGroups:
    """The groups of a model.

    ``edges`` are the edges between bins for each class that it can say, and
    ``shares[predicted, bin]`` the probabilities of all classes that a group stands for.
    """

    edges: tuple[tuple[float, ...], ...]
    shares: Floats

    @classmethod
    def of(cls, model: Model, n_bins: int) -> ScoreGroups:
        """Return at most ``n_bins`` groups for each class that the model can say."""
        shares = model.probabilities(spread_points(model))
        predicted = model.decide(shares)
        stated = shares[np.arange(len(shares)), predicted]
        n_classes = model.schema.n_classes
        edges = tuple(
            tuple(_find_edges(stated[predicted == label], n_bins)) for label in range(n_classes)
        )
        _, bins = place_in_bins(model, shares, [np.array(listed) for listed in edges])
        means = np.empty((n_classes, 1 + max(map(len, edges)), n_classes))
        for label in range(n_classes):
            bounds = (1 / n_classes, *edges[label], 1.0)
            for number in range(means.shape[1]):
                here = shares[(predicted == label) & (bins == number)]
                middle = (bounds[min(number, len(bounds) - 2)] + bounds[-1]) / 2
                means[label, number] = (
                    here.mean(axis=0) if len(here) else _spread_rest(label, middle, n_classes)
                )
        return cls(edges, means)


def _spread_rest(label: int, share: float, n_classes: int) -> Floats:
    """Return probabilities for a group that no public point falls into."""
    others = np.full(n_classes, (1 - share) / max(n_classes - 1, 1))
    others[label] = share
    return others


def _find_edges(stated: Floats, n_bins: int) -> list[float]:
    """Return edges that part the values into bins of about equal size, none through a value."""
    values, counts = np.unique(stated.round(9), return_counts=True)
    between = (values[1:] + values[:-1]) / 2
    if len(values) > n_bins:
        reached = np.cumsum(counts)[:-1] / counts.sum()
        wanted = np.arange(1, n_bins) / n_bins
        between = between[np.unique(np.searchsorted(reached, wanted).clip(max=len(between) - 1))]
    return [float(edge) for edge in between if 0 < edge < 1]


def spread_points(model: Model) -> list[np.ndarray]:
    """Return the codes of public points that are spread evenly over people, or over the domain.

    The same points each time: multiples of square roots of primes, modulo 1 (Kronecker's
    sequence), looked up in the shares of each attribute's values.
    """
    schema, people = model.schema, model.population
    number = np.arange(1, POINTS + 1)
    columns = []
    for (name, attribute), root in zip(schema.attributes.items(), _list_roots(schema), strict=True):
        shares = np.full(attribute.size, 1.0) if people is None else people.shares[name]
        ends = np.cumsum(shares / shares.sum())
        codes = np.searchsorted(ends, (number * root) % 1.0, side="right")
        columns.append(codes.clip(max=attribute.size - 1).astype(attribute.dtype))
    return columns


def _list_roots(schema: Schema) -> list[float]:
    """Return the square roots of as many primes as there are attributes."""
    primes: list[int] = []
    candidate = 2
    while len(primes) < len(schema.attributes):
        if all(candidate % prime for prime in primes if prime * prime <= candidate):
            primes.append(candidate)
        candidate += 1
    return [math.sqrt(prime) for prime in primes]
