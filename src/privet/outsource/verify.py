"""Verify a split: its groups are l-diverse, and nothing but the sealed numbers links its halves.

Without the key it looks at what a server would see. With the key it also joins the halves, and
looks for what would give the true pairs away: the order of rows, or a column that is the sensitive
one under another name. It finds carelessness. Whoever splits a table in order to betray it can hide
the pairs in numbers that look random.

:func:`attack_halves` attacks a split of your own, to see how much an adversary would learn.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from privet._types import Ints
from privet.anonymity import Groups
from privet.anonymity.measures import distinct_l, frequency_l, frequency_l_per_group
from privet.domain.encode.rows import encode
from privet.errors import OutsourceError, SealError
from privet.outsource.anatomy import Anatomy, CellText, codes_of, find_undiverse_value_groups
from privet.outsource.attack import ModelName, Score, acquaintances, attack, population, score
from privet.outsource.cipher import KeyRing, Sealer
from privet.outsource.cipher.sealing import SequenceEntry, check_anatomy, open_true_entry, place_of
from privet.outsource.files import Halves, Identifiers, Values

#: Deviations from independence that are taken for chance: one in 16 000 if the order of rows says
#: nothing.
_CHANCE = 4.0
#: A column that tells the sensitive value of so many rows is it under another name; one that tells
#: it nearly as often is worth a remark.
_SAME, _NEARLY = 0.99, 0.9
_ENOUGH = 20  # rows: among fewer, chance does that


@dataclass(frozen=True)
class Verdict:
    """The result of a verification.

    ``problems`` is empty where the split keeps what it promises; ``remarks`` are for the owner to
    weigh.
    """

    rows: int
    groups: int
    l: float  # noqa: E741
    distinct: int
    joined: bool
    problems: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def verify(halves: Halves, ring: KeyRing | None = None) -> Verdict:
    """Look for everything that would break the promise of a split."""
    anatomy, it, st = halves.anatomy, halves.identifiers, halves.values
    if not len(st):
        raise OutsourceError("the sensitive table is empty")
    problems = [
        *_find_repeated_people(anatomy, it),
        *_find_structure_problems(it, st),
        *_find_misfits(anatomy, it),
        *_find_unequal_lengths(it),
        *_find_order_problems(it, st),
    ]
    groups = Groups.of(st.gid, codes_of(anatomy.sensitive_domain, st.value))
    if anatomy.sensitive_domain.size in groups.codes:
        problems.append(
            f"the sensitive table holds values that are not of the domain of {anatomy.sensitive!r}"
        )
    bad = find_undiverse_value_groups(anatomy, st.gid, st.value)
    if len(bad):
        worst = int(groups.ids[frequency_l_per_group(groups).argmin()])
        problems.append(
            f"{len(bad)} groups are not {anatomy.l}-diverse; the worst is group {worst}"
        )
    remarks: list[str] = []
    if ring is not None and not problems:
        joined_problems, remarks = _verify_with_key(halves, ring)
        problems += joined_problems
    l_found = float(frequency_l(groups))
    return Verdict(
        len(it),
        groups.n_groups,
        l_found,
        int(distinct_l(groups)),
        ring is not None and not problems,
        problems,
        remarks,
    )


def open_true_values(halves: Halves, ring: KeyRing) -> tuple[npt.NDArray[np.intp], list[CellText]]:
    """Open the sequence number of each row, and return its sensitive entry.

    This is where the entry stands in the sensitive table, and its value.
    """
    sealer = Sealer(ring, halves.anatomy.id)
    it, st = halves.identifiers, halves.values
    position = {seq: at for at, seq in enumerate(st.seq.tolist())}
    by_group: dict[int, list[SequenceEntry]] = {}
    for seq, gid, value in zip(st.seq.tolist(), st.gid.tolist(), st.value, strict=True):
        by_group.setdefault(gid, []).append((seq, value))
    opened = [
        open_true_entry(sealer, eseq, place_of(gid, mark, cells, by_group.get(gid, ())))
        for eseq, cells, mark, gid in zip(
            it.eseq, zip(*it.cells, strict=True), it.pruning.tolist(), it.gid.tolist(), strict=True
        )
    ]
    if len({seq for seq, _ in opened}) < len(opened):
        raise SealError
    return np.array([position[seq] for seq, _ in opened], dtype=np.intp), [
        value for _, value in opened
    ]


def _find_structure_problems(it: Identifiers, st: Values) -> list[str]:
    problems = []
    if len(set(it.eseq)) < len(it):
        problems.append("a sealed number stands twice in the identifier table")
    if len(np.unique(st.seq)) < len(st):
        problems.append("a sequence number stands twice in the sensitive table")
    groups, rows = np.unique(it.gid, return_counts=True)
    entries = dict(
        zip(*(part.tolist() for part in np.unique(st.gid, return_counts=True)), strict=True)
    )
    short = [
        int(gid)
        for gid, n in zip(groups.tolist(), rows.tolist(), strict=True)
        if entries.get(gid, 0) < n
    ]
    if short:
        problems.append(
            f"{len(short)} groups have more rows than sensitive entries; the first is group "
            f"{short[0]}"
        )
    return problems


def _find_repeated_people(anatomy: Anatomy, it: Identifiers) -> list[str]:
    if anatomy.schema.person is None or len(set(it.cells[-1])) == len(it):
        return []
    return ["a person has two rows: the value that their groups have in common would be theirs"]


def _find_misfits(anatomy: Anatomy, it: Identifiers) -> list[str]:
    unfit = np.flatnonzero(
        ~encode(anatomy.identifying, it.frame(anatomy)).known(anatomy.identifying)
    )
    return (
        [
            (
                f"{len(unfit)} rows of the identifier table do not fit the schema; the first is "
                f"row {int(unfit[0]) + 1}"
            )
        ]
        if len(unfit)
        else []
    )


def _find_unequal_lengths(it: Identifiers) -> list[str]:
    """All sealed numbers must look alike, or their looks could mark rows."""
    looks = {(len(eseq), eseq[:5]) for eseq in it.eseq}
    return (
        []
        if len(looks) <= 1
        else [
            (
                "sealed numbers differ in length or key, which could mark rows (rotate the key to "
                "seal all anew)"
            )
        ]
    )


def _find_order_problems(it: Identifiers, st: Values) -> list[str]:
    """Rows must stand in the order of random numbers, so that where they stand says nothing."""
    problems = []
    if sorted(it.eseq) != it.eseq:
        problems.append(
            "the identifier table is not in the order of its sealed numbers: where a row stands "
            "could tell of its value"
        )
    if len(st) and (np.diff(st.seq) <= 0).any():
        problems.append(
            "the sensitive table is not in the order of its sequence numbers: where an entry "
            "stands could tell whose it is"
        )
    return problems


def _verify_with_key(halves: Halves, ring: KeyRing) -> tuple[list[str], list[str]]:
    it, st, anatomy = halves.identifiers, halves.values, halves.anatomy
    try:
        check_anatomy(Sealer(ring, anatomy.id), anatomy, halves.seal)
        place, values = open_true_values(halves, ring)
    except SealError:
        return [
            "the halves cannot be joined: another key, or something was changed after it was sealed"
        ], []
    problems = [
        f"{what} goes with {other} (rank correlation {r:+.3f}), which links the halves"
        for what, other, r in (
            (
                "the order of the identifier table",
                "that of the sensitive table",
                _rank_correlation(np.arange(len(place)), place),
            ),
            (
                "the order of group numbers in the identifier table",
                "that of sequence numbers",
                _rank_correlation(it.gid, st.seq[place]),
            ),
            (
                "the order of sealed numbers",
                "the sensitive values",
                _rank_correlation(np.arange(len(place)), _encode_values(anatomy, values)),
            ),
            (
                "the order of sequence numbers",
                "the sensitive values",
                _rank_correlation(place, _encode_values(anatomy, values)),
            ),
            (
                "the mark for pruning",
                "the sensitive values",
                _rank_correlation(it.pruning.astype(np.int64), _encode_values(anatomy, values)),
            ),
        )
        if abs(r) > _CHANCE / np.sqrt(max(len(place) - 1, 1))
    ]
    remarks: list[str] = []
    guesses, determined = _find_giveaways(anatomy, it, _encode_values(anatomy, values))
    for name, share in guesses:
        remark = f"column {name!r} alone tells the sensitive value of {share:.0%} of the rows"
        (problems if share >= _SAME and len(it) >= _ENOUGH else remarks).append(remark)
    remarks += [
        f"column {name!r} determines the sensitive value of {share:.0%} of the rows"
        for name, share in determined
    ]
    return problems, remarks


def _find_giveaways(
    anatomy: Anatomy, it: Identifiers, codes: Ints
) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
    """Columns that tell the sensitive value: by the others who share a row's entry, for nearly all
    rows; or for certain, for some.

    For certain: entries that ten rows or more have, all with one sensitive value.
    """
    encoded = encode(anatomy.identifying, it.frame(anatomy))
    assert encoded.classes is not None
    guesses, determined = [], []
    for name, column in zip(
        (*anatomy.identifying.names, anatomy.schema.target),
        (*encoded.codes, encoded.classes),
        strict=True,
    ):
        groups = Groups.of(np.asarray(column, dtype=np.int64), codes)
        # A row's guess is what most others of its entry have, so it is right where its value leads
        # by two.
        right = (
            groups.largest[groups.largest - 1 > _count_second_values(groups)].sum() / groups.n_rows
        )
        sure = (
            groups.sizes[(groups.sizes == groups.largest) & (groups.sizes >= 10)].sum()
            / groups.n_rows
        )
        if right >= _NEARLY:
            guesses.append((name, float(right)))
        elif sure > 0:
            determined.append((name, float(sure)))
    return guesses, determined


def _count_second_values(groups: Groups) -> Ints:
    """How often the second most frequent value of each group occurs; 0 where there is none."""
    order = np.lexsort((-groups.counts, groups.group_of_entry))
    after = np.minimum(groups.starts[:-1] + 1, len(order) - 1)
    return np.where(np.diff(groups.starts) > 1, groups.counts[order[after]], 0)


def _encode_values(anatomy: Anatomy, values: list[CellText]) -> Ints:
    return codes_of(anatomy.sensitive_domain, values)


def _rank_correlation(first: npt.NDArray[np.integer], second: npt.NDArray[np.integer]) -> float:
    """Spearman's; 0 where one side does not vary."""
    a, b = _ranks(first), _ranks(second)
    spread = a.std() * b.std()
    return float(((a - a.mean()) * (b - b.mean())).mean() / spread) if spread > 0 else 0.0


