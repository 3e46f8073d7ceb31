"""Rounds of the app in one process: Flower's workflow, mod and messages are real, only the network
is not.
"""

from __future__ import annotations

import io
import logging
from dataclasses import replace

import numpy as np
import pytest
from flwr.app import ArrayRecord, ConfigRecord, Message, RecordDict
from flwr.clientapp import ClientApp
from scipy import stats

import privet as pv
from privet.accounting.cost import Cost
from privet.accounting.ledger import SQLiteLedger
from privet.curator import Curator
from privet.domain.questions import Question
from privet.errors import ParameterError, PrivacyError
from privet.federation.flower import server
from privet.federation.flower.client import _make_party_client, app
from privet.federation.flower.party import Round, check_unmasking
from privet.federation.plan import draw_plan, write_plan
from privet.mechanisms.shares import deviation_of_shares
from tests.federation.flower.loop import LoopGrid, a_context


def grid_of(federation, drops=None, **changes) -> LoopGrid:
    """``changes`` are to the configuration of the first node."""
    nodes = {
        node: {**config, **(changes if node == 11 else {})}
        for node, config in federation.nodes.items()
    }
    return LoopGrid(
        dict.fromkeys(nodes, app),
        {node: a_context(node, config) for node, config in nodes.items()},
        drops,
    )


def run(federation, grid=None, **changes):
    return server.run(
        grid or grid_of(federation), a_context(run_config={**federation.run, **changes})
    )


def errors(grid) -> list[str]:
    return [reply.error.reason for _, reply in grid.seen if reply.has_error()]


def exact_sum(federation, nodes=(11, 22, 33)) -> np.ndarray:
    """What a curator counts without noise: tables declared public."""
    total = 0
    for node in nodes:
        curator = Curator(
            federation.tables[node], federation.plan.schema, pv.Budget(1), public=True
        )
        answer = curator.count(Question.forest(federation.plan.forest), float("inf"))
        total = total + np.concatenate([table.reshape(-1) for table in answer.tables])
    return total


def spent(federation, node) -> float:
    ledger = federation.ledger(node)
    return (
        0.0
        if not ledger.exists()
        else sum(float(entry.cost.epsilon) for entry in SQLiteLedger(ledger).entries())
    )


def test_a_round_gives_the_sum_with_the_noise_of_one_curator(federation):
    model = run(federation, honest=2)
    vector = np.concatenate([table.reshape(-1) for table in model.evidence.batches[0].tables])
    noise = vector - exact_sum(federation)
    deviation = deviation_of_shares(2, 2, 3)
    assert model.noise == pytest.approx(deviation)
    assert 0.7 * deviation < noise.std() < 1.3 * deviation
    assert noise.any()
    assert [spent(federation, node) for node in federation.nodes] == [2, 2, 2]
    entry = SQLiteLedger(federation.ledger(11)).entries()[0]
    assert (
        "share of class counts for secure aggregation, noise of 2 honest parties together"
        in entry.what
    )
    saved = pv.load(federation.output)
    assert saved.privacy_.promised.epsilon == 2
    assert saved.privacy_.private
    assert (
        "Nobody is in the tables of two parties, as the parties assert" in saved.privacy_.notes[-1]
    )


def test_the_server_sees_no_share(federation):
    """No reply holds numbers but masked ones, which are far from every count."""
    grid = grid_of(federation)
    run(federation, grid)
    collected = [reply for stage, reply in grid.seen if stage == "collect_masked_vectors"]
    assert len(collected) == 3
    for reply in collected:
        assert all(len(record) == 0 for record in reply.content.array_records.values())
        assert {name: dict(record) for name, record in reply.content.metric_records.items()} == {
            "fitres.num_examples": {"num_examples": 1}
        }
        masked = np.load(
            io.BytesIO(reply.content.config_records["secaggplus_configs"]["masked_params"][1])
        )
        assert masked.size == exact_sum(federation).size
        assert stats.kstest(masked / 2**32, "uniform").pvalue > 1e-9
        assert stats.kstest(exact_sum(federation) / 2**32, "uniform").pvalue < 1e-9


def test_the_statement_says_whom_to_trust(federation):
    model = run(federation, honest=2, colluding=1, people="may-overlap")
    said = " ".join(model.privacy.notes)
    for words in (
        "honest but curious",
        "threshold is 3",
        "so 0 of the 3 parties may drop out",
        "one of 2 shares",
        "So 1 of the parties may collude",
        "subtract their own counts and their own noise from the sum, and no more",
        "fewer than 2 contributions are honest",
        "in the tables of all contributors",
    ):
        assert words in said
    assert model.privacy.promised == Cost.pure(6), (
        "somebody may be in all three tables, and moves one noise by three rows"
    )
    assert model.privacy.describe().endswith(
        "provided that at least 2 of 3 contributions are honest and the server follows the protocol"
    )
    assert (
        "nobody is in the tables of two parties, at least 1 of 3"
        in run(federation, epsilon="1").privacy.describe()
    )


