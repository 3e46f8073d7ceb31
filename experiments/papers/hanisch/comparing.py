"""What Hanisch says of each figure beside what came out here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from experiments.papers.experiment import Comparison, Row
from experiments.papers.hanisch import protocol
from experiments.papers.hanisch.jobs import EXACT_FOREST, EXACT_TREE, GIBBS, HOWS

#: Accuracies within this are taken for the same: two standard errors of a share of 6164 test rows.
SAME = 0.013
_UNKNOWN_TABLE = (
    "His groups, rows and coding are not known; those chosen here make an easier table."
)
_CHANCE = (
    "As he suspected, that was chance: more trees have more noise each, and deep ones suffer most."
)
_DEEP = (
    "A tree of depth 7 has 19 440 leaves for 18 492 rows: at a small epsilon most of their counts "
    "are noise. He sees it in forests, too "
    "(figure 15)."
)


def compare_village(rows: Sequence[Row]) -> list[Comparison]:
    """Section II.B."""
    found = {row["what"]: row["value"] for row in rows}
    why = (
        f"A billion over {protocol.RESIDENTS} residents over epsilon {protocol.VILLAGE_EPSILON:g} "
        "is a scale of 20 million; times the root "
        "of 2. 48 million and 3% fit each other, but a village of "
        f"{found['residents for 48 million']:.0f}."
    )
    return [
        Comparison(
            "standard deviation of the noise",
            "48 million",
            f"{found['deviation'] / 1e6:.1f} million",
            False,
            why,
        ),
        Comparison(
            "the same, of 10 000 draws",
            "",
            f"{found['deviation of draws'] / 1e6:.1f} million",
            None,
        ),
        Comparison(
            "answer within a million of the truth", "3%", f"{found['within a million']:.1%}", False
        ),
        Comparison(
            "the same, if it were 48 million",
            "3%",
            f"{found['within a million at 48 million']:.1%}",
            True,
        ),
    ]


def compare_ratio(rows: Sequence[Row]) -> list[Comparison]:
    """Figure 9."""
    found = []
    for how in HOWS:
        ratios = _of(rows, how)["ratio"]
        agrees = abs(float(ratios.mean()) - protocol.NAIVE) < 5 * float(
            ratios.std() / np.sqrt(len(ratios))
        )
        told = f"mean {ratios.mean():.1%}, standard deviation {ratios.std():.1%}"
        found.append(Comparison(f"share of the frequent class, {how}", "about 52.6%", told, agrees))
    first = _of(rows, HOWS[0]).iloc[0]
    why = (
        f"Noise is made of six digits: it is never beyond {first['largest noise']:,.0f}, and has "
        "gaps towards there."
    )
    told = f"{first['telling answers']:.2%}"
    return [
        *found,
        Comparison(
            "answers that rule out a neighbour, as published",
            "none: it is private",
            told,
            False,
            why,
        ),
    ]


def compare_exact_tree(rows: Sequence[Row]) -> list[Comparison]:
    """Figure 10."""
    naive = _known(rows)["naive"]
    means = _of(rows, EXACT_TREE).groupby("depth")["accuracy"].mean()
    best, deepest = float(means.max()), float(means.iloc[-1])
    above = bool((means[means.index > 3] > naive).all())
    why = (
        "One attribute, relationship, tells 74% right by itself. At or below naive up to depth 3 "
        "takes another table."
    )
    lost = f"{best - deepest:.1%} less at depth {means.index[-1]} than at {means.idxmax()}"
    return [
        _number("best accuracy", 0.75, best, "about 75%", f" at depth {means.idxmax()}"),
        _number("naive classifier", protocol.NAIVE, naive, "about 52.6%", " of the test rows"),
        Comparison(
            "above the naive classifier",
            "at all depths above 3",
            f"at all depths, by {means.min() - naive:.1%} or more",
            above,
            why,
        ),
        Comparison("deep trees overfit", "accuracy decreases", lost, deepest < best),
        _ours(rows),
    ]


def compare_exact_forest(rows: Sequence[Row]) -> list[Comparison]:
    """Figure 11."""
    forests = _of(rows, EXACT_FOREST)
    means = forests.groupby(["depth", "trees"])["accuracy"].mean()
    most = float(forests["accuracy"].max())
    return [
        _number("highest mean", 0.8017, float(means.max()), "80.17%"),
        _number("lowest mean", 0.6399, float(means.min()), "63.99%"),
        Comparison(
            "highest of all runs",
            "86.6% (7 trees, depth 1)",
            f"{most:.1%}",
            abs(most - 0.866) < SAME,
            _ceiling(rows),
        ),
        _ours(rows),
    ]


def compare_exact_influence(rows: Sequence[Row]) -> list[Comparison]:
    """Figure 12."""
    forests = _of(rows, EXACT_FOREST)
    trees, depths = (
        forests.groupby("trees")["accuracy"].mean(),
        forests.groupby("depth")["accuracy"].mean(),
    )
    by_trees = f"{trees.iloc[0]:.1%} with 1, {trees.iloc[-1]:.1%} with {trees.index[-1]}"
    by_depth = (
        f"most at {depths.idxmax()}: {depths.max():.1%}; {depths.iloc[-1]:.1%} at "
        f"{depths.index[-1]}"
    )
    return [
        Comparison("more trees", "more accurate", by_trees, bool(trees.iloc[-1] > trees.iloc[0])),
        Comparison(
            "more depth",
            "one maximum, then decreasing",
            by_depth,
            bool(depths.idxmax() < depths.index[-1]),
        ),
        _ours(rows),
    ]


def compare_mean(rows: Sequence[Row]) -> list[Comparison]:
    """Figure 13."""
    naive, found = _known(rows)["naive"], []
    for how in HOWS:
        means = _of(rows, how).groupby(["epsilon", "depth"])["accuracy"].mean().unstack()
        by_epsilon, deeper = means.mean(axis=1), means[means.columns[-1]] - means[means.columns[0]]
        most, above = float(means.to_numpy().max()), (means.iloc[0] > naive + SAME).sum()
        grows = bool((by_epsilon.diff().dropna() > -SAME).all())
        first = how == HOWS[0]
        found += [
            Comparison(
                f"highest mean, {how}",
                "83.48%",
                f"{most:.2%}",
                abs(most - 0.8348) < SAME,
                _ceiling(rows) if first else "",
            ),
            Comparison(
                f"larger epsilon, {how}",
                "more accurate",
                f"{_listed(by_epsilon)} (mean over depths)",
                grows,
            ),
            Comparison(
                f"depth 7 against 1, {how}",
                "more accurate",
                _listed(deeper, "+"),
                bool((deeper > 0).all()),
                _DEEP if first and (deeper <= 0).any() else "",
            ),
            Comparison(
                f"epsilon 0.001, {how}",
                "mostly no better than naive",
                f"better at {above} of {len(means.columns)} depths",
                bool(above <= len(means.columns) / 2),
            ),
        ]
    return [*found, _ours(rows)]


def compare_variance(rows: Sequence[Row]) -> list[Comparison]:
    """Figure 14."""
    found = []
    for how in HOWS:
        spread = _of(rows, how).groupby(["epsilon", "depth"])["accuracy"].var().unstack()
        first, last, most = (
            spread[spread.columns[0]],
            spread[spread.columns[-1]],
            spread.idxmax(axis=1),
        )
        found += [
            Comparison(
                f"variance at depth 1, {how}",
                "larger than at 7",
                _listed(first, digits="e"),
                bool((last < first).all()),
            ),
            Comparison(
                f"variance at depth 7, {how}",
                "next to zero",
                _listed(last, digits="e"),
                bool((last < 0.001).all()),
            ),
            Comparison(
                f"depth of the largest variance, {how}",
                "1, for every epsilon",
                _listed(most, digits="d"),
                bool((most == 1).all()),
            ),
        ]
    return found


def compare_forest(rows: Sequence[Row]) -> list[Comparison]:
    """Figure 15."""
    naive, found = _known(rows)["naive"], []
    for how in HOWS:
        means = _of(rows, how).groupby(["epsilon", "depth", "trees"])["accuracy"].mean()
        best = means.groupby(["epsilon", "depth"]).mean().unstack().idxmax(axis=1)
        moves = bool(best.iloc[-1] == best.max() and best.iloc[0] < best.iloc[-1])
        below = float((means.xs(best.index[0]) < naive).mean())
        found += [
            Comparison(
                f"best depth, {how}",
                "smaller for smaller epsilon",
                _listed(best, digits="d"),
                moves,
            ),
            Comparison(
                f"epsilon 0.001 below naive, {how}",
                "in some places",
                f"in {below:.0%} of them",
                below > 0,
            ),
        ]
    return [*found, _ours(rows)]


def compare_forest_influence(rows: Sequence[Row]) -> list[Comparison]:
    """Figure 16."""
    found = []
    for how in HOWS:
        for name, least in (("trees", 0.0), ("depth", 0.05)):
            means = _of(rows, how).groupby(["epsilon", name])["accuracy"].mean().unstack()
            gain = means[means.columns[-1]] - means[means.columns[0]]
            agrees = bool(gain.iloc[0] < SAME and gain.iloc[-1] > least)
            what = f"{name}: {means.columns[-1]} against {means.columns[0]}, {how}"
            found.append(
                Comparison(
                    what,
                    "better for a large epsilon, not for a small one",
                    _listed(gain, "+"),
                    agrees,
                )
            )
    return [*found, _ours(rows)]


def compare_many_trees(rows: Sequence[Row]) -> list[Comparison]:
    """Figure 17."""
    found = []
    for how in HOWS:
        means = _of(rows, how).groupby(["depth", "trees"])["accuracy"].mean().unstack()
        most, few = means.columns[-1], means.columns[0]
        more = means[most] - means[few]
        shallow, seven = more[more.index < 7], float(more.loc[7])
        what = f"{most} trees against {few}"
        found += [
            Comparison(
                f"{what}, depths below 7, {how}",
                "less accurate",
                f"{shallow.mean():+.3f} on average",
                _falls(shallow.mean()),
            ),
            Comparison(
                f"{what}, depth 7, {how}",
                "more accurate",
                f"{seven:+.3f}",
                bool(seven > SAME),
                _CHANCE if how == HOWS[0] and seven <= SAME else "",
            ),
        ]
    return [*found, _ours(rows)]


# -- parts -------------------------------------------------------------------------------------------------------------  # noqa: E501


def _of(rows: Sequence[Row], how: str) -> Any:
    """The lines of one way to do it."""
    return pd.DataFrame([row for row in rows if row.get("how") == how])


def _known(rows: Sequence[Row]) -> dict[str, float]:
    """What is known of the prepared table."""
    return {row["what"]: row["value"] for row in rows if "what" in row}


def _ours(rows: Sequence[Row]) -> Comparison:
    means = _of(rows, GIBBS).groupby("epsilon")["accuracy"].mean()
    return Comparison(f"{GIBBS}, private", "not in the paper", _listed(means), None)


def _number(what: str, his: float, ours: float, told: str, more: str = "") -> Comparison:
    same = abs(ours - his) < SAME
    return Comparison(
        what, told, f"{ours:.2%}{more}", same, "" if same or ours < his else _UNKNOWN_TABLE
    )


def _falls(change: float) -> bool | None:
    """Whether accuracy becomes less; None where the change is too small to tell."""
    return None if abs(change) < SAME else bool(change < 0)


def _ceiling(rows: Sequence[Row]) -> str:
    return (
        "With the rows and groups of here nobody who sees these seven attributes alone gets more "
        f"than {_known(rows)['ceiling']:.1%} of "
        "the test rows right, even with all their labels at hand. He had another table: other "
        "groups, other rows, or few test rows."
    )


def _listed(values: Any, sign: str = "", digits: str = "f") -> str:
    """Numbers by epsilon."""
    form = {"f": f"{sign}.3f", "e": ".1e", "d": "d"}[digits]
    return ", ".join(f"{value:{form}} at {epsilon:g}" for epsilon, value in values.items())
