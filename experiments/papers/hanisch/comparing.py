"""What Hanisch says of each figure beside what came out here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from experiments.papers.claims import (
    LESS,
    MATERIAL,
    MORE,
    NO_MORE,
    Range,
    Sample,
    around,
    average,
    combine,
    deviations,
    difference,
    judge,
    judge_any,
    mean_of,
    note,
    paired,
    slope,
)
from experiments.papers.experiment import Comparison, Row
from experiments.papers.hanisch import protocol
from experiments.papers.hanisch.jobs import EXACT_FOREST, EXACT_TREE, GIBBS, HOWS

#: Accuracies within this are taken for the same: two standard errors of a share of 6164 test rows,
#: as nothing is known of his.
SAME = 0.013
#: Effects of more trees and of more noise on each compensate each other if no more is left.
COMPENSATED = 0.02
_IN_VARIANCES = (
    "The bound of one point is ours. He draws the variance, the square, in which what is left at "
    "depth 7 is a small part of that at depth 1. As he says, it is noise alone."
)
_UNKNOWN_TABLE = "His groups, rows and coding are not known; those chosen here make another table."
_DEEP = (
    "A tree of depth 7 has 19 440 leaves for 18 492 rows: at a small epsilon most of their counts "
    "are noise. He sees it in forests, too (figure 15)."
)


def compare_patients(rows: Sequence[Row]) -> list[Comparison]:
    """Table I."""
    found = {(row["table"], row["what"]): row["value"] for row in rows}
    claims = (
        ("k of the table", "2", ("table I", "k"), around(2, 0), "number"),
        ("l of the table", "2", ("table I", "l"), around(2, 0), "number"),
        (
            "best guess of a disease, by age and area",
            "one of two: nobody can tell",
            ("table I", "guess"),
            around(0.5, 0),
            "share",
        ),
        (
            "the same, by who knows that the other one travelled",
            "more likely right",
            ("table I", "guess, with background"),
            Range(low=0.5 + MATERIAL),
            "share",
        ),
        (
            "both have one disease: k",
            "2: still k-anonymous",
            ("one disease", "k"),
            around(2, 0),
            "number",
        ),
        (
            "both have one disease: best guess",
            "sure",
            ("one disease", "guess"),
            around(1, 0),
            "share",
        ),
    )
    return [
        judge(what, paper, Sample(found[key]), holds, unit=unit)
        for what, paper, key, holds, unit in claims
    ]


def compare_millionaires(rows: Sequence[Row]) -> list[Comparison]:
    """Figure 2."""
    laws: dict[str, dict[int, float]] = {}
    drawn: dict[str, list[float]] = {}
    for row in rows:
        if "probability" in row:
            laws.setdefault(row["table"], {})[row["answer"]] = row["probability"]
        else:
            drawn.setdefault(row["table"], []).extend([float(row["drawn"])] * row["times"])
    first, second = laws["with him"], laws["without him"]
    ratio = max(max(first[a] / second[a], second[a] / first[a]) for a in first)
    return [
        judge(
            "mean answer, of draws of our mechanism",
            "around the true 26 412",
            mean_of(drawn["with him"]),
            around(26_412, 0.25),
            unit="number",
        ),
        judge(
            "worst ratio of the probabilities of an answer",
            "e^epsilon = 2",
            Sample(ratio),
            Range(high=2 + 1e-6),
            unit="number",
        ),
        judge(
            "probability that the answer is the true one",
            "he cannot be told from the answer: below one half",
            Sample(max(first.values())),
            Range(high=0.5),
            unit="share",
        ),
    ]


def compare_village(rows: Sequence[Row]) -> list[Comparison]:
    """Section II.B and figure 3."""
    found = _known(rows)
    why = (
        f"A billion over {protocol.RESIDENTS} residents over epsilon {protocol.VILLAGE_EPSILON:g} "
        "is a scale of 20 million; times the root "
        "of 2. 48 million and 3% fit each other, and a village of "
        f"{found['residents for 48 million']:.0f} residents."
    )
    return [
        judge(
            "standard deviation of the noise, millions",
            "48",
            Sample(found["deviation"] / 1e6),
            around(48, 0.5),
            unit="number",
            more=f"{found['deviation of draws'] / 1e6:.1f} of 10 000 draws",
            why=why,
        ),
        judge(
            "answer within a million of the truth",
            "3%",
            Sample(found["within a million"]),
            around(0.03, 0.005),
            unit="share",
            why=why,
        ),
        judge(
            "the same, if the deviation were 48 million",
            "3%",
            Sample(found["within a million at 48 million"]),
            around(0.03, 0.005),
            unit="share",
        ),
    ]


def compare_sample(rows: Sequence[Row]) -> list[Comparison]:
    """Figure 8."""
    found = _known(rows)
    return [
        judge(
            "attributes besides the income",
            "7",
            Sample(found["attributes"]),
            around(7, 0),
            unit="number",
        ),
        judge(
            "of his five rows, those that our table could have",
            "5",
            Sample(found["rows of figure 8 that fit"]),
            around(5, 0),
            unit="number",
        ),
        judge(
            "share of the larger half of ages",
            "bins of nearly the same size",
            Sample(found["share of the larger half of ages"]),
            around(0.5, 0.05),
            unit="share",
        ),
    ]


def compare_ratio(rows: Sequence[Row]) -> list[Comparison]:
    """Figure 9."""
    found = []
    for how in HOWS:
        ratios = _of(rows, how)["ratio"]
        found.append(
            judge(
                f"mean share of the frequent class, {how}",
                "about 52.6%",
                mean_of(ratios),
                around(protocol.NAIVE, 0.01),
                unit="share",
                more=f"standard deviation {ratios.std():.1%}",
            )
        )
    first = _of(rows, HOWS[0]).iloc[0]
    why = (
        f"Noise is made of six digits: it is never beyond {first['largest noise']:,.0f}, and has "
        "gaps towards there."
    )
    return [
        *found,
        judge(
            "answers that rule out a neighbour, as published",
            "none: it is private",
            Sample(float(first["telling answers"])),
            around(0, 0),
            unit="share",
            why=why,
        ),
    ]


def compare_exact_tree(rows: Sequence[Row]) -> list[Comparison]:
    """Figure 10."""
    known = _known(rows)
    by_depth = _values(_of(rows, EXACT_TREE), "depth")
    best = max(by_depth, key=lambda depth: float(np.mean(by_depth[depth])))
    deepest = max(by_depth)
    deep = {
        f"at {depth}": mean_of(values).minus(known["naive"])
        for depth, values in by_depth.items()
        if depth > 3
    }
    return [
        _number("best accuracy", 0.75, by_depth[best], rows, f"at depth {best}"),
        judge(
            "naive classifier",
            f"about {protocol.NAIVE:.1%}",
            Sample(known["naive"]),
            around(protocol.NAIVE, SAME),
            unit="share",
        ),
        judge(
            "accuracy less that of the naive classifier, at depths above 3",
            "always above",
            deep,
            MORE,
        ),
        judge(
            f"depth {best} less depth {deepest}",
            "deep trees overfit",
            difference(by_depth[best], by_depth[deepest]),
            MORE,
        ),
        _ours(rows),
    ]


def compare_exact_forest(rows: Sequence[Row]) -> list[Comparison]:
    """Figure 11, beside the single trees of figure 10."""
    forests = _values(_of(rows, EXACT_FOREST), "depth", "trees")
    single = sorted(_values(_of(rows, EXACT_TREE), "depth").values(), key=np.mean)
    means = {point: float(np.mean(values)) for point, values in forests.items()}
    best, worst = max(means, key=means.__getitem__), min(means, key=means.__getitem__)
    most = max(max(values) for values in forests.values())
    error = math.sqrt(most * (1 - most) / max(_tested(rows), 1))
    return [
        _number("highest mean", 0.8017, forests[best], rows, _place(best)),
        _number("lowest mean", 0.6399, forests[worst], rows, _place(worst)),
        judge(
            "highest of all runs",
            "86.6% (7 trees, depth 1)",
            Sample(most, error),
            around(0.866, SAME),
            unit="share",
            why=_ceiling(rows),
        ),
        judge(
            "highest mean less that of a single tree",
            "above",
            difference(forests[best], single[-1]),
            MORE,
            more=f"{means[best]:.1%} and {np.mean(single[-1]):.1%}",
        ),
        judge(
            "lowest mean less the lowest of a single tree",
            "above",
            difference(forests[worst], single[0]),
            MORE,
            more=f"{means[worst]:.1%} and {np.mean(single[0]):.1%}",
        ),
        _ours(rows),
    ]


def compare_exact_influence(rows: Sequence[Row]) -> list[Comparison]:
    """Figure 12."""
    forests = _of(rows, EXACT_FOREST)
    by_trees, by_depth = _values(forests, "trees"), _values(forests, "depth")
    few, many = min(by_trees), max(by_trees)
    means = {depth: float(np.mean(values)) for depth, values in by_depth.items()}
    best, deepest = max(means, key=means.__getitem__), max(means)
    per_run = {
        name: {
            at: forests[forests[name] == at].groupby("run")["accuracy"].mean().to_dict()
            for at in (low, high)
        }
        for name, low, high in (("trees", few, many), ("depth", best, deepest))
    }
    return [
        judge(
            f"{many} trees less {few}",
            "more accurate",
            paired(per_run["trees"][many], per_run["trees"][few]),
            MORE,
            more=f"{np.mean(by_trees[few]):.1%} and {np.mean(by_trees[many]):.1%}",
        ),
        judge(
            f"depth {best}, the best, less depth {deepest}",
            "one maximum, then decreasing",
            paired(per_run["depth"][best], per_run["depth"][deepest]),
            MORE,
            more=f"{means[best]:.1%} and {means[deepest]:.1%}",
        ),
        _ours(rows),
    ]


def compare_mean(rows: Sequence[Row]) -> list[Comparison]:
    """Figure 13."""
    naive, found = _known(rows)["naive"], []
    exact = _values(_of(rows, EXACT_TREE), "depth")
    best_exact = max(exact.values(), key=lambda values: float(np.mean(values)))
    for how in HOWS:
        trees = _of(rows, how)
        points = _values(trees, "epsilon", "depth")
        best = max(points, key=lambda point: float(np.mean(points[point])))
        epsilons, depths = sorted(trees["epsilon"].unique()), sorted(trees["depth"].unique())
        least = trees[trees["epsilon"] == epsilons[0]]
        listed = _listed(trees.groupby("epsilon")["accuracy"].mean())
        found += [
            _number(f"highest mean, {how}", 0.8348, points[best], rows, _place(best, "epsilon")),
            judge(
                f"highest mean less the best non-private tree, {how}",
                "above",
                difference(points[best], best_exact),
                MORE,
            ),
            judge(
                f"gain with each tenfold epsilon, {how}",
                "a larger epsilon is more accurate",
                slope(np.log10(trees["epsilon"]).tolist(), trees["accuracy"].tolist()),
                MORE,
                more=f"{listed} (means over depths)",
            ),
            judge(
                f"depth {depths[-1]} less {depths[0]}, {how}",
                "more accurate",
                {
                    f"at {epsilon:g}": difference(
                        points[epsilon, depths[-1]], points[epsilon, depths[0]]
                    )
                    for epsilon in epsilons
                },
                MORE,
                why=_DEEP,
            ),
            judge(
                f"simulations at {epsilons[0]:g} that beat the naive classifier, {how}",
                "mostly no better",
                mean_of((least["accuracy"] > naive + 1e-12).astype(float).to_numpy()),
                Range(high=0.5),
                unit="share",
            ),
        ]
    return [*found, _ours(rows)]


def compare_variance(rows: Sequence[Row]) -> list[Comparison]:
    """Figure 14. Spread is compared by deviations from the median, which any law allows."""
    found = []
    for how in HOWS:
        trees = _of(rows, how)
        points = _values(trees, "epsilon", "depth")
        spread = {point: deviations([values]) for point, values in points.items()}
        epsilons, depths = sorted(trees["epsilon"].unique()), sorted(trees["depth"].unique())
        first, last = depths[0], depths[-1]
        variances = trees.groupby(["epsilon", "depth"])["accuracy"].var()
        listed = "; ".join(
            f"variance {variances[epsilon, first]:.1e} and {variances[epsilon, last]:.1e} at "
            f"{epsilon:g}"
            for epsilon in epsilons
        )
        found += [
            judge(
                f"deviation at depth {first} less that at depth {last}, {how}",
                "larger, for every epsilon",
                {
                    f"at {epsilon:g}": difference(spread[epsilon, first], spread[epsilon, last])
                    for epsilon in epsilons
                },
                Range(low=0.0),
                more=listed,
            ),
            judge(
                f"change of the deviation with each level, {how}",
                "decreasing, for every epsilon",
                {
                    f"at {epsilon:g}": slope(
                        [depth for depth in depths for _ in spread[epsilon, depth]],
                        [one for depth in depths for one in spread[epsilon, depth]],
                    )
                    for epsilon in epsilons
                },
                Range(high=0.0),
            ),
            judge(
                f"deviation at depth {last}, {how}",
                "next to zero",
                {f"at {epsilon:g}": mean_of(spread[epsilon, last]) for epsilon in epsilons},
                Range(high=0.01),
                why=_IN_VARIANCES,
            ),
        ]
    return found


def compare_forest(rows: Sequence[Row]) -> list[Comparison]:
    """Figure 15."""
    naive, found = _known(rows)["naive"], []
    for how in HOWS:
        forests = _of(rows, how)
        epsilons, depths = sorted(forests["epsilon"].unique()), sorted(forests["depth"].unique())
        points = _values(forests, "epsilon", "depth")
        best = forests.groupby(["epsilon", "depth"])["accuracy"].mean().unstack().idxmax(axis=1)
        listed = "best depth " + _listed(best, digits="d")
        deep = {
            epsilon: difference(points[epsilon, depths[-1]], points[epsilon, depths[0]])
            for epsilon in epsilons
        }
        by_trees = _values(forests, "epsilon", "trees")
        few, many = forests["trees"].min(), forests["trees"].max()
        found += [
            judge(
                f"depth {depths[-1]} less {depths[0]}, epsilon from 1 on, {how}",
                "deeper is more accurate",
                {f"at {epsilon:g}": deep[epsilon] for epsilon in epsilons if epsilon >= 1},
                MORE,
                more=listed,
            ),
            judge(
                f"the same, epsilon {epsilons[0]:g}, {how}",
                "shallower is more accurate",
                deep[epsilons[0]],
                LESS,
            ),
            judge_any(
                f"naive classifier less the mean at {epsilons[0]:g}, {how}",
                "some means are below it",
                {
                    f"at depth {depth}": _short_of(naive, points[epsilons[0], depth])
                    for depth in depths
                },
                MORE,
            ),
            judge(
                f"{many} trees less {few}, mean of all epsilons, {how}",
                "generalization and noise compensate each other",
                average(
                    [
                        difference(by_trees[epsilon, many], by_trees[epsilon, few])
                        for epsilon in epsilons
                    ]
                ),
                around(0, COMPENSATED),
            ),
        ]
    return [*found, _ours(rows)]


def compare_forest_influence(rows: Sequence[Row]) -> list[Comparison]:
    """Figure 16."""
    found = []
    for how in HOWS:
        forests = _of(rows, how)
        epsilons = sorted(forests["epsilon"].unique())
        for name in ("trees", "depth"):
            points = _values(forests, "epsilon", name)
            low, high = forests[name].min(), forests[name].max()
            gain = {
                epsilon: difference(points[epsilon, high], points[epsilon, low])
                for epsilon in (epsilons[-1], epsilons[0])
            }
            what = f"{name}: {high} less {low}, epsilon {{:g}}, {how}"
            found += [
                judge(what.format(epsilons[-1]), "more accurate", gain[epsilons[-1]], MORE),
                judge(what.format(epsilons[0]), "no more accurate", gain[epsilons[0]], NO_MORE),
            ]
    return [*found, _ours(rows)]


def compare_many_trees(rows: Sequence[Row]) -> list[Comparison]:
    """Figure 17."""
    found = []
    for how in HOWS:
        forests = _of(rows, how)
        points = _values(forests, "depth", "trees")
        few, most = forests["trees"].min(), forests["trees"].max()
        more = {
            depth: difference(points[depth, most], points[depth, few])
            for depth in sorted(forests["depth"].unique())
        }
        what = f"{most} trees less {few}"
        found += [
            judge(
                f"{what}, mean of depths below 7, {how}",
                "less accurate",
                average([one for depth, one in more.items() if depth < 7]),
                LESS,
            ),
            judge(
                f"{what}, depth 7, {how}",
                "more accurate, perhaps by chance",
                more[7],
                MORE,
                why="As he suspected, that was chance: more trees have more noise each, and deep "
                "ones suffer most.",
            ),
        ]
    return [*found, _ours(rows)]


# -- parts -----------------------------------------------------------------------------------------


def _of(rows: Sequence[Row], how: str) -> Any:
    """The lines of one way to do it."""
    return pd.DataFrame([row for row in rows if row.get("how") == how])


def _values(table: Any, *by: str) -> dict[Any, list[float]]:
    """The accuracies of each point."""
    grouped = table.groupby(by[0] if len(by) == 1 else list(by))["accuracy"]
    return {point: values.tolist() for point, values in grouped}


def _known(rows: Sequence[Row]) -> dict[str, float]:
    """What is known of the prepared table."""
    return {row["what"]: row["value"] for row in rows if "what" in row}


def _tested(rows: Sequence[Row]) -> int:
    return int(_known(rows)["test rows"])


def _ours(rows: Sequence[Row]) -> Comparison:
    means = _of(rows, GIBBS).groupby("epsilon")["accuracy"].mean()
    return note(f"{GIBBS}, private", "not in the paper", _listed(means))


def _number(
    what: str, his: float, ours: Sequence[float], rows: Sequence[Row], more: str = ""
) -> Comparison:
    """A number of his beside the mean of ours, of which the test rows are chance, too."""
    beyond = his > _known(rows)["ceiling"]
    return judge(
        what,
        f"{his:.2%}",
        mean_of(ours, _tested(rows)),
        around(his, SAME),
        unit="share",
        more=more,
        why=_ceiling(rows) if beyond else _UNKNOWN_TABLE,
    )


def _short_of(naive: float, accuracies: Sequence[float]) -> Sample:
    """By how much a mean is below the naive classifier."""
    return combine([mean_of(accuracies)], [-1.0]).minus(-naive)


def _place(point: tuple[Any, Any], first: str = "depth") -> str:
    second = "trees" if first == "depth" else "depth"
    return f"at {first} {point[0]:g}, {second} {point[1]:g}"


def _ceiling(rows: Sequence[Row]) -> str:
    return (
        "With the rows and groups chosen here nobody who sees these seven attributes alone gets "
        f"more than {_known(rows)['ceiling']:.1%} of the test rows right, even with all their "
        "labels at hand. Other groups have another ceiling, and his are not known."
    )


def _listed(values: Any, sign: str = "", digits: str = "f") -> str:
    """Numbers by epsilon."""
    form = {"f": f"{sign}.3f", "d": "d"}[digits]
    return ", ".join(f"{value:{form}} at {epsilon:g}" for epsilon, value in values.items())
