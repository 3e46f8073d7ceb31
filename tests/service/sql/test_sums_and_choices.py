"""Sums, quantiles and frequent labels by hand: ``privet.ask_sum``, ``choose_quantile`` and
``choose_label``. The noise of sums is tested in test_laws.py, that of choices in test_noise.py.
"""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest

from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import verify
from tests.service.sql.conftest import SCHEMA, new_dataset, place_on

psycopg = pytest.importorskip("psycopg", reason="needs pip install 'privet[postgres]'")

#: So much that there is no noise.
CLEAR = "100000"
MIDDLES = [10 * bin_ + 5 for bin_ in range(10)]
#: What the table holds, as the codes of color, age and class.
ROWS = np.array([(i % 3, i % 100 // 10, i % 2) for i in range(1, 3001)])
COLORS, AGES, CLASSES = ROWS.T


@pytest.fixture
def dataset(place):
    return new_dataset(place, Budget(10**7))


def call(session, function, *values, **named):
    """Ask, and return the numbers of the answer."""
    arguments = [*["%s"] * len(values), *(f"{name} => %s" for name in named)]
    (ticket,) = session.execute(
        f"SELECT privet.{function}({', '.join(arguments)})", (*values, *named.values())
    ).fetchone()
    return session.execute("SELECT privet.numbers(%s)", (ticket,)).fetchone()[0]


def test_numbers_are_added_up(session, dataset):
    total = call(session, "ask_sum", dataset, "age", MIDDLES, epsilon=CLEAR)
    assert total == [np.take(MIDDLES, AGES).sum()]
    numbers = [-3, 0, 2000]
    meets = (AGES < 2) | (CLASSES == 1)
    (ticket,) = session.execute(  # also by the attribute whose numbers they are
        "SELECT privet.ask_sum(%s, 'color', %s, %s, %s, '{age,color}')",
        (dataset, numbers, '["or", {"age": {"to": 20}}, {"class": ["yes"]}]', CLEAR),
    ).fetchone()
    rows = session.execute("SELECT * FROM privet.counts(%s)", (ticket,)).fetchall()
    assert rows == [
        (
            {"age": label, "color": color},
            numbers[code] * (meets & (age == AGES) & (code == COLORS)).sum(),
        )
        for age, label in enumerate(SCHEMA.attributes["age"].labels)
        for code, color in enumerate(("red", "green", "blue"))
    ]


def test_frequent_labels_and_quantiles_are_of_the_rows_that_meet_a_condition(session, dataset):
    young = '{"age": {"from": 20, "to": 40}, "color": ["blue"]}'
    for function, values, among in (
        ("choose_quantile", ("age", "1/4"), {2}),
        ("choose_quantile", ("age", "3/4"), {3}),
        ("choose_label", ("age",), {2, 3}),
        ("choose_label", ("color",), {2}),
    ):
        chosen = call(session, function, dataset, *values, CLEAR, condition=young)
        assert len(chosen) == 1
        assert chosen[0] in among
    (age,) = call(session, "choose_quantile", dataset, "age", "0", CLEAR)
    assert age == 0
    (label,) = call(session, "choose_label", dataset, "class", CLEAR, '{"class": ["yes"]}')
    assert label == 1


# What is asked, the scores of its candidates, and how much one row changes the difference of two.
SCORED = {
    "a frequent label": (
        "choose_label(%s, 'color', '1/3', '{\"color\": [\"red\", \"blue\"]}')",
        "{1000,0,1000}",
        1,
    ),
    "a median": (
        "choose_quantile(%s, 'age', '0.5', '1/3', condition => '{\"age\": {\"to\": 30}}')",
        "{-300,0,-300,-900,-900,-900,-900,-900,-900,-900}",
        2,
    ),
    "the least": (
        "choose_quantile(%s, 'age', '0', '1/3')",
        "{0,-300,-600,-900,-1200,-1500,-1800,-2100,-2400,-2700}",
        1,
    ),
}
SPY = (
    "CREATE OR REPLACE FUNCTION privet.choose_candidates(cells integer[], scores bigint[], epsilon "
    "text, range bigint) RETURNS bigint[] LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '% % % %', "
    "cells[array_upper(cells, 1)], scores, epsilon, range; END $$"
)


def test_a_choice_has_the_scores_and_the_range_that_its_docstring_states(postgres):
    own = place_on(postgres)
    dataset = new_dataset(own)
    own.functions.allow(dataset, "ada")
    role = own.role("ada")
    own.sql(SPY)
    with own.connect(role) as session:
        for asked, scores, spread in SCORED.values():
            with pytest.raises(psycopg.errors.RaiseException) as seen:
                session.execute(f"SELECT privet.{asked}", (dataset,))
            assert seen.value.diag.message_primary == f"0 {scores} 1/3 {spread}"
    assert own.ledger.entries(dataset) == []
    own.ledger.close()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("ask_sum(%s, 'age', '{1,2}', epsilon => 1)", "10 integers, one for each label of 'age'"),
        ("ask_sum(%s, 'color', NULL, epsilon => 1)", "3 integers"),
        ("ask_sum(%s, 'color', '{1,NULL,2}', epsilon => 1)", "3 integers"),
        ("ask_sum(%s, 'color', '[0:2]={1,2,3}', epsilon => 1)", "3 integers"),
        ("ask_sum(%s, 'color', '{1,2,-2147483648}', epsilon => 1)", "3 integers"),
        ("ask_sum(%s, 'colour', '{1,2,3}', epsilon => 1)", "no attribute 'colour'"),
        ("ask_sum(%s, NULL, '{1,2,3}', epsilon => 1)", "no attribute ''"),
        ("ask_sum(%s, 'color', '{1,2,3}')", "epsilon must be"),
        ("ask_sum(%s, 'color', '{1,2,2147483647}', epsilon => 0.0001)", "2\\^-40 for each number"),
        ("ask_sum(%s, 'color', '{1,2,3}', NULL, 1)", "condition: it must be"),
        ("ask_sum(%s, 'color', '{1,2,3}', epsilon => 1, by => '{age,age}')", "each once"),
        ("choose_label(%s, 'colour', '1')", "no attribute 'colour'"),
        ("choose_label(%s, NULL, '1')", "no attribute"),
        ("choose_label(%s, 'color', NULL)", "an amount must be"),
        ("choose_label(%s, 'color', '1', NULL)", "condition: it must be"),
        ("choose_label(%s, 'color', '1', '{\"age\": [\"old\"]}')", "no label of 'age'"),
        ("choose_label(%s, 'color', '1/1099511627777')", "2\\^-40"),
        ("choose_quantile(%s, 'age', '1/2', '1', condition => NULL)", "condition: it must be"),
        ("choose_quantile(%s, 'color', '1/2', '1')", "'color' has no order"),
        ("choose_quantile(%s, 'age', '3/2', '1')", "share must be"),
    ],
)
def test_what_cannot_be_is_refused_and_not_charged(place, session, dataset, asked, said):
    with pytest.raises(psycopg.DatabaseError, match=said) as refused:
        session.execute(f"SELECT privet.{asked}", (dataset,))
    assert refused.value.sqlstate == "PV006"
    assert place.ledger.entries(dataset) == []


def test_a_key_is_one_question(place, session, dataset):
    for asked, others in (
        (
            "ask_sum(%s, 'color', '{1,2,3}', epsilon => 1, key => 'a')",
            (
                "ask_sum(%s, 'color', '{1,2,4}', epsilon => 1, key => 'a')",
                "ask_sum(%s, 'class', '{1,2}', epsilon => 1, key => 'a')",
                "ask(%s, epsilon => 1, key => 'a')",
            ),
        ),
        (
            "choose_label(%s, 'age', '1', key => 'b')",
            (
                "choose_label(%s, 'age', '1', '{\"color\": [\"red\"]}', key => 'b')",
                "choose_quantile(%s, 'age', '1/2', '1', 'b')",
            ),
        ),
        (
            "choose_quantile(%s, 'age', '1/2', '1', 'c')",
            (
                "choose_quantile(%s, 'age', '1/3', '1', 'c')",
                "choose_quantile(%s, 'age', '1/2', '1', 'c', '', '{\"color\": [\"red\"]}')",
            ),
        ),
    ):
        spent = place.ledger.spent(dataset).epsilon
        tickets = {
            session.execute(f"SELECT privet.{asked}", (dataset,)).fetchone() for _ in range(2)
        }
        assert len(tickets) == 1
        for other in others:
            with pytest.raises(psycopg.DatabaseError, match="another request") as refused:
                session.execute(f"SELECT privet.{other}", (dataset,))
            assert refused.value.sqlstate == "PV003"
        assert place.ledger.spent(dataset).epsilon == spent + 1
    told = session.execute("SELECT what FROM privet.my_history() ORDER BY number").fetchall()
    assert [what for (what,) in told] == [
        "SQL: noisy sum of color",
        "SQL: private selection of a frequent label of age, in 10 labels",
        "SQL: private selection of a quantile of age, in 10 bins",
    ]
    assert verify(place.ledger) == []


def test_others_and_neighbours_are_charged_as_for_counts(place):
    dataset = new_dataset(place, schema=SCHEMA.declare(rows_per_person=3, neighbours="replace"))
    place.functions.allow(dataset, "ada")
    with place.connect(place.role("ada")) as session:
        call(session, "ask_sum", dataset, "color", [1, 2, 3], epsilon="0.25")
        call(session, "choose_label", dataset, "color", "1/4")
    assert [entry.cost for entry in place.ledger.entries(dataset)] == [Cost.pure(F(6, 4))] * 2
    with place.connect(place.role("bob")) as session:
        for asked in (
            "ask_sum(%s, 'color', '{1,2,3}', epsilon => 1)",
            "choose_label(%s, 'a', '1')",
        ):
            with pytest.raises(psycopg.DatabaseError, match="not granted to you"):
                session.execute(f"SELECT privet.{asked}", (dataset,))
