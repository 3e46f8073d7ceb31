"""A ledger that was put back is not served, also when the whole home was put back with it; nor is
one whose fail-over could lose charges.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import urllib.error
import urllib.request
from dataclasses import replace

import pytest

from privet.accounting.cost import Budget
from privet.accounting.ledger import Receipt
from privet.accounting.ledger.postgres import PostgresLedger
from privet.errors import LedgerError
from tests.commands import run
from tests.postgres import postgres  # noqa: F401 - a fixture
from tests.service.running import PATIENCE, Service, house


def privet(folder, *words) -> subprocess.CompletedProcess[str]:
    return run(words, folder, os.environ, PATIENCE)


def test_a_home_that_was_put_back_is_not_served(tmp_path):
    there = house(tmp_path)
    there.add("ada", 100)
    witness, log = tmp_path / "elsewhere" / "witness", tmp_path / "serve.log"
    witness.parent.mkdir()
    serve = ("curator", "serve", "--home", there.path, "--port", "0", "--witness", witness)
    refused = privet(tmp_path, *serve)
    assert (refused.returncode, "--new-witness" in refused.stderr) == (2, True)
    begun = ("curator", "verify", "--home", there.path, "--witness", witness, "--new-witness")
    assert privet(tmp_path, *begun).returncode == 0
    there.state.ledger.close()
    shutil.copytree(there.path, tmp_path / "backup")
    service = Service(there.path, log, more=("--witness", str(witness)))
    with service.client(there.tokens["ada"]) as ada:
        assert ada.ask("size", {"epsilon": 1}).status == 200
        seen = Receipt.read(witness.read_text())
        assert seen.number == there.state.ledger.entries()[-1].number
        # somebody has seen what this ledger does not have
        witness.write_text(f"{replace(seen, number=seen.number + 1)}\n")
        assert ada.ask("size", {"epsilon": 1}).status == 503
        witness.write_text(f"{seen}\n")
        assert ada.ask("size", {"epsilon": 1}).status == 200
    service.kill()
    shutil.rmtree(there.path)
    shutil.copytree(tmp_path / "backup", there.path)
    stopped = privet(tmp_path, *serve)
    assert stopped.returncode == 2
    assert "nothing is served" in stopped.stderr
    assert "was cut, or restored from a backup" in stopped.stderr


def test_a_fail_over_that_could_lose_charges_is_refused(postgres):  # noqa: F811
    url = postgres.database()
    alone = PostgresLedger(url)
    alone.set_cap("people", Budget(1))
    assert alone.check_standbys() == []
    several = PostgresLedger(url.replace("host=", f"host={url.partition('host=')[2]},"))
    try:
        with pytest.raises(LedgerError, match="synchronous_standby_names"):
            several.check_standbys()
        assert several.cap("people") == Budget(1)
    finally:
        several.close()
        alone.close()


def test_nothing_is_charged_while_the_other_disk_is_away(tmp_path):
    there = house(tmp_path)
    there.add("ada", 100)
    disk = tmp_path / "elsewhere"
    disk.mkdir()
    witness = disk / "witness"
    begun = ("curator", "verify", "--home", there.path, "--witness", witness, "--new-witness")
    assert privet(tmp_path, *begun).returncode == 0
    service = Service(there.path, tmp_path / "serve.log", more=("--witness", str(witness)))
    try:
        with service.client(there.tokens["ada"]) as ada:
            assert ada.ask("size", {"epsilon": 1}).status == 200
            disk.rename(tmp_path / "away")
            refused = ada.ask("size", {"epsilon": 1})
            assert (refused.status, refused.problem["charged"]) == (503, False)
            disk.mkdir()  # the empty folder where it was mounted is no witness either
            assert ada.ask("size", {"epsilon": 1}).problem["charged"] is False
            with pytest.raises(urllib.error.HTTPError) as not_ready:
                urllib.request.urlopen(f"http://127.0.0.1:{service.port}/readyz")
            with not_ready.value as told:
                assert json.loads(told.read())["checks"]["witness"] == "failed"
            disk.rmdir()
            (tmp_path / "away").rename(disk)
            assert ada.ask("size", {"epsilon": 1}).status == 200
        assert there.state.ledger.spent("people").epsilon == 2
        assert there.state.ledger.unanswered() == set()
    finally:
        service.kill()
