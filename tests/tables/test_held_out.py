"""Rows that are kept apart for testing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import privet as pv
from privet.errors import ParameterError
from privet.tables.held_out import HeldOut

SCHEMA = pv.Schema({"a": pv.Numeric(0, 1000, bins=10)}, "y", ["no", "yes"])


def people(n: int = 2000) -> pd.DataFrame:
    classes = ["no", "yes"] * (n // 2)
    return pd.DataFrame({"a": np.arange(n) % 1000, "id": np.arange(n), "y": classes})


def kept(part: HeldOut) -> pd.DataFrame:
    return pd.concat(list(part.read_blocks(317)))


def test_every_row_is_in_exactly_one_part():
    train, test = pv.split_table(people(), 0.2)
    both = pd.concat([kept(train), kept(test)]).sort_values("id", ignore_index=True)
    pd.testing.assert_frame_equal(both, people())
    assert 320 < len(kept(test)) < 480  # a fifth of 2000, give or take four deviations
    counts = [
        sum(len(classes) for _, classes, _ in part.source(SCHEMA).rows()) for part in (train, test)
    ]
    assert counts == [len(kept(train)), len(kept(test))]


def test_a_row_stays_where_it_is_whatever_stands_beside_it():
    table = people()
    _, test = pv.split_table(table, 0.2)
    mine = set(kept(test)["id"])
    # rows less, in another order, and a gap that turns integers into floats
    other = table[table["id"] % 3 > 0].sample(frac=1, random_state=1)
    other = pd.concat([other, pd.DataFrame({"a": [None], "id": [-1], "y": ["no"]})])
    assert set(kept(pv.split_table(other, 0.2)[1])["id"]) - {-1} == mine & set(other["id"])


def test_no_entry_raises_an_error():
    table = people(400).astype({"a": object})
    table.loc[7, "a"] = 10**400  # no float holds it
    assert sum(len(kept(part)) for part in pv.split_table(table, 0.2)) == 400


def test_rows_of_a_person_stay_together():
    table = people().assign(id=np.arange(2000) // 4)
    schema = SCHEMA.declare(person="id", rows_per_person=4)
    sizes = []
    for part in pv.split_table(table, "1/4"):
        who = table[part.find_mine(table, "id")]
        assert (who.groupby("id").size() == 4).all()
        sizes.append(len(who))
        assert sum(len(c) for _, c, _ in part.source(schema).rows()) == len(who)
    assert sum(sizes) == 2000


def test_another_key_is_another_split_and_a_file_is_split_alike(tmp_path):
    table = people().astype(str)
    table.to_csv(tmp_path / "t.csv", index=False)
    ids = [set(kept(pv.split_table(table, 0.2, key)[1])["id"]) for key in ("1", "2")]
    assert ids[0] != ids[1]
    assert set(kept(pv.split_table(tmp_path / "t.csv", 0.2)[1])["id"]) == ids[0]


def test_no_row_is_read_before_the_charge():
    class Spied(type(pv.open_table(people()))):
        reads = 0

        def read_blocks(self, size):
            Spied.reads += 1
            return super().read_blocks(size)

    train, _ = pv.split_table(Spied(people()), 0.2)
    curator = pv.Curator(train, SCHEMA, pv.Budget(1))
    assert Spied.reads == 0
    with pytest.raises(pv.PrivetError):
        curator.size(2)
    assert Spied.reads == 0
    curator.size(1)
    assert Spied.reads == 1


@pytest.mark.parametrize("size", [0, 1, -0.5, "much"])
def test_other_sizes_are_refused(size):
    with pytest.raises(ParameterError):
        pv.split_table(people(), size)
