"""The paper's figures 4 to 6: box plots of time, memory and accuracy by experiment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.papers.anatomy.equation import PAPERS, name_line
from experiments.papers.anatomy.results import LEARNERS, Line
from experiments.papers.anatomy.summary import WARNING, title
from privet.report.plots.boxes import draw_boxes
from privet.report.plots.style import save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURES = ("anatomy-time.svg", "anatomy-memory.svg", "anatomy-accuracy.svg")
#: What is drawn, by its name: a learner and a column.
_TIME = {
    "equation, tuples: the paper's (100 Mbit/s, 5 ms)": ("cdtl-tuples", name_line(*PAPERS)),
    "equation, counts": ("cdtl", name_line(*PAPERS)),
    "clock over loopback, counts": ("cdtl", "time_ratio"),
    "processor alone, counts": ("cdtl", "cpu_ratio"),
}
_MEMORY = {
    "largest leaf / training rows (the paper's)": ("cdtl", "largest_leaf_ratio"),
    "most rows held at once": ("cdtl", "rows_held_ratio"),
    "peak of traced memory": ("cdtl", "peak_ratio"),
}


def write_pictures(lines: Sequence[Line], folder: Path) -> None:
    """Draw the three pictures."""
    for name, figure in zip(
        PICTURES, (time_picture(lines), memory_picture(lines), accuracy_picture(lines)), strict=True
    ):
        save_figure(figure, folder / name)


def time_picture(lines: Sequence[Line]) -> Figure:
    """Figure 4: the client's time with cdtl, as a share of that with cnl."""
    return _shares(lines, _TIME, "Time of the client: cdtl / cnl")


def memory_picture(lines: Sequence[Line]) -> Figure:
    """Figure 5: memory with cdtl, as a share of that with cnl."""
    return _shares(lines, _MEMORY, "Memory of the client: cdtl / cnl")


def accuracy_picture(lines: Sequence[Line]) -> Figure:
    """Figure 6: accuracy of all learners."""
    told = [
        (_place(line), learner, line["accuracy"])
        for learner in LEARNERS
        for line in lines
        if line["learner"] == learner
    ]
    return draw_boxes(
        told, measure="accuracy", title="Accuracy on held-out folds", caption=_caption(lines)
    )


def _shares(lines: Sequence[Line], drawn: dict[str, tuple[str, str]], head: str) -> Figure:
    told = [
        (_place(line), name, line[column])
        for name, (learner, column) in drawn.items()
        for line in lines
        if line["learner"] == learner
    ]
    return draw_boxes(
        told,
        measure="share of cnl's (below 1 is saved)",
        title=head,
        level=(1.0, "as much as cnl"),
        caption=_caption(lines),
    )


def _place(line: Line) -> str:
    number, _, rest = title(line).partition(": ")
    return f"{number}: {rest.replace(', ', chr(10), 1).replace(' (', chr(10) + '(')}"


def _caption(lines: Sequence[Line]) -> str:
    folds: dict[Any, set[Any]] = {}
    for line in lines:
        folds.setdefault(line["experiment"], set()).add(line["fold"])
    fewest, most = (extreme(map(len, folds.values())) for extreme in (min, max))
    some = f"{most}" if fewest == most else f"{fewest} to {most}"
    return (
        f"{WARNING} A box is {some} fold{'s' * (most > 1)}; the dot is their mean, the line their "
        "median."
    )
