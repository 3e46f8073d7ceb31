"""Mutants of the curator: when it charges, how much, and what it lets through."""

from __future__ import annotations

from experiments.mutants.mutant import Mutant

_EVERY = "curator/test_curator.py::TestEveryQuestion"
_QUERY = "conformance/test_queries.py::test_query"
#: Two queries for which nobody had looked.
_EXAMPLES = ("confusion-one tree", "choose-model-three")
_CHARGE = "entry = None if price.exactly else self._charge(cost, what, words)"
_RELEASE = (
    "released = self._inside(lambda: kind.release(asked.exact(self._source), price, self._bits))"
)

MUTANTS = (
    Mutant(
        "rows are read before the charge",
        "Curator._answer",
        f"{_CHARGE}\n{_RELEASE}",
        f"{_RELEASE}\n{_CHARGE}",
        "a crash between the two leaves an answer that nobody paid for",
        (
            f"{_EVERY}::test_is_charged_before_the_data_is_touched[count]",
            f"{_EVERY}::test_that_does_not_fit_never_touches_the_data[count]",
            *(f"{_QUERY}[{example}-is charged before rows are touched]" for example in _EXAMPLES),
        ),
    ),
    Mutant(
        "selections are not charged",
        "Curator._answer",
        _CHARGE,
        "entry = None if kind.__class__.__name__ == 'Selects' else self._charge(cost, 'x')",
        "quantiles can be asked for without end",
        ("curator/test_quantile.py::TestAccounting::test_is_charged_before_the_data_is_touched",),
    ),
    Mutant(
        "drawn trees are not charged",
        "Curator._answer",
        _CHARGE,
        "entry = None if kind.__class__.__name__ == 'Draws' else self._charge(cost, 'x')",
        "trees can be drawn without end",
        ("curator/test_draw_tree.py::TestMoney::test_is_charged_before_the_rows_are_touched",),
    ),
    Mutant(
        "the charge is for one row, whoever the neighbours are",
        "Accounting._charge",
        "return self.charge_promised(cost.promised(self.schema), what, asked)",
        "return self.charge_promised(cost, what, asked)",
        "who has three rows, or is replaced, gives away several times what the ledger says",
        (f"{_EVERY}::test_costs_a_person_more_than_a_row[count]",),
    ),
    Mutant(
        "the noise of a sum forgets its bound",
        "Sums.kind",
        "(self.score.bound,)",
        "(1,)",
        "a person with a large score stands out from the noise",
        ("curator/test_curator.py::TestSumsAndSize::test_sums_have_the_scale_of_the_scores_bound",),
    ),
    Mutant(
        "a row is in the scores twice",
        "Scores.exact",
        "np.add.at(table, at, weights if len(weights) else 1)",
        "np.add.at(table, at, 2 * np.asarray(weights if len(weights) else 1))",
        "an evaluation tells twice what was paid for",
        (f"{_QUERY}[scores-one tree-states its sensitivity]",),
    ),
    Mutant(
        "partitions are chosen with half the range",
        "ChoosePartition.kind",
        "Selects((len(self._question.partitions),), 2, self.mechanism)",
        "Selects((len(self._question.partitions),), 1, self.mechanism)",
        "a choice tells twice what was paid for",
        ("exact/test_selection.py::test_partitions_of_all_tiny_tables[exponential]",),
    ),
    Mutant(
        "quantiles with half the range",
        "bin_range",
        "return 2 * max(a, b - a) if 0 < a < b else 1",
        "return max(a, b - a) if 0 < a < b else 1",
        "a median tells up to twice what was paid for",
        ("exact/test_selection.py::test_quantiles_of_all_tiny_tables[1/2-exponential]",),
    ),
    Mutant(
        "cuts with half the range",
        "Divides",
        "score_range: int = 2",
        "score_range: int = 1",
        "edges of bins tell twice what was paid for",
        ("exact/test_selection.py::test_cuts_of_all_tiny_tables[1]",),
    ),
    Mutant(
        "every level of cuts has all of epsilon",
        "Divides._choose",
        "each = price.amount / self.levels",
        "each = price.amount",
        "edges of bins tell several times what was paid for",
        ("exact/test_selection.py::test_cuts_of_all_tiny_tables[2]",),
    ),
    Mutant(
        "parts are cut at the exact median",
        "Divides._choose",
        "if price.exactly:",
        "if True:",
        "one row decides where a bin ends",
        ("exact/test_selection.py::test_cuts_of_all_tiny_tables[1]",),
    ),
    Mutant(
        "a quantile is the exact one",
        "Selects.release",
        "select(bits, scores, price.amount, self.score_range, self.mechanism)",
        "scores.index(max(scores))",
        "one row decides which bin is told",
        ("exact/test_selection.py::test_quantiles_of_all_tiny_tables[1/2-exponential]",),
    ),
    Mutant(
        "anybody gets exact counts for an infinite epsilon",
        "Price.of",
        "public and is_infinite(epsilon)",
        "is_infinite(epsilon)",
        "exact counts of a private table, free of charge",
        (f"{_EVERY}::test_refuses_infinite_epsilon[count]",),
    ),
    Mutant(
        "what an engine says about a failure is passed on",
        "Curator._inside",
        "kind = type(error).__name__",
        "kind = str(error)",
        "an error message quotes somebody's row",
        ("curator/test_curator.py::TestAgainstAttacks::test_an_engines_failure_tells_nothing",),
    ),
    Mutant(
        "an answer from a test seed is called private",
        "Accounting.private",
        "return self._bits.private and not self.schema.from_data",
        "return not self.schema.from_data",
        "a model whose noise can be repeated is released as if it could not",
        (f"{_EVERY}::test_is_repeatable_and_not_private_with_a_test_seed[count]",),
    ),
    Mutant(
        "a domain that was read off the rows is called public",
        "schema_from_data",
        "from_data=True",
        "from_data=False",
        "a value that one person alone has is in the model, which says that it is private",
        ("conformance/test_learners.py::test_learner[random trees-says when it is not private]",),
    ),
    Mutant(
        "groups of people are not charged",
        "Curator.split_people",
        'charged._charge(Cost.pure(amount), f"{n_parts} disjoint groups of people")',
        'charged._charge(Cost.pure(amount / 2**40), f"{n_parts} disjoint groups of people")',
        "a forest of groups costs nothing",
        (
            "curator/test_curator.py::TestModelsAndParts::test_disjoint_groups_cost_epsilon_once[memory]",
        ),
    ),
    Mutant(
        "a question may be of a kind of its own",
        "_Copies._make",
        "kind in _PARTS",
        "issubclass(kind, PARTS)",
        "a split that an analyst wrote answers otherwise each time that it is asked",
        (f"{_QUERY}[choose-gini-refuses without touching rows]",),
    ),
    Mutant(
        "a recorded answer is given for any request",
        "replay_answer",
        "entry.request != keyed.request",
        "False",
        "one charge pays for as many different queries as one likes",
        (f"{_QUERY}[count-all rows-is answered once for a charge]",),
    ),
    Mutant(
        "a new answer leaves although another one is kept",
        "answer_and_record",
        "Recorded(keyed.entry, kept, replayed=kept != answer)",
        "Recorded(keyed.entry, answer, replayed=kept != answer)",
        "two answers with different noise for one charge: their mean is closer to the truth",
        (f"{_QUERY}[draw-tree-depth 1-is answered once for a charge]",),
    ),
    Mutant(
        "any class is taken for a query",
        "check_query",
        "type(query) not in queries().values()",
        "not isinstance(query, Query)",
        "a class that an analyst wrote looks at rows when it is asked",
        (f"{_QUERY}[count-all rows-refuses without touching rows]",),
    ),
    Mutant(
        "an engine's failure is not withheld",
        "Curator._answer",
        _RELEASE,
        "released = kind.release(asked.exact(self._source), price, self._bits)",
        "an error message quotes somebody's row",
        (f"{_QUERY}[sums-by class-tells nothing when an engine fails]",),
    ),
    Mutant(
        "a share of noise is offered to analysts",
        "OFFERED",
        "{name: query for name, query in queries().items() if query.for_analysts}",
        "{name: query for name, query in queries().items()}",
        "counts leave with a fraction of the noise that was paid for",
        (
            "conformance/test_queries.py::"
            "test_a_service_offers_what_analysts_may_ask_and_nothing_else",
        ),
    ),
    Mutant(
        "an exact reply is taken for a noisy one",
        "NOISES",
        '("discrete-laplace", "discrete-gaussian")',
        '("discrete-laplace", "discrete-gaussian", "none")',
        "a client states privacy for what a curator gave away exactly",
        (f"{_QUERY}[confusion-one tree-takes no other answer]",),
    ),
    Mutant(
        "a value that is named twice is counted twice",
        "_unique_codes_of",
        "Codes(dict.fromkeys(find_codes(schema, name, values)))",
        "find_codes(schema, name, values)",
        "a person is in two counts whose noise is for one",
        (f"{_QUERY}[count-by-a condition-states its sensitivity]",),
        module="queries.count_by",
    ),
    Mutant(
        "the size of a body does not count",
        "RequestHandlers.pay_for_size",
        "size / self.limits.volume",
        "0",
        "one analyst keeps the others waiting with bodies that are refused",
        (
            "service/test_app.py::"
            "test_large_bodies_count_as_several_requests_even_if_they_are_refused",
        ),
    ),
    Mutant(
        "an exchange goes on after its deadline",
        "Deadline.pass_by",
        "self._connections.cut()",
        "",
        "a hostile server holds a client for as long as it likes",
        ("client/test_sockets.py::test_no_server_holds_a_client_beyond_its_deadline[head]",),
    ),
)
