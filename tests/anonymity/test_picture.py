"""Class sizes, l and t."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from privet.anonymity import Report, examine
from privet.anonymity.picture import draw_anonymity
from privet.errors import MissingDependency
from privet.report.plots import save_figure


@pytest.fixture
def report(tmp_path: Path) -> Report:
    """Classes of 1, 2, 2 and 4 rows: a; ab; bb; abcc."""
    members = {"w": "a", "x": "ab", "y": "bb", "z": "abcc"}
    lines = [f"{name},{value}" for name, values in members.items() for value in values]
    (tmp_path / "t$1.csv").write_text("\n".join(["q,s", *lines]) + "\n")
    return examine(tmp_path / "t$1.csv", ["q"], "s", asked_l=2)


def line(axes, label: str) -> dict[float, float]:
    (found,) = [line for line in axes.lines if line.get_label() == label]
    return {round(float(x), 9): float(y) for x, y in zip(*found.get_data(), strict=True)}


def test_the_share_of_rows_rises_with_the_size_of_classes(report):
    left = draw_anonymity(report).axes[0]
    x, y = left.lines[0].get_data()
    assert left.lines[0].get_drawstyle() == "steps-post"
    assert x[1:-1].tolist() == [1, 2, 4]
    assert y.tolist() == pytest.approx([0, 1 / 9, 5 / 9, 1, 1])
    assert left.get_xscale() == "log"
    assert "k = 1" in left.get_title(loc="left")


def test_the_lowest_l_of_each_kind_by_size(report):
    middle = draw_anonymity(report).axes[1]
    assert line(middle, "distinct l") == {1: 1, 2: 1, 4: 3}
    assert line(middle, "frequency l") == {1: 1, 2: 1, 4: 2}
    assert line(middle, "entropy l")[4] == pytest.approx(2 * np.sqrt(2))
    assert any(list(drawn.get_ydata()) == [2, 2] for drawn in middle.lines), (
        "the l that was asked for"
    )


def test_the_largest_and_the_median_t_by_size(report):
    right = draw_anonymity(report).axes[2]
    shares = np.array([3, 4, 2]) / 9
    of_pairs = [np.abs(np.array(pair) / 2 - shares).sum() / 2 for pair in ((1, 1, 0), (0, 2, 0))]
    assert line(right, "largest")[2] == pytest.approx(max(of_pairs))
    assert line(right, "median")[2] == pytest.approx(np.mean(of_pairs))
    assert "equal distance" in right.get_title(loc="left")


def test_lines_differ_without_colour(report):
    _, middle, right = draw_anonymity(report).axes
    for axes in (middle, right):
        drawn = [line for line in axes.lines if not line.get_label().startswith("_")]
        assert len({line.get_marker() for line in drawn}) == len(drawn)
        assert len({to_rgb(line.get_color()) for line in drawn}) == len(drawn)
        assert all(len(set(to_rgb(line.get_color()))) == 1 for line in drawn), "greys only"


def test_many_values_are_drawn_on_a_log_scale(tmp_path):
    lines = [f"{'x' if row < 3 else 'y'},{row}" for row in range(200)]
    (tmp_path / "many.csv").write_text("\n".join(["q,s", *lines]) + "\n")
    middle = draw_anonymity(examine(tmp_path / "many.csv", ["q"], "s")).axes[1]
    assert middle.get_yscale() == "log"


def test_it_says_what_it_is_and_is_drawn_as_text(report, tmp_path):
    figure = draw_anonymity(report)
    assert figure.get_suptitle() == "t$1.csv: s among rows that agree in q"
    assert "not differentially private" in figure.get_supxlabel()
    for name in ("a.svg", "b.svg"):
        save_figure(draw_anonymity(report, title="two $ and $"), tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_without_matplotlib(report, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependency, match=r"pip install 'privet\[plots\]'"):
        draw_anonymity(report)
