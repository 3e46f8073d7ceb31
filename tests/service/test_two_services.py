"""Two processes may serve one home: the ledger serialises what they charge."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

from starlette.testclient import TestClient

import privet as pv
from privet.accounting.ledger import Receipt, verify
from privet.curator import Curator
from privet.service.app import create_app
from tests.service.conftest import FAST, Analyst
from tests.service.running import Service, house


def test_two_services_share_one_account(tmp_path):
    there = house(tmp_path, epsilon=1000)
    for analyst in ("ada", "bob"):
        there.add(analyst, 100)
    services = [Service(there.path, tmp_path / f"serve{number}.log") for number in range(2)]

    def ask(service: Service, analyst: str) -> list[str]:
        with pv.connect(f"http://127.0.0.1:{service.port}", there.tokens[analyst]) as curator:
            for _ in range(15):
                curator.size("1/10")
            return list(curator.receipts)

    try:
        with ThreadPoolExecutor(4) as threads:
            receipts = [
                one
                for many in threads.map(ask, services * 2, ("ada", "ada", "bob", "bob"))
                for one in many
            ]
        assert len(set(receipts)) == 60
        assert there.state.ledger.spent("people").epsilon == Fraction(60, 10)
        assert (
            verify(
                there.state.ledger, there.state.witness, [Receipt.read(text) for text in receipts]
            )
            == []
        )
        assert [service.complaints for service in services] == ["", ""]
    finally:
        assert [service.stop() for service in services] == [0, 0]


def test_people_are_divided_once_for_one_charge(state, client, ada, monkeypatch):
    """Within a reservation the same question may come from another snapshot: here at the same time,
    from that of another process.
    """
    with TestClient(create_app(state, FAST), base_url="http://127.0.0.1") as other:
        others = Analyst(other, state.tokens["ada"])
        question = {"epsilon": "1/2", "n_parts": 2, "reservation": "fit-1"}
        here, there = ada.snapshot(), others.snapshot()
        ada.post("reservations", {"key": "fit-1", "what": "a fit", "epsilon": "1/2"})
        split_people, faster = Curator.split_people, []

        def split_later(curator, *given):
            if not faster:
                faster.append(None)
                faster.append(others.post("divide", {**question, "snapshot": there}, "one"))
            return split_people(curator, *given)

        monkeypatch.setattr(Curator, "split_people", split_later)
        slower = ada.post("divide", {**question, "snapshot": here}, "one")
        assert slower.json() == faster[1].json()
        assert slower.headers["Privet-Replayed"] == "true"
        part = {"division": slower.json()["answer"]["division"], "number": 0}
        sizes = [
            who.post("size", {"epsilon": "1/2", "snapshot": where, "part": part}).status_code
            for who, where in ((others, there), (ada, here))
        ]
        assert sizes == [200, 410]
        assert state.ledger.spent("people").epsilon == Fraction(1, 2)
