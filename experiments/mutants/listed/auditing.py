"""Mutants of the audit: what it no longer looks at, it cannot refute."""

from __future__ import annotations

from experiments.mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        "an audit that looks at names that end in an underscore alone",
        "list_public_attributes",
        'if name.startswith("_"):',
        'if name.startswith("_") or not name.endswith("_"):',
        "an estimator that keeps rows in public is not refuted",
        ("audit/test_estimators.py::test_whatever_is_public_is_seen[KeepsRows-add-remove]",),
    ),
    Mutant(
        "an audit that asks about the row in question alone",
        "Fitted.parts",
        "for name, line in probed.lines.items():",
        "for name, line in {}.items():",
        "a threshold that is read off the rows is not refuted",
        (
            "audit/test_estimators.py::test_a_threshold_that_is_picked_exactly_is_caught"
            "[predictions-MedianThreshold-add-remove]",
        ),
    ),
    Mutant(
        "an audit whose row always comes last",
        "_make_pair",
        "World(schema, (*person, *there) if family.first else (*there, *person))",
        "World(schema, (*there, *person))",
        "what depends on the order of rows is not refuted",
        ("audit/test_estimators.py::test_an_output_that_depends_on_the_order_of_rows_is_caught",),
    ),
    Mutant(
        "a likelihood ratio of the wrong scale",
        "_log_ratio_of_noise",
        "total += float(farther.sum()) / float(answer.spread)",
        "total += 2 * float(farther.sum()) / float(answer.spread)",
        "evidence of several answers is weighed wrongly, and less of an epsilon is seen",
        ("audit/test_likelihoods.py::test_no_ratio_exceeds_the_claim[count]",),
    ),
)
