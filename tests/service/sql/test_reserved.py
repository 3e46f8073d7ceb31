"""Asking from SQL next to what others have reserved."""

from __future__ import annotations

from fractions import Fraction as F

import pytest

from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import left, verify
from privet.service.sql import SQLFunctions
from privet.service.sql.installation import VERSION
from tests.service.sql.conftest import answer, ask

psycopg = pytest.importorskip("psycopg", reason="needs pip install 'privet[postgres]'")


def reserve(place, dataset, amount, key):
    given = {"request": "r", "schema": "s", "neighbours": "add-remove", "rows_per_person": 1}
    return place.ledger.reserve(dataset, "somebody", Budget(amount), "a fit", key=key, **given)


def budget(session, dataset):
    rows = session.execute("SELECT exactly FROM privet.budget(%s)", (dataset,)).fetchall()
    return [F(row[0]) for row in rows]


def test_what_others_have_reserved_cannot_be_asked_for(place, session, dataset, analyst):
    place.ledger.set_cap(dataset, Budget(1))
    reserve(place, dataset, "3/4", f"fit on {dataset}")
    place.ledger.charge(dataset, "somebody", Cost.pure("1/8"), "x", reservation=f"fit on {dataset}")
    assert budget(session, dataset)[0] == left(place.ledger, dataset, analyst) == F(1, 4)
    with pytest.raises(psycopg.Error) as caught:
        ask(session, dataset, {}, "0.5")
    assert caught.value.sqlstate == "PV001"
    assert '"left" : "1/4"' in caught.value.diag.message_detail
    answer(session, ask(session, dataset, {}, "0.25"))
    assert budget(session, dataset)[0] == 0
    place.ledger.close_reservation("somebody", f"fit on {dataset}")
    assert budget(session, dataset)[0] == F(5, 8)
    ask(session, dataset, {}, "0.625")
    assert place.ledger.committed(dataset) == 1
    assert verify(place.ledger) == []


def test_an_ask_expires_idle_ones(place, session, dataset):
    place.ledger.set_cap(dataset, Budget(1))
    key = f"fit on {dataset}"
    reserve(place, dataset, 1, key)
    ((source,),) = place.sql("SELECT pg_get_functiondef('privet.now()'::regprocedure)")
    later = source.replace("clock_timestamp()", "(clock_timestamp() + interval '169 hours')")
    assert later != source
    try:
        place.sql(later)
        ask(session, dataset, {}, 1)
    finally:
        place.sql(source)
    assert place.ledger.reservation("somebody", key).state == "expired"
    assert place.ledger.committed(dataset) == 1
    assert verify(place.ledger) == []


def test_the_functions_of_0_1_are_brought_to_this_version(place, session, dataset):
    ((source,),) = place.sql("SELECT pg_get_functiondef('privet.budget(text)'::regprocedure)")
    place.sql(source.replace("privet.held(k.dataset, k.analyst)", "'0'"))
    place.sql("ALTER FUNCTION privet.budget(text) RESET ALL")
    place.sql("UPDATE privet.functions SET version = 1")
    place.ledger.set_cap(dataset, Budget(1))
    reserve(place, dataset, "3/4", f"fit on {dataset}")
    assert budget(session, dataset)[0] == 1
    SQLFunctions(place.ledger)
    assert budget(session, dataset)[0] == F(1, 4)
    ((again,),) = place.sql("SELECT pg_get_functiondef('privet.budget(text)'::regprocedure)")
    assert again == source
    assert place.sql("SELECT version FROM privet.functions") == [(VERSION,)]
