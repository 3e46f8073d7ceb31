"""Signing in with OpenID Connect: who comes in, and what is refused."""

from __future__ import annotations

import base64
import hmac
import json
import time
from dataclasses import replace

import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey
from starlette.testclient import TestClient

from privet.errors import AccessError, ParameterError
from privet.service.app import create_app
from privet.service.audit_log import Person
from privet.service.oidc import provider as provider_module
from privet.service.oidc.directory import Directory
from privet.service.oidc.provider import Provider
from privet.service.oidc.settings import OidcSettings, read_oidc
from tests.service.conftest import FAST
from tests.service.oidc_provider import AUDIENCE, CLIENT, SECRET, SmallProvider

NAMES = {"name_claim": "preferred_username", "owner": {"groups": "owners"}}


@pytest.fixture
def small():
    made = SmallProvider()
    yield made
    made.close()


@pytest.fixture
def settings(small) -> OidcSettings:
    table = {"issuer": small.issuer, "client_id": CLIENT, "audience": AUDIENCE, **NAMES}
    return read_oidc(table, "", SECRET)


@pytest.fixture
def browser(state, settings):
    app = create_app(state, FAST, oidc=settings)
    with TestClient(app, base_url="http://127.0.0.1", follow_redirects=False) as client:
        yield client


def leave(browser) -> str:
    """Follow the page's button; where the browser is sent."""
    assert 'href="/oidc/sign-in"' in browser.get("/").text
    answer = browser.get("/oidc/sign-in")
    assert answer.status_code == 303
    return answer.headers["location"]


def sign_in(browser, small):
    return browser.get(small.authorize(leave(browser)))


def test_an_analyst_signs_in_sees_their_page_and_signs_out(browser, small, state):
    answer = sign_in(browser, small)
    assert answer.status_code == 200, answer.text
    cookie = next(c for c in answer.headers.get_list("set-cookie") if c.startswith("privet="))
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    page = browser.get("/")
    assert "ada" in page.text
    assert "people" in page.text
    out = browser.post("/sign-out", headers={"Sec-Fetch-Site": "same-origin"})
    assert f"{small.issuer}/end_session?client_id={CLIENT}" in out.text.replace("&amp;", "&")
    assert "Your token" in browser.get("/").text


def test_an_owner_is_who_the_rule_says(browser, small):
    small.person = {"sub": "1", "preferred_username": "grace", "groups": ["staff", "owners"]}
    assert sign_in(browser, small).status_code == 200
    assert "verification" in browser.get("/").text


def test_somebody_without_an_account_gets_none(browser, small, state):
    small.person = {"sub": "1", "preferred_username": "mallory"}
    answer = sign_in(browser, small)
    assert answer.status_code == 403
    assert "no account" in answer.text
    assert "mallory" not in state.accounts.analysts()
    assert "Your token" in browser.get("/").text


def test_an_analyst_who_is_removed_is_out_at_once(browser, small, state):
    sign_in(browser, small)
    state.accounts.remove_analyst("ada")
    assert browser.get("/").status_code == 401


def test_who_comes_back_must_have_left_from_here(browser, small):
    back = small.authorize(leave(browser))
    forged = back.replace("state=", "state=x")
    assert browser.get(forged).status_code == 403
    assert browser.get(back).status_code == 403, "the journey is over"
    small.authorize(leave(browser))
    other = back.replace(f"iss={small.issuer}", "iss=https://other.example")
    assert browser.get(other).status_code == 403
    browser.cookies.clear()
    assert browser.get(small.authorize(leave(browser))).status_code == 200, "it begins anew"


def test_a_code_is_worth_nothing_to_another_browser(browser, small):
    """An attacker's code, with the state that the victim's browser has."""
    leave(browser)
    journey = browser.cookies["privet-oidc"].strip('"')
    small.authorize(leave(browser))  # another verifier, another nonce
    browser.cookies.set("privet-oidc", journey)
    state = journey.split(".")[0]
    assert browser.get(f"/oidc/callback?code=the-code&state={state}").status_code == 403


@pytest.mark.parametrize(
    "changes",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"aud": "another"},
        {"aud": [CLIENT, "another"]},
        {"aud": [CLIENT, "another"], "azp": "another"},
        {"azp": "another"},
        {"iss": "https://other.example"},
        {"exp": 1_000_000_000},
        {"exp": None},
        {"sub": None},
        {"iat": 32_000_000_000},
    ],
    ids=str,
)
def test_a_wrong_claim_is_refused(browser, small, changes):
    small.changes = changes
    answer = sign_in(browser, small)
    assert answer.status_code == 403
    assert "Your token" in browser.get("/").text


def ask(browser, token):
    return browser.get("/v1/datasets", headers={"Authorization": f"Bearer {token}"})


def test_a_program_asks_with_an_access_token(browser, small, state):
    answer = ask(browser, small.token())
    assert answer.json()["analyst"] == "ada"
    assert ask(browser, state.tokens["ada"]).status_code == 200, "tokens of Privet work beside it"


