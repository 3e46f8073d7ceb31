"""Many analysts at once, who hang up, repeat themselves and run out of budget: nothing is
overspent, lost or charged twice.
"""

from __future__ import annotations

import threading
from collections import Counter
from fractions import Fraction

import pytest

from privet.accounting.ledger import left, verify
from privet.service.state import ServiceState
from tests.service.running import PATIENCE, house, serving
from tests.service.traffic import Analyst


def held_against(state: ServiceState, analysts: list[Analyst]) -> None:
    """What the analysts saw must be what the ledger says, to the last fraction."""
    ledger = state.ledger
    entries = ledger.entries("people")
    assert len({(entry.analyst, entry.key) for entry in entries}) == len(entries)
    assert ledger.unanswered() == set()
    for analyst in analysts:
        charged = {
            entry.key: entry.cost.epsilon for entry in entries if entry.analyst == analyst.name
        }
        assert charged == {key: analyst.sent[key].cost for key in analyst.answers}, analyst.name
        assert ledger.spent("people", analyst.name).epsilon == sum(charged.values())
        assert (
            ledger.spent("people", analyst.name).epsilon
            <= ledger.cap("people", analyst.name).amount
        )
        assert analyst.changed == []
    assert (
        ledger.spent("people").epsilon
        == sum(entry.cost.epsilon for entry in entries)
        <= ledger.cap("people").amount
    )
    assert (
        verify(
            ledger, state.witness, [receipt for analyst in analysts for receipt in analyst.receipts]
        )
        == []
    )
    assert state.witness.seen().number == entries[-1].number


@pytest.mark.parametrize(
    ("n_analysts", "steps", "cap"),
    [
        pytest.param(12, 20, 10, id="12 analysts"),
        pytest.param(64, 50, 80, id="64 analysts", marks=pytest.mark.slow),
    ],
)
def test_nothing_is_overspent_lost_or_charged_twice(tmp_path, n_analysts, steps, cap):
    there = house(tmp_path, cap)
    for number in range(n_analysts):
        # Some run out by themselves, the others against the cap of the data set.
        there.add(f"analyst-{number}", "7/10" if number % 4 == 0 else 1000)
    with serving(there.path) as service:
        analysts = [Analyst(name, token, service.port, "0") for name, token in there.tokens.items()]
        threads = [threading.Thread(target=analyst.work, args=(steps,)) for analyst in analysts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(5 * PATIENCE)
        assert not any(thread.is_alive() for thread in threads)
        assert [one for analyst in analysts for one in analyst.odd] == []
        held_against(there.state, analysts)
        statuses = sum((analyst.statuses for analyst in analysts), Counter())
        assert set(statuses) <= {200, 201, 204, 403, 409, 429}
        assert statuses[403] > n_analysts  # the caps did run out

        # The last unit can be spent, and not one more.
        rest = left(there.state.ledger, "people", "analyst-1")
        assert rest < Fraction(1, 3)
        with service.client(there.tokens["analyst-1"]) as client:
            assert client.ask("size", {"epsilon": str(rest + Fraction(1, 10**6))}).status == 403
            if rest:
                assert client.ask("size", {"epsilon": str(rest)}).status == 200
            assert client.ask("size", {"epsilon": "1/1000000"}).problem["left"] == "0"
        assert there.state.ledger.spent("people").epsilon == cap
        assert service.stop() == 0
        assert service.complaints == ""
