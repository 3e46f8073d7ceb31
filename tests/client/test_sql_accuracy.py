"""Hanisch's trees are as accurate over SQL as in process: the same distribution, in repeated fits.

Every leaf of the deep trees is a coin of its own, so that accuracies of few fits differ clearly
where noise or votes are other ones.
"""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import privet as pv
from privet.client.sql.curator import connect_to_database
from privet.client.sql.session import SQLSession
from tests.postgres import put_table
from tests.service.sql.conftest import as_role, new_dataset, place_on

psycopg = pytest.importorskip("psycopg", reason="needs pip install 'privet[postgres]'")

VALUES = ["0", "1", "2", "3", "4"]
SCHEMA = pv.Schema(
    {name: pv.Categorical(VALUES) for name in "abc"}, "class", ["no", "yes"], n_rows=1250
)
FITS = 20
#: Standard errors by which the means may differ: by chance once in a million runs.
MOST = 5.0


def make_rows():
    """Ten rows of each point, of which eight have the class that belongs to it."""
    points = itertools.product(VALUES, repeat=3)
    rows = [
        (*point, ["no", "yes"][(sum(map(int, point)) + (i < 2)) % 2])
        for point in points
        for i in range(10)
    ]
    return pd.DataFrame(rows, columns=[*"abc", "class"])


ROWS = make_rows()


def learner(epsilon="3/4"):
    """His leaves and votes."""
    return pv.RandomTreesClassifier(epsilon, n_trees=3, height=3, combine="vote", shrink=0)


def accuracies(curator, make=learner):
    found = []
    for _ in range(FITS):
        model = make().fit_from(curator)
        found.append((model.predict(ROWS[[*"abc"]]) == ROWS["class"]).mean())
    return np.array(found)


def apart(one, other):
    """By how many standard errors two means differ."""
    return abs(one.mean() - other.mean()) / np.sqrt((one.var() + other.var()) / (FITS - 1))


@pytest.fixture(scope="module")
def here():
    return accuracies(in_process())


def in_process():
    return pv.Curator(ROWS, SCHEMA, pv.Budget(10**6))


@pytest.fixture(scope="module")
def place(postgres):
    place = place_on(postgres)
    put_table(place.url, ROWS, "generated")
    (owner,) = place.sql("SELECT nspowner::regrole FROM pg_namespace WHERE nspname = 'privet'")[0]
    place.sql(f"GRANT SELECT ON generated TO {owner}")
    yield place
    place.ledger.close()


@pytest.fixture
def there(place):
    dataset = new_dataset(place, pv.Budget(10**6), "generated", SCHEMA)
    place.functions.allow(dataset, "ada")
    with connect_to_database(as_role(place.url, place.role("ada")), dataset) as curator:
        yield curator


def test_accuracies_over_sql_and_in_process_are_alike(there, here):
    assert 0.5 < here.mean() < 0.79  # neither chance nor certain
    assert apart(accuracies(there), here) < MOST


def test_noise_of_twice_the_scale_over_sql_is_noticed(place, there, here):
    ((source,),) = place.sql(
        "SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'privet'::regnamespace "
        "AND proname = 'checked_share'"
    )
    share = "privet.denominator(epsilon) * sensitivity"
    assert source.count(share) == 1
    place.sql(source.replace(share, f"{share} * 2"))
    spoilt = accuracies(there)
    place.sql(source)
    assert apart(spoilt, here) > MOST


def test_numbers_in_the_place_of_others_are_noticed(there, here, monkeypatch):
    answered = SQLSession.ask
    monkeypatch.setattr(SQLSession, "ask", lambda *asked: np.roll(answered(*asked), 1))
    assert apart(accuracies(there), here) > MOST


@pytest.mark.parametrize(
    "wrong",
    [
        {"make": lambda: learner("3/8")},
        {"make": lambda: learner("3/4").set_params(n_trees=1, epsilon="1/4")},  # one tree's vote
    ],
    ids=["twice the noise", "votes of one tree"],
)
def test_what_goes_wrong_is_noticed(here, wrong):
    assert apart(accuracies(in_process(), **wrong), here) > MOST


def test_another_sample_of_the_same_is_not(here):
    assert apart(accuracies(in_process()), here) < MOST
