"""Write what was measured about explanations as a page."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from privet.model.explanations.explanation import SURE

Line = dict[str, str]

_PAGE = """# Are effects that are shown as real, real?

Made by `python -m experiments.explanations`, on public tables; the numbers are in
[explanations.csv](explanations.csv). What they are about is told in
[explanations](../concepts/explanations.md).

An explanation shows an effect as real where it is more than {sure:g} deviations from nothing, and
otherwise says "not distinguishable from noise". Here each table is learnt several times at epsilon
{epsilon:g} from the same rows. Each fit is explained as its user would see it, with {repeats}
repeats on synthetic rows. Then every effect it shows is looked for in all other fits.

- *same sign, fit by fit*: the part of pairs (effect of one fit, another fit) with the same sign.
- *same sign in all fits*: the part of effects with the same sign in every other fit.

| table | fits | effects | shown as real | same sign, fit by fit | same sign in all fits |
|---|---:|---:|---:|---:|---:|
{shown}

Twenty other fits of adult, after that, gave 99.4% and 93.5%.

Effects that are *not* shown as real, for comparison:

| table | same sign, fit by fit | same sign in all fits |
|---|---:|---:|
{others}

What other thresholds would do, on {first}:

| deviations | shown as real | same sign, fit by fit | same sign in all fits |
|---:|---:|---:|---:|
{thresholds}

The threshold, and that deviations are widened by a typical one, were chosen on other fits of adult;
the other tables were not looked at for it. What is left over on adult is more often about
relationship than about anything else: with marital status it says nearly the same, so that one fit
may credit one of them and the next the other. Repeats cannot show that, as their rows have
independent attributes.
"""


def write_page(measured: Path, page: Path, epsilon: float, repeats: int) -> None:
    """Write the page about a file of measurements."""
    with measured.open(newline="") as file:
        lines = list(csv.DictReader(file))
    tables = list(dict.fromkeys(line["table"] for line in lines))
    by_table = {name: [line for line in lines if line["table"] == name] for name in tables}
    shown, others = [], []
    for name, found in by_table.items():
        real = [line for line in found if times(line) > SURE]
        fits = len({line["fit"] for line in found})
        per_fit = f"{len(real) / fits:.0f}"
        shown.append(f"| {name} | {fits} | {len(found) // fits} | {per_fit} | {summarise(real)} |")
        others.append(f"| {name} | {summarise([line for line in found if times(line) <= SURE])} |")
    thresholds = []
    for least in (1.0, 2.0, 3.0, 4.0):
        real = [line for line in by_table[tables[0]] if times(line) > least]
        part = len(real) / len(by_table[tables[0]])
        thresholds.append(f"| {least:g} | {part:.0%} | {summarise(real)} |")
    page.write_text(
        _PAGE.format(
            sure=SURE,
            epsilon=epsilon,
            repeats=repeats,
            first=tables[0],
            shown="\n".join(shown),
            others="\n".join(others),
            thresholds="\n".join(thresholds),
        )
    )


def times(line: Line) -> float:
    """Return how many deviations an effect is from nothing."""
    deviation = float(line["deviation"])
    return abs(float(line["effect"])) / deviation if deviation else 0.0


def summarise(lines: Sequence[Line]) -> str:
    """Return how many keep their sign, as two cells."""
    if not lines:
        return "- | -"
    kept = [float(line["kept"]) for line in lines]
    return f"{sum(kept) / len(kept):.1%} | {sum(one == 1 for one in kept) / len(kept):.1%}"
