"""Regrets, intervals and the choice that leaves tables out, on made-up numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from experiments.recipe.learning import (
    Interval,
    compare_with_shipped,
    leave_tables_out,
    summarise,
)
from experiments.recipe.report import write


def make_rows(losses: dict[str, dict[str, float]], band: int = 0) -> list[dict]:
    """Return rows of log losses by recipe and table; the shipped recipe loses 1, and a hard table
    adds to all.
    """
    return [
        {
            "kind": "balanced",
            "band": band,
            "table": table,
            "rows": 100,
            "epsilon": "1",
            "repeat": repeat,
            "recipe": recipe,
            "log_loss": loss + number + repeat,
            "accuracy": 0.8,
            "auroc": 0.7,
        }
        for recipe, by_table in ({"shipped": dict.fromkeys("abcd", 1.0)} | losses).items()
        for number, (table, loss) in enumerate(by_table.items())
        for repeat in range(2)
    ]


PLANTED = {
    "best": {"a": 0.7, "b": 0.8, "c": 0.7, "d": 0.8},
    "lucky": {"a": 0.1, "b": 1.1, "c": 1.1, "d": 1.1},
    "0.1": {"a": 0.1, "b": 0.1, "c": 0.1, "d": 0.1},
}


def test_the_planted_best_recipe_is_chosen_for_tables_that_were_not_looked_at():
    """Without table a nothing speaks for the lucky one; 0.1's rule is no line to choose."""
    chosen = leave_tables_out(compare_with_shipped(make_rows(PLANTED))).reset_index()
    assert chosen.recipe.tolist() == ["best"] * 4
    assert chosen.log_loss.tolist() == pytest.approx([-0.3, -0.2, -0.3, -0.2])


def test_luck_on_one_table_does_not_pay_on_another():
    losses = {"lucky": {"a": 0.1, "b": 1.1, "c": 1.1, "d": 1.1}}
    chosen = leave_tables_out(compare_with_shipped(make_rows(losses))).reset_index("recipe")
    assert chosen.xs("a", level="table").recipe.tolist() == ["shipped"]
    assert chosen.log_loss.mean() == pytest.approx(0.3 / 4)


def test_accuracy_counts_the_other_way_round():
    rows = make_rows({"other": dict.fromkeys("abcd", 1.0)})
    for row in rows:
        row["accuracy"] += 0.1 if row["recipe"] == "other" else 0
    found = summarise(compare_with_shipped(rows))
    assert found["accuracy"].mean == pytest.approx(-0.1)
    assert found["log_loss"].mean == pytest.approx(0)


def test_a_recipe_that_was_tried_on_few_tables_is_not_chosen():
    losses = {"few": {"a": 0.1}, "other": dict.fromkeys("abcd", 0.9)}
    chosen = leave_tables_out(compare_with_shipped(make_rows(losses)))
    assert set(chosen.index.get_level_values("recipe")) == {"other"}


def test_intervals_cover_the_mean_as_often_as_they_say():
    random = np.random.default_rng(1)
    covered = [
        abs((found := Interval.of(random.normal(size=5))).mean) <= found.half for _ in range(2000)
    ]
    assert 0.935 < np.mean(covered) < 0.965


def test_one_table_has_no_interval_and_no_verdict():
    found = Interval.of([0.5])
    assert (found.mean, found.tables, found.verdict) == (0.5, 1, 0)
    assert math.isnan(found.half)


def test_the_page_says_what_it_rests_on_and_where_the_shipped_line_is_not_the_best(tmp_path):
    write(make_rows(PLANTED), tmp_path)
    page = (tmp_path / "recipe.md").read_text()
    assert "32 fits in 8 cells" in page
    better = page.split("## Where the shipped line is not the best")[1].split("## All")[0]
    assert "| balanced | 160 | best | **-250 ± 92** |" in better
    assert "lucky" not in better
    assert max(map(len, page.splitlines())) <= 100
    assert (tmp_path / "recipe.svg").exists()
