"""The page at /: who gets in, what they see, and what they never see."""

from __future__ import annotations

import logging
import re
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from html import unescape
from types import SimpleNamespace

import pytest
from starlette.testclient import TestClient

from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import Receipt, SQLiteLedger, journal
from privet.service import amounts
from privet.service.accounts import FIRST_OWNER
from privet.service.amounts import stack_segments
from privet.service.app import create_app
from privet.service.audit_log import Person, SQLiteAuditLog
from privet.service.oidc.directory import Directory
from privet.service.page import site
from privet.service.page.listing import Charges, Filter, make_listing
from privet.service.page.owner import make_chart
from privet.service.page.site import Sessions
from privet.service.shared import Shared
from privet.service.state import ServiceState
from tests.service.conftest import FAST

OWN = {"Sec-Fetch-Site": "same-origin"}


class Visitor:
    """What a person does with a browser."""

    def __init__(self, client: TestClient, token: str | None = None) -> None:
        self.client = TestClient(client.app, base_url="http://127.0.0.1", follow_redirects=False)
        if token is not None:
            assert self.sign_in(token).status_code == 303

    def sign_in(self, token: str, **headers: str):
        return self.post("/sign-in", {"token": token}, **headers)

    def post(self, address: str, form: dict | None = None, **headers: str):
        return self.client.post(address, data=form or {}, headers={**OWN, **headers})

    def show(self, cookie: str):
        """What this cookie opens."""
        fresh = TestClient(self.client.app, base_url="http://127.0.0.1")
        return fresh.get("/", headers={"Cookie": f"privet={cookie}"})

    def see(self, **query) -> str:
        response = self.client.get("/", params=query)
        assert response.status_code == 200, response.text
        return response.text

    def lines(self, **query) -> list[int]:
        """The numbers of the charges that are listed."""
        return [
            int(number) for number in re.findall(r'class="number line">(\d+)<', self.see(**query))
        ]


@pytest.fixture
def owner(client, state) -> Visitor:
    return Visitor(client, state.tokens["owner"])


@pytest.fixture
def seen_by_ada(client, state) -> Visitor:
    return Visitor(client, state.tokens["ada"])


@pytest.fixture
def asked(state, monkeypatch) -> dict[str, int]:
    """Three charges on three days, one of them without an answer; their numbers."""
    numbers = {}
    charges = [
        ("ada", "counts by colour", "1/3", "2026-01-10"),
        ("bob", "size of the table", "1/7", "2026-02-10"),
    ]
    for analyst, what, price, day in [*charges, ("ada", "counts by age", "1/4", "2026-03-10")]:
        monkeypatch.setattr(journal, "now", lambda day=day: f"{day}T12:00:00.000+00:00")
        entry = state.ledger.charge(
            "people", analyst, Cost.pure(price), what, key=f"key of {what}", request="0" * 64
        )
        numbers[what] = entry.number
        if what != "counts by age":
            state.ledger.record(entry.number, b'{"answer":1}')
    monkeypatch.undo()
    return numbers


# -- getting in ------------------------------------------------------------------------------------


def test_a_stranger_sees_a_form_and_nothing_else(client, asked):
    page = Visitor(client).see()
    assert 'type="password"' in page
    assert 'action="/sign-in"' in page
    for word in ("people", "ada", "bob", "counts"):
        assert word not in page


def test_a_token_opens_the_page_by_a_cookie_that_scripts_and_other_sites_cannot_use(client, state):
    visitor = Visitor(client)
    response = visitor.sign_in(state.tokens["ada"])
    assert (response.status_code, response.headers["location"]) == (303, "/")
    cookie = response.headers["set-cookie"]
    assert re.fullmatch(r"privet=[A-Za-z0-9_-]{32,}; HttpOnly; Path=/; SameSite=strict", cookie)
    assert state.tokens["ada"] not in cookie
    assert "Sign out" in visitor.see()


