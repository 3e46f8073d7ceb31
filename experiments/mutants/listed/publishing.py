"""Mutants of randomised records and of synthetic tables."""

from __future__ import annotations

from experiments.mutants.mutant import Audited, Mutant

MUTANTS = (
    Mutant(
        "every value is randomised with all of epsilon",
        "Randomizer.shares",
        "return (*[(self.epsilon - label) / k] * k, label)",
        "return (*[self.epsilon] * k, label)",
        "a record of ten values costs ten times what its owner was told",
        (
            "exact/test_response.py::test_reports_of_every_record[split-1]",
            "local/test_randomizer.py::test_shares_add_up_to_epsilon_exactly",
        ),
        (Audited("randomizer-split", 1200),),
    ),
    Mutant(
        "reports of leaves with three times the epsilon",
        "LeafRandomizer._randomized",
        "randomized_response(bits, truth, self.points(number), self.epsilon)",
        "randomized_response(bits, truth, self.points(number), 3 * self.epsilon)",
        "a report tells three times what its owner was told",
        ("exact/test_response.py::test_leaves_of_every_record",),
        (Audited("leaf-randomizer", 1200),),
    ),
    Mutant(
        "reports keep the order of the table",
        "shuffle_reports",
        "return reports.iloc[uniform_order(bits, len(reports))].reset_index(drop=True)",
        "return reports",
        "where a sorted table has somebody moves others, and all their reports tell of it",
        ("exact/test_response.py::test_reports_of_a_table_that_is_sorted",),
        (Audited("randomizer-table", 600),),
    ),
    Mutant(
        "reports are shuffled block by block",
        "randomize_table",
        "yield from shuffle_lines(lines, made.bits)",
        "yield from lines",
        "whether a person is in the first or in the last block of a sorted table can be seen",
        ("cli/test_publish_local.py::test_reports_of_a_table_are_in_no_order",),
    ),
    Mutant(
        "records of a table may go over lines",
        "_read_csv_blocks",
        "over_lines=False",
        "over_lines=True",
        "whoever opens a quote decides whether other people's lines give reports",
        ("cli/test_publish_local.py::test_in_a_table_nobody_s_quote_swallows_the_lines_of_others",),
    ),
    Mutant(
        "an unknown value is always the first",
        "replace_unknown",
        "uniform_below(bits, np.full(len(unknown), size, dtype=np.uint64)).astype(np.int64)",
        "0",
        (
            "whoever has an unusual value is counted with others, and every tree learns something "
            "false of them"
        ),
        ("local/test_randomizer.py::test_an_unknown_value_is_drawn_uniformly",),
    ),
    Mutant(
        "a randomised table is charged for one row of a person",
        "charge_table",
        "Cost.pure(randomizer.epsilon * account.schema.rows_per_person)",
        "Cost.pure(randomizer.epsilon)",
        "who has three records gives away three times what the ledger says",
        ("cli/test_publish_local.py::test_a_table_is_charged_for_all_rows_of_a_person_and_cut",),
    ),
    Mutant(
        "all records of a person are reported",
        "codes_of_table",
        "encoded.person is not None",
        "False",
        "who has a thousand records gives away a thousand times epsilon",
        (
            "local/test_randomizer.py::test_at_most_so_many_rows_of_a_person_are_reported_whatever_they_hold",
        ),
    ),
    Mutant(
        "the selections of a synthetic table are not taken off",
        "_count",
        "spending.left = (spending.left or Fraction(0)) - each",
        "pass",
        "a table costs more than its epsilon",
        (
            (
                "synthetic/test_synthesize.py::TestAccounting::test_all_of_epsilon_is_charged_and_no_more[all "  # noqa: E501
                "pairs-facts0-1]"
            ),
        ),
    ),
    Mutant(
        "a synthetic table has as many rows as the table, exactly",
        "synthesize",
        "counted.total if curator.schema.n_rows is None else max(1.0, float(curator.schema.n_rows))",  # noqa: E501
        "float(sum(len(block[1]) for block in curator._source.rows()))",
        "that somebody is in the table can be counted",
        ("synthetic/test_synthesize.py::TestRows::test_how_many_there_are_is_not_told_exactly",),
    ),
    Mutant(
        "a selection of pairs is asked for with twice what is set aside",
        "_selection_epsilon",
        'return amount if spending.unit == "epsilon" else root_below(8 * amount)',
        'return 2 * amount if spending.unit == "epsilon" else root_below(16 * amount)',
        "a table costs more than its epsilon",
        (
            (
                "synthetic/test_synthesize.py::TestAccounting::test_all_of_epsilon_is_charged_and_no_more[all "  # noqa: E501
                "pairs-facts0-1]"
            ),
        ),
    ),
    Mutant(
        "a pair is chosen without its price",
        "choose_pair",
        "curator.choose_partition(question, whole, epsilon, handicaps=[*handicaps, -ahead])",
        "curator.choose_partition(question, whole, 20, handicaps=[*handicaps, -ahead])",
        "which attributes follow each other is told almost exactly",
        ("synthetic/test_structure.py::test_the_dependent_pair_is_chosen_and_otherwise_it_stops",),
    ),
    Mutant(
        "rows that the schema calls impossible are published",
        "draw_possible",
        "if not len(wrong):",
        "if True:",
        "a table says what everybody knows to be false",
        ("synthetic/test_possible.py::test_no_row_is_impossible[0.01]",),
    ),
    Mutant(
        "a rule that somebody breaks is no rule",
        "_count",
        "list_stated_pairs(known, later)",
        "[] if any(all(values[schema.index(name)] in codes for name, codes in rule.items()) for block in curator._source.rows() for values in zip(*block[0]) for rule in schema.impossible_codes) else list_stated_pairs(known, later)",  # noqa: E501
        "that a row which should not be is in the table is told",
        ("synthetic/test_possible.py::test_who_breaks_a_rule_is_not_told",),
        (Audited("synthetic-rules", 400),),
    ),
    Mutant(
        "values inside a group follow nothing",
        "spread",
        "bits.words(n_rows) if heights is None else heights",
        "bits.words(n_rows)",
        "of numbers that follow each other, hardly anything is left where bins are many",
        ("synthetic/test_rows.py::test_values_rise_with_the_heights_and_are_as_many_as_without",),
    ),
    Mutant(
        "a check spends on what it cannot tell",
        "check",
        "if not plan.tells and not anyway:",
        "if False:",
        "half of a budget is gone for distances of noise",
        ("cli/test_publish_synthetic.py::TestCheck::test_what_would_tell_nothing_is_not_paid_for",),
    ),
)
