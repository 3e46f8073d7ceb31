"""A ledger in a folder that may no longer be entered."""

from __future__ import annotations

from pathlib import Path

import pytest

from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import SQLiteLedger
from privet.errors import LedgerError


def test_it_says_so_and_charges_nothing(tmp_path, monkeypatch):
    path = tmp_path / "ledger.sqlite"
    ledger = SQLiteLedger(path)
    ledger.set_cap("people", Budget(1))
    with monkeypatch.context() as patch:  # root may enter every folder
        patch.setattr(Path, "stat", closed)
        with pytest.raises(LedgerError, match=r"ledger\.sqlite: Permission denied"):
            ledger.charge("people", "ada", Cost.pure("1/2"), "x")
    assert ledger.entries() == []
    assert ledger.charge("people", "ada", Cost.pure("1/2"), "x").number == 2


def closed(*_: object, **__: object) -> None:
    raise PermissionError(13, "Permission denied")
