"""The whole of it in other surroundings: both halves in PostgreSQL, another l, TLS, and how much
memory a client really takes.
"""

from __future__ import annotations

import tracemalloc

import pandas as pd
import pytest
import trustme

from privet.errors import Unavailable
from privet.outsource.cipher import KeyRing
from privet.outsource.client import Baseline, Collaborative, Naive, OutsourcedTable
from privet.outsource.client.updates import delete, insert
from privet.outsource.files import write_halves
from privet.outsource.server.state import ServerState
from privet.outsource.split import split
from tests.outsource.client.conftest import Outsourced, outsource
from tests.outsource.client.reference import Reference
from tests.outsource.people import SCHEMA, people
from tests.service.running import Service, serving

NEW = people(80, seed=9).assign(age=[i + 0.55 for i in range(80)])


def test_a_table_outsourced_to_postgresql(tmp_path, postgres):
    halves, ring, state, token = outsource(
        tmp_path, 300, store=f"{postgres.database()}&schema=halves"
    )
    with (
        serving(state.path, group="outsource") as service,
        Outsourced(halves, ring, state, token, service).table() as table,
    ):
        tree = table.grow("binary")
        reference = Reference(halves, ring, "binary")
        assert Baseline(table, tree).predict(NEW) == reference.baseline(NEW)
        assert Collaborative(table, tree).predict(NEW) == reference.collaborative(NEW)
        assert insert(table, NEW, batch=1).placed > 0
        assert delete(table, NEW) == 80
        assert table.about()["rows"] == 300
        assert Collaborative(table, tree).predict(NEW) == reference.collaborative(NEW)


def test_larger_groups(tmp_path):
    """With l = 3 every row comes with three candidates, and the learners say the same as on the
    true rows.
    """
    ring = KeyRing.new()
    halves = split(people(300), SCHEMA, "disease", 3, ring).halves
    write_halves(halves, tmp_path / "halves")
    state = ServerState.make(tmp_path / "home", tmp_path / "halves")
    token = state.accounts.add_analyst("ada")
    with (
        serving(state.path, group="outsource") as service,
        Outsourced(halves, ring, state, token, service).table() as table,
    ):
        page = next(table.rows())
        assert min(len({value for _, value in row.candidates}) for row in page.rows) >= 3
        assert Collaborative(table, table.grow()).predict(NEW) == Reference(
            halves, ring
        ).collaborative(NEW)


def test_a_table_outsourced_over_tls(tmp_path):
    halves, ring, state, token = outsource(tmp_path, 100)
    authority = trustme.CA()
    issued = authority.issue_cert("localhost", "127.0.0.1")
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    issued.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    issued.private_key_pem.write_to_path(tmp_path / "key.pem")
    words = ["--cert", str(tmp_path / "cert.pem"), "--key", str(tmp_path / "key.pem")]
    service = Service(state.path, tmp_path / "serve.log", group="outsource", more=words)
    try:
        url = f"https://localhost:{service.port}"
        with OutsourcedTable(url, token, ring, ca=tmp_path / "ca.pem") as table:
            assert Collaborative(table, table.grow()).predict(NEW) == Reference(
                halves, ring
            ).collaborative(NEW)
        with pytest.raises(Unavailable, match="certificate"):
            OutsourcedTable(url, token, ring, retry_for=0)
    finally:
        service.stop()


def peak(work) -> int:
    """The most memory that Python held for some work, in bytes."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_memory_follows_the_largest_leaf(tmp_path):
    """Measured, not assumed: what a refinement takes, beside what learning from the whole table
    takes.
    """
    halves, ring, state, token = outsource(tmp_path, 6000)
    with (
        serving(state.path, group="outsource") as service,
        Outsourced(halves, ring, state, token, service).table() as table,
    ):
        narrow = {}  # one row for each leaf
        tree = table.grow("binary", leaf_size=50)
        for position, leaf in enumerate(
            table.reach(tree.id, [[t, a, s] for t, a, s in _cells(NEW)]).leaves
        ):
            narrow.setdefault(leaf, position)
        asked = NEW.iloc[sorted(narrow.values())]
        learner, naive = Collaborative(table, tree), Naive(table, "binary")
        learner.predict(asked.iloc[:1])  # what is imported or compiled at first use is not counted
        naive.learn()
        table.drop(tree.id)
        again = Collaborative(table, table.grow("binary", leaf_size=50))
        ours = peak(lambda: again.predict(asked, at_once=1))
        whole = peak(lambda: naive.learn(again=True))
        share = again.tree.largest / len(halves.identifiers)
        assert table.details(again.tree.id).refined
        assert ours < whole * min(1.0, share + 0.35), (
            f"largest leaf {share:.2f} of the rows, memory {ours / whole:.2f}"
        )


def _cells(frame: pd.DataFrame):
    return zip(
        frame["town"],
        frame["age"].map(str),
        frame["smokes"].map(lambda yes: str(yes).lower()),
        strict=True,
    )
