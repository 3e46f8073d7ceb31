"""What a person loses, for the neighbours that a schema declares."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import privet as pv
from privet.epsilon.adversary import compute_losses, compute_losses_under
from privet.errors import ParameterError


@pytest.mark.parametrize(
    ("rows_per_person", "neighbours", "presence", "record", "charged"),
    [
        (1, "add-remove", "1/10", "2/10", "1/10"),
        (3, "add-remove", "3/10", "6/10", "3/10"),
        (1, "replace", "2/10", "2/10", "2/10"),
        (3, "replace", "6/10", "6/10", "6/10"),
    ],
)
def test_losses_worked_out_by_hand(rows_per_person, neighbours, presence, record, charged):
    found = compute_losses(0.1, rows_per_person, neighbours)
    assert found.row == Fraction(1, 10)
    assert (found.presence, found.record, found.charged) == (
        Fraction(presence),
        Fraction(record),
        Fraction(charged),
    )


@given(
    st.fractions(Fraction(1, 1000), 100),
    st.integers(1, 50),
    st.sampled_from(["add-remove", "replace"]),
)
def test_what_is_charged_is_what_a_ledger_charges(epsilon, rows_per_person, neighbours):
    schema = pv.Schema(
        {"a": pv.Categorical(["x", "y"])},
        "c",
        ["n", "y"],
        rows_per_person=rows_per_person,
        neighbours=neighbours,
    )
    assert (
        compute_losses(epsilon, rows_per_person, neighbours).charged
        == pv.Cost.pure(epsilon).promised(schema).epsilon
    )


def test_what_is_refused():
    with pytest.raises(ParameterError, match="epsilon must be a finite number above zero, got 0"):
        compute_losses(0)
    with pytest.raises(
        ParameterError, match="rows_per_person must be an integer of at least 1, got 0"
    ):
        compute_losses(1, 0)
    with pytest.raises(
        ParameterError, match="neighbours must be 'add-remove' or 'replace', got 'swap'"
    ):
        compute_losses(1, 1, "swap")


def test_presence_costs_twice_where_the_number_of_rows_is_public():
    """Somebody else is in the place of whoever is not in the table. By the law itself: two noisy
    class counts of epsilon 1.
    """
    assert compute_losses(1, public_size=True).presence == compute_losses(1).record == 2
    schema = pv.Schema({"a": pv.Categorical(["x", "y"])}, "c", ["n", "y"], n_rows=100)
    assert compute_losses_under(1, schema).presence == 2 * compute_losses_under(1, None).presence
    assert compute_losses_under(1, schema).charged == 1  # what is declared is charged
    law = {k: math.exp(-abs(k)) for k in range(-3, 5)}
    # (1, 0) was counted: of her row, and of another class in her place
    there, instead = law[0] * law[0], law[1] * law[-1]
    assert there / instead == pytest.approx(math.exp(2))
