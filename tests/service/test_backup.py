"""A backup of a home that is used meanwhile is a home that could have been."""

from __future__ import annotations

import itertools
import secrets

from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import verify
from privet.service import backup
from privet.service.accounts import FIRST_OWNER
from privet.service.audit_log.store import verify_stored
from privet.service.owner import rights
from privet.service.owner.desk import Desk
from privet.service.state import ServiceState


def live(state):
    """What may happen between two copies: a charge and a change, both noted by their witnesses."""
    key = secrets.token_hex(8)
    state.ledger.charge("people", "ada", Cost.pure("1/100"), "size", key=key, request=key)
    state.note(state.ledger.entries()[-1])
    before = state.ledger.cap("people").amount
    rights.change_cap(Desk(state, FIRST_OWNER), "people", Budget(before + 1))


def test_what_happens_between_two_copies_makes_no_copy_look_cut(state, tmp_path, monkeypatch):
    live(state)
    copy, listed = backup._copy, type(state.path).iterdir

    def copying(path, to):
        live(state)
        copy(path, to)
        live(state)

    monkeypatch.setattr(backup, "_copy", copying)
    # a folder is listed in any order
    orders = itertools.cycle([sorted, lambda names: sorted(names, reverse=True)])
    monkeypatch.setattr(type(state.path), "iterdir", lambda path: next(orders)(listed(path)))
    for i in range(2):
        names = backup.back_up(state, tmp_path / f"copy-{i}")
        assert {"witness", "audit-log-witness", "ledger.sqlite", "audit-log.sqlite"} < {*names}
        copied = ServiceState.open(tmp_path / f"copy-{i}")
        assert verify(copied.ledger, copied.witness) == []
        assert verify_stored(copied.audit_log, copied.audit_witness) == []
        caps = [event for event in copied.audit_log.events() if event.kind == "cap"]
        assert len(caps) >= int(copied.ledger.cap("people").amount - 3), (
            "no cap is in the ledger of a copy whose audit log does not say who changed it"
        )
        copied.ledger.close()


def test_what_is_about_running_processes_is_not_backed_up(state, tmp_path):
    """Nor what a witness is being written to: it is gone in a moment, and the copy would fail."""
    live(state)
    for name in ("shared.sqlite", "witness.0a1b2c3d", ".places.json.0a1b2c3d.part"):
        (state.path / name).write_bytes(b"")
    (state.path / "witness.before").write_bytes(b"kept by its owner")
    names = {*backup.back_up(state, tmp_path / "copy")}
    assert not names & {"shared.sqlite", "witness.0a1b2c3d", ".places.json.0a1b2c3d.part"}
    assert names > {"witness.before", "curator.json", "accounts.sqlite", "ledger.sqlite"}