@pytest.mark.parametrize(
    "headers", [{"X-Forwarded-Proto": "https"}, {"X-Forwarded-Proto": "HTTPS, http"}]
)
def test_behind_tls_the_cookie_is_secure(client, state, headers):
    cookie = Visitor(client).sign_in(state.tokens["ada"], **headers).headers["set-cookie"]
    assert cookie.startswith("__Host-privet=")
    assert "; Secure" in cookie


def test_with_tls_the_cookie_is_secure(client, state):
    secure = TestClient(client.app, base_url="https://127.0.0.1", follow_redirects=False)
    response = secure.post("/sign-in", data={"token": state.tokens["owner"]}, headers=OWN)
    assert "; Secure" in response.headers["set-cookie"]
    assert "Budgets and ledger" in secure.get("/").text


def test_a_token_may_be_pasted_with_spaces_around_it(client, state):
    assert Visitor(client).sign_in(f"  {state.tokens['owner']}\n").status_code == 303


@pytest.mark.parametrize(
    "token", ["", "privet_wrong", "x" * 5000, "\x00", "é" * 40, "revoked 0123456789abcdef"]
)
def test_a_wrong_token_is_told_so_and_not_repeated(standing, token):
    response = Visitor(standing.client).sign_in(token)
    assert response.status_code == 401
    assert "not known" in response.text
    assert response.headers["content-type"].startswith("text/html")
    assert "set-cookie" not in response.headers
    assert len(token) < 2 or token not in response.text


def test_strangers_who_try_many_tokens_have_to_wait(state):
    with TestClient(
        create_app(state, replace(FAST, strangers=0.001)), base_url="http://127.0.0.1"
    ) as client:
        visitor = Visitor(client)
        answers = [visitor.sign_in(f"guess {number}") for number in range(40)]
    assert answers[0].status_code == 401
    assert answers[-1].status_code == 429
    assert int(answers[-1].headers["retry-after"]) >= 1
    assert "Too many attempts" in answers[-1].text


def test_every_sign_in_begins_another_session_and_ends_the_one_before(client, state):
    visitor = Visitor(client, state.tokens["ada"])
    before = visitor.client.cookies["privet"]
    visitor.sign_in(state.tokens["ada"])
    assert visitor.client.cookies["privet"] != before
    assert visitor.show(before).status_code == 401


def test_a_made_up_cookie_opens_nothing(client, state):
    visitor = Visitor(client)
    for value in ("", "x", state.tokens["owner"], "A" * 43):
        response = visitor.show(value)
        assert "Budgets" not in response.text
        assert response.status_code == 401


def test_signing_out_ends_the_session_not_only_the_cookie(client, state):
    visitor = Visitor(client, state.tokens["ada"])
    name = visitor.client.cookies["privet"]
    response = visitor.post("/sign-out")
    assert response.status_code == 303
    assert "privet" not in visitor.client.cookies
    response = visitor.show(name)
    assert response.status_code == 401
    assert "session has ended" in response.text


def test_a_revoked_token_ends_its_sessions_at_once(state, seen_by_ada):
    assert "Your data sets" in seen_by_ada.see()
    state.accounts.revoke("ada")
    assert seen_by_ada.client.get("/").status_code == 401


def test_a_replaced_token_ends_its_sessions_at_once(state, seen_by_ada, owner):
    state.accounts.new_token("ada")
    assert seen_by_ada.client.get("/").status_code == 401
    assert "Budgets" in owner.see()
    state.accounts.new_owner_token()
    assert owner.client.get("/").status_code == 401


def test_a_revoked_grant_is_gone_from_the_page_at_once(state, seen_by_ada):
    state.accounts.revoke("ada", "people")
    page = seen_by_ada.see()
    assert "No data set is granted to you" in page
    assert "Ask from Python" not in page


