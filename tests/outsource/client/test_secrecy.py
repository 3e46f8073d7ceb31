"""What the server sees: its database and all traffic hold no true pair of a person and a sensitive
value beyond what groups allow.
"""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from unittest import mock

import duckdb
import numpy as np
import pytest

from privet.domain import Categorical, Schema
from privet.outsource.cipher import KeyRing
from privet.outsource.client import Baseline, Collaborative, Naive, OutsourcedTable
from privet.outsource.client.updates import delete, flush, insert
from privet.outsource.files import write_halves
from privet.outsource.server.state import ServerState
from privet.outsource.split import split
from privet.outsource.verify import open_true_values
from tests.outsource.client.recording import recording
from tests.outsource.people import SCHEMA, people
from tests.service.running import serving

#: Values that occur in no other text, so that they can be looked for.
DISEASES = ["xqflux", "xqgoutx", "xqacnex", "xqnonex"]
#: Values of people who are only asked about, or wait: the server must never see them.
SECRET = ["zqmumpsz", "zqulcerz"]
NAMED = Schema(
    attributes={
        **{k: v for k, v in SCHEMA.attributes.items() if k != "disease"},
        "disease": Categorical([*DISEASES, *SECRET]),
    },
    target="visits",
    classes=["few", "many"],
    person="name",
)


def named(n: int, seed: int, prefix: str):
    table = people(n, seed)
    odd = dict(zip(["flu", "gout", "acne", "none"], DISEASES, strict=True))
    return table.assign(
        disease=table["disease"].map(odd), name=[f"{prefix}{i:04d}" for i in range(n)]
    )


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """Everything that a client can do, recorded; then the server's database is read."""
    folder = tmp_path_factory.mktemp("secrecy")
    ring = KeyRing.new()
    table = named(400, 1, "person")
    made = split(table, NAMED, "disease", 2, ring)
    write_halves(made.halves, folder / "halves")
    state = ServerState.make(folder / "home", folder / "halves")
    token = state.accounts.add_analyst("ada")
    asked = named(60, 2, "asked")
    asked["disease"] = np.where(np.arange(60) % 2 == 0, *SECRET)
    # of one value: no group can be made of them
    waiting = named(6, 3, "waits").assign(disease=SECRET[0])
    gone = table.drop(index=made.withheld).iloc[:3]
    with (
        serving(state.path, group="outsource") as service,
        recording(service.port) as recorder,
        # so that what is recorded can be read; packing takes nothing away and adds nothing
        mock.patch("privet.outsource.client.table.PACKED", {}),
    ):
        with OutsourcedTable(f"http://127.0.0.1:{recorder.port}", token, ring) as client:
            tree = client.grow("binary")
            Collaborative(client, client.grow("multiway"), keep="tuples").predict(asked)
            Baseline(client, tree).predict(asked)
            Collaborative(client, tree).predict(asked, at_once=7)
            Collaborative(client, tree).predict(asked)
            naive = Naive(client)
            naive.learn()
            naive.predict(asked)
            client.batches = False  # as with a server of 0.1
            Collaborative(client, client.grow("binary")).predict(asked)
            client.batches = True
            insert(client, waiting, batch=1)
            assert flush(client).waiting == len(waiting)
            delete(client, gone)
        sent, received = bytes(recorder.sent), bytes(recorder.received)
    return {
        "sent": sent,
        "received": received,
        "state": state,
        "halves": made.halves,
        "ring": ring,
        "gone": gone,
        "folder": folder,
    }


def truth(seen) -> dict[str, str]:
    """The sensitive value of each person."""
    halves = seen["halves"]
    _, values = open_true_values(halves, seen["ring"])
    return dict(zip(halves.identifiers.cells[-1], values, strict=True))


def group_values(seen) -> dict[str, Counter]:
    """The values of each person's group."""
    halves = seen["halves"]
    by_gid: dict[int, Counter] = {}
    for gid, value in zip(halves.values.gid.tolist(), halves.values.value, strict=True):
        by_gid.setdefault(gid, Counter())[value] += 1
    return {
        name: by_gid[gid]
        for name, gid in zip(
            halves.identifiers.cells[-1], halves.identifiers.gid.tolist(), strict=True
        )
    }


def test_the_traffic_was_recorded(seen):
    assert seen["sent"].count(b"POST /v1/trees/") > 10
    assert seen["received"].count(b"HTTP/1.1 20") > 20
    assert b"person0001" in seen["received"]


def test_no_sensitive_value_of_whom_is_asked_about_or_waits_is_in_the_traffic_or_the_files(seen):
    files = b"".join(path.read_bytes() for path in seen["state"].path.rglob("*") if path.is_file())
    for secret in SECRET:
        for kept in (
            re.sub(rb'"schema":\{.*?"rows_per_person":\d+', b"", seen["received"]),
            seen["sent"],
        ):
            without_schema = kept.replace(
                json.dumps([*DISEASES, *SECRET], separators=(",", ":")).encode(), b""
            )
            assert secret.encode() not in without_schema
        # In the database it stands in the public schema alone.
        assert files.count(secret.encode()) <= files.count(f'"{secret}"'.encode())


def test_no_sensitive_value_is_sent_at_all(seen):
    """Nothing that these commands send holds one: neither rows to be predicted nor what is
    stored.
    """
    for value in [*DISEASES, *SECRET]:
        assert value.encode() not in seen["sent"]
    for body in re.findall(rb'"(?:sealed|pending)":\["?([A-Za-z0-9+/=]{40,})', seen["sent"]):
        opened = base64.b64decode(body)
        assert not any(value.encode() in opened for value in [*DISEASES, *SECRET])


