"""What SQL answers has the distribution of what is answered in process, for the cost that is
charged; and faults that are put into the functions on purpose are noticed.
"""

from __future__ import annotations

from fractions import Fraction as F
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import privet as pv
from privet.accounting.cost import Budget, Cost
from privet.client.sql.curator import connect_to_database
from privet.errors import KeyReused
from privet.queries import Count, Size
from tests.service.sql.conftest import SCHEMA, as_role, new_dataset, place_on
from tests.service.sql.test_noise import ALPHA, fits

psycopg = pytest.importorskip("psycopg", reason="needs pip install 'privet[postgres]'")


def open_curator(place, schema=SCHEMA, **more):
    dataset = new_dataset(place, Budget(10**6), schema=schema, **more)
    place.functions.allow(dataset, f"ada of {dataset}")
    return connect_to_database(as_role(place.url, place.role(f"ada of {dataset}")), dataset)


def forest(n_trees):
    """Trees of all attributes, and trees of one, with many leaves in all."""
    every = pv.Cells.everything(SCHEMA)
    deep = every.refine({0: pv.Split.multiway(SCHEMA, "age")})
    deep = deep.refine({c: pv.Split.multiway(SCHEMA, "color") for c in range(10)})
    flat = every.refine({0: pv.Split.multiway(SCHEMA, "color")})
    return pv.Question.forest([flat if t % 8 == 0 else deep for t in range(n_trees)])


def check_forest(place):
    """The noise of a forest of P trees is discrete Laplace of scale P/epsilon, for one epsilon."""
    n_trees = 64
    question = forest(n_trees)
    with open_curator(place) as curator:
        answer = curator.ask(Count(question), 32)
        exact = curator.ask(Count(question), 10**5)  # so much that there is no noise
        noise = np.concatenate(
            [(a - b).ravel() for a, b in zip(answer.tables, exact.tables, strict=True)]
        )
        assert place.ledger.entries(curator.dataset)[0].cost == Cost.pure(32)
    assert len(noise) > 3000
    assert exact.tables[0].sum() == 3000
    assert answer.spread == F(n_trees, 32)
    assert fits(noise, answer.spread) > ALPHA, "another law"
    assert fits(noise, answer.spread * F(13, 10)) < ALPHA
    rows = {
        "color": [("red", "green", "blue")[i % 3] for i in range(1, 3001)],
        "age": [i % 100 for i in range(1, 3001)],
        "class": [("no", "yes")[i % 2] for i in range(1, 3001)],
    }
    here = pv.Curator(pd.DataFrame(rows), SCHEMA, Budget(10**6))
    told = here.ask(Count(question), 32)
    other = np.concatenate(
        [(a - b).ravel() for a, b in zip(told.tables, exact.tables, strict=True)]
    )
    assert fits(other, told.spread) > ALPHA  # the same table, and the same law


def check_charge(place):
    schema = SCHEMA.declare(rows_per_person=3, neighbours="replace")
    with open_curator(place, schema) as curator:
        curator.ask(Size(), "1/3")
        assert place.ledger.spent(curator.dataset) == Cost.pure("1/3").promised(schema), "cost"


def check_own(place):
    """Nobody sees the charges of others, nor their reservations."""
    with open_curator(place) as one, open_curator(place) as other:
        one.ask(Size(), 1)
        within = one.reserve(Cost.pure(1), "a fit", "a fit")
        rows = other._session.link.call("SELECT number FROM privet.my_history()")
        rows += other._session.link.call("SELECT number FROM privet.my_reservations()")
        assert rows == [], "somebody else's"
        within.close_reservation()


def check_keys(place):
    """A key pays for one question."""
    with open_curator(place) as curator:
        curator.ask_once("a key", Size(), 1)
        with pytest.raises(KeyReused):
            curator.ask_once("a key", Size(), 2)


def check_reserved(place):
    """What a reservation holds cannot be reserved again."""
    with open_curator(place) as curator:
        place.ledger.set_cap(curator.dataset, Budget(1))
        curator.reserve(Cost.pure("3/4"), "a fit", "first")
        with pytest.raises(pv.errors.BudgetExceeded) as refused:
            curator.reserve(Cost.pure("1/2"), "a fit", "second")
        assert (refused.value.asked, refused.value.left) == (F(1, 2), F(1, 4))


def check_sum(place):
    """The noise of a sum is that of its largest number."""
    dataset = new_dataset(place, Budget(10**6))
    place.functions.allow(dataset, "ada")
    noise = []
    with place.connect(place.role("ada")) as session:
        for _ in range(60):
            (ticket,) = session.execute(
                "SELECT privet.ask_sum(%s, 'color', '{-20,3,0}', epsilon => 2, "
                "by => '{age,class,color}')",
                (dataset,),
            ).fetchone()
            numbers = session.execute("SELECT privet.numbers(%s)", (ticket,)).fetchone()[0]
            exact = [-1000, 150, 0] * 20
            noise += [number - known for number, known in zip(numbers, exact, strict=True)]
    assert place.ledger.spent(dataset).epsilon == 120
    assert fits(np.array(noise), F(10)) > ALPHA, "another law"
    assert fits(np.array(noise), F(13)) < ALPHA
    assert fits(np.array(noise), F(100, 13)) < ALPHA


