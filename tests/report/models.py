"""Models built by hand and at random, without any data."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from privet.accounting.cost import Cost
from privet.accounting.statement import Charge, PrivacyStatement
from privet.domain import Categorical, Numeric, Schema
from privet.domain.cells import Cells, Split
from privet.domain.tree import Tree
from privet.model import Model

SCHEMA = Schema(
    attributes={
        "form": Categorical(["complete", "incomplete", "foster"]),
        "age": Numeric(20, 60, bins=4),
        "income": Numeric(edges=[0, 10, 100.5], missing="not told"),
        "colour": Categorical(["red", "green", "blue", "grey"], other="grey"),
    },
    target="advice",
    classes=["no", "yes", "wait"],
)


COMBINE = ("counts", "probabilities", "vote", "scores")


def small_tree(schema: Schema = SCHEMA) -> Tree:
    """form; age below 40 under 'complete'; income under 'foster'."""
    cells = Cells.everything(schema).refine({0: Split.multiway(schema, "form")})
    cells = cells.refine(
        {0: Split.threshold(schema, "age", code=2), 2: Split.multiway(schema, "income")}
    )
    counts = np.array(
        [[40, 7, 1], [5.5, 61, 0], [12, 11, 10], [0.1, 3, -2], [-4, 30, 1], [2, 2, 2]]
    )
    return Tree.from_leaves(cells, counts)


def statement(schema: Schema = SCHEMA, **facts) -> PrivacyStatement:
    charges = [Charge("splits", Cost.bounded_range("1/3")), Charge("leaf counts", Cost.pure("1/2"))]
    return PrivacyStatement.of(schema, charges, **{"private": True, **facts})


def small_model(schema: Schema = SCHEMA, **changes) -> Model:
    if "trees" not in changes:
        changes["trees"] = (
            small_tree(schema),
            Tree(Cells.everything(schema), np.array([[10.0, 20.0, 3.0]])),
        )
    facts = {
        "learner": "random-trees",
        "schema": schema,
        "combine": "counts",
        "privacy": statement(schema),
        "settings": {"n_trees": 2, "height": "auto", "rates": [0.5, 1]},
        "noise": 2.8284271247461903,
    }
    if changes.get("combine") == "scores":
        facts["noise"] = 0.0
        changes["trees"] = tuple(
            replace(tree, kind="scores") if tree.kind == "counts" else tree
            for tree in changes["trees"]
        )
    return Model(**{**facts, **changes})


def open_model() -> Model:
    """No promise."""
    return small_model(privacy=statement(private=False, reason="epsilon is infinite"), noise=0.0)


def gaussian_model(schema: Schema = SCHEMA) -> Model:
    """A promise in rho alone."""
    cost = Charge("leaf counts", Cost.concentrated("1/20"))
    facts = (schema.neighbours, schema.rows_per_person, schema.person is not None)
    return small_model(
        schema, privacy=PrivacyStatement((cost,), *facts, private=True, delta=Fraction(1, 10**5))
    )


def merged_model(people: str = "disjoint") -> Model:
    """Leaf vectors of three batches, one of which is noisier."""
    from privet.model.leaf_vectors import Batch, trees_from, weigh_batches
    from privet.model.structure import tree_from, tree_to

    # leaves in order, as files have them
    numbered = tree_from(SCHEMA, tree_to(small_tree()), 0).cells
    forest = [numbered, Cells.everything(SCHEMA).refine({0: Split.multiway(SCHEMA, "colour")})]
    batches = [
        Batch(
            tuple(
                np.arange(len(cells) * 3).reshape(len(cells), 3) * factor - 2 for cells in forest
            ),
            deviation,
        )
        for factor, deviation in ((1, 1.5), (2, 1.5), (3, 40.0))
    ]
    evidence = weigh_batches(batches, 0.15)
    parts = [
        statement(id=f"{number:032x}", name=f"party {number}", account=f"{number + 7:032x}")
        for number in range(3)
    ]
    privacy = PrivacyStatement.together(
        [PrivacyStatement.together(parts[:2], "may-overlap"), parts[2]], people
    )  # type: ignore[arg-type]
    facts = {
        "trees": trees_from(forest, evidence),
        "combine": "probabilities",
        "noise": evidence.deviation,
        "evidence": evidence,
    }
    return small_model(privacy=privacy, **facts)


def random_schema(rng: np.random.Generator) -> Schema:
    attributes = {}
    for number in range(int(rng.integers(1, 6))):
        size = int(rng.integers(1, 7))
        if rng.random() < 0.5:
            attributes[f"a{number}"] = Categorical([f"v{value}" for value in range(size)])
        else:
            attributes[f"a{number}"] = Numeric(
                0, 1, bins=size, missing="gone" if rng.random() < 0.3 else None
            )
    return Schema(attributes, "class", [f"c{label}" for label in range(int(rng.integers(2, 6)))])


def random_tree(rng: np.random.Generator, schema: Schema, *, whole: bool, levels: int = 4) -> Tree:
    cells = Cells.everything(schema)
    for _ in range(int(rng.integers(0, levels + 1))):
        splits = {}
        for cell in range(len(cells)):
            if rng.random() < 0.6:
                name = schema.names[rng.integers(len(schema.names))]
                branch = rng.integers(0, 3, schema.attributes[name].size)
                numbers = {
                    child: number for number, child in enumerate(sorted(set(branch.tolist())))
                }
                splits[cell] = Split(name, tuple(numbers[child] for child in branch.tolist()))
        cells = cells.refine(splits)
    counts = rng.normal(4, 6, (len(cells), schema.n_classes))
    return Tree.from_leaves(cells, np.round(counts) if whole else counts)


def random_model(seed: int, *, whole: bool = True) -> Model:
    rng = np.random.default_rng(seed)
    schema = random_schema(rng)
    trees = tuple(random_tree(rng, schema, whole=whole) for _ in range(int(rng.integers(1, 6))))
    return small_model(schema, trees=trees, combine=COMBINE[seed % 4], privacy=statement(schema))


def random_codes(seed: int, schema: Schema, n_rows: int = 300) -> list[np.ndarray]:
    """Codes of the domain, and unknown ones."""
    rng = np.random.default_rng(seed)
    return [rng.integers(0, size + 1, n_rows) for size in schema.sizes]