def test_sessions_end_when_idle_when_old_and_when_there_are_too_many(state, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr("privet.service.page.site.time.time", lambda: now[0])
    shared = Shared(state.path)
    sessions = Sessions(Directory(state.accounts), shared, idle=60, life=200, each=3)
    first = sessions.begin(state.tokens["ada"], Person("ada", "analyst"))
    assert len(first) * 6 >= 192
    now[0] += 59
    assert sessions.find(first).person.name == "ada"
    for _ in range(2):
        now[0] += 59
        assert sessions.find(first)
    now[0] += 59
    assert sessions.find(first) is None  # too old, though never idle
    idle = sessions.begin(state.tokens["ada"], Person("ada", "analyst"))
    now[0] += 61
    assert sessions.find(idle) is None
    mine = [sessions.begin(state.tokens["ada"], Person("ada", "analyst")) for _ in range(5)]
    other = sessions.begin(state.tokens["owner"], FIRST_OWNER)
    assert [sessions.find(name) is not None for name in mine] == [False, False, True, True, True]
    assert sessions.find(other).person == FIRST_OWNER
    assert state.tokens["owner"].encode() not in shared.path.read_bytes()
    assert other.encode() not in shared.path.read_bytes()


def test_nobody_loads_the_page_without_pause(state):
    with TestClient(
        create_app(state, replace(FAST, views=0.001)), base_url="http://127.0.0.1"
    ) as client:
        ada = Visitor(client, state.tokens["ada"])
        answers = [ada.client.get("/") for _ in range(60)]
        assert answers[-1].status_code == 429
        assert answers[-1].headers["content-type"].startswith("text/html")
        assert "Retry-After" in answers[-1].headers
        assert "Budgets" in Visitor(client, state.tokens["owner"]).see()


# -- what browsers are told ------------------------------------------------------------------------


def all_answers(client, state) -> list:
    owner, ada, stranger = (
        Visitor(client, state.tokens["owner"]),
        Visitor(client, state.tokens["ada"]),
        Visitor(client),
    )
    gets = [one.client.get("/") for one in (owner, ada, stranger)]
    bad = [
        owner.client.get("/", params={"page": "x"}),
        ada.client.get("/", params={"since": "yesterday"}),
        stranger.client.get("/verify"),
    ]
    posts = [
        stranger.sign_in("wrong"),
        stranger.post("/verify"),
        owner.post("/verify"),
        ada.post("/verify"),
    ]
    crossed = [ada.post("/sign-out", **{"Sec-Fetch-Site": "cross-site"})]
    return [*gets, *bad, *posts, *crossed, ada.post("/sign-out")]


def test_every_answer_forbids_scripts_frames_caches_and_referrers(client, state):
    for response in all_answers(client, state):
        policy = response.headers["content-security-policy"]
        for part in (
            "default-src 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
        ):
            assert part in policy
        assert re.search(r"style-src 'sha256-[A-Za-z0-9+/]{43}='(;|$)", policy)
        assert "unsafe" not in policy
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["referrer-policy"] == "no-referrer"
        assert response.headers["cache-control"] == "no-store"


def test_pages_load_nothing_run_nothing_and_show_no_token(client, state):
    for response in all_answers(client, state):
        page = response.text
        assert "<script" not in page
        assert not re.search(r"""\s(on\w+|style|src)\s*=""", page)
        assert set(re.findall(r'<link rel="(\w+)"', page)) <= {"icon"}
        assert all(
            link.startswith(("/", "#", "data:"))
            for link in re.findall(r'(?:href|action)="([^"]*)"', page)
        )
        for token in state.tokens.values():
            assert token not in page
            assert token not in response.headers.get("location", "")


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1"},
        {"Origin": "https://evil.example"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Origin": "null"},
        {"Origin": ""},
        {},
    ],
)
@pytest.mark.parametrize("address", ["/sign-in", "/sign-out", "/verify"])
def test_a_form_of_another_site_is_refused(standing, headers, address):
    tokens = standing.state.tokens
    owner = Visitor(standing.client, tokens["owner"])
    response = owner.client.post(address, data={"token": tokens["ada"]}, headers=headers)
    assert response.status_code == 403
    assert response.headers["content-type"].startswith("text/html")
    assert "set-cookie" not in response.headers
    assert "Budgets and ledger" in owner.see()


