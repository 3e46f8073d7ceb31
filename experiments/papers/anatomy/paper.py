"""Figures 4 to 6 of Mancuhan and Clifton 2014 for the report of all papers."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from experiments.papers.anatomy.equation import PAPERS, name_line
from experiments.papers.anatomy.experiments import EXPERIMENTS, chosen
from experiments.papers.anatomy.pictures import accuracy_picture, memory_picture, time_picture
from experiments.papers.anatomy.run import run
from experiments.papers.anatomy.summary import ORDER, WARNING, paired, rank_correlation, title
from experiments.papers.claims import LESS, MORE, Range, Sample, average, judge, mean_of, note
from experiments.papers.claims import paired as pair_runs
from experiments.papers.experiment import Cell, Comparison, Experiment, Paper, Row
from experiments.papers.stories.love_canal import CDBSL, CNL, find_love_canal
from privet._progress import tell

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUICK_FOLDS = 2
#: Made-up counties of the story of Love Canal.
COUNTIES, QUICK_COUNTIES = 10, 4
#: The text sees overfitting in the first; its reasoning fits the second.
OVERFITTED = ("4", "5")
#: In a report of all papers the two large tables have three of their ten folds, because a fold of
#: theirs takes minutes on a busy machine. ``python -m experiments.papers anatomy`` runs all.
FOLDS_AMONG_OTHERS = {1: 5, 2: 5, 3: 5, 4: 3, 5: 3}
#: And a quick one, which should be done in two minutes, has one fold of a small table and of a
#: sample of a large one.
QUICK_AMONG_OTHERS, QUICK_FOLDS_AMONG_OTHERS = [2, 4], 1


def measured(folder: Path, quick: bool, absent: Collection[str]) -> list[Row]:
    """All lines: a server and its clients are processes of their own, one experiment after the
    other.
    """
    experiments = [
        one
        for one in chosen(QUICK_AMONG_OTHERS if quick else [], quick=quick)
        if one.data not in absent
    ]
    if not experiments:
        return []
    folds = QUICK_FOLDS_AMONG_OTHERS if quick else FOLDS_AMONG_OTHERS
    return run(
        experiments,
        folds,
        folder,
        lambda done, total, what: tell(what, done / total if total else None),
    )


def _by_experiment(rows: Sequence[Row]) -> list[tuple[str, Any]]:
    return [
        (title(mine.iloc[0].to_dict()), mine)
        for _, mine in pd.DataFrame(rows).groupby("experiment")
    ]


def compare_time(rows: Sequence[Row]) -> list[Comparison]:
    """Figure 4, by the paper's equation, in the paper's way: trees are kept with their tuples. Then
    by the equation with counts, and by the clock, which say why.
    """
    found = []
    for name, mine in _by_experiment(rows):
        shares = mine[mine["learner"] == "cdtl-tuples"][name_line(*PAPERS)].astype(float)
        found.append(
            judge(
                f"{name}: the paper's equation, cdtl's time as a share of cnl's",
                "less",
                mean_of(shares),
                Range(high=1.0),
                unit="number",
            )
        )
        means = mine.groupby("learner").mean(numeric_only=True)
        counts, batches = (
            float(means.loc[learner, name_line(*PAPERS)]) for learner in ("cdtl", "cdtl-batches")
        )
        told = (
            f"{counts:.2f} with counts in place of tuples, {batches:.2f} with 200 predictions in "
            f"an exchange; {means.loc['cdtl', 'time_ratio']:.2f} by the clock over loopback"
        )
        found.append(note(f"{name}: otherwise", "no number in the text", told))
    return found


def compare_memory(rows: Sequence[Row]) -> list[Comparison]:
    """Figure 5, by the paper's own measure, and the trade-off of figures 4 and 5."""
    found = []
    within = []
    for name, mine in _by_experiment(rows):
        cdtl = mine[mine["learner"] == "cdtl"]
        found.append(
            judge(
                f"{name}: cdtl's memory as a share of cnl's",
                "less",
                mean_of(cdtl["largest_leaf_ratio"].astype(float)),
                Range(high=1.0),
                unit="number",
            )
        )
        correlation = rank_correlation(cdtl)
        if len(cdtl) > 3 and not math.isnan(correlation):
            bounded = max(min(correlation, 0.999), -0.999)
            within.append(Sample(math.atanh(bounded), 1 / math.sqrt(len(cdtl) - 3)))
    found.append(
        judge(
            "shares of memory and of time over folds: rank correlation (Fisher's z, mean)",
            "negative: where much memory is saved, little time is",
            average(within) if within else Sample(math.nan, 0.0, 0),
            Range(high=0.0),
            unit="number",
        )
    )
    return found


