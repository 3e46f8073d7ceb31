"""The verifier finds what links the halves, and nothing where nothing does."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from privet.domain import Categorical
from privet.errors import OutsourceError
from privet.outsource.cipher import KeyRing, Sealer
from privet.outsource.cipher.sealing import place_of, seal_sequence
from privet.outsource.files import Halves, Identifiers, Values, write_halves
from privet.outsource.server.state import ServerState
from privet.outsource.split import split
from privet.outsource.verify import open_true_values, verify
from tests.outsource.people import DISEASES, SCHEMA, people

RING = KeyRing.new()


@pytest.fixture(scope="module")
def halves():
    return split(people(600), SCHEMA, "disease", 2, RING).halves


def of_it(halves, **changes):
    return dataclasses.replace(
        halves, identifiers=dataclasses.replace(halves.identifiers, **changes)
    )


def of_st(halves, **changes):
    return dataclasses.replace(halves, values=dataclasses.replace(halves.values, **changes))


def told(halves, ring=None) -> str:
    return " | ".join(verify(halves, ring).problems)


def test_a_split_verifies(halves):
    verdict = verify(halves, RING)
    assert verdict.problems == []
    assert verdict.joined
    assert verdict.l >= 2
    assert verdict.rows == len(halves.identifiers)
    assert verdict.groups == len(np.unique(halves.values.gid))
    assert not verify(halves).joined


def test_a_split_with_larger_l(halves):
    assert verify(split(people(600), SCHEMA, "disease", 3, RING).halves, RING).l >= 3


def test_groups_that_are_not_diverse(halves):
    gid = halves.values.gid
    value = list(halves.values.value)
    for at in np.flatnonzero(gid == gid[0]).tolist():
        value[at] = "flu"
    assert f"1 groups are not 2-diverse; the worst is group {gid[0]}" in told(
        of_st(halves, value=value)
    )


def test_values_of_no_domain(halves):
    assert "not of the domain" in told(of_st(halves, value=["?", *halves.values.value[1:]]))


def test_the_order_of_rows(halves):
    it, st = halves.identifiers, halves.values
    back = Identifiers(
        [column[::-1] for column in it.cells], it.pruning[::-1], it.gid[::-1], it.eseq[::-1]
    )
    assert "where a row stands" in told(dataclasses.replace(halves, identifiers=back))
    assert "where an entry stands" in told(
        dataclasses.replace(halves, values=Values(st.seq[::-1], st.gid[::-1], st.value[::-1]))
    )


def test_groups_with_more_rows_than_entries(halves):
    st = halves.values
    keep = st.gid != st.gid[0]
    fewer = Values(
        st.seq[keep], st.gid[keep], [value for value, k in zip(st.value, keep, strict=True) if k]
    )
    assert "more rows than sensitive entries" in told(dataclasses.replace(halves, values=fewer))


def test_numbers_that_stand_twice(halves):
    seq = halves.values.seq.copy()
    seq[1] = seq[0]
    assert "sequence number stands twice" in told(of_st(halves, seq=seq))
    eseq = list(halves.identifiers.eseq)
    eseq[1] = eseq[0]
    assert "sealed number stands twice" in told(of_it(halves, eseq=eseq))


def test_sealed_numbers_that_differ_in_looks(halves):
    eseq = sorted([*halves.identifiers.eseq[:-1], halves.identifiers.eseq[-1] + b"!"])
    assert "could mark rows" in told(of_it(halves, eseq=eseq))


def test_rows_that_do_not_fit(halves):
    cells = [["atlantis", *halves.identifiers.cells[0][1:]], *halves.identifiers.cells[1:]]
    assert "row 1" in told(of_it(halves, cells=cells))


def test_another_key(halves):
    assert "cannot be joined" in told(halves, KeyRing.new())


def resealed(halves: Halves, gids, seqs, marks=None) -> Halves:
    """The same people with other numbers, row by row. As a careless splitter would make them."""
    it, sealer = halves.identifiers, Sealer(RING, halves.anatomy.id)
    _, values = open_true_values(halves, RING)
    rows = list(zip(*it.cells, strict=True))
    marks = it.pruning if marks is None else marks
    entries: dict[int, list] = {}
    for seq, gid, value in zip(seqs, gids, values, strict=True):
        entries.setdefault(gid, []).append((seq, value))
    eseq = [
        seal_sequence(sealer, seq, place_of(gid, mark, cells, entries[gid]))
        for seq, cells, mark, gid in zip(seqs, rows, marks.tolist(), gids, strict=True)
    ]
    order = sorted(range(len(eseq)), key=eseq.__getitem__)
    by_seq = np.argsort(seqs)
    identifiers = Identifiers(
        [[column[i] for i in order] for column in it.cells],
        marks[order],
        np.array(gids)[order],
        [eseq[i] for i in order],
    )
    entries_by_seq = Values(
        np.array(seqs)[by_seq], np.array(gids)[by_seq], [values[i] for i in by_seq]
    )
    return Halves(halves.anatomy, identifiers, entries_by_seq, halves.seal)


def test_sequence_numbers_that_follow_the_values(halves):
    _, values = open_true_values(halves, RING)
    seqs = np.argsort(
        np.argsort([DISEASES.index(value) for value in values], kind="stable")
    ).tolist()
    problems = told(resealed(halves, halves.identifiers.gid.tolist(), seqs), RING)
    assert "sequence numbers goes with the sensitive values" in problems


def test_group_numbers_that_follow_the_sequence_numbers(halves):
    _, group = np.unique(halves.identifiers.gid, return_inverse=True)
    seqs = np.argsort(np.argsort(group, kind="stable")).tolist()
    assert "links the halves" in told(resealed(halves, group.tolist(), seqs), RING)


class TestColumns:
    """Columns that are the sensitive one under another name, or nearly."""

    def made(self, table, diagnosis):
        schema = dataclasses.replace(
            SCHEMA, attributes={**SCHEMA.attributes, "diagnosis": Categorical(DISEASES)}
        )
        return split(table.assign(diagnosis=diagnosis), schema, "disease", 2, RING).halves

    def test_a_copy(self):
        table = people(600)
        assert "column 'diagnosis' alone tells the sensitive value of 100% of the rows" in told(
            self.made(table, table["disease"]), RING
        )

    def test_a_copy_of_a_small_table(self):
        table = people(24).assign(disease=DISEASES * 6)
        assert "column 'diagnosis' alone tells" in told(self.made(table, table["disease"]), RING)

    def test_nearly_a_copy(self):
        table = people(600)
        noisy = table["disease"].where(np.arange(600) % 20 != 0, "none")
        verdict = verify(self.made(table, noisy), RING)
        assert verdict.problems == []
        assert any(
            "column 'diagnosis' alone tells the sensitive value of 9" in remark
            for remark in verdict.remarks
        )

    def test_a_column_that_determines_some(self):
        table = people(600)
        verdict = verify(
            self.made(table, table["disease"].replace({"acne": "none", "gout": "none"})), RING
        )
        assert verdict.problems == []
        assert any(
            "'diagnosis' determines the sensitive value of" in remark for remark in verdict.remarks
        )

    def test_a_column_of_names_is_not_blamed(self):
        """Where everybody has an entry of their own, it tells nothing about others."""
        schema = dataclasses.replace(
            SCHEMA, attributes={**SCHEMA.attributes, "code": Categorical(list(range(300)))}
        )
        halves = split(people(300).assign(code=range(300)), schema, "disease", 2, RING).halves
        verdict = verify(halves, RING)
        assert not any("code" in remark for remark in [*verdict.problems, *verdict.remarks])


def test_a_person_with_two_rows(tmp_path):
    schema = dataclasses.replace(SCHEMA, person="name")
    halves = split(
        people(100).assign(name=[f"p{i}" for i in range(100)]), schema, "disease", 2, RING
    ).halves
    assert verify(halves, RING).problems == []
    twice = of_it(
        halves,
        cells=[*halves.identifiers.cells[:-1], ["p0", "p0", *halves.identifiers.cells[-1][2:]]],
    )
    assert "a person has two rows" in told(twice)
    write_halves(twice, tmp_path / "halves")
    with pytest.raises(OutsourceError, match="has another row too"):
        ServerState.make(tmp_path / "home", tmp_path / "halves")


def test_honest_splits_are_hardly_ever_blamed():
    """Small tables, many ties: of many honest splits nearly none is called a link."""
    blamed = sum(
        bool(verify(split(people(n, seed), SCHEMA, "disease", 2, RING).halves, RING).problems)
        for seed in range(40)
        for n in (8, 20, 60)
    )
    assert blamed <= 2


def test_a_mark_that_follows_the_values(halves):
    place, values = open_true_values(halves, RING)
    seqs = halves.values.seq[place].tolist()
    follows = np.array([value == "flu" for value in values])
    marked = resealed(halves, halves.identifiers.gid.tolist(), seqs, follows)
    assert "the mark for pruning goes with the sensitive values" in told(marked, RING)