def test_a_browser_that_tells_the_origin_only_can_sign_in(client, state):
    response = Visitor(client).client.post(
        "/sign-in", data={"token": state.tokens["ada"]}, headers={"Origin": "http://127.0.0.1"}
    )
    assert response.status_code == 303


def test_a_form_that_is_too_long_is_refused(client):
    assert Visitor(client).post("/sign-in", {"token": "x" * 20_000}).status_code == 403


def test_addresses_of_forms_lead_back_when_opened_by_hand(client):
    for address in ("/sign-in", "/sign-out", "/verify"):
        response = Visitor(client).client.get(address, params={"address": "https://evil.example"})
        assert (response.status_code, response.headers["location"]) == (303, "/")


def test_errors_of_the_page_are_pages_and_those_of_programs_stay_problems(
    client, owner, monkeypatch, caplog
):
    response = owner.client.get("/", params={"since": "yesterday"})
    assert response.status_code == 422
    assert "from must be a day" in response.text
    assert response.headers["content-type"].startswith("text/html")
    monkeypatch.setattr(site, "owner_view", lambda *_: 1 / 0)
    with caplog.at_level(logging.CRITICAL):
        response = owner.client.get("/")
    assert response.status_code == 500
    assert "ZeroDivisionError" in response.text
    assert response.headers["content-type"].startswith("text/html")
    for address in ("/v1/datasets", "/v1/nothing"):
        assert client.get(address).headers["content-type"] == "application/problem+json"


def test_a_ledger_that_is_gone_is_told_without_its_place(state, owner, caplog):
    state.ledger.path.rename(state.path / "elsewhere")
    with caplog.at_level(logging.CRITICAL):
        response = owner.client.get("/")
    assert response.status_code == 503
    assert str(state.path) not in response.text


def test_the_page_is_not_in_the_description_of_the_interface(client):
    assert all(path.startswith("/v1/") for path in client.get("/v1/openapi.json").json()["paths"])


# -- the owner -------------------------------------------------------------------------------------


def test_the_owner_sees_every_budget_and_who_spent_it(owner, state, asked):
    state.accounts.grant("bob", "people", datetime.now(UTC) - timedelta(days=1))
    state.accounts.add_analyst("eve")
    page = owner.see()
    # 1/3 + 1/4 + 1/7 = 61/84 of 3: what was spent is rounded up, what is left down.
    assert '<span class="amount" title="exactly 61/84">0.7262</span></b> spent' in page
    assert '<span class="amount" title="exactly 191/84">2.273</span></b> left' in page
    assert 'title="exactly 7/12">0.5834' in page  # ada
    assert "ada spent 0.5834 of 2" in page
    assert ">ended</span>" in page
    assert "no end" in page
    assert re.search(r"Without any grant: .*eve", page)


def test_the_owner_sees_steps_over_time_with_words_for_those_who_cannot(owner, asked):
    page = owner.see()
    assert "<title" in page
    assert "Spend over time on people</title>" in page
    assert re.search(
        (
            r"From 10 January 2026 to \d+ \w+ 20\d\d, 3 charges added up to epsilon 0.7262; the "
            r"cap is "
            r"3\."
        ),
        page,
    )


def test_the_owner_is_told_of_charges_without_an_answer(owner, asked):
    page = owner.see()
    assert "1 charge has no recorded answer" in page
    assert page.count('class="mark warn">no answer<') == 1