def test_a_party_that_drops_out_while_counting_is_left_out(federation):
    model = run(federation, grid_of(federation, {22: "collect_masked_vectors"}))
    vector = np.concatenate([table.reshape(-1) for table in model.evidence.batches[0].tables])
    noise = vector - exact_sum(federation, (11, 33))
    assert np.abs(noise).max() < 60
    assert [spent(federation, node) for node in federation.nodes] == [2, 0, 2]
    assert "The counts of 2 of 3 parties" in model.privacy.notes[0]


@pytest.mark.parametrize(
    ("honest", "colluding", "drops"),
    [
        (2, 1, {22: "collect_masked_vectors"}),
        (1, 2, {22: "collect_masked_vectors"}),
        (1, 1, {11: "collect_masked_vectors", 22: "collect_masked_vectors"}),
        (1, 1, {22: "share_keys"}),
        (1, 1, {11: "unmask", 22: "unmask"}),
    ],
)
def test_with_too_few_there_is_no_model(federation, honest, colluding, drops):
    with pytest.raises(PrivacyError, match="nothing was unmasked and no model is written"):
        run(federation, grid_of(federation, drops), honest=honest, colluding=colluding)
    assert not federation.output.exists()


@pytest.mark.parametrize(
    ("changes", "kind", "why"),
    [
        (
            {"epsilon": "1.9"},
            "PrivacyError",
            "epsilon must be at most 19/10 for this party, the server asks for 2",
        ),
        (
            {"colluding": 2},
            "PrivacyError",
            "colluding must be at least 2 for this party, the server allows for 1",
        ),
        ({"schema": ""}, "ParameterError", "needs 'schema'"),
        ({"plan": "0123456789"}, "QuestionError", "takes part in the plan 0123456789 only"),
        ({"budget": "1"}, "BudgetExceeded", "asked epsilon 2, left epsilon 1"),
        ({"table": "duckdb:////nowhere/secret.db?table=people"}, "TableError", "secret"),
        ({"ledger": "/nowhere/ledger.sqlite"}, "LedgerError", "nowhere"),
        ({"tabel": "x"}, "ParameterError", "has no 'tabel'"),
        ({"table": ""}, "ParameterError", "needs 'table'"),
        ({"colluding": "none"}, "ParameterError", "colluding must be an integer"),
    ],
)
def test_a_party_refuses_and_tells_the_server_the_kind_only(federation, caplog, changes, kind, why):
    grid = grid_of(federation, **changes)
    with caplog.at_level(logging.WARNING):
        model = run(federation, grid)
    (error,) = errors(grid)
    assert f"this party does not contribute ({kind})" in error
    assert why not in error
    assert why in caplog.text
    assert spent(federation, 11) == 0
    assert "The counts of 2 of 3 parties" in model.privacy.notes[0]


def test_a_party_says_on_how_many_it_relies(federation, caplog):
    grid = grid_of(federation, honest=1)
    with pytest.raises(PrivacyError, match="no model is written"):
        run(federation, grid, honest=2)
    assert "honest must be at most 1 for this party, the server relies on 2" in caplog.text
    assert spent(federation, 11) == 0


def test_people_with_several_rows_cost_every_table_as_much(federation):
    """A table of two rows per person is charged twice, and takes part only where the model promises
    for two.
    """
    own = federation.home / "two.json"
    federation.plan.schema.declare(rows_per_person=2).write(own)
    model = run(federation, grid_of(federation, schema=str(own), budget="9"), rows_per_person=2)
    assert [spent(federation, node) for node in federation.nodes] == [4, 2, 2]
    assert model.privacy.promised.epsilon == 4
    assert model.privacy.rows_per_person == model.schema.rows_per_person == 2


def test_a_party_with_another_domain_or_more_rows_per_person_refuses(federation, caplog):
    wider = federation.home / "wider.json"
    federation.plan.schema.declare(rows_per_person=2).write(wider)
    other = federation.home / "other.json"
    pv.datasets.load("car").schema.write(other)
    for path, why in (
        (wider, "the model would promise less than this table"),
        (other, "drawn for another schema"),
    ):
        grid = grid_of(federation, schema=str(path))
        run(federation, grid, epsilon="1")
        assert "this party does not contribute (QuestionError)" in errors(grid)[0]
        assert why in caplog.text
    assert spent(federation, 11) == 0


def test_an_error_of_the_engine_tells_nothing(federation, monkeypatch, caplog):
    def fail(*args, **kwargs):
        raise ValueError("Ada, 37, ill")

    monkeypatch.setattr("privet.federation.flower.party.flatten_tables", fail)
    grid = grid_of(federation)
    with pytest.raises(PrivacyError, match="no model is written"):
        run(federation, grid)
    assert len(errors(grid)) == 3
    assert all("(ValueError)" in error and "Ada" not in error for error in errors(grid))
    assert "this party does not contribute: ValueError" in caplog.text
    assert "Ada" not in caplog.text


