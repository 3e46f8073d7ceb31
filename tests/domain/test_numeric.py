"""Numeric: what may be declared, the edges, and the bin of each number."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.domain import Numeric
from privet.errors import SchemaError
from tests.domain.strategies import numerics

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({}, "low"),
        ({"low": 0}, "high"),
        ({"high": 1}, "low"),
        ({"low": NAN, "high": 1}, "low"),
        ({"low": 0, "high": INF}, "high"),
        ({"low": "0", "high": 1}, "low"),
        ({"low": 0, "high": True}, "high"),
        ({"low": 0, "high": 10**400}, "high"),
        ({"low": 1, "high": 1}, "low must be below high"),
        ({"low": 2, "high": 1}, "low must be below high"),
        ({"low": 0, "high": 1, "bins": 0}, "bins"),
        ({"low": 0, "high": 1, "bins": 65_535}, "bins"),
        ({"low": 0, "high": 1, "bins": 4.0}, "bins"),
        ({"low": 0, "high": 1, "bins": True}, "bins"),
        ({"low": 0, "high": 1, "bins": "4"}, "bins"),
        ({"low": 0, "high": 1, "spacing": "even"}, "spacing"),
        ({"low": -1, "high": 1, "spacing": "log"}, "spacing='log' needs low >= 0"),
        ({"low": 1, "high": 1 + 1e-15, "bins": 100}, "bins"),
        ({"low": -1e308, "high": 1e308, "bins": 4}, "bins"),
        ({"low": 0, "high": 1, "missing": 0}, "missing"),
        ({"low": 0, "high": 1, "on_unknown": "other"}, "on_unknown"),
        ({"edges": [0]}, "edges"),
        ({"edges": []}, "edges"),
        ({"edges": [0, 0]}, "edges"),
        ({"edges": [1, 0]}, "edges"),
        ({"edges": [0, NAN]}, "edges"),
        ({"edges": "01"}, "edges"),
        ({"edges": [0, 1], "low": 0}, "edges"),
        ({"edges": [0, 1], "high": 1}, "edges"),
        ({"edges": [0, 1], "bins": 1}, "edges"),
        ({"edges": [0, 1], "spacing": "linear"}, "edges"),
        pytest.param(
            {"edges": 5},
            "edges",
        ),
    ],
)
def test_a_bad_parameter_is_named(arguments: dict, named: str) -> None:
    with pytest.raises(SchemaError, match=f"Numeric: .*{named}"):
        Numeric(**arguments)


@pytest.mark.parametrize(
    ("attribute", "cuts"),
    [
        (Numeric(0, 10, bins=4), (0, 2.5, 5, 7.5, 10)),
        (Numeric(1, 1000, bins=3, spacing="log"), (1, 10, 100, 1000)),
        (Numeric(0, 999, bins=3, spacing="log"), (0, 9, 99, 999)),
        (Numeric(edges=[-1, 0, 5]), (-1, 0, 5)),
        (Numeric(-3, 4, bins=1), (-3, 4)),
    ],
)
def test_the_edges_of_bins(attribute: Numeric, cuts: tuple) -> None:
    assert attribute.cuts == pytest.approx(cuts, rel=1e-12)
    assert (attribute.low, attribute.high, attribute.bins) == (cuts[0], cuts[-1], len(cuts) - 1)


@given(numerics())
def test_edges_increase_strictly_from_low_to_high(attribute: Numeric) -> None:
    assert (attribute.cuts[0], attribute.cuts[-1]) == (attribute.low, attribute.high)
    assert (np.diff(attribute.cuts) > 0).all()
    assert len(attribute.labels) == attribute.size


@pytest.mark.parametrize(
    ("arguments", "size", "unknown", "missing"),
    [({}, 4, 4, 4), ({"missing": "?"}, 5, 5, 4), ({"on_unknown": "drop"}, 4, 4, 4)],
)
def test_codes_of_the_unknown_and_the_missing(
    arguments: dict, size: int, unknown: int, missing: int
) -> None:
    attribute = Numeric(0, 1, bins=4, **arguments)
    assert (attribute.size, attribute.unknown_code, attribute.missing_code) == (
        size,
        unknown,
        missing,
    )


@pytest.mark.parametrize(
    ("bins", "missing", "dtype"),
    [
        (255, None, np.uint8),
        (256, None, np.uint16),
        (254, "?", np.uint8),
        (255, "?", np.uint16),
        (65_534, "?", np.uint16),
    ],
)
def test_the_smallest_type_holds_the_unknown_code_too(
    bins: int, missing: str | None, dtype: type
) -> None:
    attribute = Numeric(0, 1, bins=bins, missing=missing, on_unknown="drop")
    codes = attribute.codes_of(np.array([1.0, 2.0]))
    assert codes.dtype == attribute.dtype == dtype
    assert codes.tolist() == [bins - 1, attribute.size]


NUMBERS = np.array(
    [0, np.nextafter(10, 0), 10, 20, 30, np.nextafter(30, 40), np.nextafter(0, -1), -INF, INF, NAN]
)


@pytest.mark.parametrize(
    ("arguments", "codes"),
    [
        ({}, [0, 0, 1, 2, 2, 2, 0, 0, 2, 3]),
        ({"on_unknown": "clip", "missing": "?"}, [0, 0, 1, 2, 2, 2, 0, 0, 2, 3]),
        ({"on_unknown": "drop"}, [0, 0, 1, 2, 2, 3, 3, 3, 3, 3]),
        ({"on_unknown": "drop", "missing": "?"}, [0, 0, 1, 2, 2, 4, 4, 4, 4, 3]),
    ],
)
def test_bins_are_half_open_and_the_last_is_closed(arguments: dict, codes: list) -> None:
    assert Numeric(0, 30, bins=3, **arguments).codes_of(NUMBERS).tolist() == codes
    assert Numeric(edges=[0, 10, 20, 30], **arguments).codes_of(NUMBERS).tolist() == codes


def test_labels_say_which_end_is_closed() -> None:
    assert Numeric(0, 30, bins=3, missing="?").labels == ("[0, 10)", "[10, 20)", "[20, 30]", "?")


@given(numerics(), st.floats(allow_nan=False))
def test_a_bin_holds_the_numbers_between_its_edges(attribute: Numeric, number: float) -> None:
    code = int(attribute.codes_of(np.array([number]))[0])
    if attribute.low <= number <= attribute.high:
        assert attribute.cuts[code] <= number
        assert number < attribute.cuts[code + 1] or code == attribute.bins - 1
    elif attribute.on_unknown == "drop":
        assert code == attribute.unknown_code
    else:
        assert code == (0 if number < attribute.low else attribute.bins - 1)


# -- fine grids ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1), (16, 96), (0, 1e5), (-3, 5), (-1e6, 1e6), (1e-3, 2e-3), (1990, 2024)]
)
def test_a_fine_grid_has_many_bins_and_not_too_many(low: float, high: float) -> None:
    attribute = Numeric(low, high, bins="auto")
    assert 256 <= attribute.bins <= 1024
    assert attribute.auto
    assert not Numeric(low, high).auto


def test_a_fine_grid_is_fine_where_bounds_are_a_thousand_times_too_wide() -> None:
    for low, high, wide in [(0, 90, 1000), (0, 1, 1000), (17, 90, 500)]:
        grid = np.array(Numeric(-high * wide, high * wide, bins="auto").cuts)
        assert ((grid > low) & (grid < high)).sum() >= 24


def test_integers_are_edges_of_a_fine_grid_between_integers() -> None:
    ages = Numeric(16, 96, bins="auto").cuts
    assert set(range(16, 97)) <= set(ages)
    # a sum of money: nothing between integers
    assert all(edge.is_integer() for edge in Numeric(0, 100_000, bins="auto").cuts)


def test_a_declared_spacing_is_that_of_the_grid() -> None:
    widths = np.diff(Numeric(0, 10, bins="auto", spacing="linear").cuts)
    assert np.allclose(widths, 10 / 1024)
    ratios = np.array(Numeric(1, 10, bins="auto", spacing="log").cuts)
    assert np.allclose(ratios[1:] / ratios[:-1], 10 ** (1 / 1024))


def test_a_fine_grid_is_written_as_it_was_declared() -> None:
    attribute = Numeric(0, 1, bins="auto", missing="?")
    wanted = {"type": "numeric", "low": 0.0, "high": 1.0, "bins": "auto", "missing": "?"}
    assert attribute.to_json() == wanted
    assert Numeric(0, 1, bins="auto", spacing="log").to_json()["spacing"] == "log"
    assert Numeric(0, 1, bins=attribute.bins) != attribute
    assert attribute.missing_code == attribute.bins
