"""Randomised records: the law of a report for every record, also of one that the schema does not
know, and all pairs of records.
"""

from __future__ import annotations

from fractions import Fraction as F
from itertools import combinations, combinations_with_replacement, product

import numpy as np
import pandas as pd
import pytest

from privet.domain import Categorical, Schema
from privet.federation.plan import draw_plan
from privet.local import LeafRandomizer, Randomizer
from privet.mechanisms.response import randomized_response
from tests.exact.bounds import check, exp_bounds
from tests.exact.enumeration import law_of

SCHEMA = Schema(
    {"a": Categorical(["x", "y"]), "b": Categorical(["u", "v", "w"])}, "class", ["n", "p"]
)
#: The code after the last one stands for a value that the schema does not know.
RECORDS = list(product(range(3), range(4), range(3)))


@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("epsilon", [F(1, 3), F(1), F(3)], ids=str)
def test_a_response_of_every_size(size, epsilon):
    """The truth with e**epsilon / (e**epsilon + size - 1), every other value with 1 / (e**epsilon +
    size - 1).
    """
    laws = [
        law_of(
            lambda bits, code=code: int(
                randomized_response(bits, np.array([code]), size, epsilon)[0][0]
            )
        )
        for code in range(size)
    ]
    low, high = exp_bounds(epsilon)
    for code, law in enumerate(laws):
        assert law.rest < F(1, 1 << 60)
        for said in range(size):
            least, most = (low, high) if said == code else (F(1), F(1))
            assert law.low[said] <= most / (low + size - 1)
            assert law.high(said) >= least / (high + size - 1)
    if size > 1:
        assert all(check(one, other, epsilon) >= low for one, other in combinations(laws, 2))


def law_of_report(randomizer_of, record):
    *codes, label = record

    def report(bits):
        said = randomizer_of(bits)._randomized(np.array(codes)[:, None], np.array([label]))
        return tuple(int(number) for part in said for number in np.ravel(part))

    return law_of(report)


def worst_of_all_pairs(randomizer_of, epsilon):
    laws = [law_of_report(randomizer_of, record) for record in RECORDS]
    assert all(sum(law.low.values()) + law.rest == 1 for law in laws)
    return max(check(one, other, epsilon) for one, other in combinations(laws, 2))


@pytest.mark.parametrize(("spread", "together"), [("split", 1), ("sample", 1), ("sample", 2)])
def test_reports_of_every_record(spread, together):
    epsilon = F(1)
    worst = worst_of_all_pairs(
        lambda bits: Randomizer(SCHEMA, epsilon, spread, together, bits=bits), epsilon
    )
    assert worst >= exp_bounds(epsilon)[0]  # all of epsilon is used by some pair


def test_leaves_of_every_record():
    epsilon = F(1)
    plan = draw_plan(SCHEMA, 2, height=2)
    worst = worst_of_all_pairs(lambda bits: LeafRandomizer(plan, epsilon, bits=bits), epsilon)
    assert worst >= exp_bounds(epsilon)[0]


ONE = Schema({"a": Categorical(["x", "y", "z"])}, "class", ["n", "p"])


def test_reports_of_a_table_that_is_sorted():
    """Two people, in the order of what they hold: whom another one replaces may move both, and no
    report may tell where they were.
    """
    epsilon = F(1)
    kinds = list(product(ONE.attributes["a"].values, ONE.classes))

    def law_of_table(rows):
        frame = pd.DataFrame(rows, columns=["a", "class"])
        return law_of(
            lambda bits: tuple(
                Randomizer(ONE, epsilon, bits=bits).many(frame).itertuples(index=False, name=None)
            )
        )

    laws = {rows: law_of_table(rows) for rows in combinations_with_replacement(kinds, 2)}
    neighbours = [(one, other) for one, other in combinations(laws, 2) if set(one) & set(other)]
    assert any(one[1] == other[0] for one, other in neighbours)  # somebody moves
    worst = max(check(laws[one], laws[other], epsilon) for one, other in neighbours)
    assert worst >= exp_bounds(epsilon)[0]