def test_the_ledger_can_be_filtered(owner, asked):
    colour, size, age = (
        asked["counts by colour"],
        asked["size of the table"],
        asked["counts by age"],
    )
    assert owner.lines() == [age, size, colour]
    assert owner.lines(analyst="ada") == [age, colour]
    assert owner.lines(dataset="people", analyst="bob") == [size]
    assert owner.lines(dataset="another") == []
    assert owner.lines(text="COUNTS") == [age, colour]
    assert owner.lines(since="2026-02-10") == [age, size]
    assert owner.lines(until="2026-02-10") == [size, colour]
    assert owner.lines(since="2026-02-01", until="2026-02-28") == [size]
    assert owner.lines(state="unanswered") == [age]
    assert owner.lines(state="answered") == [size, colour]
    page = owner.see(text="nothing like it")
    assert "No charge fits this filter. There are 3 in all." in page
    assert 'value="nothing like it"' in page


def test_the_charges_of_one_data_set_are_added_up(owner, asked):
    page = owner.see(dataset="people", analyst="ada")
    assert "2 of 3 charges" in page
    assert (
        'Together they cost epsilon <span class="amount" title="exactly 7/12">0.5834</span>' in page
    )
    assert "Together" not in owner.see(analyst="ada")


@pytest.mark.parametrize(
    "query",
    [
        {"page": "0x1"},
        {"page": "-1"},
        {"page": "9" * 30},
        {"page": "²"},
        {"state": "maybe"},
        {"since": "2026-13-01"},
        {"until": "20260101"},
    ],
)
def test_a_filter_that_is_none_is_told_so(standing, query):
    owner = Visitor(standing.client, standing.state.tokens["owner"])
    assert owner.client.get("/", params=query).status_code == 422


def test_a_long_ledger_is_paged(owner, state):
    first = state.ledger.charge("people", "ada", Cost.pure("1/1000"), "q").number
    for _ in range(120):
        state.ledger.charge("people", "ada", Cost.pure("1/1000"), "q")
    pages = [owner.lines(text="q", page=str(number)) for number in (1, 2, 3)]
    assert [len(page) for page in pages] == [50, 50, 21]
    assert [number for page in pages for number in page] == list(range(first + 120, first - 1, -1))
    page = owner.see(text="q", page="2")
    assert 'rel="prev" href="/?text=q#ledger"' in page
    assert 'rel="next" href="/?text=q&amp;page=3#ledger"' in page
    assert owner.lines(page="999") == pages[2]


def test_the_ledger_was_verified_at_the_start_and_can_be_again(owner, state, asked):
    page = owner.see()
    assert "The ledger is whole." in page
    assert "when the service started" in page
    response = owner.post("/verify")
    assert (response.status_code, response.headers["location"]) == (303, "/#verification")
    assert "when you asked for it" in owner.see()
    with state.ledger._transaction() as connection:
        connection.execute("DROP TRIGGER journal_keeps")
        connection.execute(
            "UPDATE journal SET what = '<b>nothing</b>' WHERE number = ?",
            (asked["size of the table"],),
        )
    owner.post("/verify")
    page = owner.see()
    assert "The ledger is not what it was." in page
    assert f"line {asked['size of the table']} is not what was written" in page


def test_only_the_owner_verifies(seen_by_ada, client):
    assert seen_by_ada.post("/verify").status_code == 403
    assert Visitor(client).post("/verify").status_code == 401


def test_a_data_set_that_is_no_longer_served_keeps_its_history(owner, state, asked):
    state.accounts.remove_dataset("people")
    page = owner.see()
    assert "no longer served" in page
    assert "0.7262" in page
    assert len(owner.lines()) == 3


def test_an_empty_curator_says_so(tmp_path):
    state, token = ServiceState.make(tmp_path / "empty")
    with (
        closing(state.ledger),
        TestClient(create_app(state), base_url="http://127.0.0.1") as client,
    ):
        page = Visitor(client, token).see()
        assert "No data set is registered yet" in page
        assert "Nothing was asked yet" in page
        nobody = state.accounts.add_analyst("nobody")
        page = Visitor(client, nobody).see()
        assert "No data set is granted to you" in page
        assert "Nothing was asked yet" in page


