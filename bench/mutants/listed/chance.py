"""Mutants of the mechanisms: noise, selection, draws, responses."""

from __future__ import annotations

from bench.mutants.mutant import Audited, Mutant

MUTANTS = (
    Mutant(
        "half the noise",
        "mechanisms/laplace.py",
        "noise = discrete_laplace(bits, counts.size, Fraction(sensitivity) / epsilon)",
        "noise = discrete_laplace(bits, counts.size, Fraction(sensitivity) / (2 * epsilon))",
        "every count tells twice as much about each person as was paid for",
        ("curator/test_curator.py::TestCount::test_laplace_scale_is_partitions_over_epsilon",),
        (Audited("count", 800),),
    ),
    Mutant(
        "noise that is not scaled by the sensitivity",
        "mechanisms/laplace.py",
        "noise = discrete_laplace(bits, counts.size, Fraction(sensitivity) / epsilon)",
        "noise = discrete_laplace(bits, counts.size, 1 / epsilon)",
        "who is counted in ten trees gives away ten times what was paid for",
        ("curator/test_curator.py::TestCount::test_laplace_scale_is_partitions_over_epsilon[4]",),
        (Audited("random-trees", 1000),),
    ),
    Mutant(
        "counts of zero stay zero",
        "mechanisms/laplace.py",
        "return counts + noise.reshape(counts.shape), Cost.pure(epsilon)",
        "return counts + noise.reshape(counts.shape) * (counts != 0), Cost.pure(epsilon)",
        "a cell that is not zero proves that somebody is in it",
        ("curator/test_curator.py::TestCount::test_no_entry_is_spared_the_noise",),
        (Audited("count", 500),),
    ),
    Mutant(
        "noise is never negative",
        "mechanisms/laplace.py",
        "out[open_[keep]] = np.where(negative, -magnitude, magnitude)[keep]",
        "out[open_[keep]] = magnitude[keep]",
        "a count below the true one cannot come out, so that a small one proves who is not there",
        (
            "exact/test_noise.py::test_discrete_laplace_is_what_it_says[1/2]",
            "conformance/test_mechanisms.py::test_discrete_laplace",
        ),
        (Audited("count", 500),),
    ),
    Mutant(
        "minus zero is not drawn again",
        "mechanisms/laplace.py",
        "keep = ~(negative & (magnitude == 0))",
        "keep = magnitude >= 0",
        "zero noise is twice as likely as the law says, and the true count with it",
        ("exact/test_noise.py::test_discrete_laplace_is_what_it_says[1/2]",),
    ),
    Mutant(
        "the table of noise is taken for exact",
        "mechanisms/geometric.py",
        "drawn[i] += _is_below(bits, int(words[i]), g, scale)",
        "drawn[i] += 0",
        "the law of the noise is only nearly what was proved",
        ("mechanisms/test_geometric.py::test_ties_reach_the_decision",),
    ),
    Mutant(
        "large noise is cut off",
        "mechanisms/geometric.py",
        "open_ = open_[drawn == len(ascending)]",
        "open_ = open_[:0]",
        "a count farther off than that proves that somebody is missing",
        (
            "mechanisms/test_geometric.py::test_draws_go_beyond_the_table",
            "exact/test_noise.py::test_magnitudes_go_on_beyond_the_table",
        ),
    ),
    Mutant(
        "Gaussian noise of half the variance",
        "mechanisms/gaussian.py",
        "Fraction(squared_sensitivity) / (2 * rho))",
        "Fraction(squared_sensitivity) / (4 * rho))",
        "twice the rho that was paid for",
        ("curator/test_curator.py::TestCount::test_gaussian_variance_is_partitions_over_two_rho",),
    ),
    Mutant(
        "the generator is seeded anew for every answer",
        "mechanisms/randomness.py",
        "return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)",
        "return np.frombuffer(hashlib.shake_256(b'privet').digest(8 * count), dtype=np.uint64)",
        "two answers have the same noise: their difference is exact",
        ("mechanisms/test_randomness.py::test_the_system_source_does_not_repeat_itself",),
    ),
    Mutant(
        "a seed may be used without unlocking",
        "mechanisms/randomness.py",
        "        if not _unlocked.get():\n            raise",
        "        if False:\n            raise",
        "whoever knows or guesses the seed strips the noise off",
        ("mechanisms/test_randomness.py::test_a_seed_is_refused_unless_unlocked",),
    ),
    Mutant(
        "draws below a bound are taken modulo",
        "mechanisms/randomness.py",
        "    open_ = np.flatnonzero(drawn >= bounds)",
        "    drawn %= bounds\n    open_ = np.flatnonzero(drawn >= bounds)",
        "some outcomes are likelier than the proofs say",
        ("exact/test_uniform.py::test_integers_below_a_bound_are_uniform",),
    ),
    Mutant(
        "the best candidate is picked exactly",
        "mechanisms/selection.py",
        "return chosen(bits, scores, epsilon, score_range)",
        "return list(scores).index(max(scores))",
        "one row that breaks a tie can be seen in the tree",
        ("exact/test_selection.py::test_splits_of_all_tiny_tables[max-exponential]",),
        (Audited("greedy-tree", 400),),
    ),
    Mutant(
        "selection with twice the exponent",
        "mechanisms/selection.py",
        "return exp_coin(bits, gap * epsilon.numerator, score_range * epsilon.denominator)",
        "return exp_coin(bits, 2 * gap * epsilon.numerator, score_range * epsilon.denominator)",
        "every chosen split tells twice what was paid for",
        (
            "exact/test_selection.py::test_splits_of_all_tiny_tables[max-exponential]",
            "exact/test_selection.py::test_quantiles_of_all_tiny_tables[1/2-exponential]",
        ),
    ),
    Mutant(
        "half the range of the Gini impurity",
        "mechanisms/criteria.py",
        "score_range = 2 * (1 << _SHIFT) + 2",
        "score_range = (1 << _SHIFT) + 2",
        "every split chosen by it tells up to twice what was paid for",
        (
            "mechanisms/test_exact_ratios.py::test_the_range_bounds_every_pair_of_candidates[Gini]",
            "exact/test_selection.py::test_no_pair_of_candidates_parts_by_more_than_the_range[gini]",
        ),
    ),
    Mutant(
        "the range of the information gain as if rows did not matter",
        "mechanisms/criteria.py",
        "return math.log2(self.max_rows) + 1 / math.log(2)",
        "return 1 / math.log(2)",
        "in a large table a chosen split tells many times what was paid for",
        (
            "mechanisms/test_exact_ratios.py::test_the_range_bounds_every_pair_of_candidates[InformationGain]",
        ),
    ),
    Mutant(
        "a whole tree drawn with four times the epsilon",
        "mechanisms/gibbs/slack.py",
        "exact = (epsilon - taken) / most",
        "exact = 4 * (epsilon - taken) / most",
        "the tree tells four times what was paid for",
        ("exact/test_gibbs.py::test_trees_of_depth_one_of_all_tiny_tables",),
        (Audited("gibbs-tree", 500),),
    ),
    Mutant(
        "rounding of a draw is not paid for",
        "mechanisms/gibbs/slack.py",
        "exact = (epsilon - taken) / most",
        "exact = epsilon / most",
        "what floating point can add is promised to nobody",
        ("mechanisms/test_gibbs_slack.py::test_the_law_and_its_slack_cost_epsilon_at_most[1]",),
    ),
    Mutant(
        "labels where nobody is are not drawn",
        "mechanisms/gibbs/draw.py",
        (
            "index = exact_draw(bits, choices.whole.reshape(-1), self._law.unit, "
            "choices.rest.reshape(-1))"
        ),
        (
            "index = exact_draw(bits, choices.whole.reshape(-1), self._law.unit, "
            "choices.rest.reshape(-1)) if choices.whole.any() else 0"
        ),
        "a label other than the first proves that somebody is there",
        ("exact/test_gibbs.py::test_trees_of_depth_one_of_all_tiny_tables",),
    ),
    Mutant(
        "draws are decided by floating point alone",
        "mechanisms/categorical.py",
        "return index if clear else _with_more_bits(bits, whole, unit, rest, uniform)",
        "return min(index, len(x) - 1)",
        "close to an edge the outcome follows rounding, not the law that was proved",
        ("mechanisms/test_categorical.py::test_an_edge_to_the_last_of_64_bits_needs_more",),
    ),
    Mutant(
        "responses as if there were two values",
        "mechanisms/response.py",
        "context.multiply(Decimal(size - 1), weight)",
        "context.multiply(Decimal(1), weight)",
        "a report is the truth more often than its owner was told",
        (
            "conformance/test_mechanisms.py::test_randomized_response",
            "exact/test_response.py::test_a_response_of_every_size[1-3]",
        ),
        (Audited("randomizer-sample", 1200),),
    ),
    Mutant(
        "a lie may be the truth",
        "mechanisms/response.py",
        "reports[lies] = other + (other >= reports[lies])  # any code but the true one",
        "reports[lies] = other  # any code",
        "the last value is never said by chance, so that whoever says it has it",
        ("exact/test_response.py::test_a_response_of_every_size[1-3]",),
    ),
    Mutant(
        "shares of noise that add up to half of it",
        "mechanisms/shares.py",
        "mine = uniform_below(bits, np.full(len(open_), shares, dtype=np.uint64)) == 0",
        "mine = uniform_below(bits, np.full(len(open_), 2 * shares, dtype=np.uint64)) == 0",
        "the sum of all parties has less noise than their people were promised",
        ("mechanisms/test_shares.py::test_the_sum_is_discrete_laplace[10/7-2]",),
    ),
)
