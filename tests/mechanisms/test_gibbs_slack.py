"""The bound on rounding: what it assumes, that real errors stay far below it, and that a coarser
arithmetic does not.
"""

from __future__ import annotations

import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction as F

import numpy as np
import pytest

from privet import _steady as steady
from privet.domain.cells import Split
from privet.domain.space import (
    TreeSpace,
    all_splits,
    coarse_splits,
    find_widest_split,
    threshold_splits,
)
from privet.errors import QuestionError
from privet.mechanisms.gibbs import draw, kernels
from privet.mechanisms.gibbs.slack import epsilon_per_unit, nodes_below, size_per_node, slack
from tests.mechanisms.gibbs_oracle import (
    RecursionLaw,
    SamplerLaw,
    all_trees,
    extremes,
    gibbs_of,
    random_rows,
    small_schema,
)

# -- what is assumed -------------------------------------------------------------------------------


@kernels.jit
def compiled(x, y, powers, logs):
    """Scalars one by one, and a loop that may be vectorised, as in the kernels."""
    for i in range(len(x)):
        powers[i] = kernels.exp(x[i])
    for i in range(len(y)):
        logs[i] = kernels.log(y[i])


def ulps(found: np.ndarray, arguments: np.ndarray, function: str) -> float:
    """The largest error in units in the last place of the true value."""
    worst = 0.0
    with localcontext(Context(prec=40)):
        for got, argument in zip(found.tolist(), arguments.tolist(), strict=True):
            true = getattr(Decimal(argument), function)()
            worst = max(worst, float(abs(Decimal(got) - true)) / math.ulp(float(true)))
    return worst


def test_exp_and_log_are_good_to_four_units_in_the_last_place():
    rng = np.random.default_rng(0)
    x = -np.concatenate(
        [
            rng.uniform(0, 700, 1500),
            rng.exponential(1, 1500),
            10.0 ** rng.uniform(-17, 0, 1000),
            [0.0],
        ]
    )
    y = np.concatenate(
        [
            rng.uniform(0, 2, 1500),
            np.exp(rng.uniform(-700, 10, 1500)),
            1 + 10.0 ** rng.uniform(-15, 0, 1000),
        ]
    )
    powers, logs = np.empty_like(x), np.empty_like(y)
    compiled(x, y, powers, logs)
    for found in (powers, np.exp(x)):
        assert ulps(found, x, "exp") < 4
        assert found[-1] == 1.0
    for found in (logs, np.log(y), np.array([math.log(value) for value in y])):
        assert ulps(found, y, "ln") < 4


# -- real errors -----------------------------------------------------------------------------------


def wide_and_deep() -> TreeSpace:
    schema = small_schema(3, "3?", 2, 2, 2)
    return TreeSpace(
        schema,
        4,
        [Split.multiway(schema, name) for name in "cde"] + threshold_splits(schema, "b")[:1],
        all_splits(schema),
    )


def widest_split() -> TreeSpace:
    """As many children as are allowed, each almost sure to have another label than the one
    above.
    """
    keep = 0.98
    schema = small_schema(find_widest_split(4, keep), 2, classes=4)
    return TreeSpace(
        schema, 2, [Split.multiway(schema, "b")], [Split.multiway(schema, "a")], keep=keep
    )


def spread(space: TreeSpace):
    """Every value of the wide attribute in another class than its neighbours."""
    return [
        ((a, b), a % space.schema.n_classes, 5)
        for a in range(space.schema.sizes[0])
        for b in (0, 1)
    ]


def coarse() -> TreeSpace:
    schema = small_schema(12, "9?", 4, classes=3)
    return TreeSpace(schema, 2, coarse_splits(schema), all_splits(schema), split=0.001, keep=0.999)


SPACES = {
    "wide and deep": wide_and_deep,
    "widest split": widest_split,
    "coarse, extreme prior": coarse,
}


def measured(space: TreeSpace, rows, unit: float) -> float:
    """The range over all trees of the logarithm of sampler's law over stated law, with 60 digits.
    The theorem: at most slack / 2.
    """
    low, high = extremes(
        space, SamplerLaw(gibbs_of(space, rows, unit)), RecursionLaw(space, rows, unit)
    )
    return high - low


@pytest.mark.parametrize("unit", [1e-6, 0.2, 1e4], ids="unit={:g}".format)
@pytest.mark.parametrize("name", SPACES)
def test_errors_are_far_below_the_bound(name, unit):
    space = SPACES[name]()
    rows = spread(space) if name == "widest split" else random_rows(space, 60, seed=1)
    assert 0 < measured(space, rows, unit) < slack(space) / 2 / 20