class TestNothingLeavesUnmasked:
    def ask(self, federation, content, kind="train"):
        return app(Message(content, 11, kind), a_context(11, federation.nodes[11]))

    def fit_instructions(self, federation) -> RecordDict:
        """What a server sends that does not use secure aggregation."""
        config = server.AskOnce(
            federation.plan, server.RunSettings.from_config(federation.run)
        )._config
        return RecordDict(
            {"fitins.parameters": ArrayRecord(), "fitins.config": ConfigRecord(config)}
        )

    @pytest.mark.parametrize("kind", ["train", "evaluate", "query", "get_parameters"])
    def test_a_server_without_secure_aggregation_gets_nothing(self, federation, kind):
        with pytest.raises(PrivacyError, match="inside secure aggregation only"):
            self.ask(federation, self.fit_instructions(federation), kind)
        assert spent(federation, 11) == 0

    def test_a_client_without_the_mod_counts_nothing(self, federation, caplog):
        bare = ClientApp(_make_party_client)
        with pytest.raises(PrivacyError, match="does not contribute"):
            bare(
                Message(self.fit_instructions(federation), 11, "train"),
                a_context(11, federation.nodes[11]),
            )
        assert "that has not begun" in caplog.text
        assert spent(federation, 11) == 0

    def test_vectors_cannot_be_asked_for_before_keys_are_shared(self, federation):
        content = self.fit_instructions(federation)
        content["secaggplus_configs"] = ConfigRecord(
            {"stage": "collect_masked_vectors", "ctxts": [], "srcs": []}
        )
        with pytest.raises(ValueError, match="Abort secure aggregation"):
            self.ask(federation, content)
        assert spent(federation, 11) == 0

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("clipping_range", 8.0),
            ("target_range", 1 << 22),
            ("mod_range", 1 << 31),
            ("max_weight", 1000.0),
            ("share_num", 2),
            ("threshold", 1),
            ("threshold", 4),
            ("sample_num", 1),
        ],
    )
    def test_parameters_that_are_not_exact_or_not_secret_are_refused(self, federation, name, value):
        limit = 1 << 29
        right = {
            "stage": "setup",
            "sample_num": 3,
            "share_num": 3,
            "threshold": 2,
            "clipping_range": float(limit),
            "target_range": 2 * limit,
            "mod_range": 1 << 32,
            "max_weight": 1.0,
        }
        assert self.ask(
            federation, RecordDict({"secaggplus_configs": ConfigRecord(right)})
        ).has_content()
        with pytest.raises(PrivacyError):
            self.ask(
                federation, RecordDict({"secaggplus_configs": ConfigRecord({**right, name: value})})
            )

    def test_terms_must_be_those_of_the_threshold(self, federation, monkeypatch, caplog):
        """A server that says 'honest 2' to all, and lets two parties open the sum, would get too
        little noise.
        """
        original = server.Terms.to_config
        monkeypatch.setattr(server.Terms, "to_config", lambda self: {**original(self), "honest": 2})
        grid = grid_of(federation)
        with pytest.raises(PrivacyError):
            run(federation, grid)
        assert "opens from 2 contributions on, and the terms say 3" in caplog.text
        assert [spent(federation, node) for node in federation.nodes] == [0, 0, 0]

    @pytest.mark.parametrize(
        ("active", "dead", "why"),
        [
            ([11, 22], [22], "both keys"),
            ([11, 11, 22], [], "for one twice"),
            ([11], [22, 33], "1 contributions are in the sum"),
        ],
    )
    def test_no_keys_for_a_sum_of_too_few(self, active, dead, why):
        check_unmasking({"active_nids": [11, 22], "dead_nids": [33]}, Round(3, 2))
        with pytest.raises(PrivacyError, match=why):
            check_unmasking({"active_nids": active, "dead_nids": dead}, Round(3, 2))


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"parties": 1}, "parties must be an integer from 2"),
        ({"honest": 3}, "parties must be at least honest"),
        ({"honest": 0}, "honest must be an integer from 1"),
        ({"colluding": 0}, "colluding must be an integer from 1"),
        ({"rows_per_person": 0}, "rows_per_person must be an integer from 1"),
        ({"people": "unknown"}, "people must be"),
        ({"timeout": 0}, "timeout must be a number of seconds, got 0"),
        ({"epsilon": "-1"}, "epsilon"),
        ({"output": ""}, "needs 'output'"),
        ({"parties": 4, "timeout": 0.5}, "4 are expected, 3 are there"),
    ],
)
def test_bad_settings(federation, changes, why):
    with pytest.raises(ParameterError, match=why):
        run(federation, **changes)
    assert not federation.output.exists()


def test_a_schema_from_the_data_is_refused(federation):
    write_plan(
        draw_plan(replace(federation.plan.schema, from_data=True), 1, height=1),
        federation.home / "plan.json",
    )
    with pytest.raises(PrivacyError, match="read off the data"):
        run(federation)
