"""The experiments on outsourced tables, as a part of the report of all papers."""

from __future__ import annotations

import pytest

from experiments.papers.anatomy import paper as module
from experiments.papers.anatomy.paper import PAPER, measured
from experiments.papers.anatomy.summary import WARNING
from experiments.papers.experiment import Outcome
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
    assert asked == [([2, 4], 1), ([2, 3], {1: 10, 2: 10, 3: 10, 4: 3, 5: 3})]


@pytest.mark.parametrize(("seconds", "verdict"), [(2.0, "agrees"), (9.0, "differs")])
def test_time_memory_and_accuracy_beside_what_the_paper_says(tmp_path, seconds, verdict):
    lines = [line for number in (2, 3) for line in fold(number, 0, seconds=seconds)]
    time, memory, accuracy = write_up(
        [Outcome(PAPER, one, lines) for one in PAPER.experiments], tmp_path, quick=True
    )
    assert (time.verdict, memory.verdict, accuracy.verdict) == (verdict, "agrees", "agrees")
    assert "50" in time.comparisons[0].ours or verdict == "differs"
    assert WARNING in (tmp_path / REPORT).read_text()