def test_the_order_of_the_rows_is_not_that_of_the_file(connect):
    """A file may be sorted by what must not be told."""
    table, asked = connect(), []
    real = table.reach
    table.reach = lambda tree, rows, **more: asked.append(rows) or real(tree, rows, **more)
    learner = Collaborative(table, table.grow("binary"))
    ages = people(300, seed=4).assign(age=[i / 10 for i in range(300)])
    expected = learner.predict(ages)
    for at_once in (1, 200):
        asked.clear()
        assert learner.predict(ages, at_once) == expected
        sent = [float(row[1]) for rows in asked for row in rows]
        assert sorted(sent) == ages["age"].tolist()
        # 300 numbers in a random order: five standard deviations
        assert abs(np.corrcoef(sent, np.arange(300))[0, 1]) < 5 / np.sqrt(300)


def test_whoever_is_asked_about_is_sent_without_name_and_class(seen):
    assert b"asked00" not in seen["sent"]
    bodies = [json.loads(body) for body in re.findall(rb'\{"rows":\[\[.*?\]\]\}', seen["sent"])]
    assert bodies
    assert {len(row) for body in bodies for row in body["rows"]} == {3}


def test_a_person_comes_with_all_values_of_the_group_or_none(seen):
    """In what the server sends, a person never stands beside the true value alone."""
    groups, true = group_values(seen), truth(seen)
    found = 0
    for told in re.findall(rb'\{[^\n]*?"groups":\{[^\n]*\}', seen["received"]):
        answer, _ = json.JSONDecoder().raw_decode(told.decode())
        page = answer.get("candidates", answer)
        for row in page["rows"]:
            cells, gid = row[-4], str(row[-2])
            values = Counter(value for _, value in page["groups"][gid])
            assert values == groups[cells[-1]]
            assert values[true[cells[-1]]] * 2 <= values.total()
            found += 1
    assert found > 400
    found = 0
    for row in re.findall(
        rb'\{"row":\d+,"cells":\[.*?"candidates":\[(?:\[[^\]]*\],?)*\]\}', seen["received"]
    ):
        told = json.loads(row)
        name = told["cells"][-1]
        values = Counter(value for _, value in told["candidates"])
        assert values == groups[name]
        assert values[true[name]] * 2 <= values.total()
        found += 1
    assert found > 300, "some rows come one leaf at a time, as from a server of 0.1"


def test_in_the_database_no_table_has_both(seen):
    """People stand in one table, values in another, and what else is there holds neither in the
    clear.
    """
    holding: dict[str, set[str]] = {"people": set(), "values": set()}
    with duckdb.connect(seen["state"].path / "store.duckdb", read_only=True) as connection:
        tables = [
            name
            for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
        ]
        for table in tables:
            for line in connection.execute(f"SELECT * FROM {table}").fetchall():
                text = " ".join(
                    cell.decode("latin-1") if isinstance(cell, bytes) else str(cell)
                    for cell in line
                )
                text = text.replace(json.dumps([*DISEASES, *SECRET]), "")  # the public schema
                if re.search(r"person\d{4}|waits\d{4}", text):
                    holding["people"].add(table)
                if any(value in text for value in [*DISEASES, *SECRET]):
                    holding["values"].add(table)
    assert holding == {"people": {"it"}, "values": {"st"}}


def test_where_rows_lie_says_nothing(seen):
    """The physical order of both tables, and their numbers, against the true pairs."""
    with duckdb.connect(seen["state"].path / "store.duckdb", read_only=True) as connection:
        person = len(seen["halves"].anatomy.columns) - 1
        rows = connection.execute(f"SELECT rowid, number, gid, c{person} FROM it").fetchall()
        values = {
            seq: rowid for rowid, seq in connection.execute("SELECT rowid, seq FROM st").fetchall()
        }
    halves = seen["halves"]
    seqs = dict(
        zip(
            halves.identifiers.cells[-1],
            halves.values.seq[open_true_values(halves, seen["ring"])[0]].tolist(),
            strict=True,
        )
    )
    place = np.array(
        [(rowid, number, gid, values[seqs[name]], seqs[name]) for rowid, number, gid, name in rows],
        dtype=float,
    )
    ranks = place.argsort(axis=0).argsort(axis=0)
    r = np.corrcoef(ranks.T)
    for left in (0, 1, 2):
        for right in (3, 4):
            assert abs(r[left, right]) < 5 / np.sqrt(len(rows))


def test_who_was_deleted_is_gone_and_the_value_stays(seen):
    with duckdb.connect(seen["state"].path / "store.duckdb", read_only=True) as connection:
        person = len(seen["halves"].anatomy.columns) - 1
        names = {name for (name,) in connection.execute(f"SELECT c{person} FROM it").fetchall()}
        values = Counter(
            value for (value,) in connection.execute("SELECT value FROM st").fetchall()
        )
    assert not names & set(seen["gone"]["name"])
    assert len(names) == len(seen["halves"].identifiers) - 3
    assert values == Counter(seen["halves"].values.value)


def test_the_server_never_learns_the_key(seen):
    secret = seen["ring"].current.secret
    for kept in (
        seen["sent"],
        seen["received"],
        *(path.read_bytes() for path in seen["state"].path.rglob("*") if path.is_file()),
    ):
        assert secret not in kept
        assert base64.b64encode(secret) not in kept
        assert secret.hex().encode() not in kept
