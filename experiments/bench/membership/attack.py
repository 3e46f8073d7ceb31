"""The attack: shadow models teach what a member looks like; then an event is chosen, and counted on
models that were not looked at before.

For each target a logistic regression learns from the shadow models to tell those that were trained
with it. Its log-odds are the score of a likelihood-ratio attack (as LiRA; Carlini and others 2022,
with a learnt likelihood in place of a normal one).
"""

from __future__ import annotations

import math

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from experiments.bench.membership.contestants import train
from experiments.bench.membership.features import features
from experiments.bench.membership.found import GRID, Found
from experiments.bench.membership.game import KINDS, Bits, Game, coins
from privet._types import Floats

#: Models that teach; those after them are attacked.
SHADOWS = 120


def attack(name: str, epsilon: float, game: Game, models: int, shadows: int = SHADOWS) -> Found:
    """Train, learn, choose, count: so many models are attacked, after others that teach."""
    bits = coins(shadows + models, len(game.kinds))
    seen = np.stack([features(train(name, epsilon, game, drawn), game, drawn) for drawn in bits])
    return judged(seen, bits, game.kinds, shadows)


def judged(seen: Floats, bits: Bits, kinds: tuple[str, ...], shadows: int) -> Found:
    """From the features of all models (models x targets x features), and who was in them; the first
    are shadow models.
    """
    scores = np.column_stack(
        [_scores(seen[:, target], bits[:, target], shadows) for target in range(len(kinds))]
    )
    target, threshold = _event(scores[:shadows], bits[:shadows])
    member, hit = bits[shadows:, target], scores[shadows:, target] >= threshold
    after, there = scores[shadows:], bits[shadows:]
    columns = {kind: [place for place, one in enumerate(kinds) if one == kind] for kind in KINDS}
    return Found(
        auc={
            kind: float(roc_auc_score(there[:, at].ravel(), after[:, at].ravel()))
            for kind, at in columns.items()
        },
        curve=_curve(there.ravel(), after.ravel()),
        kind=kinds[target],
        members=int(member.sum()),
        caught=int(hit[member].sum()),
        others=int((~member).sum()),
        mistaken=int(hit[~member].sum()),
    )


def _scores(seen: Floats, member: Bits, shadows: int) -> Floats:
    """The log-odds of being a member in all models, learnt from the shadow models."""
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)).fit(
        seen[:shadows], member[:shadows]
    )
    return np.asarray(model.decision_function(seen))


def _event(scores: Floats, member: Bits) -> tuple[int, float]:
    """The target and the threshold that stand out most, on shadow models alone: TPR - FPR in
    standard deviations.
    """
    best = (-math.inf, 0, 0.0)
    for target in range(scores.shape[1]):
        ins, outs = (
            np.sort(scores[member[:, target], target]),
            np.sort(scores[~member[:, target], target]),
        )
        if not len(ins) or not len(outs):
            continue
        values = np.unique(scores[:, target])
        middle = (values[:-1] + values[1:]) / 2 if len(values) > 1 else values
        tpr, fpr = (1 - np.searchsorted(one, middle) / len(one) for one in (ins, outs))
        spread = np.sqrt(
            tpr * (1 - tpr) / len(ins) + fpr * (1 - fpr) / len(outs) + 1 / len(scores) ** 2
        )
        far = (tpr - fpr) / spread
        place = int(far.argmax())
        best = max(best, (float(far[place]), target, float(middle[place])))
    return best[1], best[2]


def _curve(member: Bits, scores: Floats) -> tuple[float, ...]:
    """True positive rates over the grid; between thresholds a coin decides, so that the curve is
    straight there.
    """
    fpr, tpr, _ = roc_curve(member, scores, drop_intermediate=False)
    return tuple(float(value) for value in np.interp(GRID, fpr, tpr))
