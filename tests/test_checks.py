"""Declared checks of parameters: what they let through, in which form, and what they say."""

from __future__ import annotations

import doctest
import re

import numpy as np
import pandas as pd
import pytest

from privet import _validate
from privet._validate import (
    Boolean,
    IntegerIn,
    NameIn,
    RealIn,
    check_boolean,
    check_integer,
    check_name,
    check_parameters,
    check_real,
    show,
)
from privet.errors import ParameterError, SchemaError


class Sly(int):
    """Compares as it likes."""

    def __lt__(self, other):
        return False

    def __gt__(self, other):
        return False

    __le__ = __ge__ = lambda self, other: True


class SlyText(str):
    """Equal to everything."""

    __hash__ = str.__hash__

    def __eq__(self, other):
        return True


ACCEPTED = [
    (IntegerIn(1), 1, 1),
    (IntegerIn(1), np.int32(7), 7),
    (IntegerIn(0, 12), 12, 12),
    (IntegerIn(0, 12, also=("auto",)), "auto", "auto"),
    (IntegerIn(0, none=True), None, None),
    (RealIn(least=0), 0, 0.0),
    (RealIn(above=0, most=1), np.float64(1), 1.0),
    (RealIn(), -1e300, -1e300),
    (NameIn("a", "b"), np.str_("b"), "b"),
    (Boolean(), np.True_, True),
    (Boolean(), False, False),
]


@pytest.mark.parametrize(("check", "value", "plain"), ACCEPTED)
def test_what_is_allowed_comes_back_in_its_plain_form(check, value, plain):
    kept = check.check("x", value)
    assert kept == plain
    assert type(kept) is type(plain)


REFUSED = [
    (IntegerIn(1), 0, "x must be an integer of at least 1, got 0"),
    (IntegerIn(1), True, "x must be an integer of at least 1, got True"),
    (IntegerIn(1), None, "x must be an integer of at least 1, got None"),
    (IntegerIn(1, 9), 10, "x must be an integer from 1 to 9, got 10"),
    (IntegerIn(1, 9), Sly(10), "x must be an integer from 1 to 9, got 10"),
    (IntegerIn(1, 9), 2.0, "x must be an integer from 1 to 9, got 2.0; write 2"),
    (IntegerIn(1, 9), "3", "x must be an integer from 1 to 9, got '3'; write 3 without quotes"),
    (IntegerIn(1, 9), "30", "x must be an integer from 1 to 9, got '30'"),
    (IntegerIn(1, 9), 2.5, "x must be an integer from 1 to 9, got 2.5"),
    (
        IntegerIn(1, 9, also=("auto",), none=True),
        "Auto",
        "x must be None, 'auto' or an integer from 1 to 9, got 'Auto'",
    ),
    (RealIn(least=0, most=1), 1.5, "x must be a number from 0 to 1, got 1.5"),
    (RealIn(above=0, most=1), 0, "x must be a number above 0 and at most 1, got 0"),
    (RealIn(least=0, below=9), 9, "x must be a number of at least 0 and below 9, got 9"),
    (RealIn(least=0), np.inf, "x must be a number of at least 0, got inf"),
    (RealIn(), float("nan"), "x must be a finite number, got nan"),
    (RealIn(), "1", "x must be a finite number, got '1'"),
    (RealIn(), False, "x must be a finite number, got False"),
    (NameIn("one"), "two", "x must be 'one', got 'two'"),
    (NameIn("a", "b", "c"), 1, "x must be 'a', 'b' or 'c', got 1"),
    (NameIn("a", "b"), SlyText("z"), "x must be 'a' or 'b', got 'z'"),
    (
        NameIn("max", "gini", "info_gain"),
        "Info-Gain",
        "x must be 'max', 'gini' or 'info_gain', got 'Info-Gain'; did you mean 'info_gain'?",
    ),
    (
        NameIn(meanings={"yes": "always", "no": "never"}),
        "maybe",
        "x must be 'yes' (always) or 'no' (never), got 'maybe'",
    ),
    (Boolean(), 1, "x must be True or False, got 1"),
    (Boolean(none=True), "no", "x must be None, True or False, got 'no'"),
]


@pytest.mark.parametrize(("check", "value", "said"), REFUSED)
def test_what_is_refused_is_named_with_what_is_allowed(check, value, said):
    with pytest.raises(ParameterError, match=f"^{re.escape(said)}$"):
        check.check("x", value)


def test_a_message_names_the_owner_and_is_of_the_callers_class():
    with pytest.raises(SchemaError, match=r"^Numeric: bins must be an integer from 1 to 9, got 0$"):
        check_integer("bins", 0, 1, 9, owner="Numeric", error=SchemaError)
    with pytest.raises(SchemaError, match=r"^Schema: n must be True or False, got 0$"):
        check_boolean("n", 0, owner="Schema", error=SchemaError)
    with pytest.raises(SchemaError, match=r"^Schema: n must be a number above 0, got 0$"):
        check_real("n", 0, above=0, owner="Schema", error=SchemaError)
    with pytest.raises(SchemaError, match=r"^Schema: n must be 'a', got 0$"):
        check_name("n", 0, ("a",), owner="Schema", error=SchemaError)


def test_a_table_that_was_passed_by_mistake_is_not_shown():
    table = pd.DataFrame({"name": ["Ada"]})
    for value in (table, table["name"], ["Ada"], {"name": "Ada"}, np.array(["Ada"])):
        with pytest.raises(ParameterError) as caught:
            check_integer("n_trees", value, 1)
        assert "Ada" not in str(caught.value)
        assert type(value).__name__ in str(caught.value)


def test_what_came_is_short():
    assert show("x" * 1000) == "'" + "x" * 76 + "..."
    assert show(10**5000) == "an integer of thousands of digits"
    assert show(np.float64(2.5)) == "2.5"


def test_every_declared_parameter_is_checked():
    declared = {"a": IntegerIn(1), "b": NameIn("x")}
    check_parameters("Owner", declared, {"a": 1, "b": "x", "c": object()})
    with pytest.raises(ParameterError, match=r"^Owner: b must be 'x', got 'y'$"):
        check_parameters("Owner", declared, {"a": 1, "b": "y"})


def test_the_examples_are_true():
    ran = doctest.testmod(_validate)
    assert (ran.attempted, ran.failed) == (2, 0)
