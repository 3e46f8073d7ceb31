"""privet curator archive, and what a client is told then."""

from __future__ import annotations

import json
import stat

import pytest

from privet.client.transport import error_of
from privet.errors import AnswerArchived, LedgerError, ModelError, ParameterError
from privet.service.audit_log import Person
from privet.service.owner.archive import archive_answers, read_archive
from privet.service.owner.desk import Desk
from tests.service.conftest import Analyst

COUNT = {"epsilon": "1/4", "by": ["colour"]}


@pytest.fixture
def desk(state):
    return Desk(state, Person("root", "administrator"))


def test_a_request_that_is_sent_again_is_told_the_archive(
    state, client, desk, tmp_path, monkeypatch
):
    ada = Analyst(client, state.tokens["ada"])
    head = {
        "Authorization": f"Bearer {state.tokens['ada']}",
        "Idempotency-Key": "my-key",
        "Content-Type": "application/json",
    }
    path = "/v1/datasets/people/count-by"
    first = client.post(path, content=json.dumps(COUNT).encode(), headers=head)
    assert first.status_code == 200
    (entry,) = state.ledger.entries()
    spent, history = (
        state.ledger.spent("people"),
        client.get("/v1/datasets/people/history", headers=head).json(),
    )
    recorded = state.ledger.answer(entry.number)
    place = tmp_path / "old.json"
    # charges of today are before no day that is allowed, so the day is taken for another
    monkeypatch.setattr("privet.service.owner.archive._read_day", lambda _: _Tomorrow())
    said = archive_answers(desk, "tomorrow", place, why="retention")
    assert "1 answers of questions before 2999-01-01" in said.said
    assert read_archive(place) == {entry.number: recorded}
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    again = client.post(path, content=json.dumps(COUNT).encode(), headers=head)
    assert again.status_code == 410, again.text
    assert again.json()["type"] == "urn:privet:problem:answer-archived"
    assert "'old.json'" in again.json()["detail"]
    assert isinstance(error_of(410, again.json(), "the curator"), AnswerArchived)
    assert state.ledger.spent("people") == spent
    assert len(state.ledger.entries()) == 1
    after = client.get("/v1/datasets/people/history", headers=head).json()
    assert after == history, "answered, with the same receipt"
    assert ada.post("count-by", COUNT).status_code == 200, "another key asks anew"
    event = next(e for e in state.audit_log.events() if e.kind == "answers archived")
    assert "(retention)" in event.what
    damaged = place.read_bytes().replace(b"my-key", b"my-kex")
    place.write_bytes(damaged)
    with pytest.raises(ModelError, match="checksum"):
        read_archive(place)


class _Tomorrow:
    def isoformat(self):
        return "2999-01-01"

    __str__ = isoformat


def test_what_cannot_be_archived_is_told(state, desk, tmp_path):
    (tmp_path / "there.json").write_text("x")
    for day, name, words in (
        ("soon", "a.json", "such as 2026-01-31"),
        ("2999-01-01", "a.json", "today or earlier"),
        ("2020-01-01", "there.json", "exists already"),
        ("2020-01-01", "no/a.json", "does not exist"),
    ):
        with pytest.raises(ParameterError, match=words):
            archive_answers(desk, day, tmp_path / name)
    said = archive_answers(desk, "2020-01-01", tmp_path / "a.json")
    assert "no answers" in said.said
    assert not (tmp_path / "a.json").exists()


def test_a_ledger_that_fails_after_the_file_was_written_leaves_no_file(
    state, desk, tmp_path, monkeypatch
):
    def fail(before, name, keep):
        keep([])
        raise LedgerError("the disk is full")

    monkeypatch.setattr(type(state.ledger), "archive", lambda _, *words: fail(*words))
    with pytest.raises(LedgerError, match="disk is full"):
        archive_answers(desk, "2020-01-01", tmp_path / "a.json")
    assert not (tmp_path / "a.json").exists()
    assert state.audit_log.events()[-1].kind == "change failed"