def compare_accuracy(rows: Sequence[Row]) -> list[Comparison]:
    """Figure 6: the order of the learners, on average."""
    found = []
    by_experiment = _by_experiment(rows)
    differences = {
        (better, worse): {name: _difference(mine, better, worse) for name, mine in by_experiment}
        for better, worse in ORDER
    }
    for (better, worse), by_name in differences.items():
        found.append(
            judge(
                f"{better} less {worse}, mean of experiments",
                f"{better} more accurate",
                average(list(by_name.values())),
                MORE,
            )
        )
    refined = {
        name: one
        for name, one in differences["cdtl", "cdbsl"].items()
        if name.startswith(OVERFITTED)
    }
    for name, one in refined.items():
        found.append(
            judge(
                f"{name}: cdtl less cdbsl",
                "less accurate: refining overfits"
                if name.startswith("4")
                else "the reason given for 4, a weak sensitive attribute, is that of 5",
                one,
                LESS,
            )
        )
    for name, mine in by_experiment:
        told = ", ".join(
            f"{better} - {worse} {paired(mine, better, worse)[0]:+.4f}" for better, worse in ORDER
        )
        found.append(note(name, "no number in the text", told))
    return found


def _difference(table: Any, better: str, worse: str) -> Sample:
    """The mean difference in accuracy over the folds of one experiment."""
    wide = table.pivot(index="fold", columns="learner", values="accuracy")
    return mean_of((wide[better] - wide[worse]).round(9))


def compare_love_canal(rows: Sequence[Row]) -> list[Comparison]:
    """Section 2."""
    found, accuracy = (
        {
            learner: {row["run"]: row[measure] for row in rows if row["learner"] == learner}
            for learner in (CDBSL, CNL)
        }
        for measure in ("found", "accuracy")
    )
    return [
        judge(
            f"people of Love Canal with a birth defect who are found there, {CNL}",
            "it would likely have identified the district",
            mean_of(list(found[CNL].values())),
            Range(low=0.5),
            unit="share",
        ),
        judge(
            f"the same, {CDBSL}",
            "the sensitive attribute is needed",
            mean_of(list(found[CDBSL].values())),
            Range(high=0.5),
            unit="share",
        ),
        judge(
            "accuracy for all people, cnl less cdbsl",
            "more accurate where the sensitive attribute tells",
            pair_runs(accuracy[CNL], accuracy[CDBSL]),
            MORE,
        ),
    ]


def love_canal_picture(rows: Sequence[Row]) -> Figure:
    """Who is found, by each tree."""
    from privet.report.plots.boxes import draw_boxes

    found = [
        ({CDBSL: "cdbsl", CNL: "cnl"}[row["learner"]], "counties", row["found"]) for row in rows
    ]
    return draw_boxes(found, measure="share found", title="Birth defects in Love Canal")


_TIME_REMARKS = (
    "The paper counts the client's cryptography, network, learning and inference, and no waiting "
    "for the server: here the processor's time, bytes over 100 Mbit/s, and 5 ms for each exchange "
    "that a prediction waits for. Where the share is above 1, base trees have many small leaves "
    "for few rows: what each refinement takes by itself is more than the rows that are spared. "
    "docs/results/anatomy.md takes it apart.",
)
_MEMORY_REMARKS = (
    "By the paper's measure cdtl cannot need more than cnl, as no leaf has more rows than the "
    "table: these verdicts cannot differ. docs/results/anatomy.md has the peak of bytes, which can "
    "come out otherwise.",
)
PAPER = Paper(
    name="anatomy",
    reference="Mancuhan and Clifton 2014, Decision Tree Classification on Outsourced Data",
    setting=(
        "Five experiments, each a server and clients in processes of their own over loopback. "
        "cdbsl is the server's tree of identifying "
        "attributes, cdtl the same tree refined by the client, cnl a tree that the client learns "
        "from everything. Folds are made of "
        "whole groups. In a report of all papers the two large tables have three of their ten "
        "folds; "
        "python -m experiments.papers anatomy runs all."
    ),
    experiments=(
        Experiment(
            "4",
            "the client's time with cdtl, as a share of that with cnl",
            "Refining leaves on demand takes the client less time than learning from all rows.",
            compare_time,
            time_picture,
            remarks=_TIME_REMARKS,
        ),
        Experiment(
            "5",
            "the client's memory with cdtl, as a share of that with cnl",
            "The client holds one leaf's rows at a time instead of all, so it needs less memory.",
            compare_memory,
            memory_picture,
            remarks=_MEMORY_REMARKS,
        ),
        Experiment(
            "6",
            "accuracy of the learners",
            "On average cnl is the most accurate, cdbsl the least, and cdtl is between them.",
            compare_accuracy,
            accuracy_picture,
            choices=(
                (
                    "Rows that no 2-diverse group can take are withheld from all learners alike; "
                    "high prices of cars begin at 10 000."
                ),
            ),
        ),
        Experiment(
            "love canal",
            "where people with birth defects live",
            "A tree for the location that sees the diagnosis finds the district where birth "
            "defects are common; one that sees identifying attributes alone cannot.",
            compare_love_canal,
            love_canal_picture,
            lambda quick: [
                Cell(find_love_canal, {"run": run}, weight=0.3)
                for run in range(QUICK_COUNTIES if quick else COUNTIES)
            ],
            choices=("A made-up county: the paper tells the story in one sentence.",),
        ),
    ),
    warning=WARNING,
    alone=measured,
    data=tuple(dict.fromkeys(one.data for one in EXPERIMENTS.values())),
)