def test_a_data_set_without_a_budget_and_one_in_rho(owner, state, place, schema):
    state.accounts.add_dataset("unpaid", place, schema)
    state.accounts.add_dataset("in-rho", place, schema)
    state.ledger.open_cap("in-rho", Budget(rho="1/2"))
    state.accounts.grant("ada", "in-rho")
    state.ledger.charge("in-rho", "ada", Cost.concentrated("1/8"), "noisy by a bell curve")
    page = owner.see()
    assert "No budget is set" in page
    assert "rho 0.125 of 0.5 spent, 0.375 left" in page
    assert "no pure guarantee, only rho" in page


def test_new_charges_are_seen_at_once(owner, state, asked):
    assert len(owner.lines()) == 3
    number = state.ledger.charge("people", "bob", Cost.pure("1/9"), "one more").number
    assert owner.lines()[0] == number


# -- an analyst ------------------------------------------------------------------------------------


def test_an_analyst_sees_what_is_left(seen_by_ada, state, asked):
    state.accounts.grant("ada", "people", datetime(2099, 5, 6, 7, 8, tzinfo=UTC))
    page = seen_by_ada.see()
    assert (
        'you can spend epsilon <b><span class="amount" title="exactly 17/12">1.416</span>' in page
    )
    assert 'title="exactly 7/12">0.5834</span> of' in page
    assert 'title="exactly 191/84">2.273' in page  # what the data set's cap leaves
    assert "2099-05-06 07:08" in page


def test_what_others_spent_bounds_what_is_left(seen_by_ada, state):
    state.ledger.set_cap("people", Budget("5/2"))
    state.ledger.charge("people", "bob", Cost.pure("7/4"), "much")
    page = seen_by_ada.see()
    assert 'you can spend epsilon <b><span class="amount" title="exactly 3/4">0.75</span>' in page
    assert "Out of reach" in page


def test_an_analyst_sees_nothing_of_others(seen_by_ada, state, asked, place, schema):
    state.accounts.add_dataset("secret-project", place, schema)
    state.ledger.open_cap("secret-project", Budget(1))
    state.accounts.grant("bob", "secret-project")
    state.ledger.charge("secret-project", "bob", Cost.pure("1/11"), "hush")
    for query in (
        {},
        {"analyst": "bob"},
        {"dataset": "secret-project"},
        {"text": "size"},
        {"plan": "secret-project", "questions": "1"},
    ):
        page = seen_by_ada.see(**query)
        for word in ("bob", "size of the table", "1/7", "1/11", "hush", "secret-project"):
            given = word in query.values()  # what was typed may stand in its field again
            assert word not in page or given, (query, word)
        assert asked["size of the table"] not in seen_by_ada.lines(**query)
    assert seen_by_ada.lines(analyst="bob") == [asked["counts by age"], asked["counts by colour"]]


def test_an_analyst_filters_their_own_history(seen_by_ada, asked):
    assert seen_by_ada.lines() == [asked["counts by age"], asked["counts by colour"]]
    assert seen_by_ada.lines(text="colour") == [asked["counts by colour"]]
    assert seen_by_ada.lines(state="unanswered") == [asked["counts by age"]]


def test_receipts_are_those_that_answers_carry(seen_by_ada, ada):
    receipt = ada.post("size", {"epsilon": "0.1"}).json()["receipt"]
    found = re.findall(r"privet-receipt-1[.0-9a-f]+", seen_by_ada.see())
    assert found == [receipt]
    assert Receipt.read(found[0]).answer


def test_a_plan_is_priced_and_not_charged(seen_by_ada, state):
    page = seen_by_ada.see(plan="people", questions="4", price="1/3", unit="epsilon")
    assert "It fits." in page
    assert 'epsilon <span class="amount" title="exactly 4/3">1.334</span>' in page
    assert 'epsilon <span class="amount" title="exactly 2/3">0.6666</span>' in page  # afterwards
    assert "<dd>6</dd>" in page
    assert state.ledger.entries() == []
    page = seen_by_ada.see(plan="people", questions="7", price="1/3", unit="epsilon")
    assert "It does not fit." in page
    page = seen_by_ada.see(plan="people", questions="1", price="0.001", unit="rho")
    assert "pure epsilon budget" in page


