"""Compiled loops that count rows: leaf by leaf of a whole forest, or row by row.

:func:`count_leaves` counts how many rows of each class reach each leaf of a forest, from the tables
of :mod:`privet.tables.counting.leaf_bits`. No row is looked at alone after its sets are
intersected. Sixteen rows at a time are added up at all 256 places at once, with one bit of the sum
in each of five words (carry-save adders; Harley and Seal, see Mula, Kurz and Lemire, "Faster
population counts using AVX2 instructions", 2018). What is carried over, a sixteenth of the rows, is
added up in the same way.

:func:`count_rows` adds each row to the histograms of its cell. All loops run without the
interpreter lock, so that plain threads use all cores.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.extending import intrinsic, models, register_model

from privet._numba import compile_kernel
from privet.domain.routing import BLOCK
from privet.domain.routing_loops import walk

# -- four words of 64 bits as one value: 256 bits are handled in one step --
#
# Numba leaves it to LLVM to find such steps, and it does not find these (four neighbouring words
# at an address that was looked up). Addresses are those of arrays that the calling function
# holds: an array must not end while its address is in use.

# ruff: noqa: ARG001 (Numba hands its generators of code more than they need)


WORDS = 4
BITS = 64 * WORDS

_WORD = ir.IntType(64)
_VECTOR = ir.VectorType(_WORD, WORDS)


class _Four(types.Type):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__(name="FourWords")


_four = _Four()
_Generator = Any  # what an intrinsic gives back: its signature, and what writes its code


@register_model(_Four)
class _FourModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


@intrinsic  # type: ignore[untyped-decorator]
def load(_: Any, address: Any, word: Any) -> _Generator:
    """Load four words from this one on, counted from an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        value = builder.load(_pointer(builder, *arguments))
        value.align = 8
        return value

    return _four(types.uint64, types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def store(_: Any, address: Any, word: Any, value: Any) -> _Generator:
    """Store four words there."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[2], _pointer(builder, *arguments[:2])).align = 8
        return context.get_dummy_value()

    return types.void(types.uint64, types.uint64, _four), generate


def _pointer(builder: Any, address: Any, word: Any) -> Any:
    start = builder.inttoptr(address, _WORD.as_pointer())
    return builder.bitcast(builder.gep(start, [word]), _VECTOR.as_pointer())


def _bitwise(instruction: str) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def operation(_: Any, one: Any, other: Any) -> _Generator:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return getattr(builder, instruction)(*arguments)

        return _four(_four, _four), generate

    return operation


both, either, differ = _bitwise("and_"), _bitwise("or_"), _bitwise("xor")


@njit(nogil=True)  # type: ignore[untyped-decorator]
def add(one: Any, two: Any, three: Any) -> Any:
    """Add three bits at every place, as a sum of two bits: the lower one and the carry."""
    unequal = differ(one, two)
    return differ(unequal, three), either(both(one, two), both(unequal, three))


_ROWS_PER_CHUNK = 256  # rows whose sets stay in the nearest cache
_CHAINS = 4  # of counters for sorting
_ONE = np.uint64(1)
_STEP = np.uint64(WORDS)  # from row to row
_BYTES = np.uint64(8 * 16 * WORDS)  # of sixteen rows
_LEVELS = 5  # of sums of sixteen rows: those of a block, 8192, have 14 bits, and 4 go to a level
_PLACES = tuple(np.uint64(WORDS * row) for row in range(16))


@compile_kernel
def count_leaves(
    codes: Any,
    classes: Any,
    start: int,
    stop: int,
    group_start: Any,
    group_attribute: Any,
    stride: Any,
    entry_start: Any,
    entry_group: Any,
    entry_table: Any,
    table: Any,
    out: Any,
) -> None:
    """Add the rows from start to stop to ``out``, which has a line per class and a column per bit.

    Strip s is looked up in the entries ``entry_start[s]`` to ``entry_start[s + 1]``: by the joint
    codes of group ``entry_group[e]``, in the table from word ``entry_table[e]`` on.
    """
    n_classes = len(out)
    joint = np.empty((len(group_start) - 1, BLOCK), dtype=np.uint16)
    order = np.empty(BLOCK, dtype=np.uint16)
    ends = np.empty(n_classes + 1, dtype=np.int64)
    left = np.empty(_ROWS_PER_CHUNK * WORDS, dtype=np.uint64)
    sums = np.zeros(4 * WORDS, dtype=np.uint64)
    carried = np.empty((BLOCK // 16 + 16) * WORDS, dtype=np.uint64)
    for low in range(start, stop, BLOCK):
        high = min(low + BLOCK, stop)
        _join(codes, low, high, group_start, group_attribute, stride, joint)
        _sort(classes[low:high], n_classes, order, ends)
        for s in range(len(entry_start) - 1):
            for c in range(n_classes):
                n_carried = np.int64(0)
                for first in range(ends[c], ends[c + 1], _ROWS_PER_CHUNK):
                    rows = order[first : min(first + _ROWS_PER_CHUNK, ends[c + 1])]
                    _intersect(
                        rows,
                        entry_start[s],
                        entry_start[s + 1],
                        entry_group,
                        entry_table,
                        table,
                        joint,
                        left,
                    )
                    n_carried += _add_up(left, len(rows), sums, carried, n_carried)
                _finish(sums, carried, n_carried, _LEVELS, out[c], s * BITS)


@njit(nogil=True)  # type: ignore[untyped-decorator]
def _join(
    codes: Any, low: int, high: int, group_start: Any, group_attribute: Any, stride: Any, joint: Any
) -> None:
    """Compute the joint codes of every group of attributes."""
    for g in range(len(group_start) - 1):
        line, column = joint[g], codes[group_attribute[group_start[g]], low:high]
        for i in range(high - low):
            line[i] = column[i]
        for place in range(group_start[g] + 1, group_start[g + 1]):
            column, step = codes[group_attribute[place], low:high], stride[place]
            for i in range(high - low):
                line[i] += column[i] * step


@njit(nogil=True)  # type: ignore[untyped-decorator]
def _sort(classes: Any, n_classes: int, order: Any, ends: Any) -> None:
    """Sort the rows by their classes.

    In four chains, because a counter that has just changed is slow to read again.
    """
    n = len(classes)
    next_ = np.zeros((_CHAINS, n_classes), dtype=np.int64)
    quarter = n // _CHAINS
    one, two, three, four = next_[0], next_[1], next_[2], next_[3]
    for i in range(quarter):
        one[classes[i]] += 1
        two[classes[quarter + i]] += 1
        three[classes[2 * quarter + i]] += 1
        four[classes[3 * quarter + i]] += 1
    for i in range(_CHAINS * quarter, n):
        four[classes[i]] += 1
    total = 0
    for c in range(n_classes):
        ends[c] = total
        for chain in range(_CHAINS):
            total, next_[chain, c] = total + next_[chain, c], total
    ends[n_classes] = total
    for i in range(quarter):
        _place(i, classes, one, order)
        _place(quarter + i, classes, two, order)
        _place(2 * quarter + i, classes, three, order)
        _place(3 * quarter + i, classes, four, order)
    for i in range(_CHAINS * quarter, n):
        _place(i, classes, four, order)


@njit(nogil=True)  # type: ignore[untyped-decorator]
def _place(i: int, classes: Any, next_: Any, order: Any) -> None:
    c = classes[i]
    order[next_[c]] = i
    next_[c] += 1


@njit(nogil=True)  # type: ignore[untyped-decorator]
def _intersect(
    rows: Any,
    low: int,
    high: int,
    entry_group: Any,
    entry_table: Any,
    table: Any,
    joint: Any,
    left: Any,
) -> None:
    """Find the leaves that are compatible with all joint codes of a row.

    Four groups first, then two at a time.

    Where there are fewer, the last one is looked up again, which changes nothing.
    """
    tables, target = np.uint64(table.ctypes.data), np.uint64(left.ctypes.data)
    last = high - 1
    b, c, d = min(low + 1, last), min(low + 2, last), min(low + 3, last)
    code_a, code_b, code_c, code_d = (
        joint[entry_group[low]],
        joint[entry_group[b]],
        joint[entry_group[c]],
        joint[entry_group[d]],
    )
    at_a, at_b, at_c, at_d = entry_table[low], entry_table[b], entry_table[c], entry_table[d]
    for i in range(len(rows)):
        row = rows[i]
        one = both(
            load(tables, at_a + code_a[row] * _STEP), load(tables, at_b + code_b[row] * _STEP)
        )
        two = both(
            load(tables, at_c + code_c[row] * _STEP), load(tables, at_d + code_d[row] * _STEP)
        )
        store(target, np.uint64(i) * _STEP, both(one, two))
    for entry in range(low + 4, high, 2):
        other = min(entry + 1, last)
        code_a, code_b = joint[entry_group[entry]], joint[entry_group[other]]
        at_a, at_b = entry_table[entry], entry_table[other]
        for i in range(len(rows)):
            row = rows[i]
            two = both(
                load(tables, at_a + code_a[row] * _STEP), load(tables, at_b + code_b[row] * _STEP)
            )
            store(target, np.uint64(i) * _STEP, both(load(target, np.uint64(i) * _STEP), two))


@njit(nogil=True)  # type: ignore[untyped-decorator]
def _add_up(words: Any, n: int, sums: Any, carried: Any, first: int) -> int:
    """Add n rows to the numbers of four bits in ``sums``.

    The carries go to ``carried``, one for every sixteen rows; returns how many.
    """
    sixteens = (n + 15) >> 4
    for word in range(n * WORDS, sixteens * 16 * WORDS):
        words[word] = 0
    source, target, kept = (
        np.uint64(words.ctypes.data),
        np.uint64(carried.ctypes.data),
        np.uint64(sums.ctypes.data),
    )
    p = _PLACES
    ones, twos, fours, eights = (
        load(kept, p[0]),
        load(kept, p[1]),
        load(kept, p[2]),
        load(kept, p[3]),
    )
    for k in range(sixteens):
        at = source + np.uint64(k) * _BYTES
        ones, two = add(ones, load(at, p[0]), load(at, p[1]))
        ones, other = add(ones, load(at, p[2]), load(at, p[3]))
        twos, four = add(twos, two, other)
        ones, two = add(ones, load(at, p[4]), load(at, p[5]))
        ones, other = add(ones, load(at, p[6]), load(at, p[7]))
        twos, second = add(twos, two, other)
        fours, eight = add(fours, four, second)
        ones, two = add(ones, load(at, p[8]), load(at, p[9]))
        ones, other = add(ones, load(at, p[10]), load(at, p[11]))
        twos, four = add(twos, two, other)
        ones, two = add(ones, load(at, p[12]), load(at, p[13]))
        ones, other = add(ones, load(at, p[14]), load(at, p[15]))
        twos, second = add(twos, two, other)
        fours, last = add(fours, four, second)
        eights, sixteen = add(eights, eight, last)
        store(target, np.uint64(first + k) * _STEP, sixteen)
    store(kept, p[0], ones)
    store(kept, p[1], twos)
    store(kept, p[2], fours)
    store(kept, p[3], eights)
    return sixteens


@njit(nogil=True)  # type: ignore[untyped-decorator]
def _finish(sums: Any, carried: Any, n: int, levels: int, out: Any, first: int) -> None:
    """Add the sums, and what was carried over from them, to the counts; start anew.

    So many times, whether anything was carried over or not.
    """
    for level in range(levels):
        for word in range(WORDS):
            ones, twos, fours, eights = (
                sums[word],
                sums[WORDS + word],
                sums[2 * WORDS + word],
                sums[3 * WORDS + word],
            )
            counts = out[first + 64 * word : first + 64 * (word + 1)]
            for bit in range(64):
                low = ((ones >> np.uint64(bit)) & _ONE) + (
                    ((twos >> np.uint64(bit)) & _ONE) << _ONE
                )
                high = ((fours >> np.uint64(bit)) & _ONE) + (
                    ((eights >> np.uint64(bit)) & _ONE) << _ONE
                )
                counts[bit] += np.int64(low + (high << np.uint64(2))) << (4 * level)
        for i in range(len(sums)):
            sums[i] = 0
        sixteens = _add_up(carried, n, sums, carried, np.int64(0))
        n = sixteens if n > 1 else 0  # one row carries nothing


# -- counting row by row --


@compile_kernel
def count_rows(
    codes: Any,
    classes: Any,
    weights: Any,
    start: int,
    stop: int,
    root: Any,
    steps: Any,
    words: Any,
    first_end: Any,
    cell: Any,
    histogram_start: Any,
    by_start: Any,
    by: Any,
    by_step: Any,
    cell_step: Any,
    base: Any,
    out: Any,
) -> None:
    """Add the rows from start to stop to the histograms in ``out``.

    Tree t is walked from the word ``root[t]`` in so many steps, and has the histograms
    ``histogram_start[t]`` to ``histogram_start[t + 1]``. Histogram h begins at ``base[h]``; in it a
    cell counts by ``cell_step[h]``, and the attributes ``by[by_start[h]]`` to ``by[by_start[h +
    1]]`` by their ``by_step``. No weights: every row counts once.
    """
    node = np.empty(BLOCK, dtype=np.uint64)
    reached = np.empty(BLOCK, dtype=np.uint32)
    inside = np.empty(BLOCK, dtype=np.uint32)
    for low in range(start, stop, BLOCK):
        n = min(BLOCK, stop - low)
        for t in range(len(root)):
            walk(codes, low, n, root[t], steps[t], words, first_end, node)
            for i in range(n):
                reached[i] = cell[node[i]]
            for h in range(histogram_start[t], histogram_start[t + 1]):
                _place_in_histogram(
                    codes, classes, low, n, by_start[h], by_start[h + 1], by, by_step, inside
                )
                counts, step = out[base[h] : base[h + 1]], cell_step[h]
                if len(weights) == 0:
                    for i in range(n):
                        counts[reached[i] * step + inside[i]] += 1
                else:
                    for i in range(n):
                        counts[reached[i] * step + inside[i]] += weights[low + i]


@njit(nogil=True)  # type: ignore[untyped-decorator]
def _place_in_histogram(
    codes: Any,
    classes: Any,
    low: int,
    n: int,
    first: int,
    last: int,
    by: Any,
    by_step: Any,
    inside: Any,
) -> None:
    """Find where each row is in its cell's part of a histogram."""
    column = classes[low : low + n]
    for i in range(n):
        inside[i] = column[i]
    for b in range(first, last):
        values, step = codes[by[b], low : low + n], by_step[b]
        for i in range(n):
            inside[i] += values[i] * step
