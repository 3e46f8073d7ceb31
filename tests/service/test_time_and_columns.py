"""A clock that goes back, and columns that change while a table is served."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest
from starlette.testclient import TestClient

import privet as pv
from privet.accounting.cost import Budget
from privet.client.transport import error_of
from privet.errors import BudgetExceeded
from privet.service import accounts
from privet.service.app import create_app
from privet.service.state import ServiceState
from tests.service.conftest import FAST, SCHEMA, Analyst, people

COUNT = {"epsilon": "1/4", "by": ["colour"]}


class Back(datetime):
    """A clock that was set back by a day."""

    @classmethod
    def now(cls, tz=None):
        return datetime.now(tz) - timedelta(days=1)


def test_a_clock_that_is_set_back_revives_no_grant(state, monkeypatch):
    state.accounts.grant("bob", "people", datetime.now(UTC) - timedelta(hours=1))
    monkeypatch.setattr(accounts, "datetime", Back)
    again = ServiceState.open(state.path)  # a service that starts after the clock went back
    with TestClient(create_app(again, FAST), base_url="http://127.0.0.1") as client:
        assert Analyst(client, state.tokens["bob"]).post("count-by", COUNT).status_code == 404
        assert Analyst(client, state.tokens["ada"]).post("count-by", COUNT).status_code == 200
    assert again.accounts.now() > datetime.now(UTC) - timedelta(hours=1)


def test_time_does_not_go_back_while_a_service_runs(state, monkeypatch):
    ends = datetime.now(UTC) - timedelta(seconds=1)
    state.accounts.grant("bob", "people", ends)
    assert [grant.over for grant in state.accounts.grants("bob")] == [True]
    monkeypatch.setattr(accounts, "datetime", Back)
    assert [grant.over for grant in state.accounts.grants("bob")] == [True]


@pytest.mark.parametrize("within", ["", "snapshot"])
def test_a_column_that_is_renamed_costs_nothing(tmp_path, within):
    path = tmp_path / "people.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        people().to_sql("people", connection, index=False)
    state, _ = ServiceState.make(tmp_path / "curator")
    state.accounts.add_dataset("people", f"sqlite:///{path}?table=people", SCHEMA)
    state.ledger.open_cap("people", Budget(3))
    token = state.accounts.add_analyst("ada")
    state.accounts.grant("ada", "people")
    with TestClient(create_app(state, FAST), base_url="http://127.0.0.1") as client:
        ada = Analyst(client, token)
        assert ada.post("count-by", COUNT).status_code == 200
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("ALTER TABLE people RENAME COLUMN age TO years")
        body = COUNT
        if within:
            begun = ada.post("snapshots", {})
            if begun.status_code != 201:
                assert begun.status_code == 503
                return
            body = COUNT | {"snapshot": begun.json()["snapshot"]}
        refused = ada.post("count-by", body)
        assert refused.status_code == 503
        assert refused.json()["charged"] is False
        assert str(state.ledger.spent("people").epsilon) == "1/4"
        assert state.ledger.unanswered() == set()
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("ALTER TABLE people RENAME COLUMN years TO age")
        assert ada.post("count-by", COUNT).status_code == 200, "it is mended without a restart"


def test_a_refusal_names_the_analysts_own_cap_first(state, ada, client):
    """And says what it said in 0.1, in the fields that a program reads."""
    state.ledger.set_cap("people", Budget("1/8"), "ada")
    state.ledger.set_cap("people", Budget("1/10"))
    refused = ada.post("count-by", COUNT)
    told = refused.json()
    assert refused.status_code == 403
    assert (told["account"], told["asked"], told["left"]) == ("data set 'people'", "1/4", "1/10")
    assert told["own"] == {"account": "analyst 'ada' on data set 'people'", "left": "1/8"}
    assert told["detail"].startswith(
        "the budget of analyst 'ada' on data set 'people' does not allow this: asked epsilon 0.25, "
        "left epsilon 0.125; nor does the budget of data set 'people': left epsilon 0.1"
    )
    state.ledger.set_cap("people", Budget(1))
    told = ada.post("count-by", COUNT).json()
    assert (told["account"], told["left"]) == ("analyst 'ada' on data set 'people'", "1/8")
    assert "own" not in told
    reserved = ada.post("reservations", {"key": "fit-1", "what": "a fit", "epsilon": "1"})
    assert "analyst 'ada'" in reserved.json()["account"]
    read = error_of(403, refused.json(), "the curator")
    assert str(read) == refused.json()["detail"]
    assert read.own == ("analyst 'ada' on data set 'people'", Fraction(1, 8))


def test_a_refusal_explains_what_several_rows_of_a_person_cost():
    rows = people()
    several = SCHEMA.declare(rows_per_person=3)
    for schema, price, asked, words in (
        (several, {"epsilon": "1/10"}, "3/10", "epsilon 0.1 for one row, times 3"),
        (several, {"rho": "1/10"}, "9/10", "rho 0.1 for one row, times 9"),
        (SCHEMA.declare(neighbours="replace"), {"epsilon": "1/10"}, "1/5", "'replace'"),
    ):
        budget = Budget("1/20") if "epsilon" in price else Budget(rho="1/20")
        curator = pv.Curator(rows, schema, budget)
        with pytest.raises(BudgetExceeded) as raised:
            curator.count(by="colour", **price)
        assert raised.value.asked == Fraction(asked)
        assert words in str(raised.value)
        plan = [pv.Cost.pure("1/10") if "epsilon" in price else pv.Cost.concentrated("1/10")]
        with pytest.raises(BudgetExceeded) as raised:
            curator.require(plan)
        assert words in str(raised.value)
    with pytest.raises(BudgetExceeded) as raised:
        pv.Curator(rows, SCHEMA, Budget("1/20")).count(by="colour", epsilon="1/10")
    assert raised.value.note == "", "one row costs what was asked"
