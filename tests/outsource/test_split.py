"""Splitting: what is in the halves, what is not, and that only the key joins them."""

from __future__ import annotations

import dataclasses
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from privet.domain import Categorical, Schema
from privet.errors import OutsourceError, ParameterError, SchemaError, SealError
from privet.outsource.anatomy import STATEMENT, Anatomy, codes_of, people_cells
from privet.outsource.cipher import KeyRing, Sealer
from privet.outsource.cipher.sealing import open_true_entry, place_of
from privet.outsource.files import read_halves, write_halves
from privet.outsource.split import split
from privet.outsource.verify import open_true_values
from tests.outsource.people import SCHEMA, people

RING = KeyRing.new()


@pytest.fixture(scope="module")
def table():
    return people(300)


@pytest.fixture(scope="module")
def made(table):
    return split(table, SCHEMA, "disease", 2, RING)


def rows_of(frame, anatomy) -> Counter:
    return Counter(zip(*people_cells(frame, anatomy), strict=True))


class TestSplit:
    def test_the_key_gives_the_table_back(self, table, made):
        halves = made.halves
        _, values = open_true_values(halves, RING)
        joined = Counter(zip(*halves.identifiers.cells, values, strict=True))
        kept = table.drop(index=made.withheld)
        assert joined == rows_of(kept, halves.anatomy)

    def test_another_key_does_not(self, made):
        with pytest.raises(SealError):
            open_true_values(made.halves, KeyRing.new())

    def test_every_group_is_diverse(self, made):
        values = made.halves.values
        codes = codes_of(SCHEMA.attributes["disease"], values.value)
        for gid in np.unique(values.gid):
            counts = Counter(codes[values.gid == gid].tolist())
            assert max(counts.values()) * 2 <= counts.total()
        assert Counter(values.gid.tolist()) == Counter(made.halves.identifiers.gid.tolist())

    def test_rows_that_cannot_be_placed_are_withheld_and_told(self, made, table):
        counts = table["disease"].value_counts()
        surplus = max(0, 2 * counts.max() - counts.sum())
        assert len(made.unplaced) == surplus
        assert (
            len(made.halves.identifiers)
            == len(made.halves.values)
            == len(table) - len(made.withheld)
        )
        common = people(60).assign(disease=["flu"] * 50 + ["gout"] * 10)
        uneven = split(common, SCHEMA, "disease", 2, RING)
        assert len(uneven.unplaced) == 40
        assert (common["disease"].iloc[uneven.unplaced] == "flu").all()

    def test_rows_that_do_not_fit_are_withheld_and_told(self, table):
        broken = table.assign(
            town=table["town"].where(table.index != 7, "atlantis"),
            disease=table["disease"].where(table.index != 9, "odd"),
        )
        made = split(broken, SCHEMA, "disease", 2, RING)
        assert made.unfit.tolist() == [7, 9]
        assert {7, 9} <= set(made.withheld.tolist())

    def test_numbers_that_are_used_up_are_random(self, made):
        again = split(people(300), SCHEMA, "disease", 2, RING).halves
        assert not set(made.halves.values.seq.tolist()) & set(again.values.seq.tolist())
        assert not set(made.halves.values.gid.tolist()) & set(again.values.gid.tolist())
        assert made.halves.anatomy.id != again.anatomy.id
        assert made.halves.values.seq.min() >= 0

    def test_the_order_of_the_table_is_lost(self):
        """With rows sorted by disease, halves in the table's order would give it away."""
        table = people(400).sort_values("disease", ignore_index=True)
        table["age"] = np.linspace(0, 100, 400)
        halves = split(table, SCHEMA, "disease", 2, RING).halves
        ages = np.array([float(cell) for cell in halves.identifiers.cells[1]])
        place, _ = open_true_values(halves, RING)
        n = len(ages)
        for first, second in (
            (np.arange(n), ages),
            (place, ages),
            (halves.identifiers.gid, ages),
            (np.arange(n), place),
        ):
            assert abs(
                np.corrcoef(pd.Series(first).rank(), pd.Series(second).rank())[0, 1]
            ) < 6 / np.sqrt(n)

    def test_about_the_share_that_was_asked_for_is_for_pruning(self, table):
        marks = split(
            people(2000), SCHEMA, "disease", 2, RING, pruning=0.2
        ).halves.identifiers.pruning
        assert abs(marks.mean() - 0.2) < 6 * np.sqrt(0.16 / len(marks))
        assert not split(
            table, SCHEMA, "disease", 2, RING, pruning=0
        ).halves.identifiers.pruning.any()

    def test_bins_of_numbers_count_as_values(self):
        """Two ages of one bin in a group would say which bin it is."""
        halves = split(people(400), SCHEMA, "age", 3, RING).halves
        codes = codes_of(SCHEMA.attributes["age"], halves.values.value)
        for gid in np.unique(halves.values.gid):
            assert len(set(codes[halves.values.gid == gid].tolist())) >= 3

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"sensitive": "visits"}, "must not be the class"),
            ({"sensitive": "height"}, "sensitive must be one of"),
            ({"l": 1}, "l must be an integer of at least 2"),
            ({"l": 5}, "l must be at most 4"),
            ({"pruning": 1.0}, "pruning must be a number of at least 0 and below 1"),
        ],
    )
    def test_what_may_not_be(self, table, changes, message):
        with pytest.raises(ParameterError, match=message):
            split(
                **(
                    {"table": table, "schema": SCHEMA, "sensitive": "disease", "l": 2, "ring": RING}
                    | changes
                )
            )

    def test_no_group_at_all(self, table):
        with pytest.raises(OutsourceError, match="not one group"):
            split(table.assign(disease="flu"), SCHEMA, "disease", 2, RING)

    def test_an_absent_column(self, table):
        with pytest.raises(SchemaError, match="town"):
            split(table.drop(columns="town"), SCHEMA, "disease", 2, RING)

    def test_a_person_has_one_row(self, table):
        schema = dataclasses.replace(SCHEMA, person="name")
        named = table.assign(name=[f"p{i}" for i in range(len(table))])
        assert split(named, schema, "disease", 2, RING).halves.anatomy.columns[-1] == "name"
        named.loc[5, "name"] = "p4"
        with pytest.raises(ParameterError, match="row 5 has several"):
            split(named, schema, "disease", 2, RING)
        with pytest.raises(ParameterError, match="no column 'name'"):
            split(table, schema, "disease", 2, RING)


