"""``privet quantile``: a bin of a numeric attribute, from a table or through a curator at an
address.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from privet.accounting.cost import Budget
from privet.accounting.ledger import SQLiteLedger
from privet.domain import Categorical, Numeric, Schema
from tests.client.running import running

Run = Callable[..., Any]
SCHEMA = Schema(
    {"age": Numeric(0, 100, bins=5), "sex": Categorical(["f", "m"])}, "ill", ["no", "yes"]
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("people")
    pd.DataFrame({"age": [*range(10, 60), *[95] * 30], "sex": "f", "ill": "no"}).to_csv(
        path / "people.csv", index=False
    )
    SCHEMA.write(path / "people.schema.json")
    return path


@pytest.fixture
def ask(privet: Run, folder: Path) -> Run:
    given = (
        "quantile",
        folder / "people.csv",
        "--schema",
        folder / "people.schema.json",
        "--ledger",
        "book.sqlite",
    )
    return lambda *arguments: privet(*given, *arguments)


def charges() -> list[Fraction | None]:
    return [entry.cost.epsilon for entry in SQLiteLedger("book.sqlite").entries()]


def test_the_median_and_what_is_left(ask: Run):
    ran = ask("--attribute", "age", "--epsilon", "100", "--budget", "1000")
    assert (ran.code, ran.err) == (0, "")
    assert "age: the median is in [40, 60), or near it." in ran.out
    assert "19 times in 20 it is at most 1 rows off" in ran.out
    assert ["people.csv", "epsilon", "1000", "100", "900"] in [
        line.split()[:5] for line in ran.out.splitlines()
    ]
    assert charges() == [100]


def test_a_quantile_as_json(ask: Run):
    said = json.loads(
        ask("--attribute", "age", "--q", "0.9", "--epsilon", "50", "--budget", "60", "--json").out
    )
    assert (said["bin"], said["low"], said["high"], said["middle"], said["q"]) == (
        4,
        80,
        100,
        90,
        "9/10",
    )
    assert said["rows_off"] == pytest.approx(18 / 10 / 50 * 4.605, rel=1e-3)
    assert (
        said.items()
        >= {
            "attribute": "age",
            "private": True,
            "epsilon": "50",
            "left": "10",
            "neighbours": "add-remove",
        }.items()
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--attribute", "sex"), "attribute must be a number or a date .there are age., got 'sex'"),
        (("--attribute", "height"), "no attribute 'height'; there are age, sex"),
        (("--attribute", "age", "--q", "1.5"), "q must be a number from 0 to 1, got '1.5'"),
        (("--attribute", "age", "--q", "half"), "q must be a number from 0 to 1, got 'half'"),
        (("--attribute", "age", "--epsilon", "0"), "epsilon must be a finite number above zero"),
    ],
)
def test_a_refused_first_question_leaves_no_budget_behind(ask: Run, arguments: tuple, said: str):
    ran = ask("--epsilon", "0.1", "--budget", "7", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == ran.err.count("privet: ") == 1
    assert re.search(said, ran.err)
    assert SQLiteLedger("book.sqlite").datasets() == charges() == []


def test_what_does_not_fit_is_refused(ask: Run):
    ran = ask("--attribute", "age", "--epsilon", "2", "--budget", "1")
    assert (ran.code, ran.out) == (2, "")
    assert "asked epsilon 2, left epsilon 1" in ran.err
    assert charges() == []


def test_through_a_curator_at_an_address(privet: Run, folder: Path, tmp_path: Path):
    with running(tmp_path) as service:
        service.add("people", folder / "people.csv", SCHEMA, Budget(1000))
        Path("token").write_text(service.token)
        asked = (
            "quantile",
            service.url,
            "--attribute",
            "age",
            "--q",
            "1/4",
            "--token-file",
            "token",
            "--epsilon",
        )
        ran = privet(*asked, "100")
        assert "the 0.25-quantile is in [20, 40), or near it." in ran.out
        assert "left of your budget for 'people': epsilon 900" in ran.out
        assert (
            json.loads(privet(*asked, "100", "--json").out).items()
            >= {"bin": 1, "left": "800"}.items()
        )
        refused = privet(
            "quantile", service.url, "--attribute", "sex", "--epsilon", "1", "--token-file", "token"
        )
        assert (refused.code, refused.out) == (2, "")
        assert service.state.ledger.spent("people").epsilon == 200