def test_a_plan_costs_what_the_neighbours_cost(state, client, place, schema):
    state.accounts.add_dataset(
        "replaced", place, replace(schema, neighbours="replace", rows_per_person=3)
    )
    state.ledger.open_cap("replaced", Budget(10))
    state.accounts.grant("ada", "replaced")
    page = Visitor(client, state.tokens["ada"]).see(
        plan="replaced", questions="2", price="0.1", unit="epsilon"
    )
    assert 'epsilon <span class="amount" title="exactly 6/5">1.2</span>' in page
    assert "one person replaced by another" in page
    assert "at most 3" in page


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"questions": "0"}, "integer from 1"),
        ({"questions": "many"}, "integer from 1"),
        ({"questions": "99999999999"}, "integer from 1"),
        ({"price": "-1"}, "price must be"),
        ({"price": ""}, "price must be"),
        ({"price": "1e999999999"}, "price must be"),
        ({"price": "<b>"}, "price must be"),
        ({"plan": "another"}, "granted to you"),
    ],
)
def test_a_plan_that_is_none_is_told_so(standing, change, told):
    page = Visitor(standing.client, standing.state.tokens["ada"]).see(
        **{"plan": "people", "questions": "1", "price": "0.1", "unit": "epsilon", **change}
    )
    assert told in page
    assert 'id="estimate"' not in page
    assert "'<b>'" not in page


def test_a_plan_with_no_table_behind_it_is_priced(state, client, tmp_path):
    (tmp_path / "people.db").unlink()
    assert "It fits." in Visitor(client, state.tokens["ada"]).see(
        plan="people", questions="1", price="0.1", unit="epsilon"
    )


def test_what_is_public_is_shown_and_no_place(seen_by_ada, state, schema):
    page = seen_by_ada.see()
    facts = ["no, yes", "one person added or removed", schema.fingerprint]
    for text in ["colour", "red, green, blue", "number, 4 bins", "[0, 20), [20, 40)", *facts]:
        assert text in page
    assert "people.db" not in page
    assert "duckdb" not in page


def test_the_snippet_is_python_that_names_this_server(seen_by_ada, state):
    snippet = unescape(
        re.search(r"<code>(import privet.*?)</code>", seen_by_ada.see(), re.DOTALL)[1]
    )
    compile(snippet, "snippet", "exec")
    assert "pv.connect('http://127.0.0.1', dataset='people')" in snippet
    seen_by_ada.client.headers["host"] = "x'><script>"
    assert "<script" not in seen_by_ada.see()


NASTY = [
    "<script>alert(1)<b>",
    "\"quotes' &amp; `ticks`",
    "שלום",
    "x" * 500,
    "{{ 7 * 7 }}{% raw %}",
    "javascript:alert(1)",
]


@pytest.mark.parametrize("name", NASTY)
def test_names_are_text_whatever_they_hold(client, state, place, schema, name):
    token = state.accounts.add_analyst(name)
    state.accounts.add_dataset(name, place, schema)
    state.ledger.open_cap(name, Budget(1))
    state.accounts.grant(name, name)
    state.ledger.charge(name, name, Cost.pure("1/8"), f"{name}\u202e\x00\n</td>")
    for page in (
        Visitor(client, state.tokens["owner"]).see(dataset=name, text=name),
        Visitor(client, token).see(plan=name, text=name),
    ):
        assert "<script" not in page
        assert "<b>alert" not in page
        assert "\u202e" not in page
        assert "\\u202e\\x00\\n&lt;/td&gt;" in page
        assert "49" not in re.findall(r"<bdi[^>]*>([^<]*)</bdi>", page)
        assert name in unescape(page)


