"""Figures 4 to 6 of Mancuhan and Clifton 2014 for the report of all papers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.papers.anatomy.equation import PAPERS, name_line
from experiments.papers.anatomy.experiments import EXPERIMENTS, chosen
from experiments.papers.anatomy.folds import FOLDS
from experiments.papers.anatomy.pictures import accuracy_picture, memory_picture, time_picture
from experiments.papers.anatomy.run import run
from experiments.papers.anatomy.summary import ORDER, WARNING, paired, title
from experiments.papers.experiment import Comparison, Experiment, Paper, Row
from privet._progress import tell

QUICK_FOLDS = 2
#: In a report of all papers the two large tables have three of their ten folds, because a fold of
#: theirs takes minutes on a busy machine. ``python -m experiments.papers anatomy`` runs all.
FOLDS_AMONG_OTHERS = {1: FOLDS, 2: FOLDS, 3: FOLDS, 4: 3, 5: 3}
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


def _shares(rows: Sequence[Row], column: str, what: str) -> list[Comparison]:
    """A share of cnl's below 1 is what the paper reports for every experiment."""
    found = []
    for name, mine in _by_experiment(rows):
        share = float(mine[mine["learner"] == "cdtl"][column].mean())
        found.append(
            Comparison(name, f"cdtl needs less {what} than cnl", f"{share:.2f} of cnl's", share < 1)
        )
    return found


def compare_time(rows: Sequence[Row]) -> list[Comparison]:
    """Figure 4, by the paper's equation, in the paper's way: trees are kept with their tuples. Then
    by the equation with counts, and by the clock, which say why.
    """
    found = []
    for name, mine in _by_experiment(rows):
        means = mine.groupby("learner").mean(numeric_only=True)
        share = float(means.loc["cdtl-tuples", name_line(*PAPERS)])
        found.append(
            Comparison(
                f"{name}: the paper's equation",
                "cdtl needs less time than cnl",
                f"{share:.2f} of cnl's",
                share < 1,
            )
        )
        counts, batches = (
            float(means.loc[learner, name_line(*PAPERS)]) for learner in ("cdtl", "cdtl-batches")
        )
        told = (
            f"{counts:.2f} with counts in place of tuples, {batches:.2f} with 200 predictions in "
            f"an exchange; {means.loc['cdtl', 'time_ratio']:.2f} by the clock over loopback"
        )
        found.append(Comparison(f"{name}: otherwise", "no number in the text", told, None))
    return found


def compare_memory(rows: Sequence[Row]) -> list[Comparison]:
    """Figure 5, by the paper's own measure."""
    return _shares(rows, "largest_leaf_ratio", "memory")


def compare_accuracy(rows: Sequence[Row]) -> list[Comparison]:
    """Figure 6: the order of the learners, on average."""
    table = pd.DataFrame(rows)
    means = table.groupby(["experiment", "learner"])["accuracy"].mean().unstack()
    found = []
    for better, worse in ORDER:
        difference = float((means[better] - means[worse]).mean())
        found.append(
            Comparison(
                f"{better} and {worse}, mean of experiments",
                f"{better} at least as good",
                f"{difference:+.4f}",
                difference >= 0,
            )
        )
    for name, mine in _by_experiment(rows):
        told = ", ".join(
            f"{better} - {worse} {paired(mine, better, worse)[0]:+.4f}" for better, worse in ORDER
        )
        found.append(Comparison(name, "no number in the text", told, None))
    return found


_TIME_REMARKS = (
    "The paper counts the client's cryptography, network, learning and inference, and no waiting "
    "for the server: here the processor's time, bytes over 100 Mbit/s, and 5 ms for each exchange "
    "that a prediction waits for. Where the share is above 1, base trees have many small leaves "
    "for few rows: what each refinement takes by itself is more than the rows that are spared. "
    "docs/results/anatomy.md takes it apart.",
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
    ),
    warning=WARNING,
    alone=measured,
    data=tuple(dict.fromkeys(one.data for one in EXPERIMENTS.values())),
)
