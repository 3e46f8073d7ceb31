"""The API for owners and auditors: what the command line can do, by the same functions."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest

from privet.accounting.cost import Budget, Cost
from privet.service.accounts import FIRST_OWNER
from privet.service.audit_log import Person
from privet.service.owner import people
from privet.service.owner.changes import CHANGES
from privet.service.owner.desk import Desk
from privet.service.owner.places import AllowedPlaces
from tests.service.conftest import SCHEMA, Analyst, copy_table


class Caller:
    """What a program of an owner or auditor does."""

    def __init__(self, client, token: str) -> None:
        self.client, self.headers = client, {"Authorization": f"Bearer {token}"}

    def get(self, path: str, **params: str):
        return self.client.get(f"/v1/owner/{path}", params=params, headers=self.headers)

    def do(self, change: str, **body):
        return self.client.post(f"/v1/owner/{change}", json=body, headers=self.headers)


@pytest.fixture
def owner(client, state) -> Caller:
    return Caller(client, state.tokens["owner"])


@pytest.fixture
def auditor(client, state) -> Caller:
    desk = Desk(state, FIRST_OWNER)
    return Caller(client, people.add_staff(desk, "dora", "auditor").token)


def done(response) -> dict:
    assert response.status_code == 200, response.text
    return response.json()


def refused(response, status: int, kind: str) -> str:
    assert response.status_code == status, response.text
    told = response.json()
    assert told["type"] == f"urn:privet:problem:{kind}", told
    return told["detail"]


READS = ("datasets", "people", "reservations", "state", "datasets/people/test")
EXPORTS = ("ledger", "audit-log")


def test_strangers_and_analysts_come_nowhere(client, state):
    assert Analyst(client, state.tokens["owner"]).get("datasets").status_code == 401
    for token, status in ((state.tokens["ada"], {403}), ("privet_wrong", {401, 429})):
        caller = Caller(client, token)
        for path in (*READS, *EXPORTS):
            assert caller.get(path).status_code in status
        for change in CHANGES:
            assert caller.do(change).status_code in status


def test_an_auditor_reads_everything_and_changes_nothing(auditor, state):
    for path in (*READS, *EXPORTS):
        assert auditor.get(path).status_code == 200
    assert done(auditor.do("verify")) == {"whole": True, "ledger": [], "audit_log": []}
    for change in CHANGES:
        assert "reads everything and changes nothing" in refused(auditor.do(change), 403, "role")
    kinds = {event.kind for event in state.audit_log.events() if event.who == "dora"}
    assert kinds == {"change refused"}


def test_an_owner_lives_a_whole_life(owner, client, state, tmp_path):
    (tmp_path / "tables").mkdir()
    place = copy_table(tmp_path / "people.db", tmp_path / "tables")
    AllowedPlaces().allowing(str(tmp_path / "tables")).write(state.path)
    new = {"name": "clinic", "place": place, "schema": SCHEMA.to_json(), "epsilon": "1/2"}
    assert "budget epsilon 0.5" in done(owner.do("add-dataset", **new))["said"]
    token = done(owner.do("add-analyst", name="eve", why="a new study"))["token"]
    done(owner.do("grant", analyst="eve", dataset="clinic", epsilon=0.25, until="30d"))
    eve = Analyst(client, token)
    assert eve.post("size", {"epsilon": "1/10"}, dataset="clinic").status_code == 200
    told = done(owner.do("change-cap", dataset="clinic", epsilon="1/20"))
    assert "nothing more can be spent" in told["warnings"][0]
    assert eve.post("size", {"epsilon": "1/1000"}, dataset="clinic").status_code == 403
    done(owner.do("change-cap", dataset="clinic", epsilon="1/2"))
    done(owner.do("pause-dataset", name="clinic"))
    assert eve.post("size", {"epsilon": "1/1000"}, dataset="clinic").status_code == 409
    done(owner.do("resume-dataset", name="clinic"))
    body = {"key": "fit-1", "what": "fit of privet", "epsilon": "1/10"}
    assert eve.post("reservations", body, dataset="clinic").status_code == 201
    (held,) = owner.get("reservations").json()["reservations"]
    assert (held["analyst"], held["left"], held["key"]) == ("eve", "1/10", "fit-1")
    done(owner.do("cancel-reservation", analyst="eve", key="fit-1"))
    fresh = done(owner.do("replace-token", name="eve"))["token"]
    assert eve.get("datasets").status_code == 401
    listed = {one["name"]: one for one in owner.get("datasets").json()["datasets"]}
    assert listed["clinic"]["spent"] == "1/10"
    assert listed["clinic"]["analysts"][0]["granted"] is True
    done(owner.do("revoke", analyst="eve", dataset="clinic"))
    assert Analyst(client, fresh).get("datasets").json()["datasets"] == []
    done(owner.do("remove-analyst", name="eve"))
    done(owner.do("remove-dataset", name="clinic"))
    listed = {one["name"]: one for one in owner.get("datasets").json()["datasets"]}
    assert (listed["clinic"]["served"], listed["clinic"]["spent"]) == (False, "1/10")
    assert done(owner.do("verify"))["whole"] is True
    kinds = [event.kind for event in state.audit_log.events() if event.role == "owner"]
    assert kinds == [
        "dataset added", "analyst added", "grant", "cap", "cap", "dataset paused",
        "dataset resumed", "reservation cancelled", "token replaced", "revoke", "analyst removed",
        "dataset removed",
    ]  # fmt: skip


def test_owners_and_auditors_are_made_and_end_at_once(owner, client, state):
    token = done(owner.do("add-staff", name="otto", role="owner"))["token"]
    otto = Caller(client, token)
    done(otto.do("grant", analyst="ada", dataset="people", epsilon=1))
    assert state.audit_log.events()[-1].person == "otto (owner)"
    fresh = done(owner.do("replace-staff-token", name="otto"))["token"]
    assert otto.get("people").status_code == 401
    done(owner.do("remove-staff", name="otto"))
    assert Caller(client, fresh).get("people").status_code == 401
    assert [one["name"] for one in owner.get("people").json()["staff"]] == ["owner"]


@pytest.mark.parametrize(
    ("change", "body", "group"),
    [
        ("add-analyst", {"name": "eve"}, "analysts"),
        ("replace-token", {"name": "ada", "overlap": "1h"}, "analysts"),
        ("add-staff", {"name": "otto", "role": "auditor"}, "staff"),
        ("replace-staff-token", {"name": "owner"}, "staff"),
    ],
)
def test_a_token_has_the_end_that_the_owner_says(owner, client, state, change, body, group):
    token = done(owner.do(change, **body, until="2999-01-31"))["token"]
    assert state.accounts.person_of(token).name == body["name"]
    asked = Caller(client, token) if body["name"] == "owner" else owner
    (told,) = [one for one in asked.get("people").json()[group] if one["name"] == body["name"]]
    assert (told["token_until"], told["token_over"]) == ("2999-01-31T00:00:00+00:00", False)
    assert re.search(
        "(good|with a token) until 2999-01-31T00:00", state.audit_log.events()[-1].what
    )
    refused = asked.do(change, **body, until="2020-01-31")
    assert refused.status_code == 422
    assert "until must be a time to come" in refused.text


@pytest.mark.parametrize(
    ("change", "body", "told"),
    [
        ("grant", {"analyst": "ada"}, "body.dataset: is required"),
        ("grant", {"analyst": "ada", "dataset": "people", "budget": 1}, "is not known here"),
        ("grant", {"analyst": "ada", "dataset": "people", "epsilon": 1, "rho": 1}, "either"),
        ("grant", {"analyst": "ada", "dataset": "people", "until": "soon"}, "until must be"),
        ("change-cap", {"dataset": "people"}, "give a cap: epsilon or rho"),
        ("update-dataset", {"name": "people"}, "say what changes"),
        ("update-dataset", {"name": "people", "place": "/etc/passwd"}, "an allowed folder"),
        ("update-dataset", {"name": "people", "schema": "{"}, "the schema is no JSON"),
        ("update-dataset", {"name": "people", "same_rows": "yes"}, "must be true or false"),
        ("add-staff", {"name": "eve", "role": "king"}, "'owner' or 'auditor'"),
        ("pause-dataset", {"name": "nothing"}, "no data set 'nothing'; there are 'people'"),
        ("revoke", {"analyst": "ada", "why": "a\nb"}, "one line"),
    ],
)
def test_what_is_wrong_is_said_and_changes_nothing(owner, state, change, body, told):
    before = state.accounts.grants(), state.ledger.books(), state.accounts.datasets()
    response = owner.do(change, **body)
    assert response.status_code == 422, response.text
    assert told in response.json()["detail"]
    assert (state.accounts.grants(), state.ledger.books(), state.accounts.datasets()) == before
    assert state.audit_log.events() == []


def test_histories_are_exported_for_machines_and_spreadsheets(owner, state):
    entry = state.ledger.charge(
        "people", "ada", Cost.pure("1/3"), "=1+1", key="k", request="r", asked="size of the table"
    )
    lines = [json.loads(line) for line in owner.get("ledger").text.splitlines()]
    assert [line["kind"] for line in lines] == ["cap", "cap", "cap", "charge"]
    assert lines[-1]["asked"] == "size of the table"
    assert lines[-1]["hash"] == entry.hash
    response = owner.get("ledger", format="csv", dataset="people", analyst="ada")
    assert response.headers["content-disposition"] == 'attachment; filename="ledger.csv"'
    rows = list(csv.DictReader(io.StringIO(response.text)))
    assert [row["what"] for row in rows] == ["cap: epsilon 2", "'=1+1"]
    assert owner.get("ledger", to="2001-01-01").text == ""
    owner.do("pause-dataset", name="people", why="@rebuilt")
    row = next(csv.DictReader(io.StringIO(owner.get("audit-log", format="csv").text)))
    assert (row["kind"], row["who"], row["dataset"]) == ("dataset paused", "owner", "people")
    for params in ({"format": "xml"}, {"from": "soon"}, {"from": "2026-02-01", "to": "2026-01-01"}):
        assert owner.get("audit-log", **params).status_code == 422


def test_no_password_and_no_token_leaves(owner, state):
    place = "postgresql://reader:old-secret@db.example/clinic?table=people&password=other-secret"
    state.accounts.update_dataset("people", place, SCHEMA)
    everything = "".join(owner.get(path).text for path in (*READS, *EXPORTS))
    assert "secret" not in everything
    assert "db.example" in everything, "the owner sees where it is"
    assert owner.get("datasets/people/test").json()["reachable"] is False


def test_the_description_names_every_change(client):
    paths = client.get("/v1/openapi.json").json()["paths"]
    for name, change in CHANGES.items():
        described = paths[f"/v1/owner/{name}"]["post"]
        schema = described["requestBody"]["content"]["application/json"]["schema"]
        assert schema["properties"].keys() == change.shape.of.keys()


def test_a_person_is_who_their_token_says(owner, state):
    assert state.accounts.person_of(state.tokens["bob"]) == Person("bob", "analyst")
    assert state.ledger.cap("people") == Budget(3)


def test_a_report_is_served_where_nothing_can_run(auditor):
    days = {"from": "2001-01-01", "to": "2999-12-31"}
    response = auditor.get("report", dataset="people", **days)
    assert response.status_code == 200
    assert "sandbox" in response.headers["content-security-policy"]
    assert "Signature of the data-protection officer" in response.text
    written = auditor.get("report", dataset="people", format="md", **days)
    assert written.headers["content-type"].startswith("text/markdown")
    assert auditor.get("report", dataset="cars", **days).status_code == 422
    assert auditor.get("report", dataset="people", format="pdf", **days).status_code == 422
    assert auditor.get("report", dataset="people").status_code == 422
