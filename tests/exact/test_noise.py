"""Noise: the law of each sampler as it is written, found by enumeration, is the law that is
stated.
"""

from __future__ import annotations

import math
from fractions import Fraction as F
from functools import cache

import numpy as np
import pytest

from privet.mechanisms import gaussian, laplace
from privet.mechanisms.coins import (
    _compute_thresholds,
    exp_coin,
    exp_coins,
    geometric,
    table_geometric,
)
from privet.mechanisms.laplace import add_laplace
from tests.exact.bounds import check, exp_bounds
from tests.exact.enumeration import Law, law_of, law_of_round

SCALES = [F(1), F(1, 2), F(7, 3)]
NEAR = F(1, 1 << 40)
LIMIT = F(1, 1 << 48)


def agrees(law: Law, stated: dict) -> None:
    """What is known of each chance holds for what is stated, a pair of rationals around it, and is
    known to 40 binary digits.
    """
    assert law.rest < NEAR
    for outcome, (low, high) in stated.items():
        assert law.low.get(outcome, F(0)) <= high, outcome
        assert law.high(outcome) >= low, outcome


def at_least(k: int, scale: F) -> tuple[F, F]:
    """exp(-k / scale), from below and above."""
    whole, rest = divmod(F(k) / scale, 1)
    (low, high), (one_low, one_high) = exp_bounds(-rest), exp_bounds(F(-1))
    return low * one_low**whole, high * one_high**whole


def exactly(k: int, scale: F) -> tuple[F, F]:
    (low, high), (next_low, next_high) = at_least(k, scale), at_least(k + 1, scale)
    return low - next_high, high - next_low


@pytest.mark.parametrize(
    ("numerator", "denominator"), [(0, 1), (1, 1), (1, 3), (5, 7), (10**12 + 1, 10**13), (7, 3)]
)
def test_coins_of_exp(numerator, denominator):
    stated = {True: at_least(1, F(denominator, numerator)) if numerator else (F(1), F(1))}
    agrees(law_of(lambda bits: exp_coin(bits, numerator, denominator), coins=False), stated)
    if numerator <= denominator:
        numerators = np.array([numerator], dtype=np.uint64)
        agrees(
            law_of(lambda bits: bool(exp_coins(bits, numerators, denominator)[0]), coins=False),
            stated,
        )


def test_geometric_numbers():
    agrees(
        law_of(lambda bits: int(geometric(bits, 1)[0])), {k: exactly(k, F(1)) for k in range(20)}
    )


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_magnitudes_from_the_table(scale):
    law = law_of(lambda bits: int(table_geometric(bits, 1, scale)[0]), limit=LIMIT)
    agrees(law, {g: exactly(g, scale) for g in range(len(_compute_thresholds(scale)))})


def test_magnitudes_go_on_beyond_the_table():
    scale = F(1, 2)
    reach = len(_compute_thresholds(scale))
    law = law_of(lambda bits: int(table_geometric(bits, 1, scale)[0]), limit=LIMIT)
    agrees(law, {g: exactly(g, scale) for g in range(3 * reach)})
    assert all(law.low.get(g, 0) > 0 for g in range(3 * reach))


@pytest.mark.parametrize(("t", "s"), [(1, 1), (3, 1), (5, 3)])
def test_magnitudes_of_large_scales(t, s, monkeypatch):
    """First u below t, taken with exp(-u/t); then what is made of u and a geometric number."""
    taken = law_of_round(lambda bits: int(laplace._draw_remainders(bits, 1, t)[0]))
    weights = [at_least(u, F(t)) for u in range(t)]
    totals = [sum(column) for column in zip(*weights, strict=True)]
    agrees(taken, {u: (low / totals[1], high / totals[0]) for u, (low, high) in enumerate(weights)})
    numbers = list(taken.low)
    chances = [math.floor(taken.low[u] * (1 << 80)) for u in numbers]

    def one(bits, count, bound):
        assert (count, bound) == (1, t)
        return np.array([numbers[bits.paths.choose(chances)]], dtype=np.uint64)

    monkeypatch.setattr(laplace, "_draw_remainders", one)
    law = law_of(lambda bits: int(laplace.large_magnitudes(bits, 1, t, s)[0]))
    agrees(law, {k: exactly(k, F(t, s)) for k in range(12)})


@cache
def laplace_law(epsilon: F, sensitivity: int) -> Law:
    return law_of(
        lambda bits: int(
            add_laplace(bits, np.zeros(1, dtype=np.int64), epsilon, sensitivity=sensitivity)[0][0]
        ),
        limit=LIMIT,
    )


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_discrete_laplace_is_what_it_says(scale):
    """Pr[k] = exp(-|k|/scale) (1 - p)/(1 + p) with p = exp(-1/scale)."""
    low, high = at_least(1, scale)
    of_zero = (1 - high) / (1 + high), (1 - low) / (1 + low)
    agrees(
        laplace_law(1 / scale, 1),
        {
            k: tuple(a * b for a, b in zip(at_least(abs(k), scale), of_zero, strict=True))
            for k in range(-15, 16)
        },
    )


@pytest.mark.parametrize(("epsilon", "sensitivity"), [(F(1), 1), (F(2), 1), (F(2), 2)])
def test_counts_of_neighbours(epsilon, sensitivity):
    """Counts of 0 to 3 in each of the partitions, and one row more in one entry of each of them: at
    most e**epsilon, and nearly that.
    """
    noise = laplace_law(epsilon, sensitivity)
    for count in range(3):
        one, other = (
            Law({k + n: chance for k, chance in noise.low.items()}, noise.rest)
            for n in (count, count + 1)
        )
        # so each of the partitions has its part of epsilon
        worst = check(one, other, epsilon / sensitivity, least=F(1, 1 << 10))
        assert worst > exp_bounds(epsilon / sensitivity)[0] * F(999, 1000)


@pytest.mark.parametrize("variance", [F(1), F(3, 2), F(5)], ids=str)
def test_the_discrete_gaussian_is_what_it_says(variance):
    """Candidates are discrete Laplace of scale t, of which some are taken: together exp(-k^2 / (2
    variance)), up to a constant.
    """
    p, q = gaussian._round_up_variance(variance)
    assert F(p, q) == variance
    t = int(variance**0.5) + 1
    assert t * t > variance >= (t - 1) ** 2

    def ratio(k: int) -> tuple[F, F]:
        """Pr[k + 1] / Pr[k]."""
        taken = [
            law_of(
                lambda bits, n=n: bool(
                    gaussian._flip_acceptance_coins(bits, np.array([n]), p, q, t)[0]
                )
            )
            for n in (k, k + 1)
        ]
        low, high = at_least(1, F(t))
        assert max(law.rest for law in taken) < NEAR
        return low * taken[1].low[True] / taken[0].high(True), high * taken[1].high(True) / taken[
            0
        ].low[True]

    for k in range(4):
        (low, high), (least, most) = ratio(k), at_least(2 * k + 1, 2 * variance)
        assert low <= most
        assert high >= least
        assert high - low < F(1, 1 << 30)
