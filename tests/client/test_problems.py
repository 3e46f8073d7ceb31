"""Each problem that a curator reports raises what a curator in this process raises."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from privet.client.transport import error_of
from privet.errors import (
    AccessError,
    BudgetExceeded,
    KeyReused,
    LedgerError,
    ParameterError,
    PrivacyError,
    PrivetError,
    QuestionError,
    SchemaError,
    SnapshotEnded,
    TableError,
    Unavailable,
)
from privet.service.limits import TooMany
from privet.service.problems import OtherSchema, Unauthorised, problem_of
from privet.service.snapshots import SnapshotGone

SLUGS = {
    ("parameter", 422): ParameterError,
    ("question", 422): QuestionError,
    ("schema", 409): SchemaError,
    ("privacy", 403): PrivacyError,
    ("key-reused", 409): KeyReused,
    ("access", 401): AccessError,
    ("not-granted", 404): AccessError,
    ("snapshot-gone", 410): SnapshotEnded,
    ("too-large", 413): QuestionError,
    ("too-many-requests", 429): Unavailable,
    ("busy", 503): Unavailable,
    ("table", 503): Unavailable,
    ("ledger", 503): Unavailable,
}


def told(slug: object, **more: object) -> dict:
    return {"type": f"urn:privet:problem:{slug}", "title": "What", "detail": "the reason", **more}


@pytest.mark.parametrize(("slug", "status"), SLUGS)
def test_every_kind_of_problem_is_an_error_of_its_own(slug, status):
    error = error_of(status, told(slug), "the curator")
    assert type(error) is SLUGS[slug, status]
    assert str(error) == "the reason"


def test_a_budget_that_does_not_allow_it():
    error = error_of(
        403,
        told("budget-exceeded", asked="1/3", left="1/7", unit="rho", account="data set 'people'"),
        "the curator",
    )
    same = BudgetExceeded(Fraction(1, 3), Fraction(1, 7), "rho", "data set 'people'")
    assert (type(error), str(error), vars(error)) == (BudgetExceeded, str(same), vars(same))


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"asked": "x", "left": "1", "unit": "rho", "account": "a"},
        {"asked": None},
        {"asked": "1/0", "left": "1"},
        {"asked": "1e999999999"},
    ],
)
def test_half_a_budget_problem_is_still_an_error(more):
    assert str(error_of(403, told("budget-exceeded", **more), "the curator")) == "the reason"


@pytest.mark.parametrize(
    ("raised", "read"),
    [
        (ParameterError, ParameterError),
        (QuestionError, QuestionError),
        (PrivacyError, PrivacyError),
        (KeyReused, KeyReused),
        (Unauthorised, AccessError),
        (AccessError, AccessError),
        (OtherSchema, SchemaError),
        (SnapshotGone, SnapshotEnded),
        (TooMany, Unavailable),
        (TableError, Unavailable),
    ],
)
def test_what_the_service_raises_arrives(raised, read):
    response = problem_of(raised("the reason"))
    error = error_of(response.status_code, json.loads(response.body), "the curator")
    assert (type(error), str(error)) == (read, "the reason")


def test_an_overdrawn_budget_and_a_missing_answer_arrive():
    overdrawn = BudgetExceeded(
        Fraction(2), Fraction(1, 3), "epsilon", "analyst 'ada' on data set 'people'"
    )
    response = problem_of(overdrawn)
    assert vars(error_of(response.status_code, json.loads(response.body), "the curator")) == vars(
        overdrawn
    )
    for missing in (TableError("the database went away"), LedgerError("the disk is full")):
        response = problem_of(missing)
        error = error_of(response.status_code, json.loads(response.body), "the curator")
        assert (type(error), str(error)) == (Unavailable, json.loads(response.body)["detail"])


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, PrivetError), (418, PrivetError), (500, Unavailable), (599, Unavailable)],
)
def test_another_kind_says_the_status(status, kind):
    error = error_of(status, told("of-the-future"), "the curator")
    assert (type(error), str(error)) == (
        kind,
        f"the curator answered with status {status}: the reason",
    )


@pytest.mark.parametrize(
    "body", [None, [], "text", 7, {}, {"type": "about:blank"}, {"type": None}, {"detail": "x"}]
)
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, AccessError),
        (403, AccessError),
        (404, Unavailable),
        (500, Unavailable),
        (503, Unavailable),
    ],
)
def test_what_is_no_problem_is_no_curator(body, status, kind):
    error = error_of(status, body, "the curator")
    assert type(error) is kind
    assert f"status {status}" in str(error)


@pytest.mark.parametrize("detail", [None, "", 7, ["list"], {"a": 1}])
def test_a_strange_detail_is_still_a_message(detail):
    assert str(
        error_of(422, {"type": "urn:privet:problem:parameter", "detail": detail}, "the curator")
    )


def test_a_detail_cannot_write_on_the_terminal_or_fill_it():
    error = error_of(422, told("parameter", detail="\x1b[2J" + "a" * 10_000), "the curator")
    assert "\x1b" not in str(error)
    assert len(str(error)) <= 2000
