"""The law over labelled trees, the slow and simple way: listed tree by tree, and by plain recursion
on rows.

All that is shared with the dynamic program is :func:`privet.domain.space.child_masks`, which has
tests of its own.
"""

from __future__ import annotations

import math
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np

from privet.domain import Categorical, Numeric, Schema
from privet.domain.space import TreeSpace, child_masks
from privet.mechanisms.gibbs.draw import Gibbs, LabelledTree, Node
from privet.mechanisms.gibbs.plan import SpaceArrays
from privet.tables.counting.marginals import Marginals

#: A row: its codes, its class, its weight in units.
Row = tuple[tuple[int, ...], int, int]
#: A labelled tree: the label, and for a split node the split and the children.
Tree = tuple

PRECISE = Context(prec=60, Emin=MIN_EMIN, Emax=MAX_EMAX)


def small_schema(*sizes: int | str, classes: int = 2) -> Schema:
    """Attributes a, b, ...: categorical with so many values, or ordered (``"4"``: bins; ``"3?"``:
    and one for missing entries).
    """
    attributes = {}
    for name, size in zip("abcdefgh", sizes, strict=False):
        if isinstance(size, int):
            attributes[name] = Categorical([f"{name}{i}" for i in range(size)])
        else:
            attributes[name] = Numeric(
                0, 1, bins=int(size.rstrip("?")), missing="none" if size.endswith("?") else None
            )
    return Schema(attributes, "class", [f"c{i}" for i in range(classes)])


def gibbs_of(
    space: TreeSpace, rows: list[Row], unit: float, plan: SpaceArrays | None = None
) -> Gibbs:
    """The dynamic program on a list of rows."""
    plan = plan or SpaceArrays(space)
    marginals = Marginals(plan.sets, space.schema.sizes, space.schema.n_classes)
    codes = np.array([row[0] for row in rows], dtype=np.uint8).reshape(
        len(rows), len(space.schema.sizes)
    )
    classes, weights = (np.array([row[i] for row in rows], dtype=np.int64) for i in (1, 2))
    marginals.add(np.ascontiguousarray(codes.T), classes, weights)
    return Gibbs(plan, marginals.flat, marginals.base, unit)


def random_rows(space: TreeSpace, n: int, seed: int, most: int = 5) -> list[Row]:
    """Rows that a few attributes tell something about."""
    rng = np.random.default_rng(seed)
    sizes, n_classes = space.schema.sizes, space.schema.n_classes
    found: list[Row] = []
    for _ in range(n):
        codes = tuple(int(rng.integers(size)) for size in sizes)
        guess = (codes[0] + codes[-1]) % n_classes
        found.append(
            (
                codes,
                guess if rng.random() < 0.7 else int(rng.integers(n_classes)),
                int(rng.integers(most + 1)),
            )
        )
    return found


# -- the prior, as the docstring of TreeSpace says it ----------------------------------------------


def label_prior(space: TreeSpace, label: int, above: int) -> Fraction:
    if above < 0:
        return Fraction(1, space.schema.n_classes)
    keep = Fraction(space.keep)
    return (1 - keep) / space.schema.n_classes + keep * (label == above)


def ways(space: TreeSpace, masks: tuple[int, ...], left: int) -> list[tuple]:
    """What can happen to a node: (prior, split, children's masks) for every split, and (prior,
    None, ()) for none.
    """
    splits = [] if left == 0 else space.splits_of(space.inner if left > 1 else space.last)
    allowed = [
        [one for one in listed if len(child_masks(mask, one)) > 1]
        for mask, listed in zip(masks, splits, strict=False)
    ]
    n_attributes = sum(1 for listed in allowed if listed)
    if not n_attributes:
        return [(Fraction(1), None, ())]
    chance = Fraction(space.split)
    found: list[tuple] = [(1 - chance, None, ())]
    for a, listed in enumerate(allowed):
        for one in listed:
            below = tuple(
                (*masks[:a], child, *masks[a + 1 :]) for child in child_masks(masks[a], one)
            )
            found.append((chance / (n_attributes * len(listed)), one, below))
    return found


def everything(space: TreeSpace) -> tuple[int, ...]:
    return tuple((1 << size) - 1 for size in space.schema.sizes)