def test_tokens_that_are_not_for_programs_are_refused(browser, small):
    now = int(time.time())
    for token in (
        small.token(aud=CLIENT),  # proof of a sign-in
        small.token(exp=now - 61),
        small.token(iss="https://other.example"),
        small.token(nbf=now + 90),
        small.token(preferred_username="mallory"),
        small.token(preferred_username=7),
        small.token(preferred_username="grace", groups=["owners"]),
    ):
        refused = ask(browser, token)
        assert refused.status_code == 401
        assert token not in refused.text
    assert ask(browser, small.token(exp=now - 30)).status_code == 200, "clocks differ a little"


def test_signatures_that_are_none_are_refused(browser, small):
    good = small.token()
    head, body, signature = good.split(".")

    def unpad(written):
        return base64.urlsafe_b64encode(written).decode().rstrip("=")

    def pack(told):
        return unpad(json.dumps(told).encode())

    public = small.keys[0].as_pem(private=False)
    claims = json.loads(base64.urlsafe_b64decode(body + "=="))
    # the public key, taken for a shared secret
    mixed = f"{pack({'alg': 'HS256', 'kid': 'first'})}.{body}"
    stranger = RSAKey.generate_key(2048, {"kid": "first"})
    for token in (
        f"{pack({'alg': 'none'})}.{body}.",
        f"{pack({'alg': 'none', 'kid': 'first'})}.{body}.{signature}",
        f"{head}.{pack(claims | {'preferred_username': 'bob'})}.{signature}",
        f"{mixed}.{unpad(hmac.digest(public, mixed.encode(), 'sha256'))}",
        jwt.encode({"alg": "RS256", "kid": "first"}, claims, stranger),
        jwt.encode({"alg": "RS256"}, claims, stranger),
    ):
        assert ask(browser, token).status_code == 401, token


def test_keys_of_the_provider_may_change(browser, small, monkeypatch):
    monkeypatch.setattr(provider_module, "_PAUSE", 0.0)
    old = small.token()
    assert ask(browser, old).status_code == 200
    small.rotate()
    assert ask(browser, small.token()).status_code == 200
    assert ask(browser, old).status_code == 401, "what the provider took back is gone"


def test_made_up_keys_cause_no_traffic(settings, small):
    provider = Provider(settings)
    provider.verify(small.token(), AUDIENCE)
    fetched = len(small.fetched)
    small.rotate(publish=False)
    for _ in range(20):
        with pytest.raises(AccessError):
            provider.verify(small.token(), AUDIENCE)
    assert len(small.fetched) == fetched


def test_a_provider_that_is_away_is_told_and_tokens_of_privet_work(browser, small, state):
    small.close()
    assert browser.get("/oidc/sign-in").status_code == 503
    token = state.tokens["ada"]
    assert ask(browser, token).status_code == 200


def test_a_provider_that_says_it_is_another_is_not_believed(settings, small):
    lying = Provider(replace(settings, issuer=small.issuer + "/"))
    with pytest.raises(Exception, match="says that it is another"):
        lying.address("token_endpoint")


def test_an_address_that_is_not_verified_is_no_name(settings):
    by_mail = replace(settings, name_claim="email")
    with pytest.raises(AccessError, match="not verified"):
        by_mail.person_of({"email": "ada@example.org"})
    said = {"email": "ada@example.org", "email_verified": True}
    assert by_mail.person_of(said).name == "ada@example.org"


def test_who_has_not_what_is_required_is_refused(settings):
    strict = replace(settings, require={"groups": "privet"})
    for groups in ([], ["other"], "privet-users", None):
        with pytest.raises(AccessError, match="may not use"):
            strict.person_of({"preferred_username": "ada", "groups": groups})
    assert strict.person_of({"preferred_username": "ada", "groups": ["privet"]}).role == "analyst"


def test_settings_that_are_wrong_are_told_at_once():
    with pytest.raises(ParameterError) as caught:
        read_oidc({"isuer": "x", "client_id": 7, "skew": 10_000, "owner": ["a"]}, "f: ")
    told = str(caught.value)
    for part in ("oidc.isuer", "did you mean 'issuer'", "oidc.client_id must", "skew", "owner"):
        assert part in told
    for wrong in (
        {"issuer": "http://sso.example"},
        {"audience": "c"},
        {"scope": "profile"},
    ):
        with pytest.raises(ParameterError):
            read_oidc({"issuer": "https://sso.example", "client_id": "c", **wrong}, "")


def test_who_was_vouched_for_is_out_when_the_rule_is_gone(settings, state):
    """Sessions outlive the process: an owner of a provider that is not trusted any more is none."""
    ruled = replace(settings, owner={"groups": "o"}, auditor={"groups": "a"})
    people = [Person("olga", "owner"), Person("anna", "auditor"), Person("ada", "analyst")]

    def known(settings):
        provider = None if settings is None else Provider(settings)
        directory = Directory(state.accounts, provider)
        return [directory.knows(person) for person in people]

    assert known(ruled) == [True, True, True]
    assert known(replace(ruled, owner={})) == [False, True, True]
    assert known(replace(ruled, auditor={})) == [True, False, True]
    assert known(None) == [False, False, False]
