"""The report that a data-protection officer signs."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from html import unescape

import pytest

from privet.accounting.cost import Budget, Cost
from privet.errors import ParameterError
from privet.service.accounts import FIRST_OWNER
from privet.service.audit_log import Person, Refusals
from privet.service.owner import datasets, rights
from privet.service.owner.desk import Desk
from privet.service.owner.report import last_month, make_report, render_report

TODAY = datetime.now(UTC).date().isoformat()  # when the tests were collected
HOSTILE = "<script>alert(1)</script> | `x` [a](javascript:b)"


def read_today() -> str:
    """Return the date now: a run may go on past midnight."""
    return datetime.now(UTC).date().isoformat()


@pytest.fixture
def desk(state) -> Desk:
    return Desk(state, FIRST_OWNER)


@pytest.fixture
def lived(desk, state) -> None:
    """A fit of two questions, a question of its own, changes and refusals."""
    ledger = state.ledger
    about = {"schema": "s", "neighbours": "add-remove", "rows_per_person": 1, "person": "who"}
    ledger.reserve("people", "ada", Budget(1), "fit of privet", key="f", request="r", **about)
    for number in range(2):
        ledger.charge(
            "people", "ada", Cost.pure("1/4"), "counts", key=f"k{number}", request="r",
            reservation="f", asked="class counts by age", **about,
        )  # fmt: skip
    ledger.charge("people", "bob", Cost.pure("1/2"), HOSTILE, key="b", request="r")
    rights.change_cap(desk, "people", Budget(2), why="the board")
    rights.revoke(desk, "bob")
    refusals = Refusals(state.audit_log)
    refusals.refuse_question("ada", "people", "count of everybody, epsilon 9", "no budget")
    refusals.refuse_question("ada", "", "size of data set 'cars'", "not granted")
    for _ in range(7):
        refusals.refuse_sign_in("10.0.0.1")
    refusals.flush(all_of_them=True)


def test_the_report_says_who_asked_what_at_which_epsilon(desk, lived):
    report = make_report(desk, "people", TODAY, read_today())
    assert report.questions == 3
    assert [(one.what, len(one.questions), one.is_fit) for one in report.asked] == [
        ("fit of privet", 2, True),
        (HOSTILE, 1, False),
    ]
    assert (report.cost.epsilon, report.in_all.epsilon) == (1, 1)
    assert [(one.analyst, one.questions, one.cost.epsilon) for one in report.spenders] == [
        ("ada", 2, Cost.pure("1/2").epsilon),
        ("bob", 1, Cost.pure("1/2").epsilon),
    ]
    assert [event.what for event in report.refusals] == ["count of everybody, epsilon 9: no budget"]
    assert report.sign_ins == 7
    assert report.whole
    told = [one.what for one in report.changes]
    assert "cap: the cap of 'people' is epsilon 2; it was epsilon 3 (the board)" in told
    assert any(what.startswith("revoke: 'bob' may no longer ask") for what in told)
    # those that were set on the ledger itself are in no audit log
    assert [what for what in told if what.startswith("ledger line")] == [
        "ledger line 1: the cap of all analysts is epsilon 3",
        "ledger line 2: the cap of 'ada' is epsilon 2",
        "ledger line 3: the cap of 'bob' is epsilon 2",
    ]


def test_both_forms_say_the_same_and_escape_what_analysts_wrote(desk, lived):
    report = make_report(desk, "people", TODAY, read_today())
    html, text = render_report(report), render_report(report, ".md")
    assert "<script" not in html
    assert HOSTILE in unescape(html)
    assert "\\<script\\>" in text
    assert all(len(re.findall(r"(?<!\\)\|", line)) in (0, 3, 4, 7) for line in text.splitlines())
    for told in ("Signature", "class counts by age", "is whole", report.ledger[2]):
        assert told in html
        assert told.replace("-", "\\-") in text or told in text
    with pytest.raises(ParameterError, match=r"ends in \.html or \.md"):
        render_report(report, ".pdf")


def test_one_analyst_is_counted_in_the_singular(desk, state):
    state.ledger.charge("people", "ada", Cost.pure("1/4"), "counts", key="k", request="r")
    report = make_report(desk, "people", TODAY, TODAY)
    assert "| 1, by 1 analyst |" in render_report(report, ".md")


def test_a_period_bounds_everything(desk, lived):
    report = make_report(desk, "people", "2001-01-01", "2001-12-31")
    assert (report.questions, report.changes, report.refusals, report.sign_ins) == (0, [], [], 0)
    assert report.in_all.epsilon == 1, "what was spent in all is of today"
    assert "Nobody asked anything" in render_report(report)
    with pytest.raises(ParameterError, match="from must not be after to"):
        make_report(desk, "people", "2002-01-01", "2001-01-01")
    with pytest.raises(ParameterError, match="to is a day"):
        make_report(desk, "people", "2002-01-01", "")
    with pytest.raises(ParameterError, match="no data set 'cars' has a budget; there are 'people'"):
        make_report(desk, "cars", TODAY, read_today())


def test_a_damaged_record_is_said_at_once(desk, state, lived):
    import sqlite3

    with sqlite3.connect(state.audit_log.path) as connection:
        connection.execute("DROP TRIGGER events_keep")
        connection.execute("UPDATE events SET what = 'nothing happened' WHERE number = 1")
    report = make_report(desk, "people", TODAY, read_today())
    assert not report.whole
    assert "The audit log is not what it was" in render_report(report)
    assert "The ledger is whole" in render_report(report)


def test_an_auditor_reports_on_what_is_no_longer_served(desk, state, lived):
    datasets.remove_dataset(desk, "people")
    report = make_report(Desk(state, Person("dora", "auditor")), "people", TODAY, read_today())
    html = render_report(report)
    assert "no longer served" in html
    assert "dora (auditor)" in html


def test_last_month_is_a_whole_one():
    assert last_month(date(2026, 3, 1)) == ("2026-02-01", "2026-02-28")
    assert last_month(date(2026, 1, 31)) == ("2025-12-01", "2025-12-31")
