"""Codes that no split of a space tells apart are merged, and what is drawn goes back to them."""

from __future__ import annotations

import numpy as np

from privet.domain import Categorical, Numeric, Schema
from privet.domain.cells import Cells, Split
from privet.domain.space import TreeSpace, all_splits, threshold_splits

SCHEMA = Schema(
    {
        "n": Numeric(0, 8, bins=8, missing="?"),
        "c": Categorical(["u", "v", "w", "x"]),
        "unused": Categorical(["p", "q"]),
    },
    "class",
    ["no", "yes"],
)


def thresholds(*codes: int) -> list[Split]:
    return [threshold_splits(SCHEMA, "n")[code - 1] for code in codes]


def test_atoms_are_the_codes_that_no_split_tells_apart():
    space = TreeSpace(SCHEMA, 2, thresholds(3), [*thresholds(6), Split("c", (0, 1, 1, 0))])
    atoms = space.atoms.merged
    assert atoms["n"].tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 3]  # missing entries stay apart
    assert atoms["c"].tolist() == [0, 1, 1, 0]  # not neighbours
    assert atoms["unused"].tolist() == [0, 0]
    assert space.merged.schema.sizes == (4, 2, 1)
    assert space.merged.inner == (Split("n", (0, 1, 1, 2)),)
    assert space.merged.last == (Split("n", (0, 0, 1, 2)), Split("c", (0, 1)))


def test_splits_that_tell_codes_apart_only_together():
    """No single split separates 1 from 3; two of them do."""
    space = TreeSpace(SCHEMA, 1, (), [Split("c", (0, 1, 1, 0)), Split("c", (0, 0, 1, 1))])
    assert "c" not in space.atoms.merged


def test_a_space_that_tells_all_codes_apart_is_its_own():
    space = TreeSpace(SCHEMA, 2, all_splits(SCHEMA), all_splits(SCHEMA))
    assert space.atoms.merged == {}
    assert space.merged is space


def test_a_merged_space_is_its_own():
    merged = TreeSpace(SCHEMA, 2, thresholds(3), thresholds(3)).merged
    assert merged.merged is merged


def test_splits_and_cells_come_back():
    atoms = TreeSpace(SCHEMA, 2, thresholds(3), thresholds(6)).atoms
    for split in thresholds(3, 6):
        assert atoms.lift_split(atoms.merge_split(split)) == split
    coarse = Cells.everything(atoms.coarse).refine({0: atoms.merge_split(thresholds(6)[0])})
    lifted, wanted = (
        atoms.lift_cells(coarse),
        Cells.everything(SCHEMA).refine({0: thresholds(6)[0]}),
    )
    assert lifted.schema is SCHEMA
    for name in ("attribute", "offset", "branch", "cell"):
        assert np.array_equal(getattr(lifted, name), getattr(wanted, name))


def test_rows_are_merged_attribute_by_attribute():
    atoms = TreeSpace(SCHEMA, 1, (), [*thresholds(6), Split("c", (0, 1, 1, 0))]).atoms
    codes = np.array([[0, 5, 6, 7, 8], [0, 1, 2, 3, 0], [0, 1, 0, 1, 0]], dtype=np.uint8)
    merged = atoms.merge_codes(codes)
    assert merged.tolist() == [[0, 0, 1, 1, 2], [0, 1, 1, 0, 0], [0, 0, 0, 0, 0]]
    assert codes[0].tolist() == [0, 5, 6, 7, 8]  # rows stay as they are


def test_the_size_of_a_space_follows_from_its_atoms():
    """A grid of 1000 bins that is cut in two is as large as two bins."""
    sizes = []
    for bins in (2, 1000):
        schema = Schema({name: Numeric(0, 1, bins=bins) for name in "abcd"}, "class", ["no", "yes"])
        halves = [Split(name, (0,) * (bins // 2) + (1,) * (bins // 2)) for name in "abcd"]
        sizes.append(TreeSpace(schema, 3, halves, halves).size)
    assert sizes[0] == sizes[1]


def test_equal_spaces_share_nothing_that_somebody_could_change():
    """A curator draws from a copy of an analyst's space; the analyst still holds theirs."""
    schema = Schema({"n": Numeric(0, 1, bins=8)}, "c", ["x", "y"])
    split = Split("n", (0, 0, 0, 0, 1, 1, 1, 1))
    one, other = (TreeSpace(schema, 1, [split], [split]) for _ in range(2))
    assert one.atoms.merged.keys() == other.atoms.merged.keys() == {"n"}
    assert one.atoms is not other.atoms
    assert not np.shares_memory(one.atoms.merged["n"], other.atoms.merged["n"])
    assert one.merged is not other.merged