def check_keys_of_other_tables(place):
    """Nobody asks who could delete what the rows refer to."""
    (owner,) = place.sql("SELECT nspowner::regrole FROM pg_namespace WHERE nspname = 'privet'")[0]
    role = place.role()
    place.sql(
        "CREATE TABLE colors (name text PRIMARY KEY); CREATE TABLE told (color text REFERENCES "
        f"colors, age integer, class text); GRANT SELECT ON told TO {owner}; GRANT DELETE ON "
        f"colors TO {role}"
    )
    dataset = new_dataset(place, table="told")
    try:
        with pytest.raises(pv.errors.PrivacyError, match="a foreign key ties to the rows"):
            place.functions.grant_role(role, "ada")
    finally:
        place.functions.remove_dataset(dataset)
        place.sql("DROP TABLE told, colors")


CHECKS = [
    check_forest,
    check_charge,
    check_own,
    check_keys,
    check_reserved,
    check_sum,
    check_keys_of_other_tables,
]
MUTANTS = {
    "noise is not shared by the trees": (
        "checked_share",
        "privet.denominator(epsilon) * sensitivity",
        "privet.denominator(epsilon)",
        check_forest,
    ),
    "noise is never negative": (
        "many_laplace",
        "CASE j WHEN 0 THEN '+' ELSE '-' END",
        "'+'",
        check_forest,
    ),
    "the neighbours of the schema are not charged": (
        "pay",
        "privet.numerator(epsilon) * the.factor",
        "privet.numerator(epsilon)",
        check_charge,
    ),
    "a history shows everybody's": (
        "my_history",
        "j.analyst = caller AND j.kind = 'charge'",
        "j.kind = 'charge'",
        check_own,
    ),
    "reservations show everybody's": (
        "my_reservations",
        "WHERE j.analyst = caller",
        "",
        check_own,
    ),
    "a key answers any question": (
        "ticket_before",
        "line.request <> request OR ",
        "",
        check_keys,
    ),
    "what is held can be reserved": (
        "reserve",
        "privet.held(dataset, cap.analyst))),\n            cap.amount",
        "'0')),\n            cap.amount",
        check_reserved,
    ),
    "the noise of a sum is that of a count": (
        "measure",
        "cardinality(q.starts)::numeric * greatest(largest, 1)",
        "cardinality(q.starts)::numeric",
        check_sum,
    ),
    "keys of other tables are forgotten": (
        "mighty",
        "pg_constraint AS c ON c.conrelid = a.id WHERE c.contype = 'f'",
        "pg_constraint AS c ON c.conrelid = a.id WHERE c.contype = 'x'",
        check_keys_of_other_tables,
    ),
}


@pytest.mark.parametrize("check", CHECKS)
def test_a_promise_holds(place, check):
    check(place)


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_fault_is_noticed(postgres, mutant):
    function, before, after, check = MUTANTS[mutant]
    own = place_on(postgres)
    ((source,),) = own.sql(
        "SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'privet'::regnamespace "
        "AND proname = %s",
        (function,),
    )
    assert source.count(before) == 1, source
    own.sql(source.replace(before, after))
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        check(own)
    own.ledger.close()


def test_the_page_lists_every_fault():
    """docs/results/mutants.md ends with what this file says."""
    part = Path(__file__).parents[3] / "experiments" / "mutants" / "sql.md"
    listed = part.read_text(encoding="utf-8")
    missing = [
        name for name, fault in MUTANTS.items() if f"| {name} | `{fault[0]}` |" not in listed
    ]
    assert missing == []


@pytest.mark.parametrize("seed", range(6))
def test_one_row_changes_one_number_of_each_walk_whatever_the_arrays_hold(place, seed):
    """Arrays that make no trees at all: loops, nodes of other walks, cells out of order."""
    rng = np.random.default_rng(seed)
    (owner,) = place.sql("SELECT nspowner::regrole FROM pg_namespace WHERE nspname = 'privet'")[0]
    place.sql(
        "DROP TABLE IF EXISTS few; CREATE TABLE few AS SELECT * FROM people LIMIT 40; "
        f"GRANT SELECT ON few TO {owner}"
    )
    dataset = new_dataset(place, table="few")
    n_nodes, walks, sizes = 12, 5, [1, 3, 10, 2]
    tests = rng.integers(1, 5, n_nodes)
    firsts = rng.integers(1, 20, n_nodes)
    total = 50

    def listed(low, high, n):
        return rng.integers(low, high, n).tolist()

    question = (
        total, 6, listed(1, n_nodes + 1, walks), listed(0, total, walks), listed(1, 9, walks),
        listed(1, 5, 2 * walks), listed(0, 9, 2 * walks), tests.tolist(), firsts.tolist(),
        listed(-1, 9, n_nodes), listed(1, n_nodes + 1, 30), [1],
    )  # fmt: skip
    assert max(f + sizes[t - 1] for f, t in zip(firsts, tests, strict=True)) <= 31
    casts = ", ".join(["%s", "%s", *["%s::int[]"] * 10])

    def count():
        return place.sql(
            f"SELECT privet.check_walks(%s, ROW({casts})::privet.walks), "
            f"privet.exact_numbers(%s, ROW({casts})::privet.walks)",
            (dataset, *question, dataset, *question),
        )[0][1]

    before = np.array(count())
    assert before.sum() <= walks * 40
    place.sql("DELETE FROM few WHERE ctid = (SELECT min(ctid) FROM few)")
    moved = before - np.array(count())
    place.functions.remove_dataset(dataset)
    assert (moved >= 0).all()
    assert moved.sum() <= walks
