"""Mutants of learners, federation and released files: what a model says and promises."""

from __future__ import annotations

from experiments.mutants.mutant import Audited, Mutant

MUTANTS = (
    Mutant(
        "a link of another user is followed",
        "_is_planted",
        "return folder.st_mode & for_everybody == for_everybody and entry.st_uid not in (\n    os.geteuid(),\n    folder.st_uid,\n)",  # noqa: E501
        "return False",
        "somebody has a user of the machine overwrite their own files",
        ("test_planted.py::test_a_planted_link_is_not_followed",),
    ),
    Mutant(
        "private files can be read by everybody",
        "create_private",
        "0o600",
        "0o644",
        "other users of the machine read the ledger",
        ("test_planted.py::test_a_ledger_and_what_lies_beside_it_are_private",),
    ),
    Mutant(
        "logs repeat what an unexpected error says",
        "_error_of",
        "record.exc_info[0].__name__",
        "repr(record.exc_info[1])",
        "an engine's error quotes a row, and whoever reads the logs reads it",
        ("service/test_logs.py::test_an_unexpected_error_is_logged_without_what_it_says",),
    ),
    Mutant(
        "releases about the same people cost the largest of them",
        "PrivacyStatement._composed",
        'return compose_in_parallel(costs) if self.people == "disjoint" '
        "else compose_sequentially(costs)",
        "return compose_in_parallel(costs)",
        "a patient of two hospitals loses the sum, and is told the larger one",
        (
            "federation/test_statement.py::test_disjoint_people_lose_the_largest_and_others_the_sum",
            "federation/test_join.py::TestTheUnionDoesNotKeepEpsilon::test_our_statement_says_the_sum",
        ),
    ),
    Mutant(
        "one table may be called two of different people",
        "PrivacyStatement.together",
        "_refuse_one_table(parts)",
        "pass",
        "everybody in it loses twice what the statement says",
        ("federation/test_statement.py::test_one_table_cannot_hold_disjoint_people",),
    ),
    Mutant(
        "a release may be counted twice",
        "PrivacyStatement.together",
        "len(set(ids)) < len(ids)",
        "False",
        "what is added up twice looks like evidence of more people",
        ("federation/test_merge.py::TestRefused::test_one_given_twice",),
    ),
    Mutant(
        "epsilon is rounded in favour of the promise",
        "format_rounded_up",
        "float(text) < value",
        "False",
        "the card says less than what was given away",
        ("report/test_rounding.py::test_rounded_up_is_never_less_and_hardly_more",),
    ),
    Mutant(
        "parties add the noise of more than are honest",
        "Owner.share",
        "ShareCounts(question, honest)",
        "ShareCounts(question, 10 * honest)",
        "the sum has a tenth of the noise that people were promised",
        (
            "federation/flower/test_rounds.py::test_a_round_gives_the_sum_with_the_noise_of_one_curator",
        ),
    ),
    Mutant(
        "the masks of a secure sum are left out",
        "expand",
        "entries = (words & np.uint64(num_range - 1)).astype(np.int64)",
        "entries = (words & np.uint64(0)).astype(np.int64)",
        "the server sees each hospital's own counts, with a part of the noise",
        (
            "federation/flower/test_masks.py::test_masks_are_uniform_over_all_of_the_modulus",
            "federation/flower/test_rounds.py::test_the_server_sees_no_share",
        ),
    ),
    Mutant(
        "a sum of too few may be opened",
        "check_unmasking",
        "len(active) < round_.threshold",
        "False",
        "a server that drops all but one sees that one's counts",
        (
            "federation/flower/test_rounds.py::TestNothingLeavesUnmasked::test_no_keys_for_a_sum_of_too_few",
        ),
    ),
    Mutant(
        "a party answers without secure aggregation",
        "guard_message",
        "if message.metadata.message_type != MessageType.TRAIN or configs is None:\n"
        '    raise PrivacyError("this party answers inside secure aggregation only")',
        "if configs is None:\n    return call_next(message, context)",
        "a share, which promises nothing alone, leaves as it is",
        (
            "federation/flower/test_rounds.py::TestNothingLeavesUnmasked::test_a_server_without_secure_aggregation_gets_nothing",
        ),
    ),
    Mutant(
        "with a test seed, every batch has the same noise",
        "PrivateClassifier._seeded_bits",
        "seed if batch == 0 else int(seed or 0) + (batch << 64)",
        "seed",
        (
            "what is tested is not what is used, and a seed that gets out gives away the "
            "difference of two batches"
        ),
        ("federation/test_update.py::test_batches_of_a_test_seed_differ",),
    ),
    Mutant(
        "an update without noise",
        "count_leaves",
        "answer.tables",
        "tuple(curator._source.count(Question.forest(forest)))",
        "the counts of whoever came later are exact",
        ("federation/test_update.py::test_each_batch_has_fresh_noise_of_its_own_scale",),
        (Audited("update-disjoint", 150),),
    ),
    Mutant(
        "updates are not stated",
        "_merge_models",
        "statement = PrivacyStatement.together([model.privacy for model in models], people)",
        "statement = models[0].privacy",
        "whoever is in a later batch is promised what was paid for the first",
        ("federation/test_update.py::test_what_a_person_loses",),
    ),
    Mutant(
        "a learner spends what it has spent already",
        "Spending.take",
        "self.left -= amount\nreturn amount",
        "return amount",
        "a fit costs more than its epsilon",
        (
            (
                "conformance/test_learners.py::test_learner[random trees-pays for the number of "
                "rows where it is not declared]"
            ),
        ),
    ),
    Mutant(
        "tuning states the cost of the winner alone",
        "tune",
        "best._adopt(replace(models[index], privacy=statement))",
        "pass",
        "all candidates have looked at the rows, and one of them is stated",
        ("learners/test_sklearn.py::test_tuning_is_paid_for_in_full_and_stated",),
    ),
    Mutant(
        "the number of rows is looked up, not asked for",
        "measure_rows",
        (
            "answer = curator.size(**{spending.unit: spending.take(SIZE_SHARE)})\n"
            'spending.record_charge("number of rows", answer.row_cost)'
        ),
        "return float(sum(len(block[1]) for block in curator._source.rows()))",
        "the shape of the trees tells how many people there are, unpaid",
        (
            (
                "conformance/test_learners.py::test_learner[random trees-pays for the number of "
                "rows where it is not declared]"
            ),
        ),
    ),
    Mutant(
        "a tree stops growing by exact counts",
        "grow_greedy",
        "noisy = curator.count(cells, shares.counts[depth])",
        "noisy = curator.count(cells, shares.counts[depth])\n"
        "noisy.tables[0][:] = curator._source.count(__import__('privet').Question.of(cells))[0]",
        "that a leaf was split tells that enough people are in it",
        ("learners/test_growers.py::test_stopping_rules_look_at_nothing_else",),
    ),
    Mutant(
        "the seed is in the file",
        "RandomTreesClassifier._public_settings",
        '("n_trees", "combine", "shrink", "unknown")',
        '("n_trees", "combine", "shrink", "unknown", "random_state")',
        "whoever has the file draws the same noise, and takes it off",
        ("conformance/test_learners.py::test_learner[random trees-releases no exact count]",),
    ),
    Mutant(
        "the exact number of rows is in the file",
        "RandomTreesClassifier._grow",
        '{"height": height}',
        '{"height": height, "rows": sum(len(block[1]) for block in curator._source.rows())}',
        "that somebody is in the table can be counted",
        (),
        (Audited("random-trees", 150),),
    ),
    Mutant(
        "leaves that nobody is in are left out",
        "RandomTreesClassifier._grow",
        "evidence = weigh_batches([batch], self.shrink)",
        "exact = curator._source.count(__import__('privet').Question.forest(forest))\n"
        "tables = tuple(a * (b > 0) for a, b in zip(batch.tables, exact))\n"
        "batch = type(batch)(tables, batch.deviation)\n"
        "evidence = weigh_batches([batch], self.shrink)",
        "a leaf that has a count proves that somebody is in it",
        (),
        (Audited("random-trees", 250),),
    ),
    Mutant(
        "a file may promise what it likes",
        "privacy_from",
        "canonical(statement.to_json()) == canonical(data)",
        "True",
        "a statement that was edited by hand is shown as if it had been paid for",
        ("report/test_file_damaged.py::test_sealed_but_wrong",),
    ),
    Mutant(
        "a file that was changed is read",
        "unseal",
        "sealed",
        "True",
        "a model that is not the one that was released answers in its name",
        ("report/test_file_damaged.py::test_a_file_with_any_byte_changed",),
    ),
    Mutant(
        "the card is silent where the number of rows is public",
        "_make_card_blocks",
        "public_size = model.schema.n_rows is not None",
        "public_size = False",
        "that presence costs twice epsilon then is told to nobody",
        ("report/test_card.py::test_where_the_number_of_rows_is_public_presence_costs_twice",),
    ),
    Mutant(
        "a model states what it happened to spend",
        "Spending.statement",
        "[*self.charges, *self._list_unused()]",
        "self.charges",
        "that a learner stopped early tells of the rows, and the statement promises more privacy",
        ("conformance/test_learners.py::test_learner[noisy ID3-charges what it states]",),
    ),
    Mutant(
        "an update is always about other people",
        "update_boosted",
        "PrivacyStatement.together([model.privacy, statement], people)",
        'PrivacyStatement.together([model.privacy, statement], "disjoint")',
        "who is in several batches is told the largest epsilon instead of the sum",
        (
            "learners/test_updates.py::TestMoney::"
            "test_each_batch_is_charged_its_own_epsilon[may-overlap-epsilon1]",
        ),
    ),
    Mutant(
        "an update is charged before it is refused",
        "check_update",
        "PrivacyStatement.together([model.privacy, foreseen], people)",
        "",
        "people pay for a model that is refused afterwards",
        ("learners/test_updates.py::TestRefusals::test_the_same_account",),
    ),
)
