"""The pages of owners and auditors: who may do what, and what a form must carry."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest

from privet.accounting.cost import Budget
from privet.service.accounts import FIRST_OWNER
from privet.service.audit_log import Person
from privet.service.owner import people
from privet.service.owner.datasets import pause_dataset, resume_dataset
from privet.service.owner.desk import Desk
from privet.service.owner.overview import list_people
from privet.service.owner.places import AllowedPlaces
from tests.service.conftest import SCHEMA, copy_table
from tests.service.test_page import Visitor

PAGES = ("data-sets", "people", "audit-log", "service")


class Manager(Visitor):
    """An owner or auditor with a browser."""

    def page(self, path: str, status: int = 200) -> str:
        response = self.client.get(f"/{path}")
        assert response.status_code == status, response.text
        return unescape(response.text)

    @property
    def csrf(self) -> str:
        return re.search(r'name="csrf" value="([0-9a-f]{64})"', self.page("people"))[1]

    def change(self, change: str, /, back: str = "data-sets", **form: str):
        given = {"csrf": self.csrf, "back": back, **form}
        return self.post(f"/change/{change}", given)


@pytest.fixture
def owner(client, state) -> Manager:
    return Manager(client, state.tokens["owner"])


@pytest.fixture
def auditor(client, state) -> Manager:
    token = people.add_staff(Desk(state, FIRST_OWNER), "dora", "auditor").token
    return Manager(client, token)


def test_a_change_is_made_and_told_after_a_redirect(owner, state):
    response = owner.change("change-cap", dataset="people", epsilon="1", rho="", why="the board")
    assert response.status_code == 303
    assert response.headers["location"] == "/data-sets?done=1#done"
    assert state.ledger.cap("people") == Budget(1)
    told = owner.page("data-sets?done=1")
    assert "Done." in told
    assert "the cap of 'people' is epsilon 1; it was epsilon 3 (the board)" in told
    assert "the board" in owner.page("audit-log")


def test_what_others_did_is_not_told_as_done(auditor, state):
    assert state.audit_log.line(1).who == "owner"
    assert "Done." not in auditor.page("data-sets?done=1")
    for odd in ("x", "-1", "99999999999999999999", "\u0661"):
        auditor.page(f"data-sets?done={odd}")


@pytest.mark.parametrize("csrf", ["", "0" * 64, "\u00e9"])
def test_a_form_without_the_token_of_the_session_does_nothing(owner, state, csrf):
    form = {"csrf": csrf, "back": "data-sets", "dataset": "people", "epsilon": "9"}
    response = owner.post("/change/change-cap", form)
    assert response.status_code == 403
    assert "not one of your session" in response.text
    assert state.ledger.cap("people") == Budget(3)


def test_the_token_of_forms_is_that_of_one_session(client, owner, state):
    other = Manager(client, state.tokens["owner"])
    assert other.csrf != owner.csrf
    form = {"csrf": other.csrf, "back": "data-sets", "dataset": "people", "epsilon": "9"}
    assert owner.post("/change/change-cap", form).status_code == 403


def test_a_form_of_another_site_does_nothing(owner, state):
    form = {"csrf": owner.csrf, "back": "data-sets", "dataset": "people", "epsilon": "9"}
    response = owner.client.post(
        "/change/change-cap", data=form, headers={"Sec-Fetch-Site": "cross-site"}
    )
    assert response.status_code == 403
    assert state.ledger.cap("people") == Budget(3)


def test_an_analyst_is_sent_to_their_own_page(client, state):
    ada = Manager(client, state.tokens["ada"])
    for page in PAGES:
        assert ada.client.get(f"/{page}").headers["location"] == "/"
    for path in ("/report?dataset=people&since=2026-01-01&until=2026-01-02", "/export/ledger"):
        assert ada.client.get(path).status_code in (303, 404, 422)
        assert "Signature" not in ada.client.get(path).text
        assert "number,time,kind" not in ada.client.get(path).text
    assert ada.post("/change/change-cap", {"dataset": "people", "epsilon": "9"}).status_code == 303
    assert state.ledger.cap("people") == Budget(3)


def test_strangers_sign_in_first(client):
    nobody = Manager(client)
    for path in (*PAGES, "report", "export/ledger"):
        assert "Sign in" in nobody.page(path, 401)
    assert nobody.post("/change/grant", {}).status_code == 401


def test_an_auditor_sees_everything_and_no_form(auditor, state):
    for page in PAGES:
        assert 'action="/change/' not in auditor.page(page)
    form = {"back": "data-sets", "dataset": "people", "epsilon": "9"}
    from privet.service.page.manage import make_form_token

    form["csrf"] = make_form_token(auditor.client.cookies["privet"])
    response = auditor.post("/change/change-cap", form)
    assert response.status_code == 403
    assert "reads everything and changes nothing" in response.text
    assert state.ledger.cap("people") == Budget(3)
    assert state.audit_log.events()[-1].kind == "change refused"


def test_what_was_typed_is_shown_again_but_no_password(owner):
    response = owner.change(
        "add-dataset", name="clinic", place="/etc/passwd", schema="{}", epsilon="1"
    )
    assert response.status_code == 422
    told = unescape(response.text)
    assert 'value="clinic"' in told
    assert 'role="alert"' in told
    place = "postgresql://reader@db.example/clinic?table=people"
    response = owner.change("update-dataset", name="people", place=place, password="hunter2")
    assert response.status_code == 422
    assert "must be an allowed one" in unescape(response.text)
    assert "hunter2" not in response.text


def test_a_data_set_is_added_and_tested_on_the_page(owner, state, tmp_path):
    import json

    (tmp_path / "tables").mkdir()
    place = copy_table(tmp_path / "people.db", tmp_path / "tables")
    AllowedPlaces().allowing(str(tmp_path / "tables")).write(state.path)
    schema = json.dumps(SCHEMA.to_json())
    made = owner.change("add-dataset", name="clinic", place=place, schema=schema, epsilon="1/2")
    assert made.status_code == 303, unescape(made.text)
    assert state.ledger.cap("clinic") == Budget("1/2")
    assert "can be reached, and is as the schema says" in owner.page("data-sets?test=clinic")
    (tmp_path / "tables" / "people.db").unlink()
    assert "cannot be reached" in owner.page("data-sets?test=clinic")


def test_a_new_token_is_shown_by_the_answer_alone(owner, state):
    response = owner.change("replace-token", back="people", name="ada")
    assert response.status_code == 200
    assert response.headers["cache-control"] == "no-store"
    token = re.search(r"privet_[\w-]{40,}", response.text)[0]
    assert state.accounts.analyst_of(token) == "ada"
    assert token not in "".join(owner.page(page) for page in ("people", "audit-log"))


def test_the_page_says_which_tokens_end(owner, state):
    owner.change("replace-token", back="people", name="ada", until="2999-01-31")
    assert state.accounts.token_ends() == {Person("ada", "analyst"): "2999-01-31T00:00:00+00:00"}
    assert "2999-01-31 00:00" in owner.page("people")
    assert ">ended<" not in owner.page("people")
    state.accounts.new_token("bob", ends=datetime(2020, 1, 31, tzinfo=UTC))
    assert '<span class="mark alarm">ended</span> 2020-01-31 00:00' in owner.page("people")


def test_no_page_names_a_password(owner, state):
    place = "postgresql://reader:old-secret@db.example/clinic?table=people"
    state.accounts.update_dataset("people", place, SCHEMA)
    pages = "".join(owner.page(page) for page in PAGES)
    assert "old-secret" not in pages
    assert "db.example/clinic" in pages


def test_reports_and_exports_are_downloaded(auditor):
    days = "since=2001-01-01&until=2999-01-01"
    response = auditor.client.get(f"/report?dataset=people&{days}")
    assert "Signature of the data-protection officer" in response.text
    policy = response.headers["content-security-policy"]
    assert "'unsafe-inline'" not in policy
    assert "default-src 'none'" in policy
    exported = auditor.client.get(f"/export/ledger?format=csv&{days}")
    assert exported.headers["content-disposition"] == 'attachment; filename="ledger.csv"'
    assert exported.text.startswith("number,time,kind")
    assert auditor.client.get("/export/audit-log?format=json").status_code == 200
    assert auditor.client.get("/export/passwords").status_code == 422
    assert auditor.client.get("/export/ledger?format=xml").status_code == 422


def test_every_page_has_the_headers_that_forbid_scripts(owner):
    for page in ("", *PAGES):
        headers = owner.client.get(f"/{page}").headers
        assert "script" not in headers["content-security-policy"]
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "<script" not in owner.page(page)


def test_caps_and_rights_are_in_the_history(owner):
    owner.change("grant", analyst="ada", dataset="people", epsilon="1", until="2999-01-01")
    told = owner.page("?state=changes")
    assert "cap of ada: epsilon 1" in told
    assert "'ada' may spend epsilon 1 on 'people', until 2999-01-01" in told
    assert "cap of all analysts: epsilon 3" in told
    assert 'class="changed"' not in owner.page("?state=questions")


def test_there_are_no_other_forms(owner):
    for name in ("nothing", "../verify", "add-dataset%00"):
        response = owner.post(f"/change/{name}", {"csrf": owner.csrf, "back": "people"})
        assert response.status_code in (303, 404, 422)
    assert owner.change("revoke", back="https://evil.example", analyst="ada").status_code == 422


def test_an_analyst_sees_that_a_data_set_is_paused(client, state):
    ada = Manager(client, state.tokens["ada"])
    assert "paused" not in ada.page("")
    desk = Desk(state, FIRST_OWNER)
    pause_dataset(desk, "people", "a leak is looked into")
    told = ada.page("")
    assert "no question is answered until it is resumed" in told
    assert "leak" not in told, "the owner's reason is for the audit log"
    resume_dataset(desk, "people")
    assert "paused" not in ada.page("")


def test_a_grant_that_has_ended_is_nothing_that_may_be_asked(owner, state):
    assert "may ask about" in owner.page("people")
    for analyst in state.accounts.analysts():
        state.accounts.grant(analyst, "people", datetime.now(UTC) - timedelta(days=1))
    listed = list_people(Desk(state, FIRST_OWNER))["analysts"]
    assert [one["datasets"] for one in listed] == [[]] * len(listed)
    rights = owner.page("people").partition("Owners and auditors")[0]
    assert ">people<" not in rights
    assert "nothing" in rights
