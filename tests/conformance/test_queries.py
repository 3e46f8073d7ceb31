"""Every registered query passes the same suite, in process and over HTTP; and the suite catches
curators that break a promise.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import httpx2
import pandas as pd
import pytest
from starlette.testclient import TestClient

from privet.accounting.cost import Budget
from privet.client.curator import RemoteCurator
from privet.client.session import Session
from privet.client.transport import Link
from privet.curator import Curator
from privet.errors import BudgetExceeded, ParameterError, PrivacyError, PrivetError, QuestionError
from privet.queries import Count, CountBy, check_query, queries
from privet.queries.release_kinds import Divides, Draws, Measures, Selects, SharesNoise
from privet.service.app import create_app
from privet.service.handlers import RequestHandlers
from privet.service.limits import Limits
from privet.service.state import ServiceState
from tests.conformance.asked import ASKED, EXAMPLES, FOR_ANALYSTS, ROWS, SCHEMA, seeded
from tests.conformance.check_query import (
    EPSILON,
    RHO,
    WORDS,
    Case,
    check_move,
    check_weights,
    list_checks,
    numbers_changed,
    offered_to_analysts,
    refusals,
    states_sensitivity,
    travelled,
    without_entry,
)
from tests.conformance.wrong_curators import WRONG

CHECKS = [name for name, _ in list_checks(Case(lambda schema: None), Path())]
#: What the client of 0.1 sent for the examples, at epsilon 1/3.
BODIES = json.loads((Path(__file__).parent / "bodies_of_0_1.json").read_text())


@pytest.mark.parametrize("name", queries())
def test_every_query_has_an_example(name):
    assert EXAMPLES.get(name), (
        f"the query {name!r} is registered and has no example: add one to EXAMPLES in "
        "tests/conformance/asked.py, and the whole suite checks it"
    )


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(("name", "example"), ASKED)
def test_query(name, example, check, tmp_path):
    checks = dict(list_checks(Case(EXAMPLES[name][example]), tmp_path))
    checks[check]()


# -- the same over HTTP ------------------------------------------------------------------------


class Through:
    """A source that fails at its next touch, where a test wants it to."""

    fail = False

    def __init__(self, source):
        self._source = source

    def _look(self):
        if Through.fail:
            Through.fail = False
            raise RuntimeError(WORDS)

    def count(self, question):
        self._look()
        return self._source.count(question)

    def rows(self):
        self._look()
        return self._source.rows()


class Service:
    """The whole service in this process, with noise from a test seed for each question."""

    def __init__(self, folder: Path) -> None:
        columns = {
            name: [attribute.labels[row[number]] for row in ROWS]
            for number, (name, attribute) in enumerate(SCHEMA.attributes.items())
        }
        columns["age"] = [None if row[1] == 4 else 20.0 * row[1] + 1 for row in ROWS]
        columns["ill"] = [SCHEMA.classes[row[-1]] for row in ROWS]
        self.table = folder / "people.parquet"
        pd.DataFrame(columns).to_parquet(self.table)
        self.state, _ = ServiceState.make(folder / "curator")
        self.state.accounts.add_dataset("people", str(self.table), SCHEMA)
        self.state.ledger.open_cap("people", Budget(rho=10_000))
        self.token = self.state.accounts.add_analyst("ada")
        self.state.ledger.set_cap("people", Budget(rho=10_000), "ada")
        self.state.accounts.grant("ada", "people")
        limits = Limits(rate=100_000, burst=100_000, first_step=0)
        self.client = TestClient(create_app(self.state, limits), base_url="http://127.0.0.1:8000")
        self.sent: list[tuple[str, bytes]] = []

    def handle(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "POST":
            self.sent.append((request.url.path, request.content))
        reply = self.client.request(
            request.method, request.url.path, content=request.content, headers=request.headers
        )
        return httpx2.Response(reply.status_code, headers=reply.headers, content=reply.content)

    def remote(self) -> RemoteCurator:
        over = httpx2.MockTransport(self.handle)
        link = Link("http://127.0.0.1:8000", self.token, over=over, retry_for=0)
        return RemoteCurator(Session(link, "people"))

    def post(self, name: str, body, key: str) -> httpx2.Response:
        headers = {"Authorization": f"Bearer {self.token}", "Idempotency-Key": key}
        return self.client.post(f"/v1/datasets/people/{name}", json=body, headers=headers)

    @property
    def charges(self) -> int:
        return len(self.state.ledger.entries())

    def local(self) -> Curator:
        return Curator(self.table, SCHEMA, Budget(rho=100), analyst="ada", bits=seeded(7))


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    def seeded_curator(self, analyst, dataset, source):
        account = {"ledger": self.state.ledger, "dataset": dataset.name, "analyst": analyst}
        return Curator.over(Through(source), dataset.schema, bits=seeded(7), **account)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RequestHandlers, "_curator", seeded_curator)
        made = Service(tmp_path_factory.mktemp("service"))
        with made.client:
            yield made


@pytest.mark.parametrize(("name", "example"), FOR_ANALYSTS)
class TestOverHttp:
    def test_the_answer_is_that_of_the_curator_in_process(self, service, name, example):
        make = EXAMPLES[name][example]
        prices = [{"epsilon": EPSILON}, *([{"rho": RHO}] if queries()[name].in_rho else [])]
        for price in prices:
            charges = service.charges
            here = service.local().ask(make(SCHEMA), **price)
            there = service.remote().ask(make(SCHEMA), **price)
            assert type(there) is type(here)
            assert without_entry(there.to_json()) == without_entry(here.to_json())
            assert service.charges == charges + 1

    def test_the_body_of_0_1_is_sent_and_answered(self, service, name, example):
        if example not in BODIES.get(name, {}):
            pytest.skip("a query that 0.1 did not have")
        body = BODIES[name][example]
        service.remote().ask(EXAMPLES[name][example](SCHEMA), "1/3")
        path, sent = service.sent[-1]
        assert path.endswith(f"/datasets/people/{name}")
        assert json.loads(sent) == body
        here = service.local().ask(EXAMPLES[name][example](SCHEMA), "1/3")
        charges, key = service.charges, f"{name} {example}".replace(" ", "-")
        replies = [service.post(name, body, key) for _ in range(2)]
        assert [reply.status_code for reply in replies] == [200, 200]
        answer = replies[0].json()["answer"]
        assert without_entry(answer) == without_entry(here.to_json())
        assert replies[1].json() == replies[0].json()
        assert [reply.headers.get("Privet-Replayed") for reply in replies] == [None, "true"]
        assert service.charges == charges + 1

    def test_a_failure_tells_nothing_and_is_answered_for_its_charge(self, service, name, example):
        if example not in BODIES.get(name, {}):
            pytest.skip("a query that 0.1 did not have")
        body, key = BODIES[name][example], f"fails-{name}-{example}".replace(" ", "-")
        charges = service.charges
        Through.fail = True
        failed = service.post(name, body, key)
        assert not Through.fail
        assert (failed.status_code, failed.json()["charged"]) == (503, True)
        assert WORDS not in failed.text
        assert service.charges == charges + 1
        assert service.post(name, body, key).status_code == 200
        other = service.post(name, {**body, "epsilon": "1/4"}, key)
        assert other.status_code == 409
        assert service.charges == charges + 1

    def test_what_is_refused_is_refused_before_it_is_sent_in_the_same_words(
        self, service, name, example
    ):
        remote, local = service.remote(), service.local()
        sent, charges = len(service.sent), service.charges
        for what, query, price, error in refusals(Case(EXAMPLES[name][example])):
            if error in (BudgetExceeded, PrivacyError):
                continue  # only whoever has the ledger can tell
            told = []
            for curator in (local, remote):
                with pytest.raises(error) as refused:
                    curator.ask(query, **price)
                told.append((type(refused.value), str(refused.value)))
            assert told[0] == told[1], what
        assert (len(service.sent), service.charges) == (sent, charges)


def test_a_service_offers_what_analysts_may_ask_and_nothing_else(service):
    headers = {"Authorization": f"Bearer {service.token}"}
    paths = service.client.get("/v1/openapi.json", headers=headers).json()["paths"]
    described = {
        path.rpartition("/")[2] for path in paths if path.startswith("/v1/datasets/{name}/")
    }
    assert described & set(queries()) == offered_to_analysts()
    about = {"snapshot", "part", "reservation"}
    others = {"divide", "preview", "snapshots", "history", "{snapshot}", "reservations", "close"}
    assert described - set(queries()) == others
    for name, query in queries().items():
        if query.for_analysts:
            asked = paths[f"/v1/datasets/{{name}}/{name}"]["post"]["requestBody"]["content"]
            told = asked["application/json"]["schema"]
            price = {"epsilon", "rho"} if query.in_rho else {"epsilon"}
            assert set(told["properties"]) == {*query.fields, *price, *about}
            assert told["additionalProperties"] is False


@pytest.mark.parametrize(
    ("name", "example"), [asked for asked in ASKED if asked not in FOR_ANALYSTS]
)
def test_what_is_not_for_analysts_cannot_be_asked_from_outside(service, name, example):
    query = EXAMPLES[name][example](SCHEMA)
    sent, charges = len(service.sent), service.charges
    with pytest.raises(ParameterError, match="owner's own process"):
        service.remote().ask(query, EPSILON)
    assert len(service.sent) == sent
    body = {"epsilon": "1", **travelled(Case(EXAMPLES[name][example]).query().to_json())}
    assert service.post(name, body, "a-share").status_code == 404
    assert service.charges == charges


def test_the_only_query_that_analysts_may_not_ask_is_the_share():
    assert set(queries()) - offered_to_analysts() == {"share"}


# -- the suite can fail ------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("name", queries())
def test_a_curator_that_breaks_a_promise_is_caught(name, wrong, tmp_path):
    changes, check, why = WRONG[wrong]
    make = next(iter(EXAMPLES[name].values()))
    with pytest.raises(AssertionError, match=why):
        dict(list_checks(Case(make, **changes), tmp_path))[check]()


def smaller(kind, share):
    """The same kind with what it states made smaller."""
    if isinstance(kind, Measures):
        return replace(kind, bounds=tuple(share * bound for bound in kind.bounds))
    if isinstance(kind, SharesNoise):
        return replace(kind, sensitivity=share * kind.sensitivity)
    assert isinstance(kind, Selects | Divides)
    return replace(kind, score_range=share * kind.score_range)


def understated(share):
    """The check of neighbours, for what is stated too small."""

    def check(kind, before, after):
        if isinstance(kind, Draws):
            check_weights(numbers_changed(before, after), share * (1 << 16))
        else:
            check_move(smaller(kind, share), before, after)

    return check


@pytest.mark.parametrize(("name", "example"), ASKED)
def test_a_sensitivity_that_is_stated_30_percent_too_small_is_caught(name, example):
    with pytest.raises(AssertionError, match=r"by more than|more than 1"):
        states_sensitivity(Case(EXAMPLES[name][example]), understated(0.7))


def test_a_query_without_an_example_is_named(monkeypatch):
    monkeypatch.delitem(EXAMPLES, "count")
    with pytest.raises(AssertionError, match="'count' is registered and has no example"):
        test_every_query_has_an_example("count")


def test_a_kind_that_the_suite_does_not_know_is_named():
    with pytest.raises(AssertionError, match="what object promises"):
        check_move(object(), [], [])


def test_all_refusals_are_errors_of_ours():
    for name, example in ASKED:
        for _, _, _, error in refusals(Case(EXAMPLES[name][example])):
            kinds = error if isinstance(error, tuple) else (error,)
            assert all(issubclass(one, PrivetError) for one in kinds)


class Elusive(int):
    """A number that is never the same as another, whatever it says."""

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


@pytest.mark.parametrize(
    ("by", "where", "message"),
    [
        ("hue", {}, "no attribute 'hue'"),
        (3, {}, "by must be"),
        ("colour", ["red"], "where must say"),
        ("colour", {"colour": [None]}, "labels .texts. or codes"),
        ("colour", {"colour": [1.5]}, r"has the values .*, got '1\.5'"),
        ("colour", {"colour": ["rde"]}, "has the values .* did you mean 'red'"),
        ("colour", {"colour": [-1]}, "has codes 0 to 2, got -1"),
        ("colour", {"colour": []}, "codes from 0 to 2"),
        (["colour", "colour"], {}, "twice"),
        ("ill", {}, "always counted"),
    ],
)
def test_what_cannot_be_counted_by_is_refused_in_words(by, where, message):
    with pytest.raises(QuestionError, match=message):
        check_query(CountBy(by, where), SCHEMA)


def test_a_number_that_pretends_to_be_two_is_counted_once():
    query = check_query(CountBy("colour", {"colour": [Elusive(1), Elusive(1)]}), SCHEMA)
    assert query.kind.shapes == ((1, 3),)


@pytest.mark.parametrize("cells", ["x", [3], [["colour"]], 7])
def test_cells_that_are_none_are_refused_in_words(cells):
    with pytest.raises(PrivetError):
        check_query(Count(cells), SCHEMA)
