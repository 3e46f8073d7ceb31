"""A client of 0.1 with the present service, and the present client with a service of 0.1."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing

import pytest

import privet as pv
from tests.golden.exchange import Traffic, ask, differences, exchange, playing
from tests.golden.files import GOLDEN, read_json
from tests.golden.http_home import ROWS
from tests.golden.reach import privet, serving
from tests.golden.talk import facts, outcome, small_steps, steps

HTTP = GOLDEN / "http"
TOKENS = read_json(HTTP / "tokens.json")
CLIENT, SMALL, RAW = (read_json(HTTP / f"{name}.json") for name in ("client", "small", "raw"))


def move(home, table):
    """Say where the tables of a home are now."""
    with closing(sqlite3.connect(home / "accounts.sqlite")) as accounts, accounts:
        accounts.execute("UPDATE datasets SET place = ?", (str(table),))
        accounts.execute("UPDATE datasets SET place = place || '.gone' WHERE name = 'gone'")


# -- a client of 0.1, and the present service ----------------------------------------------------


@pytest.fixture(scope="module")
def replayed(tmp_path_factory):
    """All recorded requests, sent again in their order to a service over a copy of the home."""
    folder = tmp_path_factory.mktemp("replayed")
    shutil.copytree(HTTP, folder, dirs_exist_ok=True)
    move(folder / "home", folder / "t.csv")
    found, snapshots = [], {}
    listed = [
        *((f"client: {name}", step["exchanges"]) for name, step in CLIENT.items()),
        *((f"small: {name}", step["exchanges"]) for name, step in SMALL.items()),
        *((f"raw: {name}", exchanges) for name, exchanges in RAW.items()),
    ]
    with serving(folder / "home", folder / "log") as port:
        for name, exchanges in listed:
            for number, kept in enumerate(exchanges):
                body, path = kept["body"], kept["path"]
                for old, new in snapshots.items():
                    path = path.replace(old, new)
                    body = None if body is None else body.replace(old, new)
                token = {"Authorization": f"Bearer {TOKENS[kept['who']]}"} if kept["who"] else {}
                sent = None if body is None else body.encode()
                answer = ask(port, kept["method"], path, {**token, **kept["headers"]}, sent)
                got = exchange(kept["who"], kept["method"], path, kept["headers"], body, answer)
                if path.endswith("/snapshots") and got["status"] == 201:
                    snapshots[kept["answer"]["snapshot"]] = got["answer"]["snapshot"]
                found.append((f"{name} ({number})", kept, got))
        token = {"Authorization": f"Bearer {TOKENS['ada']}", "Content-Type": "application/json"}
        large = ask(port, "POST", "/v1/datasets/people/size", token, b" " * ((1 << 22) + 1))
        described = ask(port, "GET", "/v1/openapi.json", {}, None)
    return folder, found, large, described


def test_a_client_of_0_1_gets_the_answers_that_it_got(replayed):
    wrong = []
    for name, kept, got in replayed[1]:
        if got["status"] != kept["status"]:
            wrong.append(f"{name}: status {got['status']} in place of {kept['status']}: {got}")
            continue
        if got["returned"] != kept["returned"]:
            wrong.append(f"{name}: headers {got['returned']} in place of {kept['returned']}")
        if "answer" in kept:
            noisy = "(noisy)" in name
            slack = 100 if kept["path"].endswith("/gradients") else 0
            found = differences(kept["answer"], got.get("answer"), noisy, slack=slack)
            wrong += [f"{name}: {one}" for one in found]
    assert not wrong, "\n".join(wrong)


def test_every_endpoint_of_0_1_is_there_and_was_asked(replayed):
    status, _, content = replayed[3]
    assert status == 200
    paths = json.loads(content)["paths"]
    for path, methods in read_json(HTTP / "paths.json").items():
        assert set(methods) <= set(paths.get(path, {})), path
    asked = {(kept["method"], kept["path"].partition("?")[0]) for _, kept, _ in replayed[1]}
    for path, methods in read_json(HTTP / "paths.json").items():
        for method in methods:
            last = path.rpartition("}")[2] if "{snapshot}" not in path else ""
            assert any(m == method.upper() and one.endswith(last) for m, one in asked), path


def test_a_request_that_is_too_large_is_refused(replayed):
    status, _, content = replayed[2]
    assert (status, json.loads(content)["type"]) == (413, "urn:privet:problem:too-large")


def test_groups_of_people_are_all_of_them(replayed):
    """Noise is zero here, so that only who is in which group is left to chance."""
    counts = [
        got["answer"]["answer"]["tables"][0]["numbers"]
        for name, kept, got in replayed[1]
        if name.startswith("client: divide") and kept["path"].endswith("/count")
    ]
    assert len(counts) == 2
    assert sum(map(sum, counts)) == ROWS


def test_receipts_of_the_present_service_are_verified(replayed):
    """And those of 0.1 are not: its ledger has gone on otherwise since."""
    folder, found, *_ = replayed
    receipts = [got["answer"].get("receipt") for _, _, got in found if "answer" in got]
    (folder / "new.txt").write_text("\n".join(filter(None, receipts)), "utf-8")
    words = ("curator", "verify", "--home", "home", "--receipt")
    assert privet(*words, "new.txt", folder=folder).code == 0
    assert privet(*words, "receipts.txt", folder=folder).code == 1


# -- the present client, and a service of 0.1 ----------------------------------------------------


def played(recorded, token, dataset, taken):
    """Take every step with the present client, against the recorded responses."""
    traffic, wrong = Traffic(list(recorded["connect"]["exchanges"])), []
    with playing(traffic, token) as port:
        curator = pv.connect(f"http://127.0.0.1:{port}", token, dataset, retry_for=0)
        assert facts(curator) == recorded["connect"]["outcome"]
        for name, step in taken.items():
            traffic.exchanges[:] = recorded[name]["exchanges"]
            found = json.loads(json.dumps(outcome(step, curator)))
            if found != recorded[name]["outcome"]:
                wrong.append(f"{name}: {found} in place of {recorded[name]['outcome']}")
            if traffic.exchanges:
                wrong.append(f"{name}: {len(traffic.exchanges)} requests were not sent")
        curator.close()
    return wrong + traffic.wrong


def test_the_present_client_understands_a_service_of_0_1():
    wrong = played(CLIENT, TOKENS["ada"], "towns", steps(HTTP / "models"))
    assert not wrong, "\n".join(wrong)


def test_the_present_client_finds_its_only_data_set_and_its_refusals():
    wrong = played(SMALL, TOKENS["bob"], None, small_steps())
    assert not wrong, "\n".join(wrong)


def test_every_recorded_step_is_taken():
    assert set(CLIENT) == {"connect", *steps(HTTP / "models")}
    assert set(SMALL) == {"connect", *small_steps()}


PROBLEMS = {
    "key-reused": "KeyReused",
    "parameter": "ParameterError",
    "question": "QuestionError",
    "privacy": "PrivacyError",
    "budget-exceeded": "BudgetExceeded",
    "snapshot-gone": "Unavailable",
    "not-granted": "AccessError",
    "access": "AccessError",
    "schema": "SchemaError",
    "table": "Unavailable",
}


@pytest.mark.parametrize("kind", PROBLEMS)
def test_problems_of_0_1_are_the_errors_that_they_were(kind):
    refused = next(
        exchanges[0]
        for exchanges in RAW.values()
        if exchanges[0].get("answer", {}).get("type") == f"urn:privet:problem:{kind}"
    )
    traffic = Traffic(list(CLIENT["connect"]["exchanges"]))
    with playing(traffic, TOKENS["ada"]) as port:
        curator = pv.connect(f"http://127.0.0.1:{port}", TOKENS["ada"], "towns", retry_for=0)
        traffic.exchanges[:] = [refused]
        with pytest.raises(pv.PrivetError) as raised:
            curator.size(1)
        curator.close()
    # a program of 0.1 catches what it knows; what is raised may be a kind of it
    assert isinstance(raised.value, getattr(pv.errors, PROBLEMS[kind]))
    assert type(raised.value) is not pv.PrivetError


# -- the owner's folder --------------------------------------------------------------------------


def test_a_used_home_verifies_with_its_witness_and_receipts(copied):
    folder = copied("http")
    words = ("curator", "verify", "--home", "home-used")
    assert privet(*words, folder=folder).code == 0
    ran = privet(
        *words, "--receipt", "receipts.txt", "--witness", "home-used/witness", folder=folder
    )
    assert ran.code == 0, ran


def test_a_home_that_was_restored_from_a_backup_does_not_verify(copied):
    """The ledger before all questions, and the witness after them."""
    folder = copied("http")
    words = ("curator", "verify", "--home", "home")
    assert privet(*words, "--witness", "home-used/witness", folder=folder).code == 1
    assert privet(*words, "--receipt", "receipts.txt", folder=folder).code == 1
    assert privet(*words, folder=folder).code == 0


def test_the_ledger_of_a_home_is_listed_as_it_was(copied):
    folder = copied("http")
    ran = privet("curator", "ledger", "--home", "home-used", "--json", folder=folder)
    assert ran.code == 0, ran
    kept = (HTTP / "ledger.jsonl").read_text("utf-8").splitlines()
    wrong = [
        one
        for old, new in zip(kept, ran.out.splitlines(), strict=True)
        for one in differences(json.loads(old), json.loads(new), noisy=False)
    ]
    assert not wrong
    hashes = [
        [json.loads(line)["hash"] for line in lines] for lines in (kept, ran.out.splitlines())
    ]
    assert hashes[0] == hashes[1]


def test_an_owner_goes_on_with_a_home(copied):
    folder = copied("http")
    move(folder / "home-used", folder / "t.csv")
    at = ("--home", "home-used")
    for words in (
        ("dataset", "list"),
        ("analyst", "list"),
        ("grant", "dora", "people", "--epsilon", "1"),
        ("analyst", "add", "emil"),
        ("analyst", "token", "carl"),
        # 0.1 let every table have as many accounts as names, without a word
        ("dataset", "add", "more", "t.csv", "--schema", "plain.json", "-e", "1", "--same-rows"),
        ("dataset", "remove", "odd"),
        ("revoke", "bob"),
        ("verify", "--receipt", "receipts.txt"),
    ):
        ran = privet("curator", *words, *at, folder=folder)
        assert ran.code == 0, (words, ran)
    listed = privet("curator", "dataset", "list", *at, folder=folder).out
    served, _, removed = listed.partition("No longer served; what was spent")
    assert "more" in served
    assert "odd" not in [line.split()[0] for line in served.splitlines() if line.strip()]
    assert "odd" in removed
    assert "is whole" in privet("curator", "audit-log", "verify", *at, folder=folder).out


def test_a_used_home_is_served_and_repeats_recorded_answers(copied):
    """A key of 0.1 gets the answer of 0.1 byte for byte, and spent budgets stay spent."""
    folder = copied("http")
    move(folder / "home-used", folder / "t.csv")
    asked = RAW["first with a key"][0]
    token = {"Authorization": f"Bearer {TOKENS['ada']}"}
    page = {"Content-Type": "application/x-www-form-urlencoded"}
    with serving(folder / "home-used", folder / "log") as port:
        sent = asked["body"].encode()
        status, headers, content = ask(port, "POST", asked["path"], token | asked["headers"], sent)
        assert (status, headers.get("privet-replayed")) == (200, "true")
        assert json.loads(content) == asked["answer"]
        for name in ("bob", "ada"):
            with pv.connect(f"http://127.0.0.1:{port}", TOKENS[name], "people") as curator:
                if name == "bob":
                    assert curator.left == 0
                else:
                    kept = RAW["history"][0]["answer"]["entries"]
                    receipts = [one.receipt for one in curator.history()][: len(kept)]
                    assert receipts == [one["receipt"] for one in kept]
        own = f"http://127.0.0.1:{port}"
        form = {**page, "Origin": own, "Sec-Fetch-Site": "same-origin"}
        for who, code in (("owner", 303), ("ada", 303), ("stranger", 401)):
            said = f"token={TOKENS[who]}".encode()
            assert ask(port, "POST", "/sign-in", form, said)[0] == code, who
