"""Several heat maps on one scale."""

from __future__ import annotations

import pytest

from privet.errors import ParameterError
from privet.report.plots import draw_maps, save_figure

RUNS = [("1", "a", 0.25), ("1", "a", 0.75), ("1", "b", 1.0), ("2", "a", -0.0625)]


def test_means_stand_in_their_cells_and_all_maps_share_a_scale(tmp_path):
    figure = draw_maps(
        {"one": RUNS, "two": [("1", "a", 2.0)]},
        rows="depth",
        columns="trees",
        title="Maps",
        caption="Small.",
    )
    first, second = figure.axes
    assert {tuple(map(round, text.get_position())): text.get_text() for text in first.texts} == {
        (0, 0): ".500",
        (1, 0): "1.00",
        (0, 1): "-.062",
    }
    assert [label.get_text() for label in first.get_xticklabels()] == ["a", "b"]
    assert [label.get_text() for label in first.get_yticklabels()] == ["1", "2"]
    assert first.collections[0].get_clim() == second.collections[0].get_clim()
    low, high = first.collections[0].get_clim()
    assert (low, high) == pytest.approx((-0.0625, 2.0 + 2.0625 / 4))
    assert (first.get_ylabel(), first.get_xlabel(), first.get_title(loc="left")) == (
        "depth",
        "trees",
        "one",
    )
    save_figure(figure, tmp_path / "maps.svg")
    drawn = (tmp_path / "maps.svg").read_text(encoding="utf-8")
    assert len(drawn) > 1000
    assert "<image" not in drawn  # reports load nothing, not even what is written into them
    assert first.yaxis_inverted()


@pytest.mark.parametrize(
    "panels", [{}, {"one": RUNS, "two": []}, {"one": [("1", "a", float("nan"))]}]
)
def test_maps_of_nothing(panels):
    with pytest.raises(ParameterError, match="draw_maps"):
        draw_maps(panels, rows="depth", columns="trees")
