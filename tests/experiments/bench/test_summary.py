"""Means, the better view, paired intervals, wins and losses."""

import math

import pytest

from experiments.bench.accuracy.contestants import CEILING, FLOOR, PURE_PEERS
from experiments.bench.accuracy.losses import losses, read_reasons
from experiments.bench.accuracy.measures import ACCURACY, AUROC, LOG_LOSS
from experiments.bench.accuracy.standing import standing, yardsticks
from experiments.bench.accuracy.summary import Summary, tally


def rows_of(learner, epsilon, accuracy, *, auroc=0.5, log_loss=0.5, view="", data="d"):
    """A row per fold; figures that are numbers are the same in both folds."""
    figures = {"accuracy": accuracy, "auroc": auroc, "log_loss": log_loss}
    for fold in range(2):
        row = {
            name: figure[fold] if isinstance(figure, tuple) else figure
            for name, figure in figures.items()
        }
        cell = {"data": data, "learner": learner, "view": view, "epsilon": epsilon}
        rest = {"repeat": 0, "fold": fold, "balanced": 0.5, "calibration": 0.1, "seconds": 1.0}
        yield cell | rest | row


@pytest.fixture
def summary():
    return Summary(
        [
            *rows_of("privet", 1.0, (0.80, 0.90), auroc=(0.90, 0.92), log_loss=0.3),
            *rows_of("diffprivlib", 1.0, (0.79, 0.89), auroc=0.95, log_loss=0.4, view="one-hot"),
            *rows_of("diffprivlib", 1.0, 0.60, auroc=0.97, log_loss=0.35, view="our bins"),
            *rows_of("dp-ebm", 1.0, 0.70, auroc=0.91, log_loss=(0.2, 0.21), view="nominal"),
            *rows_of("dp-ebm", 1.0, 0.75, auroc=0.89, view="our bins"),
            *rows_of("privet", 5.0, 0.70, data="multiclass"),
            *rows_of("diffprivlib", 5.0, (0.9, 0.4), view="raw", data="multiclass"),
            *rows_of("privet", 2.0, 0.70, data="alone"),
            *rows_of(CEILING, None, 0.95, log_loss=0.1),
            *rows_of(FLOOR, None, 0.45, log_loss=0.6),
        ]
    )


def test_folds_are_averaged_and_no_privacy_is_an_infinite_epsilon(summary):
    assert summary.value("d", "privet", 1.0) == pytest.approx(0.85)
    assert summary.value("d", CEILING) == 0.95
    assert math.isnan(summary.value("d", "privet", 5.0))


def test_the_better_view_of_a_peer_counts_and_is_told(summary):
    best = summary.best()
    assert best.loc[("d", "diffprivlib", 1.0), "view"] == "one-hot"
    assert best.loc[("d", "dp-ebm", 1.0), "view"] == "our bins"
    assert summary.best(AUROC).loc[("d", "dp-ebm", 1.0), "view"] == "nominal"
    assert summary.best_peer("d", 1.0) == pytest.approx(0.84)


def test_a_smaller_log_loss_is_better(summary):
    assert summary.best(LOG_LOSS).loc[("d", "diffprivlib", 1.0), "view"] == "our bins"
    assert summary.value("d", "diffprivlib", 1.0, LOG_LOSS) == 0.35
    assert summary.best_peer("d", 1.0, LOG_LOSS) == pytest.approx(0.205)
    duel, _ = summary.duels("privet", LOG_LOSS)
    assert (duel.peer, duel.outcome) == ("dp-ebm", -1)
    assert duel.difference == pytest.approx(-0.095)
    pure, _ = summary.duels("privet", LOG_LOSS, PURE_PEERS)
    assert (pure.peer, pure.outcome) == ("diffprivlib", 1)


def test_intervals_are_paired_by_fold(summary):
    # folds differ by .1, but ours is .01 better in each of them
    by_accuracy = {duel.data: duel for duel in summary.duels("privet", ACCURACY)}
    assert list(by_accuracy) == ["d", "multiclass"]
    assert by_accuracy["d"].peer == "diffprivlib"
    assert by_accuracy["d"].difference == pytest.approx(0.01)
    assert by_accuracy["d"].margin == pytest.approx(0, abs=1e-9)
    assert by_accuracy["d"].outcome == 1
    # .2 worse in one fold and .3 better in the other
    assert by_accuracy["multiclass"].outcome == 0
    assert tally(by_accuracy.values()) == (1, 1, 0)


def test_the_margin_is_that_of_student_s_distribution(summary):
    (duel,) = summary.duels("privet", AUROC, ["dp-ebm"])
    # differences -.01 and .01: standard error .01, and 12.706 for one degree of freedom
    assert duel.difference == pytest.approx(0)
    assert duel.margin == pytest.approx(0.12706, rel=1e-4)


def test_one_fold_decides_nothing():
    rows = [*rows_of("privet", 1.0, 0.9), *rows_of("dp-ebm", 1.0, 0.5, view="nominal")]
    (duel,) = Summary([row for row in rows if row["fold"] == 0]).duels("privet", ACCURACY)
    assert (duel.difference, duel.outcome) == (pytest.approx(0.4), 0)


def test_the_way_runs_from_the_majority_to_gradient_boosting(summary):
    assert summary.way("d", 0.45) == 0
    assert summary.way("d", 0.70) == pytest.approx(0.5)
    assert summary.way("d", 0.95) == 1
    assert summary.way("d", 0.35, LOG_LOSS) == pytest.approx(0.5)
    assert math.isnan(summary.way("d", 0.7, AUROC))  # as good as majority: no way to go


def test_pure_epsilon_is_measured_by_pure_peers_too():
    assert yardsticks("privet")["best pure peer"] == PURE_PEERS
    assert list(yardsticks("privet-delta")) == ["best peer"]


def test_the_page_counts_cells_against_each_peer_and_the_best(summary):
    page = standing(summary, "privet", [1.0])
    assert "| log loss, best peer | held out | 0-0-1 | 0% | 0-0-1 |" in page
    assert "| log loss, best pure peer | held out | 1-0-0 | 100% | 1-0-0 |" in page
    assert "| log loss, DP-EBM | held out | 0-0-1 | 0% | 0-0-1 |" in page


def test_a_loss_is_listed_once_with_its_reason(summary, tmp_path):
    path = tmp_path / "losses.toml"
    path.write_text('[d]\nlog_loss = { "1" = "because" }\n')
    page = losses(summary, ["privet"], [1.0, 5.0], read_reasons(path, ["d"]))
    (line,) = [line for line in page.splitlines() if "log loss" in line]
    assert "| d | log loss | privet | 1 | .300 | dp-ebm | 1e-05 | .205 | -.095 ±" in line
    assert line.endswith("| because |")
    assert "accuracy" not in page.split("| data |")[1]


@pytest.mark.parametrize("text", ['[elsewhere]\nauroc = "x"', '[d]\nauc = "x"'])
def test_a_reason_for_what_is_not_there_is_refused(text, tmp_path):
    path = tmp_path / "losses.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"losses\.toml: .*(elsewhere|auc)"):
        read_reasons(path, ["d"])
