"""The picture of a check: shares of values in the synthetic rows and in the held-out ones."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from privet.plots import draw_shares
from privet.privacy import format_rounded_up
from privet.publish.synthetic.check import Check

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: More attributes are not drawn: those that differ most are.
MOST_PANELS = 24


def draw_check(check: Check) -> Figure:
    """A panel for each attribute."""
    worst = sorted(check.marginals, key=lambda one: one.floor - one.distance)[:MOST_PANELS]
    drawn = [one for one in check.marginals if one in worst]
    n_classes = check.schema.n_classes
    panels = {
        one.name: (
            check.schema.attributes[one.name].labels,
            one.synthetic.sum(axis=1),
            one.held_out.sum(axis=1),
            one.deviation * math.sqrt(n_classes),
        )
        for one in drawn
    }
    cost = format_rounded_up(float(check.cost.epsilon or 0))
    caption = (
        "Whiskers: how far noise moves a held-out share, 19 times in 20. Showing this cost the "
        f"held-out rows epsilon = {cost}."
    )
    return draw_shares(
        panels, names=("synthetic", "held out, noisy"), title="Shares of values", caption=caption
    )
