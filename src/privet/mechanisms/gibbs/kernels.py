"""Solve the dynamic program over trees, in loops compiled by Numba.

All loops run without the interpreter lock. Every value is held as an integer M of correct weight
and a small real C, meaning exp(unit M + C), where ``unit`` is epsilon per unit of weight. M is the
weight that some tree gets right, so that C stays within the prior's size and its rounding errors do
not grow with the table (docs/concepts/gibbs.md has the proof).

**What is done depends on the plan alone, never on counts**: states that nobody is in are computed
like any other, nothing is skipped or stopped early, and what depends on counts is selected, not
branched on. So the time that a draw takes tells nothing about the rows.

Arguments that kernels share: ``plan`` (:class:`~privet.mechanisms.gibbs.plan.Arrays`), ``tables``
and ``law`` (below).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from privet._numba import compile_kernel
from privet._steady import exp, log


class ContingencyTables(NamedTuple):
    """Contingency tables: that of set s is ``flat[base[s]:base[s + 1]]``, values in the order of
    its attributes, classes last.
    """

    flat: npt.NDArray[np.int64]
    base: npt.NDArray[np.int64]


class Law(NamedTuple):
    """Epsilon per unit of weight, the probability to split, and that to keep the label."""

    unit: float
    split: float
    keep: float


# What a loop is compiled with decides how long the first fit takes. LLVM inlines what is called for
# every state: Numba would infer the types of each copy. Only what Python calls needs a wrapper.
jit = compile_kernel(error_model="numpy")
internal = njit(nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
inlined = njit(
    nogil=True,
    error_model="numpy",
    forceinline=True,
    no_cpython_wrapper=True,
    no_cfunc_wrapper=True,
)


@internal  # type: ignore[untyped-decorator]
def expand(
    source: Any,
    outer: int,
    size: int,
    inner: int,
    start: int,
    n_subsets: int,
    below: Any,
    more_start: Any,
    more: Any,
) -> Any:
    """Sum one axis over each proper subset of its values: from (outer, size, inner) to (outer,
    n_subsets - 1, inner).
    """
    out = np.zeros(outer * (n_subsets - 1) * inner, dtype=np.int64)
    for o in range(outer):
        for s in range(1, n_subsets):
            to = (o * (n_subsets - 1) + s - 1) * inner
            b = below[start + s]
            if b > 0:
                at = (o * (n_subsets - 1) + b - 1) * inner
                for i in range(inner):
                    out[to + i] = out[at + i]
            for m in range(more_start[start + s], more_start[start + s + 1]):
                at = (o * size + more[m]) * inner
                for i in range(inner):
                    out[to + i] += source[at + i]
    return out


@internal  # type: ignore[untyped-decorator]
def sum_table(which: int, by: int, tables: Any, plan: Any) -> Any:
    """Return the table of a set of attributes, summed over each subset of values.

    Attribute ``by`` keeps its values (-1: none does).
    """
    out = tables.flat[tables.base[which] : tables.base[which + 1]]
    inner = len(out)
    outer = np.int64(1)  # a literal has a type of its own, and what it is handed to another copy
    for i in range(plan.set_start[which], plan.set_start[which + 1]):
        a = plan.set_attributes[i]
        inner //= plan.sizes[a]
        if a == by:
            outer *= plan.sizes[a]
        else:
            n_subsets = plan.first[a + 1] - plan.first[a]
            out = expand(
                out,
                outer,
                plan.sizes[a],
                inner,
                plan.first[a],
                n_subsets,
                plan.below,
                plan.more_start,
                plan.more,
            )
            outer *= n_subsets - 1
    return out


@inlined  # type: ignore[untyped-decorator]
def fill_last_terms(
    prefix: Any,
    splits: Any,
    start: int,
    stop: int,
    block_start: Any,
    run_start: Any,
    run_low: Any,
    run_high: Any,
    unit: float,
    keep: float,
    counts: Any,
    share: Any,
    weight: Any,
    value: Any,
) -> None:
    """Compute what each of these last-level splits is worth for each label.

    That is ``value`` exp(unit ``weight``), leaves' labels summed out.

    ``prefix`` holds running sums of the value-by-class table. Leaf with class weights n, label l
    above it: (1 - keep)/T sum_c exp(unit n_c) + keep exp(unit n_l). The splits are
    ``splits[start:stop]``; ``counts`` and ``share`` are scratch.
    """
    n_classes = prefix.shape[1]
    for i in range(stop - start):
        weight[i] = 0
        for c in range(n_classes):
            value[i, c] = 1.0
        for block in range(block_start[splits[start + i]], block_start[splits[start + i] + 1]):
            if n_classes == 2:  # the same as below, without arrays
                one, other = 0, 0
                for run in range(run_start[block], run_start[block + 1]):
                    one += prefix[run_high[run], 0] - prefix[run_low[run], 0]
                    other += prefix[run_high[run], 1] - prefix[run_low[run], 1]
                less = exp(-unit * abs(one - other))
                either = (1.0 - keep) / 2.0 * (1.0 + less)
                weight[i] += max(one, other)
                value[i, 0] *= either + keep * (1.0 if one >= other else less)
                value[i, 1] *= either + keep * (1.0 if other >= one else less)
                continue
            best = 0
            for c in range(n_classes):
                n = 0
                for run in range(run_start[block], run_start[block + 1]):
                    n += prefix[run_high[run], c] - prefix[run_low[run], c]
                counts[c] = n
                best = max(best, n)
            total = 0.0
            for c in range(n_classes):
                share[c] = exp(-unit * (best - counts[c]))
                total += share[c]
            weight[i] += best
            for c in range(n_classes):
                value[i, c] *= (1.0 - keep) / n_classes * total + keep * share[c]


@inlined  # type: ignore[untyped-decorator]
def load_prefix(
    table: Any, start: int, step: int, low: int, high: int, member: Any, prefix: Any
) -> None:
    """Compute running sums of a value-by-class table over the values ``member[low:high]``.

    Value v of class c is at start + v step + c.
    """
    n_classes = prefix.shape[1]
    at = low
    for c in range(n_classes):
        prefix[0, c] = 0
    for v in range(prefix.shape[0] - 1):
        inside = at < high and member[at] == v
        for c in range(n_classes):
            prefix[v + 1, c] = prefix[v, c] + (table[start + v * step + c] if inside else 0)
        at += inside


@jit
def sum_class_weights(which: int, n_classes: int, tables: Any, plan: Any, counts: Any) -> None:
    """Sum up the class weights of all states of a set of attributes."""
    state_base = plan.state_base
    table = sum_table(which, np.int64(-1), tables, plan)
    for i in range(state_base[which + 1] - state_base[which]):
        for c in range(n_classes):
            counts[state_base[which] + i, c] = table[i * n_classes + c]


@inlined  # type: ignore[untyped-decorator]
def decode(which: int, state: int, plan: Any, subset: Any) -> int:
    """Return the subset of each attribute in a state (0: everything).

    And the numbers of tests that lead to it, as bits.
    """
    subset[:] = 0
    reached = 1
    for i in range(plan.set_start[which + 1] - 1, plan.set_start[which] - 1, -1):
        a = plan.set_attributes[i]
        n = plan.first[a + 1] - plan.first[a] - 1
        subset[a] = state % n + 1
        state //= n
        mine, ways, both = plan.tests[plan.first[a] + subset[a]], 0, reached
        while mine:
            if mine & 1:
                ways |= both
            mine >>= 1
            both <<= 1
        reached = ways
    return reached


@jit
def solve_last_level(
    which: int,
    tests: int,
    most: int,
    tables: Any,
    plan: Any,
    law: Any,
    counts: Any,
    best: Any,
    rest: Any,
) -> None:
    """Compute Z of all states of a set of attributes with one test left.

    ``tests`` tests lead to them, and each has at most ``most`` splits. ``best`` and ``rest`` hold
    zeros.
    """
    unit, split, keep = law.unit, law.split, law.keep
    n_classes = counts.shape[1]
    start, end = plan.state_base[which], plan.state_base[which + 1]
    n_states = end - start
    subset = np.zeros(len(plan.sizes), dtype=np.int64)
    allowed = np.zeros(n_states, dtype=np.int64)  # -1: so many tests lead nowhere
    for i in range(n_states):
        if not (decode(which, i, plan, subset) >> tests) & 1:
            allowed[i] = -1
        else:
            for a in range(len(plan.sizes)):
                allowed[i] += (
                    plan.last_start[plan.first[a] + subset[a]]
                    < plan.last_start[plan.first[a] + subset[a] + 1]
                )
    top, acc = best[start:end], rest[start:end]
    weight = np.empty(most, dtype=np.int64)
    value = np.empty((most, n_classes))
    of_class, share = np.empty(n_classes, dtype=np.int64), np.empty(n_classes)
    # Handing over the whole plan at every state would take longer than the work itself.
    last_start, last, member_start, member = (
        plan.last_start,
        plan.last,
        plan.member_start,
        plan.member,
    )
    block_start, run_start, run_low, run_high = (
        plan.block_start,
        plan.run_start,
        plan.run_low,
        plan.run_high,
    )
    for a in range(len(plan.sizes)):
        inside = False
        after = 1  # states of the attributes behind this one
        for i in range(plan.set_start[which], plan.set_start[which + 1]):
            b = plan.set_attributes[i]
            inside |= b == a
            if b > a:
                after *= plan.first[b + 1] - plan.first[b] - 1
        table_of = which if inside else plan.with_more[which, a]
        if table_of < 0:
            continue
        table = sum_table(table_of, a, tables, plan)
        prefix = np.empty((plan.sizes[a] + 1, n_classes), dtype=np.int64)
        n_mine = plan.first[a + 1] - plan.first[a] - 1 if inside else 1
        size, first = plan.sizes[a], plan.first[a]
        for i in range(n_states):
            if allowed[i] < 0:
                continue
            before, behind = i // after, i % after
            mine = 0
            if inside:
                mine = before % n_mine + 1
                before //= n_mine
            s = first + mine
            n_splits = last_start[s + 1] - last_start[s]
            if n_splits == 0:
                continue
            load_prefix(
                table,
                (before * size * after + behind) * n_classes,
                after * n_classes,
                member_start[s],
                member_start[s + 1],
                member,
                prefix,
            )
            fill_last_terms(
                prefix,
                last,
                last_start[s],
                last_start[s + 1],
                block_start,
                run_start,
                run_low,
                run_high,
                unit,
                keep,
                of_class,
                share,
                weight,
                value,
            )
            prior = 1.0 / (allowed[i] * n_splits)
            heaviest = top[i]
            for t in range(n_splits):
                heaviest = max(heaviest, weight[t])
            # Once per attribute, and also where the scale stays as it is.
            scale = exp(-unit * (heaviest - top[i]))
            for c in range(n_classes):
                acc[i, c] *= scale
            top[i] = heaviest
            for t in range(n_splits):
                scale = prior * exp(-unit * (heaviest - weight[t]))
                for c in range(n_classes):
                    acc[i, c] += scale * value[t, c]
    for i in range(n_states):
        if allowed[i] >= 0:
            state = start + i
            sum_ = 0.0
            if allowed[i] == 0:
                for c in range(n_classes):
                    top[i] = max(top[i], counts[state, c])
            for c in range(n_classes):
                stop = exp(-unit * (top[i] - counts[state, c]))
                acc[i, c] = stop if allowed[i] == 0 else (1.0 - split) * stop + split * acc[i, c]
                sum_ += acc[i, c]
            for c in range(n_classes):
                acc[i, c] = log((1.0 - keep) / n_classes * sum_ + keep * acc[i, c])


@inlined  # type: ignore[untyped-decorator]
def child_state(which: int, subset: Any, a: int, now: int, plan: Any) -> int:
    """Return the number of the state that differs in one attribute.

    There, attribute a has subset ``now``, and the others are as they are.
    """
    set_ = which if subset[a] > 0 else plan.with_more[which, a]
    state = 0
    for i in range(plan.set_start[set_], plan.set_start[set_ + 1]):
        b = plan.set_attributes[i]
        state = state * (plan.first[b + 1] - plan.first[b] - 1) + (now if b == a else subset[b]) - 1
    return int(plan.state_base[set_] + state)


@jit
def fill_inner_terms(
    which: int, subset: Any, plan: Any, best: Any, rest: Any, weight: Any, value: Any, ids: Any
) -> int:
    """Compute what each split that is allowed here is worth for each label.

    Log prior and children are in ``value``, integers in ``weight``.
    """
    n_classes = rest.shape[1]
    n_allowed = 0
    for a in range(len(plan.sizes)):
        s = plan.first[a] + subset[a]
        n_allowed += plan.inner_start[s] < plan.inner_start[s + 1]
    n_terms = 0
    for a in range(len(plan.sizes)):
        s = plan.first[a] + subset[a]
        n_splits = plan.inner_start[s + 1] - plan.inner_start[s]
        for i in range(plan.inner_start[s], plan.inner_start[s + 1]):
            weight[n_terms] = 0
            value[n_terms, :] = -log(float(n_allowed * n_splits))
            ids[n_terms] = plan.inner[i]
            for j in range(plan.child_start[plan.inner[i]], plan.child_start[plan.inner[i] + 1]):
                state = child_state(which, subset, a, plan.child[j], plan)
                weight[n_terms] += best[state]
                for c in range(n_classes):
                    value[n_terms, c] += rest[state, c]
            n_terms += 1
    return n_terms


@jit
def solve_inner_level(
    which: int,
    tests: int,
    most: int,
    plan: Any,
    law: Any,
    counts: Any,
    below: Any,
    below_rest: Any,
    best: Any,
    rest: Any,
) -> None:
    """Compute Z of all states of a set of attributes from the states one level below.

    ``tests`` tests lead to them, and each has at most ``most`` splits.
    """
    unit, split, keep = law.unit, law.split, law.keep
    n_classes = counts.shape[1]
    subset = np.zeros(len(plan.sizes), dtype=np.int64)
    weight = np.empty(most, dtype=np.int64)
    value = np.empty((most, n_classes))
    ids = np.empty(most, dtype=np.int64)
    whole = np.empty(n_classes, dtype=np.int64)
    worth = np.empty(n_classes)
    for i in range(plan.state_base[which + 1] - plan.state_base[which]):
        state = plan.state_base[which] + i
        if not (decode(which, i, plan, subset) >> tests) & 1:
            continue
        n_terms = fill_inner_terms(which, subset, plan, below, below_rest, weight, value, ids)
        for c in range(n_classes):
            whole[c], worth[c] = counts[state, c], 0.0
            if n_terms:
                # A log-sum-exp: first the largest term, exp(unit whole + at), then all of them in
                # relation to it.
                stop = log(1.0 - split)
                at = stop
                for t in range(n_terms):
                    value[t, c] += log(split)
                    larger = unit * (weight[t] - whole[c]) + (value[t, c] - at) > 0
                    whole[c] = weight[t] if larger else whole[c]
                    at = value[t, c] if larger else at
                acc = exp(unit * (counts[state, c] - whole[c]) + (stop - at))
                for t in range(n_terms):
                    acc += exp(unit * (weight[t] - whole[c]) + (value[t, c] - at))
                worth[c] = at + log(acc)
        top = 0
        for c in range(n_classes):
            top = max(top, whole[c])
        ahead = -np.inf
        for c in range(n_classes):
            worth[c] += unit * (whole[c] - top)
            ahead = max(ahead, worth[c])
        sum_ = 0.0
        for c in range(n_classes):
            sum_ += exp(worth[c] - ahead)
        best[state] = top
        for c in range(n_classes):
            rest[state, c] = ahead + log(
                (1.0 - keep) / n_classes * sum_ + keep * exp(worth[c] - ahead)
            )


@jit
def narrow_table(which: int, by: int, subset: Any, tables: Any, plan: Any) -> Any:
    """Return the value-by-class table of attribute ``by`` in one state.

    -1: the class weights alone. It comes from the table of a set of attributes.
    """
    out = tables.flat[tables.base[which] : tables.base[which + 1]]
    inner, outer = len(out), 1
    for i in range(plan.set_start[which], plan.set_start[which + 1]):
        a = plan.set_attributes[i]
        inner //= plan.sizes[a]
        if a == by:
            outer *= plan.sizes[a]
            continue
        into = np.zeros(outer * inner, dtype=np.int64)
        s = plan.first[a] + subset[a]
        for o in range(outer):
            for m in range(plan.member_start[s], plan.member_start[s + 1]):
                for j in range(inner):
                    into[o * inner + j] += out[(o * plan.sizes[a] + plan.member[m]) * inner + j]
        out = into
    return out


@jit
def fill_end_terms(
    which: int,
    subset: Any,
    n_classes: int,
    tables: Any,
    plan: Any,
    law: Any,
    weight: Any,
    value: Any,
    ids: Any,
) -> int:
    """Compute what each last-level split in one state is worth for each label.

    Only splits that are allowed there count; the form is that of :func:`fill_inner_terms`.
    """
    unit, keep = law.unit, law.keep
    n_allowed = 0
    for a in range(len(plan.sizes)):
        s = plan.first[a] + subset[a]
        n_allowed += plan.last_start[s] < plan.last_start[s + 1]
    of_class, share = np.empty(n_classes, dtype=np.int64), np.empty(n_classes)
    n_terms = 0
    for a in range(len(plan.sizes)):
        s = plan.first[a] + subset[a]
        n_splits = plan.last_start[s + 1] - plan.last_start[s]
        if n_splits == 0:
            continue
        table = narrow_table(
            which if subset[a] > 0 else plan.with_more[which, a], a, subset, tables, plan
        )
        prefix = np.empty((plan.sizes[a] + 1, n_classes), dtype=np.int64)
        load_prefix(
            table,
            np.int64(0),
            n_classes,
            plan.member_start[s],
            plan.member_start[s + 1],
            plan.member,
            prefix,
        )
        fill_last_terms(
            prefix,
            plan.last,
            plan.last_start[s],
            plan.last_start[s + 1],
            plan.block_start,
            plan.run_start,
            plan.run_low,
            plan.run_high,
            unit,
            keep,
            of_class,
            share,
            weight[n_terms : n_terms + n_splits],
            value[n_terms : n_terms + n_splits],
        )
        for t in range(n_terms, n_terms + n_splits):
            ids[t] = plan.last[plan.last_start[s] + t - n_terms]
            for c in range(n_classes):
                value[t, c] = log(value[t, c]) - log(float(n_allowed * n_splits))
        n_terms += n_splits
    return n_terms
