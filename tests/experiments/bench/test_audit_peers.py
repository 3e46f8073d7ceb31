"""The audit of peers: what is asked of them, what follows from their answers, and what is written;
with estimators that are made up.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.bench.accuracy import environment
from experiments.bench.accuracy.environment import Conversation, peers_python
from experiments.bench.audit_peers import __main__ as command
from experiments.bench.audit_peers.audits import audited
from experiments.bench.audit_peers.cases import CASES, Case
from experiments.bench.audit_peers.dealing import computed, true_epsilon
from experiments.bench.audit_peers.fits import PACKAGES, RELEASES
from experiments.bench.audit_peers.remarks import REMARKS
from experiments.bench.audit_peers.report import read
from privet.audit import epsilon_at_least, pair_of

PAIR = pair_of([[0.5]] * 2, [0, 1], [0.25], 0, name="one more")
BY_NAME = {case.name: case for case in CASES}


class Made:
    """Answers as the peers' process does."""

    def __init__(self) -> None:
        self.asked: list[dict] = []
        self.chance = random.Random(1)

    def __call__(self, request: dict) -> dict:
        self.asked.append(request)
        return {"seen": getattr(self, request["release"])(request)}

    def versions(self, request: dict) -> dict:
        return dict.fromkeys(PACKAGES, "1.2.3")

    def exact(self, request: dict) -> dict:
        return {"rows": len(request["world"]["y"])}

    def randomised(self, request: dict) -> dict:
        """Whether the row is there, told truly with the chance that epsilon allows."""
        there = len(request["world"]["y"]) == 3
        true = self.chance.random() < 1 / (1 + math.exp(-request["epsilon"]))
        return {"there": str(there == true)}


def test_an_exact_count_is_refuted_as_far_as_the_runs_go():
    result = audited(Case("c", "p", "exact", PAIR), Made(), runs=400, lines=10)
    assert not result.holds
    assert sorted(result.hits) == [0, 200]
    assert result.bound == epsilon_at_least(200, 200, 0, 200, confidence=0.9999)


def test_a_true_claim_stands_and_is_approached():
    result = audited(Case("c", "p", "randomised", PAIR, epsilon=2.0), Made(), runs=4000, lines=10)
    assert result.holds
    assert result.tightness > 0.7
    # a seed
    assert not audited(
        Case("c", "p", "randomised", PAIR, epsilon=2.0),
        lambda asked: Made()(asked),
        runs=400,
        lines=10,
    ).holds


def test_a_table_of_more_lines_is_as_sure_as_one():
    one, ten = (
        audited(Case("c", "p", "exact", PAIR), Made(), runs=100, lines=lines).confidence
        for lines in (1, 10)
    )
    assert 1 - one == pytest.approx(10 * (1 - ten)) == pytest.approx(0.001)


def test_rows_are_given_in_their_order_and_an_adversary_knows_both_worlds():
    made = Made()
    audited(Case("c", "p", "exact", PAIR, settings={"a": 1}), made, runs=16, lines=1)
    one, other = {"X": [[0.5], [0.5]], "y": [0, 1]}, {"X": [[0.5], [0.5], [0.25]], "y": [0, 1, 0]}
    assert all(request["worlds"] == [one, other] for request in made.asked)
    assert (
        [request["world"] for request in made.asked].count(one)
        == [request["world"] for request in made.asked].count(other)
        == 16
    )
    assert (made.asked[0]["settings"], made.asked[0]["probes"]) == ({"a": 1}, [[0.25]])


