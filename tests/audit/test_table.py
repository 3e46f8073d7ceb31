"""Results that are judged together, and the table that they make."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.audit import (
    SUBJECTS,
    AuditResult,
    Line,
    audit_subject,
    audit_table,
    judged_together,
    lines_of,
)
from privet.audit.bounds import reach_of_parts
from privet.audit.result import COLUMNS, describe_event, format_row, render_page, summarize_results
from privet.audit.subjects import SubjectRun
from privet.errors import ParameterError

ONE = AuditResult(
    "count",
    1.0,
    0.0,
    0.999,
    2000,
    1000,
    (780, 210),
    "nobody else",
    "sum is at least 1",
    "add-remove",
    0.77,
)


def test_one_claim_by_itself_is_judged_by_its_bound():
    assert 1 < ONE.bound == ONE.sure_bound
    assert (ONE.holds, ONE.verdict) == (False, "violated")


def test_among_many_the_same_counts_are_a_doubt_and_more_of_them_are_a_violation():
    """By itself a line fails with 1/1000; of fifty some line would, with up to 1/20."""
    many = judged_together([ONE] * 50)
    assert {one.lines for one in many} == {50}
    assert many[0].sure_bound < 1 < many[0].bound == ONE.bound
    assert (many[0].holds, many[0].verdict) == (True, "in doubt")
    assert judged_together([replace(ONE, hits=(900, 100))] * 50)[0].verdict == "violated"
    assert judged_together([replace(ONE, hits=(500, 300))] * 50)[0].verdict == "not refuted"


def test_a_result_says_what_it_claims_what_was_found_and_what_was_within_reach():
    weak = replace(ONE, hits=(500, 300))
    assert weak.power == weak.bound / 0.77
    assert str(weak) == (
        "count: not refuted. Epsilon 1 is claimed, and it is at least 0.24 by 2 x 2,000 runs, with "
        "a confidence of 0.999; 0.77 was within reach, and 32% of it was seen"
    )
    assert str(ONE).startswith("count: violated. Epsilon 1 is claimed, and it is at least 1.")
    assert "reach" not in str(ONE)
    blind = replace(ONE, reach=0.0, hits=(1, 0), counted=2)
    assert blind.power == 0


def test_what_version_0_1_read_is_still_there():
    """Its keys, the attribute holds, and the word for a claim that is refuted."""
    old = {
        "subject", "neighbours", "claimed_epsilon", "delta", "audited_lower_bound",
        "lower_bound_for_all_lines", "within_reach", "confidence", "lines", "runs", "counted",
        "hits", "worlds", "event", "tightness", "verdict",
    }  # fmt: skip
    told = ONE.to_json()
    assert old | {"power", "refuted", "note"} == set(told)
    assert (told["verdict"], told["refuted"], ONE.holds) == ("violated", True, False)


@given(st.integers(0, 200), st.integers(0, 200), st.integers(1, 100))
def test_the_more_lines_the_more_it_takes(hits, other_hits, lines):
    one = replace(ONE, counted=200, hits=(hits, other_hits), lines=lines)
    assert replace(one, lines=lines + 1).sure_bound <= one.sure_bound <= one.bound


def test_a_line_has_a_word_for_every_column_and_bounds_are_rounded_down():
    words = dict(zip(COLUMNS, format_row(replace(ONE, hits=(500, 300), delta=0.01)), strict=True))
    bound = replace(ONE, hits=(500, 300), delta=0.01).bound
    assert words["claimed epsilon"] == "1 (delta 0.01)"
    assert float(words["audited lower bound"]) <= bound < float(words["audited lower bound"]) + 0.01
    assert words["within reach"] == "0.77"
    assert words["runs"] == "2 x 2,000"


def test_the_page_says_what_was_run_and_seen():
    found = judged_together([ONE, replace(ONE, subject="other", hits=(500, 300))])
    text = render_page(found, "privet audit count other")
    assert "Made by `privet audit count other`" in text
    assert f"- {describe_event(found[0])}" in text
    assert "in 780 of 1,000 runs against 210, sum is at least 1; worlds: nobody else" in text
    assert len([line for line in text.splitlines() if line.startswith("|")]) == 4
    assert (
        summarize_results(judged_together([ONE] * 50))[-1]
        == "In doubt, and to be run again alone: count."
    )
    assert "1 violated" in summarize_results([ONE])[0]


def test_a_note_says_why_and_what_is_attainable():
    noted = replace(ONE, hits=(500, 300), note="it tells little")
    assert "## Why some cannot come closer" not in render_page([ONE], "x")
    page = render_page([ONE, noted], "x")
    assert "## Why some cannot come closer\n\n- count (add-remove): it tells little\n" in page


def test_a_limit_is_below_the_reach_and_is_told_with_the_default_epsilon_alone():
    for name, subject in SUBJECTS.items():
        assert set(subject.limits) <= set(subject.relations)
        for neighbours, limit in subject.limits.items():
            run = SubjectRun(name, subject.epsilon(neighbours))
            released = run.released(subject.pairs(neighbours)[0].other)
            whole = replace(limit, event=None, rho=1.0, parts=()) if released.rho else None
            reach = (
                whole.attainable(released, 1000, 0.999)
                if whole
                else reach_of_parts(released.parts or (float(released.epsilon),), 1000)
            )
            assert 0.4 * reach < limit.attainable(released, 1000, 0.999) < 0.75 * reach
    assert "would find about" in audit_subject("median", runs=64).note
    assert not audit_subject("median", Fraction(1), 64).note


def test_lines_are_for_those_who_are_promised_anything():
    assert lines_of(["count", "randomizer-split", "count"]) == [
        Line("count", "add-remove"),
        Line("count", "replace"),
        Line("randomizer-split", "replace"),
    ]
    assert lines_of(["count"], "replace") == [Line("count", "replace")]
    assert {line.subject for line in lines_of()} == set(SUBJECTS)
    with pytest.raises(ParameterError, match="neighbours must be"):
        lines_of([], "all")


def test_results_come_in_the_order_of_the_lines_whatever_is_done_first():
    told = []
    lines = lines_of(["count", "randomizer-split", "quantile", "median"])
    found = audit_table(lines, 64, done=told.append)
    assert [(one.subject, one.neighbours) for one in found] == lines
    assert {one.lines for one in found} == {7}
    assert told == [pytest.approx(number / 7) for number in range(1, 8)]
    assert all(one.reach is not None and one.reach > 0 for one in found)