# -- the parts -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("amount", "up", "down"),
    [
        ("0", "0", "0"),
        ("1/3", "0.3334", "0.3333"),
        ("2/3", "0.6667", "0.6666"),
        ("0.05", "0.05", "0.05"),
        ("99999/10000", "10", "9.999"),
        ("1000001", "1001000", "1000000"),
        ("1/999999", "1.001e-6", "1e-6"),
        ("1e-30", "1e-30", "1e-30"),
        ("123456789e40", "1.235e+48", "1.234e+48"),
    ],
)
def test_amounts_are_never_rounded_in_our_favour(amount, up, down):
    value = Fraction(amount)
    assert (amounts.format_up(value), amounts.format_down(value)) == (up, down)
    assert Fraction(amounts.format_down(value)) <= value <= Fraction(amounts.format_up(value))


def test_long_amounts_are_shown_by_their_first_digits():
    assert amounts.format_exactly(Fraction(1, 3)) == "1/3"
    assert amounts.format_exactly(Fraction(10**200, 3 * 10**200 + 1)).startswith("0.33333333")


def test_bars_fill_their_width_and_not_more():
    segments = stack_segments(
        Fraction(4), [("a", Fraction(1)), ("b", Fraction(0)), ("c", Fraction(2))]
    )
    assert [(one.tone, one.x, one.width) for one in segments] == [("a", 0, 25), ("c", 25, 50)]
    beyond = stack_segments(Fraction(1), [("a", Fraction(3)), ("b", Fraction(1))])
    assert beyond[-1].x + beyond[-1].width == 100
    assert stack_segments(Fraction(0), []) == []


def test_a_chart_rises_to_what_was_spent(state, asked):
    entries = state.ledger.entries()
    assert make_chart([], Budget(1)) is None
    drawn = make_chart(entries, Budget(3), datetime(2026, 4, 10, tzinfo=UTC))
    heights = [float(text) for text in re.findall(r"V([\d.]+)", drawn.line)]
    assert heights == sorted(heights, reverse=True)
    assert heights[-1] == pytest.approx(150 - 61 / 84 / (3 * 1.02) * 150, abs=0.1)
    assert [tick.text for tick in drawn.dates] == ["10 Jan", "9 Feb", "11 Mar", "10 Apr"]
    assert drawn.cap.text == "3"
    assert drawn.ticks[0].text == "0"


def test_a_chart_of_a_clock_that_was_set_back_still_rises(state, asked):
    entries = state.ledger.entries()
    drawn = make_chart(
        [entries[2], entries[0], entries[1]], Budget(1), datetime(2026, 1, 1, tzinfo=UTC)
    )
    heights = [float(text) for text in re.findall(r"V([\d.]+)", drawn.line)]
    assert heights == sorted(heights, reverse=True)


def test_a_long_history_makes_a_small_picture_and_is_read_once(tmp_path, monkeypatch):
    ledger = SQLiteLedger(tmp_path / "ledger.sqlite")
    with closing(ledger):
        ledger.set_cap("people", Budget(1000))
        ledger.charge("people", "ada", Cost.pure(1), "first")
        cap, charge = ledger.journal()
        real = ledger.journal
        monkeypatch.setattr(ledger, "journal", lambda: iter([cap, *[charge] * 20_000]))
        log = SQLiteAuditLog(tmp_path / "audit-log.sqlite")
        charges = Charges(SimpleNamespace(ledger=ledger, audit_log=log))
        assert len(charges.entries()) == 20_000
        assert [change.what for change in charges.changes()] == [
            "cap of all analysts: epsilon 1000"
        ]
        monkeypatch.setattr(ledger, "journal", lambda: pytest.fail("read again"))
        shown = make_listing(charges.entries(), set(), Filter(page=400))
        assert (shown.pages, len(shown.rows), shown.older) == (400, 50, None)
        assert len(make_chart(charges.entries(), Budget(1000)).line) < 20_000
        monkeypatch.setattr(ledger, "journal", real)
        ledger.set_cap("people", Budget(2))
        assert len(charges.entries()) == 1, "what was added is read"
        assert charges.changes()[-1].what == "cap of all analysts: epsilon 2"
