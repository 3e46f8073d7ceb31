"""Mutants of when things happen: work that depends on rows, and work that nobody paid for."""

from __future__ import annotations

from experiments.mutants.mutant import Mutant

_DRAW = "mechanisms/test_gibbs_steps.py::"

MUTANTS = (
    Mutant(
        "a state that nobody is in is skipped",
        "solve_inner_level",
        "if not (decode(which, i, plan, subset) >> tests) & 1:",
        "if counts[state].sum() == 0 or not (decode(which, i, plan, subset) >> tests) & 1:",
        "a clock tells whether one person is in some cell",
        (
            f"{_DRAW}test_the_dynamic_program_takes_the_same_steps_whatever_the_counts"
            "[two classes-1e-06]",
        ),
    ),
    Mutant(
        "a leaf that nobody is in is skipped",
        "fill_last_terms",
        "total = 0.0",
        "if best == 0:\n    continue\ntotal = 0.0",
        "a clock tells whether one person is in some cell",
        (
            f"{_DRAW}test_the_dynamic_program_takes_the_same_steps_whatever_the_counts"
            "[three classes-1e-06]",
        ),
    ),
    Mutant(
        "a walk stops when all rows have arrived",
        "Routes._walk",
        "code = codes[word >> int(ATTRIBUTE), rows]",
        "if not (word >> int(MOVES) & 1).any():\n    break\n"
        "code = codes[word >> int(ATTRIBUTE), rows]",
        "a clock tells whether one person goes to the end of a chain of tests",
        ("domain/test_routing.py::test_no_row_makes_a_walk_longer[reach-numpy]",),
    ),
    Mutant(
        "a selection ends when a candidate is taken",
        "permute_and_flip",
        "chosen = index if taken[index] and chosen < 0 else chosen",
        "if taken[index]:\n    return index",
        "a clock tells how close the candidates are",
        (
            "mechanisms/test_selection_steps.py::"
            "test_a_selection_takes_the_same_steps_whatever_the_scores[epsilon2-permute-and-flip]",
        ),
    ),
    Mutant(
        "rows of no cell are skipped",
        "differentiate",
        "place = cell[row] if cell[row] >= 0 else len(table) - 1",
        "if cell[row] < 0:\n    continue\nplace = cell[row]",
        "a clock tells who is in none of the cells",
        ("tables/test_scoring.py::test_rows_outside_of_all_cells_add_nothing_to_those",),
    ),
    Mutant(
        "an answer leaves when its work ends",
        "Departure._find_left",
        "return multiple * self.due - taken, multiple",
        "return 0.0, multiple",
        "how long the work took is seen, and some of it depends on rows",
        (
            "service/test_departure.py::"
            "test_an_answer_leaves_at_its_deadline_however_early_the_work_ended[0.2]",
        ),
    ),
    Mutant(
        "an answer is kept when its work ends",
        "TimedLedger.record",
        "self.hold()",
        "pass",
        "whoever sends the same request again has the answer before it was to leave",
        ("service/test_departure.py::test_nothing_tells_that_the_work_has_ended_before_it_leaves",),
    ),
    Mutant(
        "the deadline is set after the rows were read",
        "RequestHandlers._ask",
        "request.departure.due = deadline(asked.load, curator.schema, self.limits)",
        "pass",
        "the deadline of a question is the first step, and most answers miss it by their work",
        (
            "service/test_departure.py::"
            "test_the_deadline_of_a_question_is_set_before_its_rows_are_read",
        ),
    ),
    Mutant(
        "a query below the least epsilon is answered",
        "Curator._answer",
        "price.check_least(self.least_epsilon)",
        "",
        "what a clock tells can be asked for next to nothing",
        ("learners/test_least_epsilon.py::test_less_is_refused_before_a_charge[price1-False]",),
    ),
    Mutant(
        "a space is laid out before the charge",
        "Draws.cost",
        "self._unit(price)",
        "from privet.mechanisms.gibbs.plan import plan_of\nplan_of(self.space)\nself._unit(price)",
        "who has no budget left can keep the service busy",
        ("curator/test_draw_tree.py::test_nothing_is_laid_out_before_the_charge",),
    ),
    Mutant(
        "the steps to see how large a space is are not bounded",
        "TreeSpace._explored",
        "len(after) > MAX_SUBSETS or steps > MAX_PLANNING",
        "len(after) > MAX_SUBSETS",
        "a small request keeps the service busy for a minute",
        ("domain/test_space.py::test_to_see_how_large_a_space_is_takes_bounded_work",),
    ),
)
