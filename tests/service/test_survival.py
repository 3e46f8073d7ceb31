"""Six ordinary events in the middle of a fit: each ends in a model, and the ledger says what it
says of a fit that nothing happened to. Real processes: client, service, PostgreSQL.
"""

from __future__ import annotations

import json
import os
import re
import signal
import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest

import privet as pv
from privet.accounting.cost import Budget
from privet.accounting.ledger import verify
from privet.service.state import ServiceState
from tests.commands import PRIVET, Forked
from tests.ports import free_port
from tests.postgres import own_postgres, put_table  # noqa: F401 - a fixture
from tests.service.running import PATIENCE, SCHEMA, House, Service, house

EPSILON = 1
#: The question of the fit at which something happens: it is charged, and no row was read for it.
MIDST = 2

#: Lets a test stop the service between a charge and the rows.
STEERED = """
import time
from pathlib import Path
from privet.curator.curator import Curator
inner, folder = Curator._inside, Path({folder!r})
def steered(self, work):
    with (folder / "asked").open("a") as file:
        file.write("asked\\n")
    while (folder / "hold").exists() and len((folder / "asked").read_text().split()) >= {midst}:
        time.sleep(0.005)
    return inner(self, work)
Curator._inside = steered
"""


class Fit:
    """``privet fit`` as a process, and the service that it asks, which a test can stop midway."""

    def __init__(self, there: House, folder: Path, *words: str) -> None:
        self.there, self.folder, self.port = there, folder, free_port()
        self.words, self.environment = words, {**os.environ, "PRIVET_TOKEN": there.tokens["ada"]}
        (folder / "asked").touch()
        self.service = self.serve()
        self.client: Forked | None = None

    def serve(self, hold: bool = True) -> Service:
        (self.folder / "hold").unlink(missing_ok=True)
        if hold:
            (self.folder / "hold").touch()
        before = STEERED.format(folder=str(self.folder), midst=MIDST)
        log = self.folder / f"serve-{time.monotonic_ns()}.log"
        return Service(self.there.path, log, before=before, port=self.port)

    def begin(self) -> None:
        out, err = self.folder / "out", self.folder / "err"
        for file in (out, err):
            file.write_bytes(b"")
        command = ["fit", f"http://127.0.0.1:{self.port}", "--epsilon", str(EPSILON)]
        command += ["--learner", "greedy-tree", "-o", "m.json", *self.words]
        self.client = Forked(PRIVET, command, out, err, self.folder, self.environment)

    @property
    def told(self) -> str:
        return (self.folder / "err").read_text()

    def reach_the_midst(self) -> None:
        self.begin()
        wait_until(lambda: len((self.folder / "asked").read_text().split()) >= MIDST, self)

    def release(self) -> None:
        (self.folder / "hold").unlink(missing_ok=True)

    def end(self) -> pv.ReleasedClassifier:
        assert self.client is not None
        assert self.client.wait(PATIENCE) == 0, (self.told, self.service.told)
        assert not (self.folder / "m.json.unfinished").exists()
        return pv.load(self.folder / "m.json")

    def service_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        if self.client is not None:
            self.client.kill()
        self.service.kill()


def wait_until(reached, fit: Fit) -> None:
    until = time.monotonic() + PATIENCE
    while not reached():
        assert time.monotonic() < until, (fit.told, fit.service.told)
        assert fit.client is None or fit.client.poll() in (None, -9), (fit.told, fit.service.told)
        time.sleep(0.005)


@pytest.fixture
def there(tmp_path):
    made = house(tmp_path, 3)
    for analyst in ("ada", "bob"):
        made.add(analyst, 2)
    return made


@pytest.fixture
def fit(there, tmp_path):
    made = Fit(there, tmp_path)
    yield made
    made.close()


def check(fit: Fit, spent: int = EPSILON) -> pv.ReleasedClassifier:
    """A model, and a ledger that is whole, with one reservation that spent what a fit spends."""
    model = fit.end()
    state = fit.there.state
    assert model.model_.privacy.promised.epsilon == EPSILON
    assert state.ledger.spent("people", "ada").epsilon == EPSILON
    assert state.ledger.spent("people").epsilon == spent
    assert [one.state for one in state.ledger.reservations("people", "ada")] == ["done"]
    assert state.ledger.unanswered() == set()
    assert verify(state.ledger, state.witness) == []
    return model


def notes_of(model: pv.ReleasedClassifier) -> str:
    """What it says about the rows that its answers are about."""
    return " ".join(note for note in model.model_.privacy.notes if "rows as they were" in note)


def test_a_fit_that_nothing_happens_to(fit):
    fit.release()
    fit.begin()
    assert notes_of(check(fit)) == ""