def test_positions_are_those_of_the_remark():
    """As diffprivlib deals rows: nine of ten trees get another row, because one was appended."""
    pair = BY_NAME["forest-position"].pair

    def trees(rows: list) -> list[set]:
        dealt = [int(place // (len(rows) / 10)) for place in range(len(rows))]
        return [{place for place, tree in enumerate(dealt) if tree == t} for t in range(10)]

    before, after = trees(pair.one.rows), trees(pair.other.rows)
    assert [len(tree) for tree in before] == [1] * 10
    assert all(not before[t] & after[t] for t in range(1, 10))
    labels = [row["class"] for row in pair.other.rows]
    assert all(
        {labels[i] for i in before[t]} != {labels[i] for i in after[t]} for t in range(1, 10)
    )


def test_the_true_loss_of_dealing():
    """With one tree it is epsilon; else as by hand: the labels of two trees, or that tree 0 says 0
    and the other two say 1.
    """
    assert true_epsilon([0], 1, 1, 0.7, shuffled=False) == pytest.approx(0.7)
    low = math.exp(-1) / 2
    flipped = math.log((1 - low) / low)  # a tree has a row of the other class instead
    assert true_epsilon([0, 1], 0, 2, 1.0, shuffled=False) == pytest.approx(1 + flipped)
    before, after = (1 - low) * low**2, low**2 / 4 + (1 - math.exp(-2) / 2) * (1 - low) * low / 2
    assert true_epsilon([0] * 3, 1, 3, 1.0, shuffled=True) == pytest.approx(
        math.log(after / before)
    )
    assert "epsilon is 14.4" in computed()["forest-position"]


def test_every_case_is_described_and_can_be_asked_for():
    assert set(REMARKS) == set(BY_NAME)
    assert len(BY_NAME) == len(CASES)
    for case in CASES:
        assert case.release in RELEASES
        assert case.peer in PACKAGES
        extra = len(case.pair.other.rows) - len(case.pair.one.rows)
        assert extra == (1 if case.neighbours == "add-remove" else 0)
        assert sum(
            a != b for a, b in zip(case.pair.one.rows, case.pair.other.rows, strict=False)
        ) == (1 - extra)


@pytest.fixture
def bench(monkeypatch, tmp_path):
    cases = (
        Case("forest-seed", "diffprivlib", "exact", PAIR),
        Case("ebm-rows", "interpret-core", "randomised", PAIR, delta=1e-5),
    )
    monkeypatch.setattr(command, "CASES", cases)

    def run(ask, **options) -> dict:
        chosen = {
            "cases": ["forest-seed", "ebm-rows"],
            "runs": 200,
            "anew": False,
            "report": False,
            "out": tmp_path,
            **options,
        }
        command.measure(argparse.Namespace(**chosen), ask)
        return read(tmp_path / "audit-peers.csv")

    return run


def test_results_are_kept_and_shown(bench, tmp_path):
    made = Made()
    first = bench(made, cases=["forest-seed"])
    assert (
        first["forest-seed"]["verdict"],
        first["forest-seed"]["hits"],
        first["forest-seed"]["other_hits"],
    ) == ("violated", "100", "0")
    assert first["forest-seed"]["bound"] == first["forest-seed"]["ceiling"]
    assert len(made.asked) == 1 + 2 * 200  # versions, and both worlds
    both = bench(made)
    assert both["forest-seed"] == first["forest-seed"]
    assert both["ebm-rows"]["verdict"] == "not refuted"
    assert len(made.asked) == 2 * (1 + 2 * 200)
    page = (tmp_path / "audit-peers.md").read_text()
    assert (
        page.index("## Refuted")
        < page.index(f"### {REMARKS['forest-seed'].title}")
        < page.index("## Not refuted")
    )
    assert page.index("## Not refuted") < page.index(f"### {REMARKS['ebm-rows'].title}")
    assert "## Refuted in this reading" not in page
    assert f"| add-remove | 1 | {first['forest-seed']['bound']} |" in page
    assert "1, delta 1e-05" in page
    assert "diffprivlib 1.2.3" in page
    (tmp_path / "audit-peers.md").unlink()
    bench(lambda _: pytest.fail("nothing is to be asked"), report=True)
    assert (tmp_path / "audit-peers.md").read_text() == page
    bench(made, anew=True, cases=["ebm-rows"])
    assert len(made.asked) == 3 * (1 + 2 * 200)


def test_what_is_no_case_is_refused(monkeypatch, capsys):
    for words, said in (
        (["--cases", "forest"], "there is no case 'forest'"),
        (["--runs", "-1"], "--runs must be"),
    ):
        monkeypatch.setattr(sys, "argv", ["experiments.bench.audit_peers", *words])
        with pytest.raises(SystemExit):
            command.parse()
        assert said in capsys.readouterr().err


def test_what_goes_wrong_in_the_process_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr(environment, "peers_python", lambda cache: sys.executable)
    with Conversation(tmp_path, "experiments.bench.audit_peers.fits") as peers:
        for _ in range(2):  # it goes on after an error
            with pytest.raises(RuntimeError, match="KeyError: 'nothing'"):
                peers.ask({"release": "nothing"})
    with (
        Conversation(tmp_path, "bench.nothing") as peers,
        pytest.raises(RuntimeError, match="ended"),
    ):
        peers.ask({})


@pytest.mark.slow
@pytest.mark.parametrize("name", ["forest-seed", "ebm-class", "ebm-rows", "distributed-thresholds"])
def test_real_peers_are_refuted(name):
    """Three faults show in every run, and the seed tells in a third of them: so few runs fail with
    probability below 1e-6.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "privet-bench"
    try:
        peers_python(cache)
    except (subprocess.CalledProcessError, OSError) as error:
        pytest.skip(f"the peers' environment cannot be made here: {error}")
    with Conversation(cache, "experiments.bench.audit_peers.fits") as peers:
        assert not audited(
            BY_NAME[name], peers.ask, runs=1000 if name == "forest-seed" else 200, lines=1
        ).holds
