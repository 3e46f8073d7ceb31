"""A promise is never rounded in its own favour."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.accounting.cost import Cost
from privet.accounting.statement import Charge, PrivacyStatement, format_rounded_up
from privet.report import card_markdown
from tests.report.models import SCHEMA, small_model


@given(st.floats(1e-9, 1e9))
def test_rounded_up_is_never_less_and_hardly_more(value):
    assert value <= float(format_rounded_up(value)) <= value * 1.00002


@pytest.mark.parametrize(
    ("epsilon", "said"), [("1.0000004", "1.00001"), ("1", "1"), ("1/3", "0.333334")]
)
def test_card_and_statement_say_the_larger_number(epsilon, said):
    privacy = PrivacyStatement.of(SCHEMA, [Charge("leaf counts", Cost.pure(epsilon))], private=True)
    assert privacy.describe().startswith(f"{said}-differentially private")
    assert f"Epsilon is {said}. " in card_markdown(small_model(privacy=privacy))