def _ranks(numbers: npt.NDArray[np.integer]) -> npt.NDArray[np.float64]:
    """Ranks; equal numbers share their mean rank."""
    _, at, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray((ends - (counts - 1) / 2)[at], dtype=np.float64)


# Attacking your own split: the attack sees the two halves; the key only counts its successes.


def attack_halves(
    halves: Halves, ring: KeyRing, model: ModelName = "logistic", known: int = 0
) -> Score:
    """Run the deFinetti attack on a split and score it.

    ``known``: so many people whose value the adversary knows beforehand.
    """
    anatomy, it, st = halves.anatomy, halves.identifiers, halves.values
    _, values = open_true_values(halves, ring)
    truth = codes_of(anatomy.sensitive_domain, values)
    encoded = encode(anatomy.identifying, it.frame(anatomy))
    assert encoded.classes is not None
    entries = codes_of(anatomy.sensitive_domain, st.value)
    believed = attack(
        anatomy.identifying,
        encoded.codes,
        np.asarray(encoded.classes),
        it.gid,
        entries,
        st.gid,
        anatomy.sensitive_domain.size,
        known=acquaintances(truth, known),
        model=model,
    )
    without = population(
        anatomy.identifying, encoded.codes, np.asarray(encoded.classes), believed, truth
    )
    return score(believed, truth, l=anatomy.l, population=without)
