"""Two processes may serve one home: the ledger serialises what they charge."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import privet as pv
from privet.accounting.ledger import Receipt, verify
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
