"""Tables that are run once: public bounds for everyone, grids for our default learner."""

from __future__ import annotations

import pandas as pd

from experiments.bench.accuracy import unseen
from experiments.bench.accuracy.contestants import PEERS
from experiments.bench.accuracy.data import DEVELOPMENT, HELD_OUT
from experiments.bench.accuracy.measures import MEASURES
from experiments.recipe.tables import KEEL, PYDATASET

TABLE = pd.DataFrame(
    {"x": [0.5, 2.5, 1.0, 2.0], "few": [1, 3, 2, 1], "who": list("abba"), "y": [0, 1, 0, 1]}
)


def test_numbers_are_grids_for_our_default_learner_only(monkeypatch, tmp_path):
    monkeypatch.setitem(unseen.TABLES, "small", unseen.Table("some/small", "y"))
    monkeypatch.setattr(unseen, "read_pydataset", lambda cache, item: TABLE)
    problem = unseen.load("small", tmp_path)
    ours, others = problem.schema_for("privet-delta"), problem.schema_for("diffprivlib")
    assert ours.attributes["x"].auto
    assert (others.attributes["x"].bins, others.attributes["x"].auto) == (16, False)
    assert problem.schema_for("greedy-tree") == others
    for name in ("few", "who"):
        assert ours.attributes[name].size == others.attributes[name].size
    assert ours.attributes["few"].bins == 3


def test_no_table_is_in_another_list():
    items = {table.item for table in unseen.TABLES.values()}
    assert not items & {target.item for target in PYDATASET}
    assert not items & {f"balanced/{name}" for name in (*DEVELOPMENT, *HELD_OUT)}
    assert not items & set(KEEL)


def test_the_page_counts_cells():
    figures = {measure.name: 0.8 for measure in MEASURES}
    rows = [
        {"data": name, "learner": learner, "view": "", "epsilon": epsilon, "repeat": 0}
        | {"fold": fold, "seconds": 1.0, **figures}
        | ({"accuracy": 0.9 + fold / 1000} if learner == "privet" else {})
        for name in unseen.TABLES
        for learner in unseen.LEARNERS
        for epsilon in ([None] if learner in ("majority", "gradient-boosting") else unseen.EPSILONS)
        for fold in range(5)
    ]
    page = unseen.write(rows)
    n = len(unseen.TABLES)
    assert f"| privet, accuracy, best peer | {4 * n}-0-0 | {n}-0-0 |" in page
    assert f"| privet-delta, AUROC, s-bdt-like | 0-{4 * n}-0 |" in page
    assert "| sonar | 5 | .902, .800 (.800) |" in page
    assert set(unseen.LEARNERS) - {"privet", "privet-delta", "majority", "gradient-boosting"} < set(
        PEERS
    )
