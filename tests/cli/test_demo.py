"""``privet demo``, in a process of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

Run = Callable[..., Any]
CLASSES = ["not_recom", "recommend", "very_recom", "priority", "spec_prior"]


def test_the_table_shows_three_epsilons_beside_the_ledger(process: Run) -> None:
    ran = process("demo")
    assert (ran.code, ran.err) == (0, "")
    lines = [line.split() for line in ran.out.splitlines()]
    assert ["recommendation", "(noise", "+-141.4)", "(noise", "+-14.1)", "(noise", "+-1.4)"] in lines
    answered = {line[0]: line[1:] for line in lines if line and line[0] in CLASSES}
    assert list(answered) == CLASSES
    assert all(len(counts) == 3 and count.lstrip("-").isdigit() for counts in answered.values() for count in counts)
    charged = [line[-2] for line in lines if "counts:" in line]
    assert charged == ["0.01", "0.1", "1"]
    assert ["nursery", "epsilon", "2", "1.11", "0.89"] in lines


def test_json_is_for_machines(process: Run) -> None:
    ran = process("demo", "--json")
    assert (ran.code, ran.err) == (0, "")
    said = json.loads(ran.out)
    assert list(said["noisy_counts"]) == ["0.01", "0.1", "1"]
    for counts in said["noisy_counts"].values():
        assert list(counts) == CLASSES
        assert all(type(count) is int for count in counts.values())
    assert (said["spent"], said["left"]) == ("111/100", "89/100")


def test_a_budget_that_is_too_small_is_one_line_and_exit_code_2(process: Run) -> None:
    ran = process("demo", "--budget", "0.5")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "privet: the budget of data set 'nursery' does not allow this: asked epsilon 1, left epsilon 0.39\n"
