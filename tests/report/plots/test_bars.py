"""Bars of shares, from zero."""

from __future__ import annotations

import pytest

from privet.errors import ParameterError
from privet.report.plots import save_figure
from privet.report.plots.bars import draw_bars

BARS = {"alone": 0.88, "together": 0.93}


def test_bars_begin_at_zero_and_have_their_numbers():
    (axes,) = draw_bars(BARS, measure="accuracy", fills=[3, 0], line=("best", 0.88)).axes
    assert [bar.get_width() for bar in axes.patches] == pytest.approx([0.88, 0.93])
    assert {bar.get_x() for bar in axes.patches} == {0}
    assert axes.get_xlim() == (0, 1)
    assert [text.get_text() for text in axes.get_yticklabels()] == list(BARS)
    assert {text.get_text() for text in axes.texts} == {"0.880", "0.930", "best"}


@pytest.mark.parametrize("text", ["$\\frac$", "two\nlines", "\u202eback", "a" * 200])
def test_any_text_is_drawn_as_it_is(text, tmp_path):
    words = {"measure": text, "title": text, "caption": text, "line": (text, 0.2)}
    save_figure(draw_bars({text: 0.5}, **words), tmp_path / "bars.svg")
    assert (tmp_path / "bars.svg").exists()


@pytest.mark.parametrize(
    ("bars", "fills"), [({}, []), ({"a": 1.1}, []), ({"a": float("nan")}, []), (BARS, [1])]
)
def test_what_cannot_be_drawn_is_refused(bars, fills):
    with pytest.raises(ParameterError, match="draw_bars"):
        draw_bars(bars, measure="accuracy", fills=fills)
