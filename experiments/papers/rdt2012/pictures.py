"""Box plots over 1/epsilon in two panels (figures 1 to 3 and 5), and curves over the number of
parts (figure 4).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from experiments.papers.experiment import Row
from experiments.papers.rdt.cells import PREPARED_PRIVATELY
from experiments.papers.rdt.jobs import (
    ID3,
    ID3_OURS,
    ID3_PUBLISHED,
    JOINED,
    JOINED_PUBLISHED,
    OURS,
    RDT,
)
from experiments.papers.rdt.protocol import EPSILONS_2012
from experiments.papers.rdt.reading import by_run, some
from experiments.papers.rdt.tables import table
from privet.report.plots.boxes import Panel, PanelRun, draw_box_panels
from privet.report.plots.curves import draw_curves

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BOX = (
    "A box is ten ensembles in the full protocol, each the mean of its draws of noise; lines are "
    "means. 1/epsilon = 0 is no noise."
)


def draw_accuracy(rows: Sequence[Row], data: str, variant: str | None, of_variant: str) -> Figure:
    """Figures 1 to 3: Private-RDT in panel a, ID3 on noisy counts in panel b."""
    places = _places(rows)
    ours = {OURS: _runs(rows, PREPARED_PRIVATELY.get(data, data), OURS)}
    other = {f"{{}}, {of_variant}": variant} if variant else {}
    panels = {
        f"(a) {RDT}{_prepared(data)}": Panel(
            _runs(rows, data, RDT),
            _there(ours | {name.format(RDT): _runs(rows, one, RDT) for name, one in other.items()}),
        ),
        f"(b) {ID3}, all rounds paid{_prepared(data)}": Panel(
            [*_runs(rows, data, "ID3"), *_runs(rows, data, ID3)],
            _there(
                ours
                | {
                    ID3_PUBLISHED: _runs(rows, data, ID3_PUBLISHED),
                    ID3_OURS: _runs(rows, PREPARED_PRIVATELY.get(data, data), ID3_OURS),
                }
                | {name.format(ID3): _runs(rows, one, ID3) for name, one in other.items()}
            ),
        ),
    }
    return draw_box_panels(
        panels,
        places=places,
        parameter="1/epsilon (to the right is more private)",
        measure="accuracy",
        title=data.capitalize(),
        caption=_BOX,
        level=(table(data).majority(), "always the most frequent class"),
    )


def draw_vertical(rows: Sequence[Row]) -> Figure:
    """Figure 5: the union of two parties' ensembles, as published and with the sum as its price."""
    lines = _there(
        {
            f"{RDT}, all attributes at one place": _runs(rows, "votes", RDT),
            OURS: _runs(rows, "votes with ?", OURS),
        }
    )
    panels = {name: Panel(_runs(rows, "votes", name), lines) for name in (JOINED_PUBLISHED, JOINED)}
    return draw_box_panels(
        panels,
        places=_places(rows),
        parameter="1/epsilon (to the right is more private)",
        measure="accuracy",
        title="Votes: attributes divided between two parties",
        caption=_BOX,
        level=(table("votes").majority(), "always the most frequent class"),
    )


def draw_updates(rows: Sequence[Row]) -> Figure:
    """Figure 4: accuracy over the number of parts; what does not depend on it is drawn as a level
    line.
    """
    parts = sorted({row["parts"] for row in rows if "parts" in row})
    panels = {}
    for data in dict.fromkeys(row["data"] for row in rows):
        mine = [
            (row["learner"], float(row["parts"]), row["accuracy"])
            for row in by_run(some(rows, data=data))
            if "parts" in row
        ]
        level = [
            (row["learner"], float(one), row["accuracy"])
            for row in some(rows, data=data)
            if "parts" not in row
            for one in parts
        ]
        panels[data.capitalize()] = mine + level
    caption = "Points are means over ensembles, whiskers a standard error. Nobody is in two parts."
    return draw_curves(
        panels,
        parameter="parts that the rows come in",
        measure="accuracy",
        title="Updates at epsilon 0.5",
        caption=caption,
    )


def place(epsilon: float) -> str:
    """1/epsilon as the paper writes it."""
    return f"{0 if math.isinf(epsilon) else 1 / epsilon:.3g}"


def _places(rows: Sequence[Row]) -> list[str]:
    return [
        place(epsilon)
        for epsilon in EPSILONS_2012
        if any(row.get("epsilon") == epsilon for row in rows)
    ]


def _runs(rows: Sequence[Row], data: str, learner: str) -> list[PanelRun]:
    return [
        (place(row["epsilon"]), row["accuracy"])
        for row in by_run(some(rows, data=data, learner=learner))
    ]


def _there(lines: dict[str, list[PanelRun]]) -> dict[str, list[PanelRun]]:
    return {name: runs for name, runs in lines.items() if runs}


def _prepared(data: str) -> str:
    return "; '?' filled in, NOT PRIVATE" if data in PREPARED_PRIVATELY else ""
