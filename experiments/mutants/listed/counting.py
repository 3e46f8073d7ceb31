"""Mutants of what is counted: whose rows, how many of them, in which part."""

from __future__ import annotations

from experiments.mutants.mutant import Audited, Mutant

MUTANTS = (
    Mutant(
        "rows of a person are not cut",
        "_encode_matrix",
        "_keep_rows_of_each_person(encoded, keep, schema.rows_per_person)",
        "pass",
        "who has a thousand rows is protected as if they had one",
        (
            "tables/test_memory_rows.py::test_the_first_rows_of_each_person_in_the_order_of_their_codes",
        ),
        (Audited("count-person", 1200),),
    ),
    Mutant(
        "one row too many is kept of a person",
        "_keep_rows_of_each_person",
        "np.arange(len(order)) - first >= most",
        "np.arange(len(order)) - first > most",
        "a person gives away one row more than was paid for",
        (
            "tables/test_memory_rows.py::test_the_first_rows_of_each_person_in_the_order_of_their_codes",
        ),
    ),
    Mutant(
        "groups of people by position",
        "MemoryPart._matrix",
        "np.frombuffer(stream, dtype=np.uint32)[who] % self._n_parts == self._part",
        "(who + 0 * len(stream)) % self._n_parts == self._part",
        "who is in which group is known, and one row more moves all others",
        ("exact/test_division.py::test_the_others_are_divided_as_if_a_row_were_not_there",),
    ),
    Mutant(
        "a person's rows fall into several groups",
        "MemoryPart._matrix",
        "who = np.arange(len(whole.classes)) if whole.person is None else whole.person",
        "who = np.arange(len(whole.classes))",
        "who is in two groups pays in both, and is told that they paid once",
        ("exact/test_division.py::test_all_rows_of_a_person_are_in_one_part",),
    ),
    Mutant(
        "derivatives of a row are not cut",
        "differentiate",
        "scale = UNIT * min(1.0, clip / max(UNIT * size, 1.0))\nleft = clip",
        "scale = UNIT * 1.0\nleft = 4 * clip",
        "a row that the model is surest to be wrong about weighs more than the noise allows for",
        ("curator/test_gradients.py::test_one_row_moves_the_sums_by_the_clip_at_most[4]",),
    ),
    Mutant(
        "derivatives of a row of two classes are not cut",
        "differentiate_two",
        "scale = UNIT * min(1.0, clip / max(UNIT * size, 1.0))\n"
        "slope = max(-clip, min(clip, int(scale * slope_of)))\n"
        "slopes[i] = slope\n"
        "bends[i] = max(0, min(clip - abs(slope), int(scale * bend_of)))",
        "slopes[i] = int(UNIT * slope_of)\nbends[i] = int(UNIT * bend_of)",
        "a row that the model is surest to be wrong about weighs more than the noise allows for",
        ("curator/test_gradients.py::test_one_row_moves_the_sums_by_the_clip_at_most[2]",),
    ),
    Mutant(
        "a row of two classes may weigh more than one",
        "weigh_two",
        "out[row] = max(0, min(UNIT, int(weight)))",
        "out[row] = max(0, int(weight))",
        "who an earlier tree got wrong weighs more than the draw was paid for",
        ("tables/test_scoring.py::test_a_row_is_bounded_whatever_the_scores",),
    ),
    Mutant(
        "scores of other trees are kept",
        "_Block.score",
        "self._keys != keys[:known]",
        "False",
        "rows are weighed by trees that were not asked about, so a draw is not what was paid for",
        ("tables/test_kept_scores.py::test_any_order_of_questions_has_the_same_scores",),
    ),
    Mutant(
        "evenly clipped derivatives of a row are not cut",
        "differentiate_evenly",
        "scale = UNIT * min(1.0, clip / max(UNIT * sqrt(slopes + bends), 1.0))\nleft = clip * clip",
        "scale = UNIT * 1.0\nleft = 4 * clip * clip",
        "a row that the model is surest to be wrong about weighs more than the noise allows for",
        (
            "curator/test_gradients.py::"
            "test_one_row_moves_evenly_clipped_sums_by_the_clip_in_l2_at_most[4]",
        ),
    ),
    Mutant(
        "evenly clipped derivatives of a row of two classes are not cut",
        "differentiate_two_evenly",
        "scale = UNIT * min(1.0, clip / max(UNIT * size, 1.0))\n"
        "slope = int(scale * ((1.0 if classes[first + i] == 1 else 0.0) - p))\n"
        "slope = slope if abs(slope) <= clip else 0",
        "scale = 1.0 * UNIT\nslope = int(scale * ((1.0 if classes[first + i] == 1 else 0.0) - p))",
        "a row that the model is surest to be wrong about weighs more than the noise allows for",
        (
            "curator/test_gradients.py::"
            "test_one_row_moves_evenly_clipped_sums_by_the_clip_in_l2_at_most[2]",
        ),
    ),
    Mutant(
        "an even clip looks at a row's class",
        "differentiate_evenly",
        "slopes = (1.0 - least) ** 2 if numbers == 1 else 1.0 - 2.0 * least + likely",
        "slopes = 0.0 * least + 1.0 - 2.0 * p[classes[row]] + likely",
        "scores that are right are moved, and models are too sure",
        (
            "tables/test_scoring.py::"
            "test_only_the_even_clip_leaves_scores_that_are_right_where_they_are[3]",
        ),
    ),
    Mutant(
        "a row may weigh more than one",
        "weigh",
        "out[row] = max(0, min(UNIT, int(weight)))",
        "out[row] = max(0, int(weight))",
        "who an earlier tree got wrong weighs more than the draw was paid for",
        ("tables/test_scoring.py::test_a_row_is_bounded_whatever_the_scores",),
    ),
    Mutant(
        "a walk ends with its last row",
        "Routes._walk",
        "word = words[(word & int(PLACE)) + code * (word >> int(MOVES) & 1)]",
        "word = words[(word & int(PLACE)) + code * (word >> int(MOVES) & 1)]\n"
        "if not (word >> int(MOVES) & 1).any():\n    break",
        "the time of an answer tells whether anybody is in the deepest cell",
        ("domain/test_routing.py::test_no_row_makes_a_walk_longer[reach-numpy]",),
    ),
    Mutant(
        "a compiled walk ends with its last row",
        "walk",
        "for _ in range(1, steps):",
        "for _ in range(1, steps if (node[:n] >> MOVES & ONE).any() else 1):",
        "the time of an answer tells whether anybody is in the deepest cell",
        ("domain/test_routing.py::test_no_row_makes_a_walk_longer[count-compiled]",),
    ),
)