class TestTampering:
    """What a server might do to its tables, found out by the key."""

    def change(self, halves, **changes):
        return dataclasses.replace(
            halves, identifiers=dataclasses.replace(halves.identifiers, **changes)
        )

    def test_another_cell(self, made):
        cells = [list(column) for column in made.halves.identifiers.cells]
        cells[0][0] = "east" if cells[0][0] != "east" else "north"
        with pytest.raises(SealError):
            open_true_values(self.change(made.halves, cells=cells), RING)

    def test_another_mark(self, made):
        with pytest.raises(SealError):
            open_true_values(
                self.change(made.halves, pruning=~made.halves.identifiers.pruning), RING
            )

    def test_exchanged_numbers_within_a_group(self, made):
        gid = made.halves.identifiers.gid
        first, second = np.flatnonzero(gid == gid[0])[:2].tolist()
        eseq = list(made.halves.identifiers.eseq)
        eseq[first], eseq[second] = eseq[second], eseq[first]
        with pytest.raises(SealError):
            open_true_values(self.change(made.halves, eseq=eseq), RING)

    def test_exchanged_values_within_a_group(self, made):
        values = made.halves.values
        first, second = np.flatnonzero(values.gid == values.gid[0])[:2].tolist()
        value = list(values.value)
        value[first], value[second] = value[second], value[first]
        with pytest.raises(SealError):
            open_true_values(
                dataclasses.replace(made.halves, values=dataclasses.replace(values, value=value)),
                RING,
            )

    @pytest.mark.parametrize("which", ["own", "other"])
    @pytest.mark.parametrize("how", ["left out", "another value", "another number"])
    def test_a_server_cannot_try_which_entry_is_whose(self, made, which, how):
        """It sends other entries than the group's and looks whether the client minds: the client
        always does, so that it learns nothing.
        """
        halves = made.halves
        place, _ = open_true_values(halves, RING)
        own = int(place[0])
        gid = halves.values.gid
        at = (
            own
            if which == "own"
            else next(i for i in np.flatnonzero(gid == gid[own]).tolist() if i != own)
        )
        entries = list(zip(halves.values.seq.tolist(), halves.values.value, strict=True))
        group = [entries[i] for i in np.flatnonzero(gid == gid[own]).tolist() if i != at]
        if how == "another value":
            group.append(
                (
                    entries[at][0],
                    next(value for value in ["flu", "gout", "acne"] if value != entries[at][1]),
                )
            )
        elif how == "another number":
            group.append((entries[at][0] ^ 1, entries[at][1]))
        it, sealer = halves.identifiers, Sealer(RING, halves.anatomy.id)
        honest = [entries[i] for i in np.flatnonzero(gid == gid[own]).tolist()]
        assert (
            open_true_entry(
                sealer, it.eseq[0], place_of(int(it.gid[0]), bool(it.pruning[0]), it.row(0), honest)
            )
            == entries[own]
        )
        with pytest.raises(SealError):
            open_true_entry(
                sealer, it.eseq[0], place_of(int(it.gid[0]), bool(it.pruning[0]), it.row(0), group)
            )

    def test_a_row_twice(self, made):
        it = made.halves.identifiers
        again = self.change(
            made.halves,
            cells=[[*column, column[0]] for column in it.cells],
            pruning=np.append(it.pruning, it.pruning[0]),
            gid=np.append(it.gid, it.gid[0]),
            eseq=[*it.eseq, it.eseq[0]],
        )
        with pytest.raises(SealError):
            open_true_values(again, RING)


