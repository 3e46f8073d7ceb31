"""Which tables recipes are chosen on, and how they are prepared."""

from __future__ import annotations

import re

import pandas as pd

from experiments.bench.accuracy.data import HELD_OUT
from experiments.recipe.generated import GENERATED, generate
from experiments.recipe.tables import NAMES, kind_of, prepare


def test_tables_that_are_held_out_are_not_among_them():
    """Neither under their own name, nor as one class against the rest (vehicle1, segment0); digits
    are a part of optdigits.
    """
    stems = {re.split(r"[/,]", name)[-1].strip().rstrip("0123456789") for name in NAMES}
    stems |= {re.split(r"[/,]", name.split(", ")[0])[-1].lower() for name in NAMES}
    assert not stems & {*HELD_OUT, "optdigits"}


def test_generated_tables_are_the_same_every_time_and_of_the_kind_that_they_are_named_for():
    for name, kind in (("steps, rare", "rare class"), ("three classes", "several classes")):
        table = generate(name)
        pd.testing.assert_frame_equal(table, generate(name))
        assert table.shape == (GENERATED[name].rows, GENERATED[name].attributes + 1)
        assert kind_of(prepare(name, table.head(2000), "class")) == kind


def test_names_unknown_classes_and_tiny_classes_are_left_out():
    table = pd.DataFrame(
        {
            "name": [f"person {row}" for row in range(400)],
            "age": [row % 80 for row in range(400)],
            "died": [1.0] * 150 + [0.0] * 245 + [2.0] * 3 + [None] * 2,
        }
    )
    data = prepare("t", table, "died")
    assert data.schema.names == ("age",)
    assert data.schema.classes == (0, 1)
    assert len(data.y) == 395
