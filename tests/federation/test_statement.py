"""What one person loses where several releases are used together."""

from __future__ import annotations

from fractions import Fraction as F

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.accounting.cost import Cost
from privet.accounting.statement import Charge, PrivacyStatement
from privet.domain import Categorical, Schema
from privet.errors import ParameterError

SCHEMA = Schema({"a": Categorical(["x", "y"])}, "c", ["n", "p"])


def single(number: int, epsilon: object = 1, rows: int = 1, **facts) -> PrivacyStatement:
    schema = SCHEMA.declare(rows_per_person=rows, neighbours=facts.pop("neighbours", "add-remove"))
    given = {"private": True, "id": f"{number:032x}", "name": f"party {number}", **facts}
    return PrivacyStatement.of(schema, [Charge("leaf counts", Cost.pure(epsilon))], **given)


def test_disjoint_people_lose_the_largest_and_others_the_sum():
    parts = [single(1, F(1, 2)), single(2, 1), single(3, F(1, 4))]
    assert PrivacyStatement.together(parts, "disjoint").promised == Cost.pure(1)
    assert PrivacyStatement.together(parts, "may-overlap").promised.epsilon == F(7, 4)
    assert PrivacyStatement.together(parts, "same").promised.epsilon == F(7, 4)
    assert PrivacyStatement.together(parts, "same").promised.rho == F(1, 8) + F(1, 2) + F(1, 32)


def test_rows_per_person_count_for_each_table_by_itself():
    parts = [single(1, 1, rows=1), single(2, F(1, 2), rows=3)]
    assert PrivacyStatement.together(parts, "disjoint").promised.epsilon == F(3, 2)
    assert PrivacyStatement.together(parts, "may-overlap").promised.epsilon == F(5, 2)
    assert PrivacyStatement.together(parts, "disjoint").charged.epsilon == 1
    assert PrivacyStatement.together(parts, "disjoint").rows_per_person == 3


def test_a_replaced_person_counts_twice_in_each():
    parts = [single(1, 1, neighbours="replace"), single(2, F(1, 4), neighbours="replace")]
    assert PrivacyStatement.together(parts, "disjoint").promised.epsilon == 2
    assert PrivacyStatement.together(parts, "may-overlap").promised.epsilon == F(5, 2)
    assert "replaced" in PrivacyStatement.together(parts, "disjoint").describe()


def test_a_promise_in_rho_makes_the_whole_one_in_rho():
    gaussian = PrivacyStatement.of(
        SCHEMA,
        [Charge("x", Cost.concentrated(F(1, 10)))],
        private=True,
        delta=F(1, 10**6),
        id="a" * 32,
    )
    both = PrivacyStatement.together([single(1, 1), gaussian], "disjoint")
    assert both.promised == Cost(None, F(1, 2))
    assert PrivacyStatement.together([single(1, 1), gaussian], "may-overlap").promised == Cost(
        None, F(6, 10)
    )
    assert both.delta == F(1, 10**6)
    assert "rho 0.5" in both.describe()


def test_nested_rules_are_kept_apart():
    inner = PrivacyStatement.together([single(1, 1), single(2, 1)], "may-overlap")
    outer = PrivacyStatement.together([inner, single(3, F(3, 2))], "disjoint")
    assert outer.promised.epsilon == 2
    assert PrivacyStatement.together([inner, single(3, 3)], "disjoint").promised.epsilon == 3
    assert PrivacyStatement.together(
        [inner, single(3, F(3, 2))], "may-overlap"
    ).promised.epsilon == F(7, 2)
    assert len(outer.leaves) == 3
    assert outer.depth == 2


def test_a_nested_assertion_is_said():
    """Two disjoint batches and one that may overlap with them: the 2 holds only if nobody is in
    both of the first two.
    """
    inner = PrivacyStatement.together([single(1), single(2)], "disjoint")
    outer = PrivacyStatement.together([inner, single(3)], "may-overlap")
    assert outer.promised.epsilon == 2
    said = outer.describe()
    assert "nobody is in two of the 3 batches where they were asserted to be disjoint" in said
    assert "even if" not in said
    plain = PrivacyStatement.together(
        [PrivacyStatement.together([single(1), single(2)], "may-overlap"), single(3)], "same"
    )
    assert (
        plain.describe() == "3-differentially private with one row added or removed in all 3 tables"
    )


def test_a_row_does_not_become_a_person():
    rows = PrivacyStatement.together([single(1), single(2)], "disjoint")
    people = PrivacyStatement.together([single(1, rows=2), single(2, rows=3)], "disjoint")
    mixed = PrivacyStatement.together([single(1, rows=2), single(2)], "disjoint")
    assert [one.unit for one in (rows, people, mixed)] == ["row", "person", "row"]
    assert "one row added or removed" in rows.describe()
    assert "one person added or removed" in people.describe()


