"""Mutants of the money: costs, ledgers, and what is paid once."""

from __future__ import annotations

from experiments.mutants.mutant import Mutant

_APP = "service/test_app.py"

MUTANTS = (
    Mutant(
        "a question is charged that a witness cannot note",
        "RequestHandlers._charge_and_answer",
        "self.state.check_witnesses()",
        "",
        "while the disk of a witness is away, every question is charged and none is answered",
        (
            "service/test_witness_elsewhere.py::test_nothing_is_charged_while_the_other_disk_is_away",
        ),
    ),
    Mutant(
        "a level of a prefix tree is free",
        "Surveyor._find_texts",
        "left -= part\ncandidates = list_candidates(prefixes, step, first=length == 0)",
        "candidates = list_candidates(prefixes, step, first=length == 0)",
        "each level of a column spends what all of them have left: more than epsilon",
        ("curator/test_survey.py::test_all_of_a_survey_is_within_its_epsilon",),
    ),
    Mutant(
        "an account is charged for any neighbours",
        "check_relation",
        "recorded is None or stated is None or is_same(recorded, stated)",
        "True",
        "2 for a row added and 4 for one replaced are shown as 6, and are 8",
        ("accounting/ledger/test_relation.py::test_nothing_is_charged_under_another_relation",),
    ),
    Mutant(
        "a file has as many accounts as names",
        "identify_rows",
        'files.add(f"inode {found.st_dev}:{found.st_ino}")',
        "",
        "a hard link has a budget of its own, for the same people",
        ("cli/test_same_rows.py::test_the_other_order_is_refused_too",),
    ),
    Mutant(
        "a data set that was removed is forgotten",
        "Accounts.remove_dataset",
        'connection.execute("DELETE FROM grants WHERE dataset = ?", (name,))',
        (
            'connection.execute("DELETE FROM grants WHERE dataset = ?", (name,))\n'
            'connection.execute("DELETE FROM places WHERE dataset = ?", (name,))'
        ),
        "a table whose budget is spent is added again under another name, with a new one",
        ("cli/test_same_rows.py::test_a_table_that_was_removed_keeps_its_account",),
    ),
    Mutant(
        "a partitioned table can be asked from SQL",
        "SQLFunctions.add_dataset",
        "_refuse_told_counts(connection)",
        "",
        "every login reads in the catalog how many people are in each partition, exactly",
        ("service/sql/test_catalog.py::test_a_table_whose_parts_the_catalog_counts_is_refused",),
    ),
    Mutant(
        "a view has an account of its own",
        "check_new_account",
        "rows & _rows_beside(place, other)",
        "False",
        "each view of a table has a budget of its own, for the same people",
        ("cli/test_same_rows.py::test_a_view_is_no_second_budget",),
    ),
    Mutant(
        "an analyst may ask for a share of the noise",
        "Curator.ask",
        "not asked.for_analysts",
        "False",
        "one of ten thousand shares has hardly any noise: exact counts for a hundredth",
        ("curator/test_owner.py::test_a_curator_gives_no_share_of_the_noise",),
    ),
    Mutant(
        "whoever holds a curator has its ledger",
        "Accounting.ledger",
        "return ReadOnlyLedger(self._ledger)",
        "return self._ledger",
        "an analyst raises the cap, and asks on",
        ("curator/test_owner.py::test_a_curator_lifts_no_budget",),
    ),
    Mutant(
        "a share may have any noise",
        "SharesNoise.cost",
        "check_deviation(self.spread(price), self.parties)",
        "",
        "a share that leaves without the others is the exact counts",
        ("curator/test_share.py::test_a_share_has_noise_of_its_own",),
    ),
    Mutant(
        "replacing a person costs as much as adding one",
        "Cost.for_neighbours",
        'factor = rows_per_person * (2 if neighbours == "replace" else 1)',
        "factor = rows_per_person",
        "who is told that nobody can see what their row says is promised half of the truth",
        ("accounting/test_cost.py::test_what_is_promised_to_a_person_of_several_rows",),
    ),
    Mutant(
        "questions cost the largest of them",
        "compose_sequentially",
        "return sum(costs, NOTHING)",
        "return compose_in_parallel(costs)",
        "a hundred questions are promised as if they were one",
        ("accounting/test_cost.py::test_sequential_composition_is_a_sum",),
    ),
    Mutant(
        "pure epsilon costs the rho of a bounded range",
        "Cost.pure",
        "return cls(value, value**2 / 2)",
        "return cls(value, value**2 / 8)",
        "under a budget in rho four times as much is answered as was promised",
        ("accounting/test_cost.py::test_both_currencies_of_a_mechanism",),
    ),
    Mutant(
        "a charge is compared with the cap, not with what is left of it",
        "check_fit",
        "amount > left_over",
        "amount > cap.amount",
        "the budget never ends",
        (
            "accounting/ledger/test_ledger.py::test_the_last_exact_unit_can_be_spent_and_not_one_more",
        ),
    ),
    Mutant(
        "the cap of the data set binds nobody",
        "SQLiteLedger.charge",
        "(None, analyst)",
        "(analyst,)",
        "analysts who share what they learn pass the budget together",
        (
            "accounting/ledger/test_ledger.py::test_colluding_analysts_cannot_pass_the_cap_of_the_data_set",
        ),
    ),
    Mutant(
        "a negative cost gives money back",
        "check_cost",
        "cost.rho < 0 or (cost.epsilon is not None and cost.epsilon < 0)",
        "False",
        "whoever can ask for a negative epsilon asks without end",
        ("accounting/ledger/test_ledger.py::test_a_negative_cost_is_no_refund",),
    ),
    Mutant(
        "a charge waits for the disk no longer",
        "SQLiteLedger._open",
        "PRAGMA synchronous=FULL",
        "PRAGMA synchronous=OFF",
        "an answer leaves, the power fails, and its charge is forgotten",
        ("accounting/ledger/test_sqlite_ledger.py::test_every_charge_waits_for_the_disk",),
        in_string=True,
    ),
    Mutant(
        "a key pays for any request",
        "require_same_request",
        "entry.request != request",
        "False",
        "one charge pays for as many different questions as one likes",
        ("accounting/ledger/test_ledger.py::test_a_key_pays_once_and_for_one_request_only",),
    ),
    Mutant(
        "a request with a key never pays",
        "KeyedLedger.charge",
        (
            "self._ledger.charge(dataset, analyst, cost, what, key=self.key, "
            "request=self.request, **more)"
        ),
        (
            "self._ledger.charge(dataset, analyst, Cost.pure(cost.epsilon / 2**40), what,\n    "
            "key=self.key, request=self.request, **more)"
        ),
        "all questions over HTTP are as good as free",
        (f"{_APP}::test_colluding_analysts_together_cannot_pass_the_data_sets_cap",),
    ),
    Mutant(
        "keys are everybody's",
        "SQLiteLedger._keyed",
        "analyst = ? AND key = ?",
        "? IS NOT NULL AND key = ?",
        "an analyst is given an answer that another one paid for",
        (f"{_APP}::test_keys_are_each_analysts_own",),
        in_string=True,
    ),
    Mutant(
        "a line of the journal says nothing of the line before",
        "hash_after",
        'return hashlib.sha256(f"{before}{written}".encode()).hexdigest()',
        "return hashlib.sha256(written.encode()).hexdigest()",
        "charges can be taken out of the ledger, and nobody sees it",
        ("accounting/ledger/test_verify.py::test_witness_and_receipts_find_a_rewritten_history",),
    ),
    Mutant(
        "an answer leaves that is not the recorded one",
        "answer_and_record",
        "kept = keyed.record(keyed.entry.number, answer)",
        "kept = answer",
        (
            "a request that is sent again gets fresh noise for the same charge: the mean of many "
            "is exact"
        ),
        (f"{_APP}::test_the_same_key_and_body_get_the_same_answer_for_one_charge",),
    ),
    Mutant(
        "the digest of a request leaves out what is asked",
        "RequestHandlers.request",
        "parts = [str(dataset.id).encode(), dataset.name.encode(), operation.encode(), written]",
        "parts = [str(dataset.id).encode(), dataset.name.encode(), operation.encode()]",
        "a charge for one question is taken for that of another",
        (f"{_APP}::test_a_key_with_another_body_or_question_is_refused",),
    ),
    Mutant(
        "grants do not end",
        "Accounts.granted",
        "grant.dataset == dataset and not grant.over",
        "grant.dataset == dataset",
        "an analyst asks on, after the time that the owner allowed",
        ("service/test_accounts.py::test_grants_expire",),
    ),
    Mutant(
        "tokens do not end by themselves",
        "Accounts._check_end",
        "is_over(ends, self.now())",
        "False",
        "whoever finds an old token asks in the name of somebody who has left",
        ("service/test_accounts.py::test_a_token_may_end_by_itself",),
    ),
    Mutant(
        "tokens are stored as they are",
        "hash_token",
        'return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()',
        "return token",
        "whoever reads a backup asks in the name of every analyst",
        ("service/test_accounts.py::test_a_token_is_random_shown_once_and_stored_hashed",),
    ),
    Mutant(
        "an interrupted fit asks again with fresh noise",
        "Curator.ask_once",
        "replay_answer(keyed) or answer_and_record(keyed, work)",
        "(answer_and_record(keyed, work), None)[1]",
        "two answers with different noise for one charge: their mean is closer to the truth",
        ("curator/test_resumed.py::test_no_two_answers_for_one_charge",),
    ),
    Mutant(
        "a question that is sent again gets a fresh key",
        "Session.ask",
        "self._unanswered[kind, written] = key",
        "pass",
        "a network that fails makes a person pay twice",
        ("client/test_remote_curator.py::test_a_question_without_an_answer_keeps_its_key",),
    ),
    Mutant(
        "the token goes wherever an answer points",
        "Link._read",
        "300 <= status < 400",
        "False",
        "somebody else asks in the analyst's name",
        ("client/test_transport.py::test_a_redirect_is_refused[302]",),
    ),
    Mutant(
        "whatever a curator says is taken for private",
        "Session.__init__",
        'facts["private"] is True',
        'bool(facts["private"]) or True',
        "a model from a seeded curator is released as private",
        ("client/test_remote_curator.py::test_only_true_is_private[False]",),
    ),
    Mutant(
        "an interrupted fit pays again",
        "ResumableCurator.ask",
        "self._next_key()",
        "self._next_key() + __import__('secrets').token_hex(4)",
        "the answers that were paid for are lost, and the budget with them",
        ("client/test_reserved_fits.py::test_a_killed_fit_goes_on_and_pays_what_a_whole_one_pays",),
    ),
    Mutant(
        "what is set aside binds nobody",
        "held_by",
        "total = tidy(total + one.left)",
        "total = total",
        "somebody else spends what a fit has set aside, and the cap is passed",
        ("client/test_reserved_fits.py::test_somebody_else_cannot_starve_a_fit",),
    ),
    Mutant(
        "turns of a relay that were not due are carried on",
        "RelayFile.check_turn",
        "self.check_plan()",
        "",
        "a party pays for its turn in a model that one party alone has decided",
        (
            "federation/test_foreseen_turns.py::"
            "test_what_was_not_due_is_refused_before_anybody_pays"
            "[make_louder-scores that are larger]",
        ),
    ),
    Mutant(
        "planning a statement in DuckDB asks",
        "register",
        "side_effects=True",
        "side_effects=False",
        "whoever looks at the plan of a statement is charged for it",
        ("sql/test_register.py::test_planning_a_statement_charges_nothing",),
        module="sql.functions",
    ),
    Mutant(
        "two DuckDB connections share the keys of their transactions",
        "_ask",
        'key or f"{prefix}-{own}"',
        "key or own",
        "an answer about one table is taken for that about another",
        ("sql/test_register.py::test_two_connections_do_not_share_answers",),
        module="sql.functions",
    ),
)