class TestFolder:
    def test_it_reads_back(self, tmp_path, made):
        write_halves(made.halves, tmp_path / "halves")
        read = read_halves(tmp_path / "halves")
        assert read.anatomy == made.halves.anatomy
        assert read.identifiers.cells == made.halves.identifiers.cells
        assert read.identifiers.eseq == made.halves.identifiers.eseq
        assert read.identifiers.pruning.tolist() == made.halves.identifiers.pruning.tolist()
        assert read.identifiers.gid.tolist() == made.halves.identifiers.gid.tolist()
        assert read.values.value == made.halves.values.value
        assert (read.values.seq == made.halves.values.seq).all()
        assert [path.name for path in tmp_path.iterdir()] == ["halves"]
        assert sorted(path.name for path in (tmp_path / "halves").iterdir()) == [
            "anatomy.json",
            "anatomy.seal",
            "it.parquet",
            "st.parquet",
        ]
        assert STATEMENT in (tmp_path / "halves" / "anatomy.json").read_text()

    def test_nulls_and_texts_with_quotes(self, tmp_path):
        odd = Categorical(["a'b", '"', "ü;", "--"], missing="none")
        schema = Schema({"x": odd, "s": odd}, "c", ["0", "1"])
        frame = pd.DataFrame(
            {
                "x": ["a'b", None, '"', "--"] * 5,
                "s": ["ü;", "--", None, '"'] * 5,
                "c": ["0", "1"] * 10,
            }
        )
        halves = split(frame, schema, "s", 2, RING).halves
        write_halves(halves, tmp_path / "it's")
        read = read_halves(tmp_path / "it's")
        assert read.identifiers.cells == halves.identifiers.cells
        assert Counter(open_true_values(read, RING)[1]) == {"ü;": 5, "--": 5, "none": 5, '"': 5}

    def test_a_folder_with_something_in_it_is_left_alone(self, tmp_path, made):
        (tmp_path / "there").mkdir()
        (tmp_path / "there" / "file").write_text("mine")
        with pytest.raises(ParameterError, match="not an empty folder"):
            write_halves(made.halves, tmp_path / "there")
        with pytest.raises(ParameterError, match="does not exist"):
            write_halves(made.halves, tmp_path / "no" / "there")
        assert (tmp_path / "there" / "file").read_text() == "mine"

    def test_a_write_that_fails_leaves_nothing(self, tmp_path, made, monkeypatch):
        def full(*_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("pathlib.Path.rename", full)
        with pytest.raises(OutsourceError, match="No space left"):
            write_halves(made.halves, tmp_path / "halves")
        assert list(tmp_path.iterdir()) == []

    def test_what_is_no_such_folder(self, tmp_path, made):
        with pytest.raises(OutsourceError, match="cannot read"):
            read_halves(tmp_path)
        write_halves(made.halves, tmp_path / "halves")
        (tmp_path / "halves" / "it.parquet").write_bytes(
            (tmp_path / "halves" / "st.parquet").read_bytes()
        )
        with pytest.raises(OutsourceError, match="must have exactly the columns"):
            read_halves(tmp_path / "halves")


class TestAnatomy:
    def test_it_reads_back(self, made):
        assert Anatomy.from_json(made.halves.anatomy.to_json()) == made.halves.anatomy

    @pytest.mark.parametrize(
        "changes",
        [
            {"version": 2},
            {"privet": "model"},
            {"id": "x"},
            {"l": "2"},
            {"sensitive": "visits"},
            {"schema": {}},
            {"pruning": 2},
            {"more": 1},
        ],
    )
    def test_what_is_wrong_is_refused(self, made, changes):
        with pytest.raises(OutsourceError):
            Anatomy.from_json(made.halves.anatomy.to_json() | changes)

    def test_identifying_leaves_out_the_sensitive_one(self, made):
        assert made.halves.anatomy.identifying.names == ("town", "age", "smokes")
        assert made.halves.anatomy.columns == ("town", "age", "smokes", "visits")