def test_the_client_is_killed(fit):
    fit.reach_the_midst()
    assert fit.client is not None
    os.kill(fit.client.pid, signal.SIGKILL)
    fit.client.wait(PATIENCE)
    fit.release()
    fit.begin()  # the same command again
    model = check(fit)
    assert "going on with what was interrupted" in fit.told
    assert re.search("interrupted, and finished later: [12] of 4 answers", notes_of(model))


def test_the_service_is_killed(fit):
    fit.reach_the_midst()
    fit.service.kill()
    wait_until(lambda: "cannot be reached" in fit.told, fit)  # said at once
    fit.service = fit.serve(hold=False)
    model = check(fit)
    assert "trying again for" in fit.told
    assert "the rows as they were then" in notes_of(model)


def test_the_service_is_told_to_restart(fit):
    fit.reach_the_midst()
    fit.service.process.terminate()
    with fit.service.client(fit.there.tokens["bob"]) as bob:
        wait_until(lambda: bob.get("datasets").status == 503, fit)
        turned_away = bob.get("datasets")
        assert (turned_away.headers["retry-after"], turned_away.problem["charged"]) == ("1", False)
    fit.release()  # what is under way gets its answer
    assert fit.service.process.wait(PATIENCE) == 0
    assert fit.there.state.ledger.unanswered() == set()
    fit.service = fit.serve(hold=False)
    assert "the rows as they were then" in notes_of(check(fit))


def test_the_database_is_restarted(tmp_path, own_postgres):  # noqa: F811
    """That of the table and of the ledger."""
    import duckdb

    house(tmp_path)  # for its table
    with duckdb.connect(tmp_path / "people.db") as connection:
        frame = connection.sql("FROM people").df()
    url = own_postgres.database()
    place = put_table(url, frame)
    state, _ = ServiceState.make(tmp_path / "home", ledger=url)
    state.accounts.add_dataset("people", place, SCHEMA)
    state.ledger.open_cap("people", Budget(3))
    there = House(state, tmp_path)
    there.add("ada", 2)
    fit = Fit(there, tmp_path)
    try:
        fit.reach_the_midst()
        own_postgres.crash()
        fit.release()
        own_postgres.start()
        model = check(fit)
        assert "the rows as they were then" in notes_of(model)
    finally:
        fit.close()
        state.ledger.close()


def test_the_token_is_replaced(fit):
    fit.reach_the_midst()
    fit.there.state.accounts.new_token("ada", timedelta(hours=1))
    fit.release()
    assert notes_of(check(fit)) == ""


def test_the_token_is_replaced_at_once_in_the_file_that_has_it(there, tmp_path):
    (tmp_path / "token").write_text(there.tokens["ada"])
    fit = Fit(there, tmp_path, "--token-file", "token")
    try:
        fit.reach_the_midst()
        (tmp_path / "token").write_text(there.state.accounts.new_token("ada"))
        fit.release()
        assert notes_of(check(fit)) == ""
    finally:
        fit.close()


def test_a_token_that_ends_says_what_is_kept_and_how_to_go_on(fit):
    fit.reach_the_midst()
    new = fit.there.state.accounts.new_token("ada")
    fit.release()
    assert fit.client is not None
    assert fit.client.wait(PATIENCE) == 2
    assert "this token is not known" in fit.told
    assert "are paid for and kept" in fit.told
    assert "--anew gives it up" in fit.told
    fit.environment["PRIVET_TOKEN"] = new
    fit.begin()
    check(fit)


def test_somebody_else_spends_the_rest(fit):
    fit.reach_the_midst()
    with pv.connect(fit.service_url(), fit.there.tokens["bob"]) as bob:
        threading.Timer(0.2, fit.release).start()
        assert bob.left == 2
        bob.size(2)
        with pytest.raises(pv.errors.BudgetExceeded):
            bob.size("1/100")
    check(fit, spent=3)


def test_killed_clients_hold_up_nobody(there, tmp_path):
    """An analyst's own snapshots, left by clients that were killed, make room for the next."""
    Path(there.path / "limits.json").write_text(json.dumps({"snapshot_lease": 0}))
    fit = Fit(there, tmp_path)
    try:
        fit.release()
        with fit.service.client(there.tokens["ada"]) as ada:
            names = [ada.ask("snapshots", b"").json()["snapshot"] for _ in range(4)]
            again = [ada.ask("snapshots", {"reservation": "fit-1"}) for _ in range(3)]
            assert [one.status for one in again] == [201] * 3
            body = {"epsilon": "1/100", "snapshot": names[0]}
            assert ada.ask("size", body).status == 410  # the one that was not used for longest
            assert ada.ask("size", {**body, "snapshot": names[1]}).status == 200
            gone = ada.ask("size", {**body, "snapshot": again[0].json()["snapshot"]})
            assert gone.status == 410  # taken over by the same fit
    finally:
        fit.close()
