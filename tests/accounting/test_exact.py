"""Amounts are read as what a person means, exactly, or refused at once."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.accounting.cost import parse_epsilon, parse_exact
from privet.errors import ParameterError, PrivacyError


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        (1, 1),
        (10**100, 10**100),
        (0.1, Fraction(1, 10)),
        (0.1 + 0.2, Fraction("0.30000000000000004")),
        (1e-100, Fraction(1, 10**100)),
        (Fraction(1, 3), Fraction(1, 3)),
        (Decimal("0.1"), Fraction(1, 10)),
        ("0.1", Fraction(1, 10)),
        ("1/3", Fraction(1, 3)),
        (" 2 ", 2),
        ("1e-6", Fraction(1, 10**6)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.5), Fraction(1, 2)),
        (np.int64(3), 3),
        (np.uint8(255), 255),
    ],
)
def test_what_a_person_means(value: object, meant: object) -> None:
    read = parse_exact("epsilon", value)
    assert read == meant
    assert type(read) is Fraction
    assert type(read.numerator) is int


def test_ten_tenths_are_one() -> None:
    assert sum(parse_exact("epsilon", 0.1) for _ in range(10)) == 1


@given(st.floats(1e-100, 1e100))
def test_a_float_is_the_shortest_decimal_that_denotes_it(value: float) -> None:
    assert (
        parse_exact("epsilon", value)
        == Fraction(repr(value))
        == parse_exact("epsilon", np.float64(value))
    )
    assert float(parse_exact("epsilon", value)) == value


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=10**6, max_denominator=10**6))
def test_a_fraction_survives_its_text(value: Fraction) -> None:
    assert parse_exact("epsilon", str(value)) == parse_exact("epsilon", value) == value


@pytest.mark.parametrize("zero", [False, True])
@pytest.mark.parametrize(
    "value",
    [
        *[
            math.nan,
            math.inf,
            -math.inf,
            -1,
            -0.1,
            Fraction(-1, 3),
            Decimal("-1"),
            "-1",
            "-1/3",
            "1/-3",
        ],
        *[
            Decimal("nan"),
            Decimal("snan"),
            Decimal("inf"),
            np.float64("nan"),
            np.float32("inf"),
            np.int8(-1),
        ],
        *[
            True,
            False,
            None,
            "",
            " ",
            "abc",
            "nan",
            "inf",
            "1/0",
            "1/",
            "/2",
            "1/2/3",
            "0x10",
            "1,5",
            "\uff11",
            "\u0663",
            "1/\uff12",
            "1e\uff11",
            "1_0",
            b"1",
            [],
            {},
            1j,
            object(),
        ],
        *[
            "1e999999999",
            "1e-999999999",
            "0e999999999",
            Decimal("1e999999999"),
            "9" * 100,
            "1/" + "9" * 140,
        ],
    ],
    ids=lambda value: repr(value)[:20],
)
def test_what_is_no_amount_is_refused_by_name(value: object, zero: bool) -> None:
    with pytest.raises(ParameterError, match=r"^delta must be a finite number"):
        parse_exact("delta", value, zero=zero)


@pytest.mark.parametrize(
    "value",
    [1e-300, 5e-324, 1e300, 10**121, Fraction(1, 10**121), 10**5000],
    ids=lambda value: type(value).__name__,
)
def test_an_amount_of_hundreds_of_digits_is_refused(value: object) -> None:
    with pytest.raises(ParameterError, match="delta must be a number of at most 120 digits"):
        parse_exact("delta", value, zero=True)


@pytest.mark.parametrize("value", [0, 0.0, -0.0, "0", "0/5", Decimal(0), Fraction(0), np.int64(0)])
def test_zero_is_taken_only_where_it_is_allowed(value: object) -> None:
    assert parse_exact("epsilon", value, zero=True) == 0
    with pytest.raises(ParameterError, match="above zero"):
        parse_exact("epsilon", value)


@pytest.mark.parametrize(
    ("value", "raises"),
    [
        (np.bool_(True), pytest.fail.Exception),
        (np.array([1.0]), TypeError),
        (np.array([1.0, 2.0]), TypeError),
        (np.complex128(1), np.exceptions.ComplexWarning),
        (-(10**5000), ValueError),
    ],
    ids=["bool", "one", "two", "complex", "digits"],
)
def test_what_only_looks_like_a_number_is_refused(
    value: object, raises: type, request: pytest.FixtureRequest
) -> None:
    with pytest.raises(ParameterError):
        parse_exact("epsilon", value)


@pytest.mark.parametrize("value", [math.inf, np.float64("inf"), Decimal("inf")])
def test_infinity_means_no_noise_and_says_so(value: object) -> None:
    with pytest.raises(PrivacyError, match="epsilon = inf means no noise"):
        parse_epsilon("epsilon", value)


def test_a_fraction_survives_its_own_text():
    """What Python writes of an exact amount is read back, however long: a curator behind HTTP is
    sent texts.
    """
    long = Fraction(10**100 + 1, 10**101 + 7)
    assert parse_exact("epsilon", str(long)) == parse_exact("epsilon", long) == long
    for refused in ("1" * 61, f"{'1' * 131}/3", f"1/{'3' * 131}", f"{'9' * 130}/7"):
        with pytest.raises(ParameterError, match="epsilon must be"):
            parse_exact("epsilon", refused)