def test_what_is_given_alone_keeps_its_rule():
    both = PrivacyStatement.together([single(1), single(2)], "disjoint")
    assert PrivacyStatement.together([both], "disjoint") == both
    with pytest.raises(ParameterError, match="stated already as 'disjoint'"):
        PrivacyStatement.together([both], "may-overlap")


def test_too_many_releases_are_refused():
    with pytest.raises(ParameterError, match="at most 1000 releases"):
        PrivacyStatement.together([single(number) for number in range(1001)], "disjoint")


def test_what_is_nested_too_deeply_is_refused():
    whole, rules = single(0), ["disjoint", "may-overlap"]
    for number in range(1, 5):
        whole = PrivacyStatement.together([whole, single(number)], rules[number % 2])
    with pytest.raises(ParameterError, match="merge all releases at once"):
        PrivacyStatement.together([whole, single(9)], "may-overlap")


def test_nothing_is_promised_if_one_part_promises_nothing():
    open_ = single(1, private=False, reason="no noise was added")
    both = PrivacyStatement.together([open_, single(2)], "disjoint")
    assert not both.private
    assert both.describe() == "NOT PRIVATE: no noise was added"
    assert both.epsilon == float("inf")


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ([single(1), single(1)], "'party 1' is given twice"),
        ([single(1, id=""), single(2)], "without an identity"),
        ([single(1), single(2, neighbours="replace")], "must agree"),
        ([], "at least one"),
    ],
)
def test_what_cannot_be_put_together(parts, reason):
    with pytest.raises(ParameterError, match=reason):
        PrivacyStatement.together(parts, "disjoint")


def test_one_part_inside_another_is_given_twice():
    both = PrivacyStatement.together([single(1), single(2)], "disjoint")
    with pytest.raises(ParameterError, match="given twice"):
        PrivacyStatement.together([both, single(2)], "disjoint")
    with pytest.raises(ParameterError, match="given twice"):
        PrivacyStatement.together([both, single(2)], "may-overlap")


def test_one_table_cannot_hold_disjoint_people():
    parts = [single(1, account="f" * 32), single(2, account="f" * 32)]
    with pytest.raises(ParameterError, match="'party 1' and 'party 2' were charged to one account"):
        PrivacyStatement.together(parts, "disjoint")
    inner = PrivacyStatement.together(parts, "may-overlap")
    assert inner.promised.epsilon == 2
    assert (
        PrivacyStatement.together([inner, single(3, account="e" * 32)], "disjoint").promised.epsilon
        == 2
    )
    with pytest.raises(ParameterError, match="one account"):
        PrivacyStatement.together([inner, single(3, account="f" * 32)], "disjoint")


def test_people_must_be_a_rule():
    with pytest.raises(ParameterError, match="'disjoint', 'may-overlap' or 'same', got 'unknown'"):
        PrivacyStatement.together([single(1), single(2)], "unknown")


@given(
    st.permutations(range(6)),
    st.integers(1, 5),
    st.sampled_from(["disjoint", "may-overlap", "same"]),
)
def test_neither_order_nor_steps_matter(order, cut, people):
    parts = [single(number, F(1, number + 1), rows=1 + number % 2) for number in range(6)]
    at_once = PrivacyStatement.together(parts, people)
    first = PrivacyStatement.together([parts[number] for number in order[:cut]], people)
    stepwise = PrivacyStatement.together(
        [first, *(parts[number] for number in order[cut:])], people
    )
    assert stepwise == at_once


@given(
    st.lists(st.fractions(F(1, 100), 5), min_size=3, max_size=6),
    st.sampled_from(["disjoint", "may-overlap"]),
)
def test_statements_survive_their_file(epsilons, people):
    parts = [single(number, epsilon) for number, epsilon in enumerate(epsilons)]
    whole = PrivacyStatement.together(
        [PrivacyStatement.together(parts[:2], people), *parts[2:]], "may-overlap"
    )
    assert PrivacyStatement.from_json(whole.to_json()) == whole


def test_assumptions_are_said_also_where_releases_are_put_together():
    trusting = single(1, assumes="at least 2 of 3 parties are honest")
    assert trusting.describe().endswith(
        "added or removed, provided that at least 2 of 3 parties are honest"
    )
    both = PrivacyStatement.together([trusting, single(2)], "disjoint")
    assert (
        "nobody is in two of the 2 batches, and that at least 2 of 3 parties are honest"
        in both.describe()
    )
    sum_ = PrivacyStatement.together([trusting, single(2)], "may-overlap")
    assert sum_.describe().endswith(
        "even one in each of the 2 batches, provided that at least 2 of 3 parties are honest"
    )
    assert PrivacyStatement.from_json(both.to_json()) == both


def test_epsilons_that_cannot_be_added_up_are_refused():
    odd = [single(number, F(1, 10**100 + 1 + 2 * number)) for number in range(20)]
    with pytest.raises(ParameterError, match="too many digits to be added up"):
        PrivacyStatement.together(odd, "may-overlap")
