"""What the report is made of: papers, their figures and tables, the cells that compute them, and
what came out beside what was said.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from privet.report.blocks import Grid

#: One line of numbers: column by column, JSON values.
Row = dict[str, Any]
#: Of one claim, at 95%: see :mod:`experiments.papers.claims`.
Verdict = Literal["agrees", "differs", "cannot tell"]
VERDICTS: tuple[Verdict, ...] = ("agrees", "differs", "cannot tell")
#: Stands in the name of every series that repeats an error of a paper.
NOT_PRIVATE = "as published, NOT PRIVATE"


@dataclass(frozen=True, eq=False)
class Cell:
    """A small piece of work that can be done anywhere, at any time, once.

    Args:
        job: a function at the top of a module, so that another process finds it by its name. It
            returns lines of numbers.
        given: its parameters by name, JSON values. Together with the name and the version they are
            the identity of the cell.
        data: the data sets that it loads. Where one is not present the cell is left out, and the
            report says so.
        version: of the job's protocol. A new one makes kept results of the old one void.
        weight: about how long it takes, compared with other cells; for the time left.
    """

    job: Callable[..., list[Row]]
    given: Mapping[str, Any]
    data: tuple[str, ...] = ()
    version: int = 1
    weight: float = 1.0

    @property
    def name(self) -> str:
        """The function's own name."""
        return f"{self.job.__module__.removeprefix('experiments.papers.')}.{self.job.__qualname__}"

    @property
    def identity(self) -> Row:
        """What decides about its results, but for chance."""
        return {"job": self.name, "version": self.version, "given": dict(self.given)}

    @cached_property
    def key(self) -> str:
        """A short name of the identity."""
        return hashlib.sha256(json.dumps(self.identity, sort_keys=True).encode()).hexdigest()[:24]

    def run(self) -> list[Row]:
        """Do it."""
        return self.job(**self.given)


@dataclass(frozen=True)
class Comparison:
    """One statement of a paper, in our words, beside what came out here.

    Args:
        what: is compared.
        paper: what the text says; a number where it gives one.
        ours: what came out, with its 95% interval.
        verdict: whether that agrees; None for numbers about which the paper claims nothing.
        why: not, where not.
        holds: where the number has to lie for the claim to hold.
    """

    what: str
    paper: str
    ours: str
    verdict: Verdict | None
    why: str = ""
    holds: str = ""


def _nothing(_: bool) -> list[Cell]:
    return []


@dataclass(frozen=True, eq=False)
class Experiment:
    """One figure or table of a paper.

    Args:
        number: ``"6"`` for figure 6, ``"table 1"`` for a table, ``"summary"`` for all of them; what
            ``--figure`` asks for.
        title: in a few words.
        claim: what the paper says of it, in our words.
        compare: from all lines of its cells to statements. Lines of data that is not present are
            missing.
        draw: the picture, in the paper's form; None for a table.
        tabulate: a table in the paper's form, from the same lines.
        cells: the work, for a quick run (True) or the full protocol. Experiments may share cells:
            they are run once.
        choices: what the paper leaves open, and what was chosen here.
        remarks: what else a reader must know, such as an error of the paper and what its correction
            costs.
        needs: data sets without which there is nothing to show, although other cells could be done.
    """

    number: str
    title: str
    claim: str
    compare: Callable[[Sequence[Row]], list[Comparison]]
    draw: Callable[[Sequence[Row]], Figure] | None = None
    cells: Callable[[bool], list[Cell]] = _nothing
    choices: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    tabulate: Callable[[Sequence[Row]], Grid] | None = None

    @property
    def heading(self) -> str:
        """``Figure 6``, ``Table 1``, ``Summary``."""
        return f"Figure {self.number}" if self.number[0].isdigit() else self.number.capitalize()


@dataclass(frozen=True, eq=False)
class Paper:
    """A paper and what is repeated of it.

    Args:
        name: in commands and file names.
        reference: authors, title, year.
        setting: how the experiments are done, in our words.
        experiments: its figures and tables, in order.
        warning: what must not be overlooked.
        alone: where experiments measure time or talk to servers they cannot be cells. All lines of
            the paper, from a folder to work in, whether it is quick, and the names of data sets
            that are not present.
        data: the data sets that ``alone`` needs.
    """

    name: str
    reference: str
    setting: str
    experiments: tuple[Experiment, ...]
    warning: str = ""
    alone: Callable[[Path, bool, Collection[str]], list[Row]] | None = None
    data: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came out of one experiment. ``absent`` says what data is not present, and how to get
    it.
    """

    paper: Paper
    experiment: Experiment
    rows: Sequence[Row]
    absent: tuple[str, ...] = ()
    comparisons: Sequence[Comparison] = field(default_factory=tuple)
    picture: str = ""

    @property
    def stem(self) -> str:
        """What its files are called."""
        number = self.experiment.number
        return f"{self.paper.name}-{f'figure-{number}' if number[0].isdigit() else number.replace(' ', '-')}"  # noqa: E501

    @property
    def counts(self) -> dict[Verdict, int]:
        """How many claims have each verdict."""
        told = [one.verdict for one in self.comparisons]
        return {verdict: told.count(verdict) for verdict in VERDICTS if verdict in told}

    @property
    def verdict(self) -> str:
        """In a few words: the verdict of all claims, or how many have which."""
        if not self.rows:
            return "data not present"
        return say_counts(self.counts)


def say_counts(counts: Mapping[Verdict, int]) -> str:
    """Say how many claims have which verdict."""
    if not counts:
        return "no claim"
    if len(counts) == 1:
        (verdict,) = counts
        return verdict
    plural = {"agrees": "agree", "differs": "differ", "cannot tell": "cannot tell"}
    return ", ".join(
        f"{count} {verdict if count == 1 else plural[verdict]}" for verdict, count in counts.items()
    )
