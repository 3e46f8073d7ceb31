"""Spending makes the privacy statement of every release, and foresees it without a charge."""

from __future__ import annotations

import ast
import math
from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest

import privet
from privet.accounting.cost import Budget, Cost
from privet.curator import Curator
from privet.curator.spending import Spending, state_randomised, state_secure_sum
from privet.domain import Categorical, Schema
from privet.errors import ParameterError
from privet.local.collecting import local_curator
from privet.local.randomizer import Randomizer

SCHEMA = Schema({"a": Categorical(["x", "y"])}, "c", ["no", "yes"], rows_per_person=2)
TABLE = pd.DataFrame({"a": ["x", "y", "y"], "c": ["no", "yes", "no"]})
MAKERS = {"of", "randomised"}


def makers_in(source: str) -> int:
    """How many privacy statements of single releases this code makes."""
    made = 0
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            called = node.func
            owner = called.value if isinstance(called, ast.Attribute) else called
            by_name = isinstance(called, ast.Name) or getattr(called, "attr", "") in MAKERS
            made += by_name and isinstance(owner, ast.Name) and owner.id == "PrivacyStatement"
    return made


def test_only_spending_makes_privacy_statements():
    package = Path(privet.__file__).parent
    found = {
        path.relative_to(package).as_posix(): made
        for path in package.rglob("*.py")
        if (made := makers_in(path.read_text()))
    }
    spending = Path(Spending.__dict__["statement"].__code__.co_filename)
    assert set(found) == {spending.relative_to(package).as_posix()}


@pytest.mark.parametrize(
    ("source", "made"),
    [
        ("PrivacyStatement.of(schema, charges, private=True)", 1),
        ("x = PrivacyStatement.randomised(schema, cost)", 1),
        ("PrivacyStatement((), 'replace', 1, False, True)", 1),
        ("PrivacyStatement.together(statements, people)", 0),
        ("PrivacyStatement.from_json(data)", 0),
    ],
)
def test_makers_are_found(source, made):
    assert makers_in(source) == made


@pytest.fixture
def curator():
    return Curator(TABLE, SCHEMA, Budget(10), dataset="d")


def test_a_statement_is_foreseen_without_a_charge(curator):
    foreseen = curator.foresee_statement("1/2", "leaf counts", "north")
    assert curator.ledger.entries() == []
    assert curator.ledger.reservations() == []
    with Spending.reserve(curator, "1/2", "a test") as spending:
        spending.record_charge(
            "leaf counts", spending.curator.size(spending.take(Fraction(1))).row_cost
        )
        made = spending.statement(name="north")
    assert foreseen.promised == made.promised == Cost(Fraction(1), Fraction(1, 2))
    for fact in ("neighbours", "rows_per_person", "person", "account", "name", "local", "private"):
        assert getattr(foreseen, fact) == getattr(made, fact)


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, "much"])
def test_a_bad_epsilon_is_foreseen(curator, epsilon):
    with pytest.raises(ParameterError, match="epsilon"):
        curator.foresee_statement(epsilon, "leaf counts")


def test_without_noise_the_rest_is_foreseen_all_the_same(curator):
    assert curator.foresee_statement(math.inf, "leaf counts").account == curator.account


def test_what_randomised_records_will_state_is_foreseen():
    schema = SCHEMA.declare(rows_per_person=1, neighbours="replace")
    randomizer = Randomizer(schema, epsilon=2)
    reports = randomizer.many(TABLE)
    curator = local_curator(reports, randomizer)
    foreseen = curator.foresee_statement(99, "leaf counts")
    with Spending.reserve(curator, 99, "a test") as spending:
        made = spending.statement()
    assert foreseen.local
    assert foreseen.promised == made.promised == randomizer.cost
    assert (foreseen.neighbours, foreseen.assumes) == (made.neighbours, made.assumes)


def test_randomised_records_say_why_nothing_is_promised():
    statement = state_randomised(SCHEMA, Cost.pure(1), ["a seed", "a schema read off the data"])
    assert (statement.private, statement.epsilon) == (False, math.inf)
    assert statement.reason == "a seed; a schema read off the data"
    assert statement.assumes == "nobody sent more than 2 records"
    promising = [state_randomised(SCHEMA, Cost.pure(1)) for _ in range(2)]
    assert all(one.private and one.epsilon == 2.0 for one in promising)
    assert promising[0].id != promising[1].id


def test_a_secure_sum_says_whom_it_trusts():
    statement = state_secure_sum(
        SCHEMA, "leaf counts", Cost.pure(3), notes=["a note"], assumes="nobody cheats"
    )
    assert statement.promised.epsilon == 6
    assert (statement.private, statement.notes, statement.assumes, statement.name) == (
        True,
        ("a note",),
        "nobody cheats",
        "secure sum",
    )
    assert len(statement.id) == 32
