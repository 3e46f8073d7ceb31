"""The audit of released answers, in two worlds, looks at those of SQL too.

It is a test and no subject of ``privet audit``, which needs no server. Quick tests of the same
claim are in test_laws.py.
"""

from __future__ import annotations

import secrets
from fractions import Fraction

import pytest

import privet as pv
from privet.audit.two_worlds import audit
from privet.audit.worlds import pairs_of
from privet.client.sql.curator import connect_to_database
from tests.postgres import put_table
from tests.service.sql.conftest import as_role, new_dataset, place_on

psycopg = pytest.importorskip("psycopg", reason="needs pip install 'privet[postgres]'")

CLAIM = Fraction(1)
#: In each world: so many show four times the epsilon for sure.
RUNS = 240


class Asking:
    """Ask about a world in SQL: the table of each is put there when it is first asked."""

    def __init__(self, place):
        self.place, self.curators = place, {}

    def __call__(self, world):
        if id(world) not in self.curators:
            self.curators[id(world)] = world, self.open(world)
        curator = self.curators[id(world)][1]
        asked = pv.Question.level(pv.Cells.everything(curator.schema), ["a"])
        return curator.count(asked, epsilon=CLAIM)

    def open(self, world):
        place, schema = self.place, world.schema.declare(n_rows=None)
        name = f"world_{secrets.token_hex(4)}"
        put_table(place.url, world.table, name)
        (owner,) = place.sql("SELECT nspowner::regrole FROM pg_namespace WHERE nspname = 'privet'")[
            0
        ]
        place.sql(f"GRANT SELECT ON {name} TO {owner}")
        dataset = new_dataset(place, pv.Budget(10**6), name, schema)
        place.functions.allow(dataset, "auditor")
        return connect_to_database(as_role(place.url, place.role("auditor")), dataset)

    def close(self):
        for _, curator in self.curators.values():
            curator.close()


def audit_counts(place):
    asking = Asking(place)
    pair = pairs_of("add-remove", families=("nobody else",))[0]
    result = audit(asking, pair, CLAIM, RUNS)
    asking.close()
    return result


@pytest.mark.slow
def test_counts_in_sql_are_not_refuted(place):
    assert audit_counts(place).verdict != "violated"


@pytest.mark.slow
def test_a_quarter_of_the_noise_is_refuted(postgres):
    own = place_on(postgres)
    ((source,),) = own.sql(
        "SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'privet'::regnamespace "
        "AND proname = 'checked_share'"
    )
    shared = "privet.written(privet.numerator(epsilon), "
    assert source.count(shared) == 1
    own.sql(source.replace(shared, "privet.written(privet.numerator(epsilon) * 4, "))
    found = audit_counts(own)
    own.ledger.close()
    assert found.verdict == "violated", found
