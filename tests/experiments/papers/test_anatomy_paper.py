"""The experiments on outsourced tables, as a part of the report of all papers."""

from __future__ import annotations

import pytest

from experiments.papers.anatomy import paper as module
from experiments.papers.anatomy.paper import PAPER, measured
from experiments.papers.anatomy.summary import WARNING
from experiments.papers.experiment import Outcome
from experiments.papers.stories.love_canal import find_love_canal
from experiments.papers.whole import REPORT, write_up
from tests.experiments.papers.made_up import fold


def test_what_is_run_among_other_papers(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(
        module,
        "run",
        lambda experiments, folds, *_: (
            asked.append(([one.number for one in experiments], folds)) or []
        ),
    )
    measured(tmp_path, True, ())
    measured(tmp_path, False, {"adult", "autos"})
    assert measured(tmp_path, True, {"votes", "adult"}) == []
    assert asked == [([2, 4], 1), ([2, 3], {1: 5, 2: 5, 3: 5, 4: 3, 5: 3})]


@pytest.mark.parametrize(("seconds", "verdict"), [(2.0, "agrees"), (9.0, "differs")])
def test_time_memory_and_accuracy_beside_what_the_paper_says(tmp_path, seconds, verdict):
    lines = [
        line
        for number in (2, 3)
        for at in range(4)
        for line in fold(number, at, seconds=seconds + at / 100, largest=30 + at)
    ]
    measured = [one for one in PAPER.experiments if not one.cells(True)]
    time, memory, accuracy = write_up(
        [Outcome(PAPER, one, lines) for one in measured], tmp_path, quick=True
    )
    assert (time.verdict, accuracy.verdict) == (verdict, "agrees")
    # less memory in both; and leaves that grow with time are no trade-off
    assert memory.counts == {"agrees": 2, "differs": 1} or memory.counts["agrees"] == 2
    assert WARNING in (tmp_path / REPORT).read_text()


def test_love_canal_is_found_where_the_diagnosis_is_seen():
    lines = [row for run in range(3) for row in find_love_canal(run)]
    one = next(one for one in PAPER.experiments if one.number == "love canal")
    assert {claim.verdict for claim in one.compare(lines)} == {"agrees"}
    assert one.draw(lines).axes
