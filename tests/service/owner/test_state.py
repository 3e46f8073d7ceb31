"""What owners and auditors see of the service: which SQL functions its ledger has."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from privet.service.app import create_app
from privet.service.sql.installation import VERSION
from privet.service.state import ServiceState
from tests.service.conftest import FAST
from tests.service.owner.test_pages import Manager


@pytest.fixture
def clinic(postgres, tmp_path):
    """A curator with its ledger in PostgreSQL."""
    state, token = ServiceState.make(tmp_path / "curator", postgres.database())
    object.__setattr__(state, "tokens", {"owner": token})
    yield state
    state.ledger.close()


def test_sql_functions_are_looked_for_and_not_installed(clinic):
    app = create_app(clinic, FAST)
    with TestClient(app, base_url="http://127.0.0.1") as client:
        owner = Manager(client, clinic.tokens["owner"])
        assert "SQL functions" not in owner.page("service")
        assert clinic.find_functions() is None, "looking has installed none"
        assert clinic.functions is not None  # as a grant does
        assert f"version {VERSION}</dd>" in owner.page("service")
        with clinic.ledger.transaction() as connection:
            connection.execute("UPDATE privet.functions SET version = 3")
        told = owner.page("service")
        assert "version 3" in told
        assert f"not {VERSION}: run <code>privet sql upgrade</code>" in told
        headers = {"Authorization": f"Bearer {clinic.tokens['owner']}"}
        answer = client.get("/v1/owner/state", headers=headers).json()
        assert answer["sql_functions"] == {"installed": 3, "current": VERSION}


def test_a_ledger_in_a_file_has_no_sql_functions(state, client):
    assert state.find_functions() is None
    owner = {"Authorization": f"Bearer {state.tokens['owner']}"}
    assert client.get("/v1/owner/state", headers=owner).json()["sql_functions"] is None