def all_trees(space: TreeSpace) -> list[tuple[Tree, Fraction, list[tuple[tuple[int, ...], int]]]]:
    """Every labelled tree with its prior and its leaves (masks, label)."""

    @cache
    def below(masks: tuple[int, ...], left: int, above: int) -> list:
        found = []
        for prior, split, parts in ways(space, masks, left):
            for label in range(space.schema.n_classes):
                here = prior * label_prior(space, label, above)
                if split is None:
                    found.append(((label,), here, [(masks, label)]))
                    continue
                for combination in product(*(below(part, left - 1, label) for part in parts)):
                    chance, leaves = here, []
                    for _, more, ends in combination:
                        chance *= more
                        leaves += ends
                    found.append(
                        ((label, split, *(tree for tree, _, _ in combination)), chance, leaves)
                    )
        return found

    return below(everything(space), space.depth, -1)


def inside(codes: tuple[int, ...], masks: tuple[int, ...]) -> bool:
    return all(mask >> code & 1 for code, mask in zip(codes, masks, strict=True))


def score(leaves: list[tuple[tuple[int, ...], int]], rows: list[Row]) -> int:
    """The weight that a tree gets right."""
    return sum(
        weight
        for codes, label, weight in rows
        for masks, said in leaves
        if said == label and inside(codes, masks)
    )


def exact_law(space: TreeSpace, rows: list[Row], unit: float) -> dict[Tree, Decimal]:
    """Pr[tree] for every tree, by listing them all."""
    with localcontext(PRECISE):
        counted: dict[Row, int] = {}
        for codes, label, weight in rows:
            counted[codes, label, 0] = counted.get((codes, label, 0), 0) + weight
        merged = [(codes, label, weight) for (codes, label, _), weight in counted.items()]
        powers = cache(lambda u: (Decimal(unit) * u).exp())
        raw = {}
        for tree, prior, leaves in all_trees(space):
            assert tree not in raw
            raw[tree] = Decimal(prior.numerator) / prior.denominator * powers(score(leaves, merged))
        total = sum(raw.values())
        return {tree: weight / total for tree, weight in raw.items()}


# -- what the sampler does -------------------------------------------------------------------------


class SamplerLaw:
    """What the sampler gives: the choices at a node are drawn exactly, so their chances multiply
    along a tree.
    """

    def __init__(self, gibbs: Gibbs) -> None:
        self._gibbs, self._unit = gibbs, Decimal(gibbs.unit)
        self._known: dict = {}
        self.root, self.below = gibbs.root, gibbs.below

    def choices(self, node: Node) -> dict:
        """The chance of every (label, split)."""
        key = (
            node.subset.tobytes(),
            node.left,
            node.above,
            None if node.counts is None else node.counts.tobytes(),
        )
        if key not in self._known:
            with localcontext(PRECISE):
                offered = self._gibbs.choices(node)
                raw = {}
                for i, split in enumerate(offered.splits):
                    for label in range(offered.rest.shape[1]):
                        exponent = self._unit * int(offered.whole[i, label]) + Decimal(
                            float(offered.rest[i, label])
                        )
                        raw[label, split] = exponent.exp()
                self._known[key] = shares(raw)
        return self._known[key]

    def __call__(self, tree: Tree, node: Node | None = None) -> Decimal:
        """The chance of a tree."""
        node = node or self.root()
        label, split, *parts = tree if len(tree) > 1 else (*tree, None)
        with localcontext(PRECISE):
            chance = self.choices(node)[label, split]
            if split is not None:
                for part, child in zip(parts, self.below(node, label, split), strict=True):
                    chance *= self(part, child)
            return chance


def shares(raw: dict) -> dict:
    total = sum(raw.values())
    return {choice: weight / total for choice, weight in raw.items()}


def extremes(space: TreeSpace, first, second) -> tuple[float, float]:
    """The smallest and the largest log(Pr first / Pr second) over all trees, without listing them:
    choices at nodes are independent.
    """
    known: dict = {}

    def at(masks: tuple[int, ...], left: int, above: int, one, other) -> tuple[float, float]:
        if (masks, left, above) not in known:
            seen = []
            ours, theirs = first.choices(one), second.choices(other)
            assert ours.keys() == theirs.keys()
            for _, split, parts in ways(space, masks, left):
                for label in range(space.schema.n_classes):
                    with localcontext(PRECISE):
                        # Where both are close, their ratio minus 1 keeps its digits.
                        low = high = math.log1p(
                            float(ours[label, split] / theirs[label, split] - 1)
                        )
                    if split is not None:
                        for part, *both in zip(
                            parts,
                            first.below(one, label, split),
                            second.below(other, label, split),
                            strict=True,
                        ):
                            least, most = at(part, left - 1, label, *both)
                            low, high = low + least, high + most
                    seen += [low, high]
            known[masks, left, above] = min(seen), max(seen)
        return known[masks, left, above]

    return at(everything(space), space.depth, -1, first.root(), second.root())


