"""The tables of the page, and a file with every mean. The page's own text is left as it is."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd

from experiments.bench.federation import relay, unequal
from experiments.bench.federation.pictures import UPDATED, draw_all
from experiments.bench.federation.summary import means, paired, short, told

PAGE = "federation.md"
RECIPES = {
    "ours": "class shares, shrunk (our default)",
    "papers'": "sum of counts (the papers' way)",
}


def write(table: pd.DataFrame, output: Path) -> Path:
    """Write the means and the pictures, and put the tables where the page has their names."""
    output.mkdir(parents=True, exist_ok=True)
    _write_means(means(table).round(5), output / "federation.csv")
    draw_all(table, output)
    tables = {
        name: "\n".join(lines(table[table.experiment == name]))
        for name, lines in TABLES.items()
        if (table.experiment == name).any()
    }
    tables |= {"warnings": "\n".join(warnings_table(table))} if "updates" in tables else {}
    relays = table[table.experiment == "relay"]
    tables |= {"goals": "\n".join(list_goals(relays))} if len(relays) else {}
    page = output / PAGE
    text = (
        page.read_text()
        if page.exists()
        else "\n".join(f"## {name}\n\n<!-- {name} -->\n<!-- end -->\n" for name in tables)
    )
    page.write_text(filled(text, tables))
    return page


def _write_means(found: pd.DataFrame, path: Path) -> None:
    """Write the means; of experiments that were not run, those that the file has are kept."""
    if path.exists():
        before = pd.read_csv(path)
        kept = before[~before.experiment.isin(set(found.experiment))]
        found = pd.concat([found, kept]).reindex(columns=found.columns)
    found.to_csv(path, index=False, lineterminator="\n")


def filled(page: str, tables: dict[str, str]) -> str:
    """A page with the tables between the marks ``<!-- name -->`` and ``<!-- end -->``."""
    for name, text in tables.items():
        mark = re.compile(rf"(<!-- {re.escape(name)} -->\n).*?(<!-- end -->)", flags=re.DOTALL)
        page = mark.sub(lambda found, text=text: f"{found[1]}{text}\n{found[2]}", page)
    return page


def updates_table(table: pd.DataFrame) -> list[str]:
    """All ways; that equal weights would do as well is in the file of means only."""
    shown = table[~table.way.str.endswith("equal weights")]
    return _by(
        shown,
        ["data", "recipe"],
        "parties",
        lambda data, recipe: f"**{data}**, {RECIPES[recipe]}",
        "parts",
    )


def warnings_table(table: pd.DataFrame) -> list[str]:
    """How often an updated model warned, and how often building anew was in fact better."""
    ours = table[(table.experiment == "updates") & (table.recipe == "ours")]
    measures = [
        "rebuilt at epsilon/2 minus updated",
        "folds in which the rebuild is better",
        "folds in which the model warns",
    ]
    lines = _head(["data", "trees", "parts", *measures], 2)
    for data, of in ours.groupby("data", sort=False):
        for way, trees in UPDATED.items():
            for parts, here in paired(of, "rebuilt at epsilon/2", way).groupby("parties"):
                cells = [
                    told(here.lead),
                    f"{(here.lead > 0).mean():.0%}",
                    f"{here.warns_second.mean():.0%}",
                ]
                lines.append(_line([data, trees, f"{parts:.0f}", *cells]))
    return lines


def horizontal_table(table: pd.DataFrame) -> list[str]:
    lines = _by(
        table[table.recipe == "ours"],
        ["data", "epsilon"],
        "parties",
        lambda data, epsilon: f"**{data}**, epsilon {epsilon:g}",
        "parties",
    )
    gain = paired(table[table.recipe == "ours"], "secure sum", "plain merge")
    lines += ["What the secure sum gains over the plain merge, paired by fold:", ""]
    parties = sorted(gain.parties.unique())
    lines += _head(["data", "epsilon", *(f"{n:.0f} parties" for n in parties)], 2)
    for (data, epsilon), here in gain.groupby(["data", "epsilon"], sort=False):
        lines.append(
            _line([data, f"{epsilon:g}", *(told(here[here.parties == n].lead) for n in parties)])
        )
    return lines


def unequal_table(table: pd.DataFrame) -> list[str]:
    """Both weightings with their difference, all rows pooled, and the best party alone."""
    others = ["pooled", unequal.AT_RANDOM, unequal.BEST]
    lines = _head(["case", "data", "by-noise", "equal", "by-noise minus equal", *others], 2)
    ours = table[table.recipe == "ours"]
    lead = paired(ours, "by-noise", "equal")
    for case in unequal.CASES:
        for data in dict.fromkeys(ours.data):
            here = ours[(ours.case == case) & (ours.data == data)]
            mean = {
                way: short(float(here[here.way == way].accuracy.mean()))
                for way in ("by-noise", "equal", *others)
            }
            ahead = told(lead[(lead.case == case) & (lead.data == data)].lead)
            lines.append(
                _line(
                    [
                        case,
                        data,
                        mean["by-noise"],
                        mean["equal"],
                        ahead,
                        *(mean[way] for way in others),
                    ]
                )
            )
    return lines


def vertical_table(table: pd.DataFrame) -> list[str]:
    return _by(
        table, ["recipe"], "epsilon", lambda recipe: f"**votes**, {RECIPES[recipe]}", "epsilon"
    )


def gibbs_table(table: pd.DataFrame) -> list[str]:
    return _by(table, ["data"], "parties", lambda data: f"**{data}**", "parties")


def relay_table(table: pd.DataFrame) -> list[str]:
    """Accuracy, and AUROC for two classes, of each way; and how far the relay is from pooled."""
    epsilons = sorted(table.epsilon.unique())
    lines = _head(["data", "parties", "way", *(f"epsilon {one:g}" for one in epsilons)], 3)
    for (data, case, way), here in table.groupby(["data", "case", "way"], sort=False):
        cells = []
        for epsilon in epsilons:
            at = here[here.epsilon == epsilon]
            figures = [float(at.accuracy.mean()), float(at.auroc.mean())]
            cells.append(" / ".join(filter(None, map(short, figures))))
        lines.append(_line([data, case, way, *cells]))
    lines += ["", "Relay minus pooled, accuracy, paired by fold:", ""]
    lines += _head(["data", "parties", *(f"epsilon {one:g}" for one in epsilons)], 2)
    gap = paired(table.fillna({"recipe": ""}), "relay", "pooled")
    for (data, case), here in gap.groupby(["data", "case"], sort=False):
        cells = [told(here[here.epsilon == epsilon].lead) for epsilon in epsilons]
        lines.append(_line([data, case, *cells]))
    return [*lines, "", f"*Accuracy / AUROC, means over {_count_folds(table)}.*", ""]


def _count_folds(table: pd.DataFrame) -> str:
    """How many folds each set has."""
    folds = {
        data: here.groupby(["repeat", "fold"]).ngroups
        for data, here in table.groupby("data", sort=False)
    }
    if len(set(folds.values())) == 1:
        return f"{next(iter(folds.values()))} folds"
    return "folds: " + ", ".join(f"{number} of {data}" for data, number in folds.items())


def list_goals(table: pd.DataFrame) -> list[str]:
    """For each set, in how many divisions and epsilons each goal of a relay is met, and where not.

    By the means; a figure that is missed by little may be met by chance in other folds.
    """
    lines: list[str] = []
    for data, here in table.groupby("data", sort=False):
        cells = here.groupby(["case", "epsilon"], sort=False)
        mean = {
            (case, epsilon): of.groupby("way")[["accuracy", "auroc"]].mean()
            for (case, epsilon), of in cells
        }
        goals = {
            "within .005 accuracy and .01 AUROC of pooled": {
                cell: _worst(of, relay.POOLED, 0.005, 0.01) for cell, of in mean.items()
            },
            "above every party alone with half of the rows or less": {
                cell: _worst(of, relay.SECOND if relay.SECOND in of.index else relay.ALONE, 0)
                for cell, of in mean.items()
            },
            "at most .005 below the largest party alone": {
                cell: _worst(of, relay.ALONE, 0.005) for cell, of in mean.items()
            },
        }
        lines.append(f"- **{data}**")
        for goal, found in goals.items():
            missed: dict[str, list[str]] = {}
            for (case, epsilon), by in found.items():
                if by:
                    missed.setdefault(case, []).append(f"{epsilon:g} ({by})")
            number = sum(map(len, missed.values()))
            text = f"- {goal}: " + (
                f"**not met** in {number} of {len(found)}: "
                + "; ".join(f"{case} at {', '.join(at)}" for case, at in missed.items())
                if missed
                else f"met in all {len(found)}"
            )
            lines += textwrap.wrap(
                text, 100, initial_indent="  ", subsequent_indent="    ", break_long_words=False
            )
    return lines


def _worst(of: pd.DataFrame, other: str, accuracy: float, auroc: float = math.inf) -> str:
    """How far the relay is behind another way where that is more than allowed, otherwise nothing.

    With means rounded as in the tables.
    """
    lead = (of.loc[relay.RELAY] - of.loc[other]).round(3)
    missed = []
    if lead.accuracy < -accuracy:
        missed.append(f"{lead.accuracy:.3f}".replace("0.", "."))
    if lead.auroc < -auroc:
        missed.append(f"AUROC {lead.auroc:.3f}".replace("0.", "."))
    return ", ".join(missed)


def crossed_table(table: pd.DataFrame) -> list[str]:
    """Accuracy, and AUROC, of each way, by epsilon."""
    epsilons = sorted(table.epsilon.unique())
    lines = _head(["data", "way", *(f"epsilon {one:g}" for one in epsilons)], 2)
    for (data, way), here in table.groupby(["data", "way"], sort=False):
        means = [
            here[here.epsilon == epsilon][["accuracy", "auroc"]].mean() for epsilon in epsilons
        ]
        cells = [f"{short(float(of.accuracy))} / {short(float(of.auroc))}" for of in means]
        lines.append(_line([data, way, *cells]))
    return [*lines, "", f"*Accuracy / AUROC, means over {_count_folds(table)}.*", ""]


def grown_table(table: pd.DataFrame) -> list[str]:
    """Accuracy, and AUROC for two classes, of each way, by the number of batches."""
    parts = sorted(table.parties.unique())
    lines = _head(["data", "epsilon", "way", *(f"{m:.0f} batches" for m in parts)], 3)
    for (data, epsilon, way), here in table.groupby(["data", "epsilon", "way"], sort=False):
        cells = []
        for m in parts:
            at = here[here.parties == m]
            figures = [float(at.accuracy.mean()), float(at.auroc.mean())]
            cells.append(" / ".join(filter(None, map(short, figures))))
        lines.append(_line([data, f"{epsilon:g}", way, *cells]))
    folds = table.groupby(["repeat", "fold"]).ngroups
    return [*lines, "", f"*Accuracy / AUROC, means over {folds} folds.*", ""]


TABLES: dict[str, Callable[[pd.DataFrame], list[str]]] = {
    "relay": relay_table,
    "grown": grown_table,
    "updates": updates_table,
    "horizontal": horizontal_table,
    "unequal": unequal_table,
    "vertical": vertical_table,
    "crossed": crossed_table,
    "gibbs": gibbs_table,
}


def _by(
    table: pd.DataFrame, groups: list[str], column: str, name: Callable[..., str], what: str
) -> list[str]:
    """A table per group: a line per way, a column per value of the parameter."""
    lines: list[str] = []
    for key, here in table.groupby(groups, sort=False):
        found = here.groupby(["way", column], sort=False).accuracy
        mean, error, values = found.mean().unstack(), found.sem(), sorted(here[column].unique())
        lines += _head(
            [name(*key), *("∞" if math.isinf(value) else f"{value:g}" for value in values)], 1
        )
        lines += [
            _line([way, *(short(float(mean.loc[way, value])) for value in values)])
            for way in dict.fromkeys(here.way)
        ]
        folds = here.groupby(["repeat", "fold"]).ngroups
        lines += [
            "",
            (
                f"*Columns: {what}. {folds} folds; the standard error of a mean is at most "
                f"{short(float(error.max()))}.*"
            ),
            "",
        ]
    return lines


def _head(names: Sequence[str], texts: int) -> list[str]:
    return [_line(names), "|" + "---|" * texts + "---:|" * (len(names) - texts)]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