@pytest.mark.parametrize(("limit", "fine"), [(600.0, True), (1000.0, False)])
def test_a_split_that_is_wider_than_allowed_would_leave_floating_point(monkeypatch, limit, fine):
    monkeypatch.setattr("privet.domain.space.MAX_LOG_PRODUCT", limit)
    space = widest_split()
    gibbs = gibbs_of(space, spread(space), 1e4)
    below = gibbs.below(gibbs.root(), 0, space.inner[0])[0]
    # beyond it, a product is no normal double any more, and its logarithm not its own
    assert (gibbs.choices(below).rest.min() > -steady.MOST) == fine


@pytest.fixture
def float32_exp(monkeypatch):
    """The kernels in plain Python, with another exp."""
    for name in dir(kernels):
        plain = getattr(getattr(kernels, name), "py_func", None)
        if plain is not None:
            monkeypatch.setattr(kernels, name, plain)
            if hasattr(draw, name):
                monkeypatch.setattr(draw, name, plain)

    def use(exp):
        monkeypatch.setattr(kernels, "exp", exp)

    return use


@pytest.mark.parametrize("name", ["wide and deep", "coarse, extreme prior"])
def test_an_exp_of_single_precision_breaks_the_bound(float32_exp, name):
    space = SPACES[name]()
    rows = random_rows(space, 30, seed=1)
    float32_exp(math.exp)
    assert measured(space, rows, 0.2) < slack(space) / 2 / 20
    float32_exp(lambda x: float(np.exp(np.float32(x))))
    assert measured(space, rows, 0.2) > slack(space) / 2


def test_a_lookup_that_forgets_a_state_breaks_the_bound():
    """An empty state is worth 1, but for rounding; 1 + 10**-9 would be seen."""
    space = wide_and_deep()
    rows = random_rows(space, 30, seed=2)
    gibbs = gibbs_of(space, rows, 0.2)
    gibbs._rest[1][(np.abs(gibbs._rest[1]) < 1e-14).all(axis=1)] = 1e-9
    low, high = extremes(space, SamplerLaw(gibbs), RecursionLaw(space, rows, 0.2))
    assert high - low > slack(space) / 2


# -- the parts of the bound ------------------------------------------------------------------------


@pytest.mark.parametrize("name", SPACES)
def test_stored_logarithms_are_bounded_by_the_nodes_below(name):
    """Whatever epsilon: they hold the prior, not the table."""
    space = SPACES[name]()
    below = nodes_below(space)
    for unit in (1e-6, 0.3, 1e4):
        gibbs = gibbs_of(space, random_rows(space, 200, seed=5), unit)
        for left, stored in gibbs._rest.items():
            assert np.abs(stored).max() <= size_per_node(space) * sum(below[: left + 1])


def depth_counts(tree, depth: int = 0) -> dict[int, int]:
    found = {depth: 1}
    for part in tree[2:]:
        for at, n in depth_counts(part, depth + 1).items():
            found[at] = found.get(at, 0) + n
    return found


@pytest.mark.parametrize(
    "space",
    [
        TreeSpace(small_schema(3, 2), 2),
        TreeSpace(small_schema("4"), 3, threshold_splits(small_schema("4"), "a")),
        TreeSpace(small_schema(2, 2), 0),
    ],
)
def test_no_tree_has_more_nodes_than_the_bound_says(space):
    most: dict[int, int] = {}
    for tree, _, _ in all_trees(space):
        for at, n in depth_counts(tree).items():
            most[at] = max(most.get(at, 0), n)
    assert all(n <= nodes_below(space)[at] for at, n in most.items())


def test_the_slack_is_small_where_trees_are_read():
    adult_like = small_schema("16", "16", "16", 9, 16, 7, 15, 42)
    assert 0 < slack(TreeSpace(small_schema(2), 0)) < F(1, 10**12)
    assert slack(TreeSpace(small_schema(*[3] * 8), 3)) < F(1, 10**9)
    assert slack(TreeSpace(adult_like, 2)) < F(1, 10**7)
    assert slack(TreeSpace(adult_like, 2)) < slack(
        TreeSpace(adult_like, 3, coarse_splits(adult_like))
    )


def test_a_space_of_too_many_nodes_is_refused():
    schema = small_schema(*[20] * 8)
    with pytest.raises(
        QuestionError, match=r"nodes, too many for floating point; use less depth \(now 8\)"
    ):
        slack(TreeSpace(schema, 8, coarse_splits(schema), coarse_splits(schema)))


# -- epsilon ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [F(1, 10), F(1, 3), F(1), F(7, 2), F(10**6)], ids=str)
def test_the_law_and_its_slack_cost_epsilon_at_most(epsilon):
    space, most = wide_and_deep(), 1 << 16
    unit = epsilon_per_unit(space, epsilon, most)
    assert F(unit) * most + slack(space) <= epsilon
    assert F(math.nextafter(unit, 1e9)) * most + slack(space) > epsilon  # and nothing is given away


def test_an_epsilon_that_is_mostly_slack_is_refused():
    with pytest.raises(QuestionError, match=r"rounding could add .* to epsilon in this space"):
        epsilon_per_unit(wide_and_deep(), F(1, 10**12), 1 << 16)
