"""The picture of an epsilon."""

from __future__ import annotations

import pytest

import privet as pv
from privet.epsilon import Setting, draw_epsilon, explain
from privet.errors import ParameterError

pytest.importorskip("matplotlib")


def curve(axes, label: str) -> dict[float, float]:
    (line,) = [line for line in axes.get_lines() if str(line.get_label()).startswith(label)]
    return dict(zip(line.get_xdata(), line.get_ydata(), strict=True))


def test_the_curves_are_the_numbers():
    setting = Setting(rows=2000, priors=[0.1, 0.4])
    beliefs, attacks, rows, kept = draw_epsilon([0.5], setting=setting).axes
    for epsilon in list(curve(beliefs, "from 40%"))[::20]:
        one = explain(epsilon, setting=setting)
        assert curve(beliefs, "from 40%")[epsilon] == one.beliefs[1].in_table
        assert curve(attacks, "a guess")[epsilon] == one.attack.guess
        assert curve(attacks, "a test that wrongly flags 5%")[epsilon] == one.attack.test
        assert curve(attacks, "a noisy count is exactly right")[epsilon] == one.attack.exact_count
        assert curve(rows, "a test that needs 785")[epsilon] == one.trial.ratio
        assert curve(rows, "a share as precise as from 2,000")[epsilon] == one.share.ratio
        assert [curve(kept, of.learner)[epsilon] for of in one.expected] == [
            of.middle for of in one.expected
        ]


def test_epsilons_are_marked_and_on_the_axis():
    for axes in draw_epsilon([0.001, "1/2", 30]).axes:
        marked = [line.get_xdata()[0] for line in axes.get_lines() if len(line.get_xdata()) == 2]
        assert marked == [0.001, 0.5, 30]
        assert axes.get_xlim() == pytest.approx((0.001, 30))
        assert axes.get_xscale() == "log"


def test_without_rows_the_last_panel_is_the_noise():
    last = draw_epsilon([1]).axes[-1]
    drawn = curve(last, "standard deviation")
    assert "noise on a count" in last.get_title(loc="left")
    for epsilon in list(drawn)[::20]:
        assert drawn[epsilon] == explain(epsilon).noise.deviation


def test_it_says_for_whom():
    schema = pv.Schema(
        {"a": pv.Categorical(["x", "y"])}, "c", ["n", "y"], rows_per_person=3, neighbours="replace"
    )
    figure = draw_epsilon([1], schema)
    assert "3 rows per person at most, and a person may be replaced" in " ".join(
        figure.get_supxlabel().split()
    )
    assert "One row per person" in draw_epsilon([1]).get_supxlabel()


def test_something_is_asked_about():
    with pytest.raises(ParameterError, match="epsilons must hold at least one epsilon"):
        draw_epsilon([])