def drawn_shape(drawn: LabelledTree, node: int = 0, masks: tuple[int, ...] | None = None) -> tuple:
    """A drawn tree as (label, {(attribute, mask, child)}), which forgets the names of splits and
    the order of children.
    """
    cells = drawn.cells
    masks = masks or tuple((1 << size) - 1 for size in cells.schema.sizes)
    a, label = int(cells.attribute[node]), int(drawn.labels[node])
    if a < 0:
        return (label,)
    parts: dict[int, int] = {}
    for code in range(cells.schema.sizes[a]):
        if masks[a] >> code & 1:
            child = int(cells.branch[cells.offset[node] + code])
            parts[child] = parts.get(child, 0) | (1 << code)
    return (
        label,
        frozenset(
            (a, mask, drawn_shape(drawn, child, (*masks[:a], mask, *masks[a + 1 :])))
            for child, mask in parts.items()
        ),
    )


# -- the recursion, on rows ------------------------------------------------------------------------


class RecursionLaw:
    """The law by the textbook recursion, memoised on the values that are still possible, in
    decimals.
    """

    def __init__(self, space: TreeSpace, rows: list[Row], unit: float) -> None:
        self.space, self.rows = space, [row for row in rows if row[2]]
        self._power = cache(lambda n: (Decimal(unit) * n).exp())
        self._counts = cache(self._count)
        self._z: dict = {}
        self._priors = cache(
            lambda prior, label, above: _decimal(prior * label_prior(space, label, above))
        )
        self._ways = cache(lambda masks, left: ways(space, masks, left))

    def root(self) -> tuple:
        return everything(self.space), self.space.depth, -1

    def below(self, node: tuple, label: int, split) -> list[tuple]:
        masks, left, _ = node
        return [
            (part, left - 1, label)
            for _, one, parts in self._ways(masks, left)
            if one == split
            for part in parts
        ]

    def choices(self, node: tuple) -> dict:
        """The chance of every (label, split)."""
        with localcontext(PRECISE):
            return shares(self.weights(*node))

    def weights(self, masks: tuple[int, ...], left: int, above: int) -> dict:
        counts = self._counts(masks)
        found = {}
        for prior, split, parts in self._ways(masks, left):
            for label in range(len(counts)):
                weight = self._priors(prior, label, above)
                if split is None:
                    weight *= self._power(counts[label])
                for part in parts:
                    weight *= self.z(part, left - 1, label)
                found[label, split] = weight
        return found

    def z(self, masks: tuple[int, ...], left: int, above: int) -> Decimal:
        key = (masks, left, above)
        if key not in self._z:
            self._z[key] = (
                sum(self.weights(masks, left, above).values())
                if any(self._counts(masks))
                else Decimal(1)
            )
        return self._z[key]

    def _count(self, masks: tuple[int, ...]) -> list[int]:
        found = [0] * self.space.schema.n_classes
        for codes, label, weight in self.rows:
            if inside(codes, masks):
                found[label] += weight
        return found


class SkippingLaw(RecursionLaw):
    """A wrong one: where nobody is, the label is the parent's and nothing is drawn."""

    def weights(self, masks: tuple[int, ...], left: int, above: int) -> dict:
        if above < 0 or any(self._counts(masks)):
            return super().weights(masks, left, above)
        return {
            choice: Decimal(int(choice == (above, None)))
            for choice in super().weights(masks, left, above)
        }


def _decimal(fraction: Fraction) -> Decimal:
    return Decimal(fraction.numerator) / fraction.denominator


def law_of_shapes(space: TreeSpace, law) -> dict:
    """The chance of every tree up to the names of splits, from the choices at its nodes."""

    def at(node, masks: tuple[int, ...], left: int) -> dict:
        found: dict = {}
        with localcontext(PRECISE):
            for (label, split), chance in law.choices(node).items():
                if split is None:
                    found[(label,)] = found.get((label,), 0) + chance
                    continue
                a = space.schema.index(split.attribute)
                kept = child_masks(masks[a], split)
                parts = [(*masks[:a], mask, *masks[a + 1 :]) for mask in kept]
                for combination in product(
                    *(
                        at(*both, left - 1).items()
                        for both in zip(law.below(node, label, split), parts, strict=True)
                    )
                ):
                    key = (
                        label,
                        frozenset(
                            (a, mask, part)
                            for mask, (part, _) in zip(kept, combination, strict=True)
                        ),
                    )
                    found[key] = found.get(key, 0) + chance * math.prod(
                        (p for _, p in combination), start=Decimal(1)
                    )
        return found

    return at(law.root(), everything(space), space.depth)
